"""What a run writes down of itself: logs as text and JSON, and that nothing secret is in them, at any level."""

import base64
import hashlib
import json
import random
import re
import stat
import unittest

from trefoil_program import PATIENCE, ProgramTest, free_base_port

PARTIES = (0, 1, 2)
LEVELS = ("debug", "info", "warning", "error")

JOB = """
version = 1
type = "dpsgd"
name = "logged"
[data]
name = "people"
format = "csv"
rows = [40, 40, 40]
classes = 2
label = { column = "verdict", values = ["innocuous", "ferocious"], aliases = { "ferozious" = "ferocious" } }
[[data.column]]
name = "income"
mean = 0.0
scale = 1.0
[[data.column]]
name = "code"
mean = 0.0
scale = 1.0
[[data.column]]
name = "town"
kind = "category"
values = ["Quixotopia", "Zanzibaria", "Vermilionville"]
[features]
row_norm = 16.0
[training]
steps = 200
expected_batch = 30
max_batch_per_owner = 40
learning_rate = 2.0
checkpoint_every = 20
[privacy]
sigma = 5.0
delta = 1e-5
clip = 0.5
[evaluation]
holder = 0
rows = 10
"""

# Names of classes and categories stand in the job, so that warnings to the owner alone may have them; a log may not,
# but for the class that the line of an evaluation with a confusion table names.
NAMES = {"innocuous", "ferocious", "Quixotopia", "Zanzibaria", "Vermilionville"}
OWNER_WARNINGS = "owner_warnings.txt"
STORAGE_KEY = b"planted-storage-key-of-more-than-32-bytes: correct horse battery staple"


def derived(purpose):
    """The key that sealed files of a kind are under (docs/reference/formats.md)."""
    return hashlib.blake2b(STORAGE_KEY, key=purpose.ljust(64, b"\0"), digest_size=32).digest()


def spellings(secret):
    """A byte string as a log might show it."""
    return {secret.hex(), secret.hex().upper(), base64.b64encode(secret).decode().rstrip("=")}


class Logs(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", JOB)
        self.planted = NAMES | {"ferozious"}
        self.write_data()
        self.succeed("init", "--all", "--hosts", "127.0.0.1,127.0.0.1,127.0.0.1", "--base-port", free_base_port(), "--out", "d")
        for party in PARTIES:
            self.set_up_party(party)

    def write_data(self):
        # Odd multiples of 1/512 have ten digits and are the same numbers in single and in double precision; nobody scales
        # them. Fixed. A hash among the texts, of 4,000 hexadecimal digits in all, has the first eight digits of one of the
        # 260 by chance with a probability below 260 * 4,000 / 16^8 = 0.0003.
        numbers = random.Random(7)
        for name, rows in (("train-0", 40), ("train-1", 37), ("train-2", 40), ("test-0", 10)):
            lines = ["income,code,town,verdict"]
            for _ in range(rows):
                income, code = (f"{numbers.randrange(1, 9)}.{numbers.randrange(1, 512, 2) * 10**9 // 512:09}" for _ in range(2))
                self.planted |= {number.replace(".", "")[:8] for number in (income, code)}
                town = numbers.choice(["Quixotopia", "Zanzibaria", "Vermilionville"])
                lines.append(f"{income},{code},{town},{numbers.choice(['innocuous', 'ferozious'])}")
            self.write(f"{name}.csv", "\n".join(lines) + "\n")

    def set_up_party(self, party):
        folder = self.folder / f"d/party-{party}"
        (folder / "storage.key").write_bytes(STORAGE_KEY)
        (folder / "storage.key").chmod(0o600)
        toml = folder / "party.toml"
        text = toml.read_text().replace("[data]\n", f'[data]\nfile = "../../train-{party}.csv"\n', 1)
        metrics = f'[metrics]\nlisten = "127.0.0.1:{free_base_port()}"\n' if party == 0 else ""
        evaluation = '[evaluation]\nfile = "../../test-0.csv"\n' if party == 0 else ""
        toml.write_text(text + f'{evaluation}{metrics}[storage]\nkey = "storage.key"\n[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 1000.0\n'
                        'delta = 1e-5\n')
        key = (folder / "party.key").read_text()
        body = "".join(key.split("-----")[2].split())
        raw = base64.b64decode(body)
        self.planted |= {body[k:k + 20] for k in range(0, len(body) - 20, 10)}
        self.planted |= {raw.hex()[k:k + 24] for k in range(0, len(raw.hex()) - 24, 12)}

    def set_log(self, party, **keys):
        toml = self.folder / f"d/party-{party}/party.toml"
        text = re.sub(r"\[log\]\n(\w+ = .*\n)*", "", toml.read_text())
        toml.write_text(text + "[log]\n" + "".join(f'{key} = "{value}"\n' for key, value in keys.items()))

    def run_parties(self, out, job=None):
        """Codes, and all that the three processes say or write as text."""
        processes = [self.start_program("run", "--config", f"d/party-{party}/party.toml", "--job", job or self.job, "--out", f"{out}-{party}",
                                        "--threads", "1") for party in PARTIES]
        outputs = [process.communicate(timeout=PATIENCE) for process in processes]
        return [process.returncode for process in processes], outputs

    def texts(self, out, outputs):
        """Name and text of all that others may read, but what is declared to be public (job) or released (model)."""
        texts = {}
        for party in PARTIES:
            texts |= {f"stdout of party {party}": outputs[party][0], f"stderr of party {party}": self.errors(outputs[party][1])}
            for path in sorted((self.folder / f"{out}-{party}").glob("*")):
                if path.is_file() and path.name not in ("job.toml", "model.npz", OWNER_WARNINGS):
                    texts[f"{path.parent.name}/{path.name}"] = path.read_text()
        return texts

    def assert_nothing_secret(self, out, outputs):
        for name, text in self.texts(out, outputs).items():
            self.assertEqual(self.secrets_in(text), [], name)
            self.assertNotRegex(text, r"\b37 (rows|records)|(rows|records)\W{1,3}37\b", name)  # how many party 1 has
        for party in PARTIES:
            warnings = self.folder / f"{out}-{party}" / OWNER_WARNINGS
            text = outputs[party][1] + (warnings.read_text() if warnings.exists() else "")
            self.assertLessEqual(set(self.secrets_in(text)), NAMES, f"with warnings to the owner, party {party}")

    def secrets_in(self, text):
        secrets = self.planted | {STORAGE_KEY.decode()[:24]} | spellings(STORAGE_KEY)
        for purpose in (b"trefoil checkpoint", b"trefoil model share"):
            secrets |= spellings(derived(purpose))
        digits = text.replace(".", "")  # 8.435546875, 8435.546875 and 0.8435546875 alike
        return sorted(secret for secret in secrets if secret in text or secret in digits)

    def unknown_words(self, text, known):
        """Long numbers and long runs of hexadecimal digits that are none of the known public ones: shares, seeds, keys."""
        words = re.findall(r"(?<![0-9A-Za-z.])(?:[0-9a-f]{16,}|[0-9A-F]{16,}|[0-9]{13,})(?![0-9A-Za-z])", text)
        return sorted(set(words) - known)

    def public_words(self, out):
        """Hashes and ids that the three may all know, and of its own data."""
        known = set()
        for party in PARTIES:
            folder = self.folder / f"{out}-{party}"
            for line in (folder / "audit.jsonl").read_text().splitlines():
                known |= set(re.findall(r'"(?:hash|previous|session|id|job_hash|data|sha256)":"([0-9a-f]+)"', line))
            for line in (self.folder / f"d/party-{party}/ledger.jsonl").read_text().splitlines():
                known |= set(re.findall(r'"(?:hash|previous|sha256|run_id)":"([0-9a-f]+)"', line))
            record = folder / "record.json"
            if record.exists():
                known |= {json.loads(record.read_text())["run_id"]}
        return known

    def test_a_full_debug_run_tells_nothing_secret(self):
        for out, form in (("text", "text"), ("json", "json")):
            for party in PARTIES:
                self.set_log(party, level="debug", stderr="debug", format=form)
            codes, outputs = self.run_parties(out)
            self.assertEqual(codes, [0, 0, 0], outputs)
            self.assert_nothing_secret(out, outputs)
            for name, text in self.texts(out, outputs).items():
                if name.endswith(("party.log", "stdout", "stderr")):
                    self.assertEqual(self.unknown_words(text, self.public_words(out)), [], name)
            for party in PARTIES:
                log = (self.folder / f"{out}-{party}/party.log").read_text()
                for event in ("step 7/200", "kept a checkpoint of step 20", "announced steps", "connected", "done: "):
                    self.assertIn(event, log)
                # Party I's stderr is the same stream as its file.
                self.assertEqual(self.errors(outputs[party][1]), log)

    def test_neither_do_failing_runs_at_any_level(self):
        for k, level in enumerate(LEVELS):
            for party in PARTIES:
                self.set_log(party, level=level, stderr=level, format="json" if k % 2 else "text")
            processes = [self.start_program("run", "--config", f"d/party-{party}/party.toml", "--job", self.job, "--out", f"{level}-{party}")
                         for party in PARTIES]
            progress = self.folder / f"{level}-1/progress.csv"
            while not progress.exists() or progress.read_text().count("\n") < 5:
                self.assertIsNone(processes[1].poll())
            processes[1].send_signal(15 if k < 2 else 9)
            outputs = [process.communicate(timeout=PATIENCE) for process in processes]
            self.assertEqual([process.returncode for process in processes], [3, 143 if k < 2 else -9, 3], outputs)
            self.assert_nothing_secret(level, outputs)

    def test_this_test_would_find_them(self):
        folder = self.folder / "d/party-1"
        row = (self.folder / "train-1.csv").read_text().splitlines()[7].split(",")
        key = "".join((folder / "party.key").read_text().split("-----")[2].split())
        for text in (f"step 3, x = {row[0]}", f"x = {float(row[0]):.10g}", f"code {row[1]}", row[2], row[3], key, base64.b64decode(key).hex(),
                     derived(b"trefoil checkpoint").hex(), STORAGE_KEY.decode(), "key " + derived(b"trefoil model share").hex().upper()):
            self.assertNotEqual(self.secrets_in(text), [], text)
        for text in ("share 17446744073709551616", "seed " + "5a" * 32, "own=0123456789abcdef"):
            self.assertNotEqual(self.unknown_words(text, set()), [], text)
        self.assertEqual(self.secrets_in("step 7/200, epsilon 1.234 outsider 1.567 insider"), [])

    def test_the_audit_log_accounts_for_every_session(self):
        self.set_log(1, audit="audit.jsonl")  # one for all runs
        self.assertEqual(self.run_parties("r")[0], [0, 0, 0])
        processes = [self.start_program("run", "--config", f"d/party-{party}/party.toml", "--job", self.job, "--out", f"s-{party}")
                     for party in PARTIES]
        progress = self.folder / "s-1/progress.csv"
        while not progress.exists() or progress.read_text().count("\n") < 5:
            self.assertIsNone(processes[1].poll())
        processes[2].kill()
        for process in processes:
            process.communicate(timeout=PATIENCE)
        audit = self.folder / "d/party-1/audit.jsonl"
        entries = [json.loads(line) for line in audit.read_text().splitlines()]
        kinds = ["session", "connected", "release", "release", "end"]
        self.assertEqual([entry["kind"] for entry in entries], kinds + ["session", "connected", "end"])
        session = entries[0]
        for party in PARTIES:
            der = base64.b64decode("".join((self.folder / f"d/party-{party}/party.crt").read_text().split("-----")[2].split()))
            fingerprint = hashlib.sha256(der).hexdigest().upper()
            self.assertEqual(session["certificates"][party].replace(":", ""), fingerprint)
        self.assertEqual((session["party"], session["job"]), (1, "logged"))
        self.assertEqual(session["job_hash"], json.loads((self.folder / "r-1/record.json").read_text())["job_hash"])
        lines = hashlib.sha256((self.folder / "train-1.csv").read_bytes()).hexdigest()
        data = hashlib.sha256(f"file {lines}\n".encode()).hexdigest()
        # Whoever reads the log and guesses the data must not see that the guess is right.
        salt = self.folder / "r-1/data.salt"
        self.assertEqual(stat.S_IMODE(salt.stat().st_mode), 0o600)
        self.assertRegex(salt.read_text(), r"\A[0-9a-f]{64}\Z")
        self.assertEqual(session["data"], hashlib.sha256((salt.read_text() + data).encode()).hexdigest())
        self.assertNotEqual(entries[5]["data"], session["data"])  # of the same data, in another run directory
        for log in (audit, self.folder / "r-1/party.log"):
            self.assertNotIn(data, log.read_text())
            self.assertNotIn(lines, log.read_text())
        self.assertEqual(entries[1]["id"], json.loads((self.folder / "r-1/record.json").read_text())["run_id"])
        released = {entry["what"]: entry for entry in entries if entry["kind"] == "release"}
        self.assertEqual(released["model.npz"]["sha256"], hashlib.sha256((self.folder / "r-1/model.npz").read_bytes()).hexdigest())
        self.assertEqual(released["evaluation.correct"]["value"], self.summary("r-1")["evaluation"]["correct"])
        self.assertEqual(entries[4]["outcome"], "done")
        self.assertEqual([entries[7][key] for key in ("outcome", "reason", "party", "exit_code")], ["failed", "peer lost", 2, 3])
        killed = self.folder / "s-2/audit.jsonl"  # has its own: no audit = in its party file
        self.assertIn("sessions without an end: 1", self.succeed("ledger", "verify", killed))
        self.find_changes(audit)

    def find_changes(self, audit):
        whole = self.succeed("ledger", "verify", audit)
        self.assertIn("8 lines, 2 sessions, 2 releases, unbroken; the newest line has hash ", whole)
        self.assertNotIn("without an end", whole)
        newest = whole.strip().rpartition(" ")[2]
        self.assertIn(f"line hash {json.loads(audit.read_text().splitlines()[4])['hash']}", (self.folder / "r-1/party.log").read_text())
        self.succeed("ledger", "verify", audit, "--contains", newest)
        lines = audit.read_text().splitlines(keepends=True)
        for changed, number in ((lines[:2] + [lines[2].replace('"release"', '"releasf"')] + lines[3:], 3), (lines[:2] + [lines[3], lines[2]] + lines[4:], 3),
                                (lines[:2] + lines[3:], 3), (lines[1:], 1)):
            path = self.write("changed.jsonl", "".join(changed))
            self.fail_with(4, f"changed.jsonl: line {number}: found ", "ledger", "verify", path)
        cut = self.write("cut.jsonl", "".join(lines[:-1]))
        self.assertIn("sessions without an end: 1", self.succeed("ledger", "verify", cut))
        self.fail_with(4, "lines were cut off its end", "ledger", "verify", cut, "--contains", newest)
        self.fail_with(4, "lines were cut off its end", "ledger", "verify", self.write("shorter.jsonl", "".join(lines[:5])), "--contains", newest)
        torn = self.write("torn.jsonl", "".join(lines) + '{"kind"')
        self.assertIn("line 9 was not written to its end and does not count", self.succeed("ledger", "verify", torn))

    def test_levels_and_forms_are_chosen_by_the_party_file(self):
        self.set_log(0, level="warning")
        self.set_log(1, format="json", stderr="error")
        self.set_log(2, level="off", stderr="info")
        codes, outputs = self.run_parties("r")
        self.assertEqual(codes, [0, 0, 0], outputs)
        warnings = (self.folder / "r-0/party.log").read_text()
        self.assertRegex(warnings, r"\A(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z warning [^\n]+\n)+\Z")
        self.assertEqual((self.errors(outputs[0][1]), self.errors(outputs[1][1])), ("", ""))
        lines = [json.loads(line) for line in (self.folder / "r-1/party.log").read_text().splitlines()]
        for line in lines:
            self.assertEqual(list(line), ["time", "level", "party", "text"])
            self.assertEqual(line["party"], 1)
        self.assertEqual({line["level"] for line in lines}, {"info", "warning"})
        self.assertEqual((self.folder / "r-2/party.log").read_text(), "")
        self.assertRegex(outputs[2][1], r"Z info connected: TLS 1.3 to both, same job\n")
        (links,) = [line["text"] for line in lines if line["text"].startswith("links: ")]
        self.assertRegex(links, r"\Alinks: round trip \d+\.\d\d ms, [1-9]\d* Mbit/s, hashing \d+\.\d\d times as long, as measured; comparisons in (bulk|latency) form\Z")
        self.assertIn(f"Z info {links}\n", outputs[2][1], "all three agree on the slowest")
        self.set_log(0, level="loud")
        self.fail_with(2, 'log.level: found "loud"', "run", "--config", "d/party-0/party.toml", "--job", self.job, "--out", "no")


if __name__ == "__main__":
    unittest.main()
