"""The page to watch and the report as Chromium shows them: light and dark, wide and narrow, without an error on its console."""

import http.server
import json
import random
import re
import sys
import threading
import time
import unittest
import urllib.error
import urllib.request

import browser
import evaluate_test
import target_test
from trefoil_program import PATIENCE, TINY_JOB, ProgramTest

LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (1280, 360)]
HOSTILE = "</pre><img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"


class InBrowser(ProgramTest):
    def setUp(self):
        super().setUp()
        self.browser = browser.Browser()
        self.addCleanup(self.browser.close)

    def assert_well_shown(self, scheme, width):
        """Nothing goes over the screen's edge, and what is written can be read."""
        self.assertEqual(self.browser.value("innerWidth"), width)
        self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), width)
        colours = self.browser.value("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
        self.assertGreater(browser.contrast(*colours), 7)
        soft = self.browser.value("getComputedStyle(document.querySelector('.soft')).color")
        self.assertGreater(browser.contrast(soft, colours[1]), 4.5)
        white = browser.contrast(colours[1], "rgb(0, 0, 0)") > 15
        self.assertEqual(white, scheme == "light", colours)

    def assert_asked_only(self, start):
        self.assertEqual([url for url in self.browser.asked if not url.startswith((start, "data:"))], [])


class LivePage(InBrowser):
    def start(self):
        """The address of a party's page in a run that goes on."""
        job = self.write("job.toml", TINY_JOB.replace("steps = 6", "steps = 4000"))
        process = self.start_program("local", "--job", job, "--out", "out", "--watch", environment={"DISPLAY": "", "WAYLAND_DISPLAY": ""})
        said = next((line for line in process.stdout if line.startswith("watch the run at ")), "")
        address = re.search(r"http://127\.0\.0\.1:\d+/", said)
        self.assertIsNotNone(address, said)
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                urllib.request.urlopen(address[0], timeout=5).close()
                return process, address[0]
            except (urllib.error.URLError, ConnectionError):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)

    def test_shows_a_run_that_goes_on(self):
        process, address = self.start()
        tab = self.browser
        tab.look(*LOOKS[0])
        tab.open(address)
        tab.wait_for("document.getElementById('bar').value >= 2 && document.querySelectorAll('#plot polyline').length == 2", 120)
        for look in LOOKS:
            with self.subTest(look):
                tab.look(*look)
                step = tab.value("document.getElementById('bar').value")
                tab.wait_for(f"document.getElementById('bar').value > {step}")  # it asks again by itself
                self.assert_well_shown(*look)
                self.assertEqual(tab.value("document.title"), "Party 0: tiny")
                self.assertEqual(tab.value("document.getElementById('bar').max"), 4000)
                cards = tab.value("document.getElementById('cards').innerText")
                for part in ("of 4000", "time left", "steps a second", "memory"):
                    self.assertIn(part, cards)
                self.assertEqual(tab.value("document.querySelectorAll('#epsilons tr').length"), 2)
                self.assertEqual(tab.value("[...document.querySelectorAll('#peers tr')].map(row => row.innerText.split('\\t')[1])"),
                                 ["connected", "connected"])
                self.assertGreater(tab.value("document.querySelector('#plot polyline').getBoundingClientRect().height"), 0)
                self.assertIn("connected: TLS 1.3 to both", tab.value("document.getElementById('log').textContent"))
        self.assertEqual(tab.problems, [])
        self.assert_asked_only(address)
        self.end(process)
        tab.wait_for("document.getElementById('state').textContent.startsWith('No answer')")
        self.assertIn("of 4000", tab.value("document.getElementById('cards').innerText"))

    def test_shows_hostile_texts_as_texts(self):
        process, address = self.start()
        with urllib.request.urlopen(address, timeout=5) as answer:
            page, policy = answer.read(), answer.headers["Content-Security-Policy"]
        with urllib.request.urlopen(address + "status.json", timeout=5) as answer:
            status = json.load(answer)
        self.end(process)
        status["job"].update(name=HOSTILE, title=HOSTILE)
        status["epsilon"].update(covered=HOSTILE)
        status.update(obstacle=HOSTILE, log=[HOSTILE, "\u202e\x1b[2J"])
        status["peers"][0]["state"] = HOSTILE

        class Copy(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = json.dumps(status).encode() if self.path == "/status.json" else page
                self.send_response(200)
                self.send_header("Content-Security-Policy", policy)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Copy)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        tab = self.browser
        tab.look("light", 360)
        tab.open(f"http://127.0.0.1:{server.server_port}/")
        tab.wait_for(f"document.title == {json.dumps('Party 0: ' + HOSTILE)}")
        for name in ("title", "state", "promise"):
            self.assertEqual(tab.value(f"document.getElementById('{name}').textContent"), HOSTILE)
        self.assertEqual(tab.value("document.getElementById('log').textContent"), "\n".join(status["log"]))
        self.assertEqual(tab.value("[document.images.length, document.scripts.length]"), [0, 1])
        self.assertLessEqual(tab.value("document.documentElement.scrollWidth"), 360)
        # The policy by itself would keep such a script from running, too.
        tab.value("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.taken = 1'}))")
        self.assertIsNone(tab.value("window.taken"))


class Report(InBrowser):
    def test_shows_roc_and_calibration(self):
        coins = random.Random(3)
        (self.folder / "data").mkdir()
        for name, count in (("train", 600), ("test", 150)):
            ill = [coins.random() < 0.4 for _ in range(count)]
            rows = "".join(f"{coins.gauss(0.4 * yes, 0.4):.1f},{coins.gauss(0, 0.4):.1f},{'ill' if yes else 'well'}\n" for yes in ill)
            (self.folder / f"data/{name}.csv").write_text("a,b,state\n" + rows)
        self.train(evaluate_test.JOB)
        self.assert_plots({"ROC": 2, "Calibration": 2})

    def test_shows_several_classes(self):
        coins = random.Random(4)
        centres = {"well": (0, 0), "ill": (0.8, 0), "very, <b>very</b> ill": (0, 0.8)}
        (self.folder / "data").mkdir()
        for name, count in (("train", 600), ("test", 150)):
            rows = ""
            for _ in range(count):
                state, (a, b) = coins.choice(list(centres.items()))
                rows += f'{coins.gauss(a, 0.4):.1f},{coins.gauss(b, 0.4):.1f},"{state}"\n'
            (self.folder / f"data/{name}.csv").write_text("a,b,state\n" + rows)
        self.train(evaluate_test.JOB.replace("classes = 2", "classes = 3").replace('["well", "ill"]', json.dumps(list(centres))))
        self.assert_plots({"ROC": 2, "Calibration": 2})
        self.assertIn("very, <b>very</b> ill", self.browser.value("document.body.innerText"))

    def test_shows_targets(self):
        coins = random.Random(5)
        (self.folder / "data").mkdir()
        for name, count in (("train", 600), ("test", 150)):
            rows = [(coins.randrange(20, 110), coins.randrange(6)) for _ in range(count)]
            text = "".join(f"{area},{floor},{target_test.rent(area, floor, coins)}\n" for area, floor in rows)
            (self.folder / f"data/{name}.csv").write_text("area,floor,rent\n" + text)
        self.train(target_test.JOB)
        self.assert_plots({"Calibration": 2})

    def train(self, job):
        self.succeed("local", "--job", self.write("job.toml", job), "--data", "data", "--out", "out")
        self.succeed("report", "out")

    def assert_plots(self, lines):
        """The report is well shown, with so many lines in the plots of these titles."""
        tab = self.browser
        for look in LOOKS:
            with self.subTest(look):
                tab.look(*look)
                tab.open((self.folder / "out/report.html").as_uri())
                self.assert_well_shown(*look)
                plots = tab.value("""Object.fromEntries([...document.querySelectorAll('svg')].map(plot => [
                    plot.getAttribute('aria-label'), [...plot.querySelectorAll('polyline')].map(line => line.getBoundingClientRect().width)]))""")
                for title, count in lines.items():
                    self.assertEqual(len(plots[title]), count, plots)
                    self.assertGreater(min(plots[title]), 50)
        self.assertEqual(tab.problems, [])
        self.assert_asked_only("file:")


if __name__ == "__main__":
    if not browser.CHROMIUM:
        print(browser.MISSING)
        sys.exit(77)
    unittest.main()
