"""local --watch and run --metrics: the page on which a run is watched, and what it is made of."""

import json
import os
import pathlib
import re
import signal
import time
import unittest
import urllib.error
import urllib.request

from trefoil_program import PATIENCE, TINY_JOB, ProgramTest

NO_DISPLAY = {"DISPLAY": "", "WAYLAND_DISPLAY": ""}


def fetch(address):
    """Headers and text; none while nobody listens."""
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return answer.headers, answer.read().decode()
    except (urllib.error.URLError, ConnectionError):
        return None


def metrics(address):
    lines = (line for line in fetch(address + "metrics")[1].splitlines() if not line.startswith("#"))
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


class Watch(ProgramTest):
    def start(self, steps, *options, environment=NO_DISPLAY):
        """A local run, and the addresses of its parties' pages as it says them."""
        job = self.write("job.toml", TINY_JOB.replace("steps = 6", f"steps = {steps}"))
        process = self.start_program("local", "--job", job, "--watch", *(options if "--out" in options else ("--out", "out", *options)), environment=environment)
        for line in process.stdout:
            if line.startswith("watch the run at "):
                addresses = re.findall(r"http://127\.0\.0\.1:\d+/", line)
                self.assertEqual(len(set(addresses)), 3, line)
                return process, addresses
        self.fail(process.stderr.read())

    def end_well(self, process):
        _, error = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, error), (0, ""))

    def browser(self):
        """A folder with a program xdg-open that writes down what it is to open."""
        folder = self.folder / "bin"
        folder.mkdir()
        program = folder / "xdg-open"
        program.write_text(f'#!/bin/sh\necho "$1" >>"{self.folder}/opened"\n')
        program.chmod(0o755)
        return f"{folder}:{os.environ['PATH']}"

    def stand_still(self, process, address):
        """Stops party 2, so that the others wait for it between two messages: their numbers stay."""
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        party = next(child for child in children if b"party-2" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes())
        os.kill(int(party), signal.SIGSTOP)
        self.addCleanup(lambda: pathlib.Path(f"/proc/{party}").exists() and os.kill(int(party), signal.SIGCONT))
        before = None
        while (now := metrics(address)["trefoil_step"]) != before:
            before = now
            time.sleep(0.5)  # a peer that is silent for ten seconds counts as lost
        return int(party)

    def test_the_page_has_the_numbers_of_the_metrics_and_the_log(self):
        process, addresses = self.start(400, "--ledger", "ledgers", "--epsilon-cap", "50")
        status = {}
        deadline = time.monotonic() + 120
        while not status or status["progress"]["step"] < 3:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
            answer = fetch(addresses[0] + "status.json")
            status = json.loads(answer[1]) if answer else {}
        stopped = self.stand_still(process, addresses[0])
        headers, text = fetch(addresses[0] + "status.json")
        self.assertEqual(headers["Content-Type"], "application/json")
        status, numbers = json.loads(text), metrics(addresses[0])
        log = (self.folder / "out/party-0/out/party.log").read_text()
        os.kill(stopped, signal.SIGCONT)
        progress = status["progress"]
        self.assertEqual((progress["step"], progress["steps"]), (numbers["trefoil_step"], numbers["trefoil_steps"]))
        self.assertEqual((progress["rounds"], progress["steps"]), (numbers["trefoil_rounds_total"], 400))
        for who in ("outsider", "insider"):
            self.assertEqual(status["epsilon"][who]["now"]["value"], numbers[f'trefoil_epsilon{{adversary="{who}"}}'])
            self.assertGreaterEqual(float(status["epsilon"][who]["now"]["text"]), status["epsilon"][who]["now"]["value"])
        for peer in status["peers"]:
            self.assertEqual(peer["bytes_sent"]["value"], numbers[f'trefoil_bytes_sent_total{{peer="{peer["party"]}"}}'])
            self.assertEqual(numbers[f'trefoil_peer_state{{peer="{peer["party"]}",state="{peer["state"]}"}}'], 1)
        self.assertEqual([point[0] for point in status["course"]], list(range(progress["step"] + 1)))
        self.assertEqual(status["log"], log.splitlines()[-40:])
        ledger = status["ledgers"][0]
        self.assertEqual((ledger["spent"]["value"], ledger["cap"]["value"]), (0, 50))
        self.assertIn(f"epsilon {ledger['spent']['text']} spent before, {ledger['after']['text']} with this job", log)
        planned = status["epsilon"]
        self.assertIn(f"epsilon {planned['outsider']['planned']['text']} outsider {planned['insider']['planned']['text']} insider", log)

        headers, page = fetch(addresses[1])
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertIn('<progress id="bar"', page)
        self.assertEqual([json.loads(fetch(address + "status.json")[1])["party"] for address in addresses[:2]], [0, 1])
        self.end_well(process)
        summary = self.summary("out")
        for who in ("outsider", "insider"):
            self.assertEqual(planned[who]["planned"]["value"], summary[f"epsilon_{who}"])
        self.assertIsNone(fetch(addresses[0]))

    def test_opens_the_page_where_there_is_a_display(self):
        path = self.browser()
        process, addresses = self.start(6, environment={**NO_DISPLAY, "WAYLAND_DISPLAY": "wayland-0", "PATH": path})
        self.end_well(process)
        opened = self.folder / "opened"
        deadline = time.monotonic() + 30
        while not opened.exists() or not opened.read_text():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        self.assertEqual(opened.read_text(), addresses[0] + "\n")

    def test_runs_where_nothing_can_be_opened(self):
        for name, environment in {
            "no display": {**NO_DISPLAY, "PATH": self.browser()},
            "no program": {"DISPLAY": ":99", "PATH": str(self.folder / "nowhere")},
        }.items():
            with self.subTest(name):
                process, _ = self.start(2, "--out", f"out {name}", environment=environment)
                self.end_well(process)
        self.assertFalse((self.folder / "opened").exists())

    def test_refuses_what_cannot_be_watched(self):
        job = self.write("job.toml", TINY_JOB)
        self.fail_with(2, "--watch: found with --prepare", "local", "--job", job, "--out", "out", "--watch", "--prepare")
        self.succeed("local", "--job", job, "--out", "d", "--prepare")
        run = ("run", "--config", "d/party-0/party.toml", "--job", job, "--out", "r0", "--metrics")
        self.fail_with(2, '--metrics: found "0.0.0.0:9100", expected 127.0.0.1:PORT', *run, "0.0.0.0:9100")
        self.fail_with(2, '--metrics: found "9100", expected', *run, "9100")


if __name__ == "__main__":
    unittest.main()
