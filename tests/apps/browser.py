"""Opens pages in Chromium, without a window, by its DevTools protocol over a pipe; needs no library.

Source: https://chromedevtools.github.io/devtools-protocol/ (domains Page, Runtime, Log, Network, Emulation).
"""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = "no Chromium: scripts/setup --dev installs it"


class Browser:
    """One tab. `problems` has what its console would show in red, `asked` each address that it asked for."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="trefoil-browser-", ignore_cleanup_errors=True)
        to_child, self.to_browser = os.pipe()
        self.from_browser, from_child = os.pipe()
        options = ["--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", f"--user-data-dir={self.profile.name}"]
        if os.geteuid() == 0:
            options.append("--no-sandbox")
        # The protocol's pipes are descriptors 3 and 4.
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{to_child} 4>&{from_child}', "sh", CHROMIUM, *options, "about:blank"],
            pass_fds=(to_child, from_child), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.profile.name})
        os.close(to_child)
        os.close(from_child)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.problems = []
        self.asked = []
        self.loaded = 0
        pages = [one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        for descriptor in (self.to_browser, self.from_browser):
            os.close(descriptor)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()

    def call(self, method, **parameters):
        """The answer to one request; what else happens until then is noted."""
        number = self.send(method, **parameters)
        while True:
            answer = self.receive(120)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def send(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters, **({"sessionId": self.session} if self.session else {})}
        os.write(self.to_browser, json.dumps(request).encode() + b"\0")
        return self.number

    def receive(self, seconds):
        deadline = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.from_browser], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(self.from_browser, 65536) if ready else b""
            if not piece:
                raise RuntimeError("Chromium does not answer")
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        event = json.loads(message)
        self.note(event.get("method"), event.get("params"))
        return event

    def note(self, method, what):
        if method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.problems.append(str([one.get("value") for one in what["args"]]))
        elif method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(what["exceptionDetails"]))
        elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.problems.append(what["entry"]["text"] + " " + what["entry"].get("url", ""))
        elif method == "Network.requestWillBeSent":
            self.asked.append(what["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded += 1
        elif method == "Page.javascriptDialogOpening":
            self.problems.append("a dialog: " + what["message"])
            self.send("Page.handleJavaScriptDialog", accept=True)

    def look(self, scheme, width, height=900):
        """How the reader's system is: "light" or "dark", and a screen of this width."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def open(self, address):
        before = self.loaded
        self.call("Page.navigate", url=address)
        while self.loaded == before:
            self.receive(120)

    def value(self, expression):
        """Of a JavaScript expression, in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait_for(self, expression, seconds=60):
        deadline = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > deadline:
                raise AssertionError(f"{expression}: not within {seconds} s; {self.problems}")
            time.sleep(0.1)


def contrast(first, second):
    """Of two colours as "rgb(1, 2, 3)". Source: WCAG 2.1, "contrast ratio"."""

    def luminance(colour):
        parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    darker, lighter = sorted((luminance(first), luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)
