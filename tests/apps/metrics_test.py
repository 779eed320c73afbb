"""What a run tells programs on its machine while it goes on: metrics, health, readiness."""

import re
import shutil
import time
import unittest
import urllib.error
import urllib.request

from trefoil_program import PATIENCE, TINY_JOB, ProgramTest, free_base_port, prepared

PARTIES = (0, 1, 2)


class Metrics(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", TINY_JOB.replace("steps = 6", "steps = 400"))
        self.succeed("local", "--job", self.job, "--out", "d", *prepared())
        self.port = free_base_port()
        self.listen(f"127.0.0.1:{self.port}")

    def listen(self, address, more=""):
        path = self.folder / "d/party-1/party.toml"
        text = re.sub(r"\n\[metrics\][^[]*", "", path.read_text())
        path.write_text(f'{text}\n[metrics]\nlisten = "{address}"\n{more}')

    def start(self, party):
        return self.start_program("run", "--config", f"d/party-{party}/party.toml", "--job", self.job, "--out", f"r{party}", "--threads", "1")

    def get(self, page, host="127.0.0.1"):
        """Status and text of a page; None while nobody listens."""
        try:
            with urllib.request.urlopen(f"http://{host}:{self.port}{page}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except (urllib.error.URLError, ConnectionError):
            return None, ""

    def wait_for(self, page, status):
        deadline = time.monotonic() + 30
        while self.get(page)[0] != status:
            self.assertLess(time.monotonic(), deadline, page)
            time.sleep(0.02)

    @staticmethod
    def values(text):
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if not line.startswith("#")}

    @staticmethod
    def states(values):
        """The state of each peer, exactly one."""
        found = [re.fullmatch(r'trefoil_peer_state\{peer="(\d)",state="(\w+)"\}', key) for key, value in values.items() if value == 1]
        pairs = [(int(match[1]), match[2]) for match in found if match]
        assert len(pairs) == len(dict(pairs)), pairs
        return dict(pairs)

    def test_serves_metrics_health_and_readiness(self):
        processes = [self.start(1)]
        self.wait_for("/healthz", 200)
        self.assertEqual(self.get("/readyz")[0], 503)
        self.assertEqual(self.get("/other")[0], 404)
        before = self.values(self.get("/metrics")[1])
        self.assertEqual((before["trefoil_step"], before["trefoil_ready"]), (0, 0))
        self.assertEqual(self.states(before), {0: "waiting", 2: "waiting"})
        processes.append(self.start(0))
        deadline = time.monotonic() + 30
        while self.states(self.values(self.get("/metrics")[1])) != {0: "connected", 2: "waiting"}:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        self.assertEqual(self.get("/readyz")[0], 503)
        processes.append(self.start(2))
        self.wait_for("/readyz", 200)
        deadline = time.monotonic() + PATIENCE
        seen = {}
        while seen.get("trefoil_step", 0) < 20:
            self.assertLess(time.monotonic(), deadline)
            status, text = self.get("/metrics")
            self.assertEqual(status, 200)
            seen = self.values(text)
        self.assertEqual((seen["trefoil_steps"], seen["trefoil_ready"]), (400, 1))
        self.assertEqual(self.states(seen), {0: "connected", 2: "connected"})
        self.assertGreater(seen["trefoil_epsilon{adversary=\"insider\"}"], seen["trefoil_epsilon{adversary=\"outsider\"}"])
        for peer in (0, 2):
            self.assertGreater(seen[f'trefoil_bytes_sent_total{{peer="{peer}"}}'], 1000)
        self.assertNotIn('trefoil_bytes_sent_total{peer="1"}', seen)
        self.assertGreater(seen["trefoil_rounds_total"], 20)
        self.assertGreater(seen["trefoil_resident_memory_bytes"], 1e6)
        for party in PARTIES:
            days = (seen[f'trefoil_certificate_expiry_timestamp_seconds{{party="{party}"}}'] - time.time()) / 86400
            self.assertAlmostEqual(days, 365, delta=2)
        for process in processes:
            _, error = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0, error)
        self.assertEqual(self.get("/healthz")[0], None)

    def test_serves_other_machines_where_told(self):
        for more, expected in (("", None), ("exposed = true\n", 200)):
            # 127.0.0.2 is this machine, but not the address that is served by default.
            self.listen(f"{'0.0.0.0' if more else '127.0.0.1'}:{self.port}", more)
            shutil.rmtree(self.folder / "r1", ignore_errors=True)
            process = self.start(1)
            self.wait_for("/healthz", 200)
            for page in ("/metrics", "/"):
                self.assertEqual(self.get(page, "127.0.0.2")[0], expected)
            if more:  # a name may have been made to lead here
                named = urllib.request.Request(f"http://127.0.0.2:{self.port}/", headers={"Host": "evil.example"})
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(named, timeout=5)
                self.assertEqual(refused.exception.code, 403)
                refused.exception.close()
            process.terminate()
            process.communicate(timeout=PATIENCE)

    def test_refuses_what_others_could_reach(self):
        for address in ("0.0.0.0:9100", "localhost:9100"):
            text = f'metrics.listen: found "{address}", expected 127.0.0.1:PORT'
            self.listen(address)
            self.fail_with(2, text, "run", "--config", "d/party-1/party.toml", "--job", self.job, "--out", "r1")


if __name__ == "__main__":
    unittest.main()
