"""trefoil check: finds what is configured wrong, and says how to mend it."""

import gzip
import os
import re
import shutil
import socket
import subprocess
import unittest

from checked_parties import CheckedParties
from trefoil_program import BINARY, PATIENCE, TINY_JOB, ProgramTest, free_base_port

PARTIES = (0, 1, 2)
MPI = os.environ.get("TREFOIL_MPI") == "1"


class Check(CheckedParties, ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", TINY_JOB)
        self.port = free_base_port(6)
        self.succeed("local", "--job", self.job, "--out", "good", "--prepare", "--base-port", str(self.port))

    def certificate(self, days):
        """Party 0's certificate, made anew."""
        key = self.path("party.key")
        request = subprocess.run(["openssl", "req", "-new", "-key", key, "-subj", "/CN=party-0"], check=True,
                                 capture_output=True).stdout
        return subprocess.run(["openssl", "x509", "-req", "-signkey", key, "-days", str(days)], input=request, check=True,
                              capture_output=True).stdout

    def labels(self):
        return next(self.path("data").glob("*labels*"))

    def change_labels(self, change):
        path = self.labels()
        path.write_bytes(gzip.compress(bytes(change(bytearray(gzip.decompress(path.read_bytes()))))))

    def test_finds_what_is_wrong_with_the_files_and_names_the_mend(self):
        def other_key():
            shutil.copy(self.path("party.key", 1), self.path("party.key"))

        def weak_key():
            self.path("party.key").write_bytes(subprocess.run(["openssl", "genrsa", "1024"], check=True, capture_output=True).stdout)
            self.path("party.crt").write_bytes(self.certificate(300))

        ledger = '\n[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 1000\ndelta = 1e-5\n'
        too_small = '\n[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 0.1\ndelta = 1e-5\n'
        log = '\n[log]\naudit = "audit.jsonl"\n'
        nowhere = self.edited_job(r"\[privacy\]", "[release]\nto = []\n[privacy]").rename(self.folder / "nobody.toml")
        planted = {
            "key that others can read": (lambda: self.path("party.key").chmod(0o644), 2, "private key mode: .*run chmod 600 "),
            "no key": (lambda: self.path("party.key").unlink(), 2, "private key mode: .*party.key: found no such file.*make key and certificate anew"),
            "another's key": (other_key, 2, "private key belongs to certificate: .*make both anew with init"),
            "expired certificate": (lambda: self.path("party.crt").write_bytes(self.certificate(-1)), 2,
                                    "certificate: .*has expired: make a new one with init, and exchange it"),
            "no certificate of a peer": (lambda: self.path("peers/party-1.crt").unlink(), 2,
                                         "certificate of party 1: .*store it with trefoil trust"),
            "damaged certificate of a peer": (lambda: self.path("peers/party-1.crt").write_text("text"), 2,
                                              "certificate of party 1: .*party-1.crt: "),
            "one certificate for both": (lambda: shutil.copy(self.path("peers/party-1.crt"), self.path("peers/party-2.crt")), 2,
                                         "links: certificate of party 2: the same as another party's: store each one's own by trust"),
            "no certificate": (lambda: self.path("party.crt").unlink(), 2, "certificate: .*party.crt: No such file.*make key and certificate anew"),
            "damaged certificate": (lambda: self.path("party.crt").write_text("text"), 2, "certificate: .*no X.509 certificate.*make key and certificate anew"),
            "damaged key": (lambda: self.path("party.key").write_text("text"), 2,
                            "private key belongs to certificate: .*no unencrypted private key.*make both anew with init"),
            "links after that": (lambda: self.path("party.key").write_text("text"), 2, "links: not tried: first mend certificates and key"),
            "a key that is too short for TLS": (weak_key, 2, "links: certificate: cannot be used for TLS: make a new one with init"),
            "an address of another machine": (lambda: self.edit("party.toml", '(?m)^listen = .*', 'listen = "192.0.2.1:7700"'), 2,
                                              "links: cannot listen on 192.0.2.1:7700: .*: correct party.listen to an address of this machine"),
            "no party file": (lambda: self.path("party.toml").unlink(), 2, "party file: .*No such file or directory.*: correct it, or make a new one with init"),
            "no section for TLS": (lambda: self.edit("party.toml", r"(?ms)^\[tls\].*?(?=^\[)", ""), 2, "party file: .*missing tls.certificate.*: correct it"),
            "unknown key": (lambda: self.edit("party.toml", "(?m)^start =", "strat ="), 2,
                            "party file: .*unknown key timeouts.strat; did you mean timeouts.start"),
            "no duration": (lambda: self.edit("party.toml", '(?m)^peer = "10s"', 'peer = "10"'), 2,
                            "party file: .*timeouts.peer: .*expected a time above 0, of a day at most, such as"),
            "itself as a peer": (lambda: self.edit("party.toml", r"(?m)^id = 2", "id = 0"), 2, "party file: .*id"),
            "data of another format": (lambda: self.edit("party.toml", r'(?ms)^x = .*?y = "[^"]*"', 'file = "data/train.csv"'), 2,
                                       "data: the party file names data by file, expected x and y, which the job's data.format has: correct"),
            "data that is cut": (lambda: self.labels().write_bytes(self.labels().read_bytes()[:-9]), 4, "data: .*damaged or cut gzip file.*: correct that file"),
            "no data file": (lambda: self.labels().unlink(), 4, "data: .*found no such file, expected a readable file"),
            "no [data]": (lambda: self.edit("party.toml", r"(?ms)^\[data\].*?(?=^\[)", ""), 2,
                          "data: .*missing .data., expected x and y, or file"),
            "a label that is no class": (lambda: self.change_labels(lambda b: b[:-1] + b"\x0b"), 4, "data: .*labels.*11.*: correct that file"),
            "fewer labels than images": (lambda: self.change_labels(lambda b: b[:4] + (290).to_bytes(4, "big") + b[8:298]), 4, "data: .*290"),
            "a budget that is spent": (lambda: self.append("party.toml", too_small), 5, "ledger: .*expected at most the cap 0.1.*: spend less by the job, or ask"),
            "a ledger that is none": (lambda: (self.append("party.toml", ledger), self.path("ledger.jsonl").write_text("text\n"),
                                               self.path("ledger.jsonl").chmod(0o600)), 4, "ledger: .*line 1: .*: bring back the last good copy"),
            "a folder for a ledger": (lambda: (self.append("party.toml", ledger), self.path("ledger.jsonl").mkdir()), 2,
                                      "ledger: .*found a folder, expected a ledger: correct ledger.file"),
            "a ledger in no folder": (lambda: self.append("party.toml", ledger.replace("ledger.jsonl", "none/ledger.jsonl")), 2,
                                      "ledger: .*none: found no such folder, expected one for the ledger: make it"),
            "a ledger that others can read": (lambda: (self.append("party.toml", too_small), self.path("ledger.jsonl").write_text(""),
                                                       self.path("ledger.jsonl").chmod(0o644)), 2, "ledger: .*chmod 600"),
            "a session log in no folder": (lambda: self.append("party.toml", log.replace("audit.jsonl", "none/audit.jsonl")), 2,
                                           "session log: .*none: found no such folder, expected one for the session log: make it"),
            "a folder for a session log": (lambda: (self.append("party.toml", log), self.path("audit.jsonl").mkdir()), 2,
                                           "session log: .*found a folder, expected a session log: correct log.audit"),
            "a session log that is none": (lambda: (self.append("party.toml", log), self.path("audit.jsonl").write_text("text\n"),
                                                    self.path("audit.jsonl").chmod(0o600)), 4, "session log: .*line 1: .*: bring back the last good copy"),
            "a session log that others can read": (lambda: (self.append("party.toml", log), self.path("audit.jsonl").write_text(""),
                                                            self.path("audit.jsonl").chmod(0o644)), 2, "session log: .*chmod 600"),
            "metrics at another machine's address": (
                lambda: self.append("party.toml", '\n[metrics]\nlisten = "192.0.2.1:9100"\nexposed = true\n'), 2,
                "metrics: cannot listen on 192.0.2.1:9100: .*: correct metrics.listen to an address of this machine"),
            "no storage key": (lambda: self.append("party.toml", '\n[storage]\nkey = "nowhere.key"\n'), 2, "storage key: .*nowhere.key: No such file.*: correct storage.key, or make it"),
            "a short storage key": (lambda: (self.append("party.toml", '\n[storage]\nkey = "short.key"\n'), self.path("short.key").write_text("short"),
                                             self.path("short.key").chmod(0o600)), 2, "storage key: .*found 5 bytes.*: make it anew"),
        }
        for name, (plant, code, line) in planted.items():
            with self.subTest(name):
                self.deploy()
                plant()
                self.expect(code, line, nowhere if "storage key" in name else None)

    def test_finds_what_is_wrong_with_the_job_and_names_the_mend(self):
        self.deploy()
        for text, line in (("version = \n", "job: .*not valid TOML: .*: correct the job"), ("", "job: .*missing type.*: correct the job")):
            self.expect(2, line, self.write("other.toml", text))
        self.expect(2, "job: nowhere.toml: No such file or directory.*: correct the job", "nowhere.toml")
        for name, pattern, replacement, code, line in (
                ("another format", 'format = "idx"', 'format = "npz"', 2, "data: the party file names data by x and y, expected file.*: correct"),
                ("no test records", r"\[privacy\]", "[evaluation]\nholder = 0\nrows = 100\nsigma = 30.0\n[privacy]", 2,
                 "test and validation data: .*missing .evaluation.*: correct"),
                ("unknown key", "expected_batch", "expected_bach", 2, "job: .*training.expected_bach; did you mean training.expected_batch"),
                ("too few rows declared", r"rows = \[300, 300, 300\]", "rows = [299, 300, 300]", 4, "data: .*found 300 rows, expected at most the 299"),
                ("other features", "features = 784", "features = 783", 4, "data: .*784.*783"),
                ("batches cut too often", "max_batch_per_owner = 100", "max_batch_per_owner = 29", 2, "job: .*max_batch_per_owner"),
                ("noise too small for its target", r"sigma = 2.0", "epsilon = 1e-9", 2, "privacy plan: "),
                ("more rows than memory", r"rows = \[300, 300, 300\]([\s\S]*)\[privacy\]",
                 'rows = [900000000, 300, 300]\\1[features]\nmethod = "hog"\n[privacy]', 2,
                 "memory: found .* free, expected about .*: more memory, or a smaller job, at all three parties")):
            with self.subTest(name):
                self.expect(code, line, self.edited_job(pattern, replacement))

    def test_finds_what_is_wrong_with_the_links_and_names_the_mend(self):
        self.deploy()
        out = self.expect(3, "party 1 at .*: connection: .*: start check or run there, compare address and port")
        self.assertIn("pass  data: 300 rows", out)
        self.assertRegex(out, "pass  memory: .* free, about .* needed")
        self.assertRegex(out, "pass  disk of this folder: .* free, at least .* needed")
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("127.0.0.1", self.port))
            other.listen()
            self.assertRegex(self.check().stdout, rf"(?m)^warn  links: cannot listen on 127.0.0.1:{self.port}: .*: end what uses it, or choose "
                                                  r"another party.listen; all is well if that is this party's own run$")
        self.append("party.toml", f'\n[log]\naudit = "audit.jsonl"\n[metrics]\nlisten = "127.0.0.1:{self.port + 4}"\n')
        out = self.check().stdout
        self.assertRegex(out, "(?m)^pass  session log: .*audit.jsonl, which the first run makes$")
        self.assertRegex(out, rf"(?m)^pass  metrics: 127.0.0.1:{self.port + 4}$")
        with socket.socket() as other:
            other.bind(("127.0.0.1", self.port + 4))
            other.listen()
            self.assertRegex(self.check().stdout, rf"(?m)^warn  metrics: cannot listen on 127.0.0.1:{self.port + 4}: .*: end what uses it, or "
                                                  r"choose another metrics.listen; all is well if that is this party's own run$")
        self.edit("party.toml", rf'"127.0.0.1:{self.port + 1}"', '"no-such-host.invalid:7700"')
        self.expect(3, "party 1 at no-such-host.invalid:7700: host name: .*: correct its address in ..peer.., or")
        self.deploy()
        other = self.edited_job("sigma = 2.0", "sigma = 2.5")
        self.together({1: other}, 0, 2, "party 1 at .*: job: privacy.sigma: 2.0 here, 2.5 at party 1: agree on one job file")
        # Party 1 was set up anew, and its new certificate was not exchanged.
        self.succeed("init", "--party", "1", "--hosts", "127.0.0.1,127.0.0.1,127.0.0.1", "--base-port", str(self.port), "--out", "new")
        for name in ("party.key", "party.crt"):
            shutil.copy(self.folder / "new" / name, self.path(name, 1))
        self.together({1: self.job}, 0, 3, "party 1 at .*: (TLS|connection): .*: (exchange certificates|start check)")

    def use_ranks(self, ranks=2):
        self.succeed("local", "--job", self.job, "--out", "ranks", "--prepare", "--base-port", str(self.port), "--ranks", ranks)
        shutil.rmtree(self.folder / "d", ignore_errors=True)
        shutil.copytree(self.folder / "ranks", self.folder / "d")

    def start_checks(self, *parties):
        return [self.start_program("check", "--config", f"d/party-{party}/party.toml", "--job", self.job, "--wait", "20s")
                for party in parties]

    @unittest.skipUnless(MPI, "built without MPI")
    def test_tries_every_rank_of_its_peers_where_it_is_dialled(self):
        self.use_ranks()
        for process in self.start_checks(*PARTIES):
            output, error = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0, output + error)
            self.assertIn("pass  ranks: 2", output)
            self.assertIn("pass  job on several machines: 2 ranks", output)
            self.assertEqual(len(re.findall(r"(?m)^pass  party \d, rank [01] at 127.0.0.1:\d+: reached", output)), 4, output)
        # Rank 1 of party 1 is said to be on a port that nobody listens on.
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            closed = nobody.getsockname()[1]
            self.edit("party.toml", rf'(?m)^address = "127.0.0.1:{self.port + 2}"$',
                      f'address = "192.0.2.1:7700"\nrank_addresses = ["127.0.0.1:{self.port + 2}", "127.0.0.1:{closed}"]')
            other = self.start_checks(1)[0]
            result = self.check(wait="2s")
            self.assertRegex(result.stdout, f"(?m)^pass  party 1, rank 0 at 127.0.0.1:{self.port + 2}: reached")
            self.assertRegex(result.stdout, f"(?m)^fail  party 2, rank 1 at 127.0.0.1:{self.port + 5}: connection: ")
            self.assertNotIn("192.0.2.1", result.stdout)
            self.assertIn(f"party 1, rank 1 at 127.0.0.1:{closed}: ", result.stdout)
            self.end(other)

    @unittest.skipUnless(MPI, "built without MPI")
    def test_refuses_jobs_whose_work_is_not_shared_out_among_ranks(self):
        self.use_ranks()
        self.expect(2, "job on several machines: privacy.sampling: found .public., expected .*with .party. ranks above 1: correct the job",
                    self.edited_job(r"\[privacy\]", '[privacy]\nsampling = "public"'))

    @unittest.skipIf(MPI, "built with MPI")
    def test_refuses_ranks_of_a_program_without_mpi(self):
        self.use_ranks()
        self.expect(2, "ranks: party.ranks: found 2, expected 1 of a program that was built without MPI: install libopenmpi-dev")

    def together(self, others, party, code, line):
        """This party's check, while `others` (job files by party) run theirs."""
        processes = [self.start_program("check", "--config", f"d/party-{other}/party.toml", "--job", job, "--wait", "20s")
                     for other, job in others.items()]
        result = self.check(party, wait="2s")
        self.assertRegex(result.stdout, "(?m)^fail  " + line)
        self.assertEqual(result.returncode, code, result.stdout)
        for process in processes:
            self.end(process)

    def test_passes_when_all_is_well_and_warns_of_certificates_that_expire(self):
        self.deploy()
        processes = [self.start_program("check", "--config", f"d/party-{party}/party.toml", "--job", self.job, "--wait", "20s")
                     for party in PARTIES]
        for process in processes:
            output, error = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0, output + error)
            self.assertNotIn("fail", output)
            # Of this machine's swap space, and that so small a job learns little.
            self.assertNotRegex(output, "(?m)^warn  (?!swap: |job: the noise in a record's logit)")
        for days, warned in ((40, False), (20, True)):
            certificate = self.certificate(days)
            self.path("party.crt").write_bytes(certificate)
            output = self.check().stdout
            self.assertEqual(f"warn  d/party-0/party.crt: expires in {days - 1} days: its owner makes a new one with init" in output,
                             warned, output)
            self.assertIn("pass  certificate: ", output)

    def test_warns_of_what_the_jobs_own_numbers_say_against_it(self):
        self.deploy()
        job = self.edited_job("delta = 1e-5", "delta = 0.01")
        output = self.run_program("check", "--config", "d/party-0/party.toml", "--job", job, "--wait", "100ms").stdout
        self.assertRegex(output, "(?m)^warn  job: privacy.delta, 0.01, is not below one over the 900 rows that the job declares")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare") and shutil.which("setpriv"), "needs root, unshare and setpriv")
    @unittest.skipIf(os.environ.get("TREFOIL_SANITIZE"), "a sanitizer locks no memory")
    def test_warns_of_swap_space_that_memory_may_be_written_to(self):
        self.deploy()
        swaps = self.write("swaps", "Filename Type Size Used Priority\n/dev/sda9 partition 8388604 0 -2\n")
        command = ["check", "--config", "d/party-0/party.toml", "--wait", "100ms"]
        bound = ["setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"]
        for limit, wrapper, line in (
                ("1000", bound, "warn  swap: shares and records may be written to /dev/sda9, .*: .*ulimit -l unlimited.*, encrypt that, or turn it off$"),
                ("unlimited", bound, "pass  swap: this process keeps its memory out of it$"),
                ("1000", [], "pass  swap: this process keeps its memory out of it$")):
            with self.subTest(line, wrapper=wrapper):
                result = subprocess.run(
                    ["unshare", "--mount", "sh", "-c", f'mount --bind {swaps} /proc/swaps; ulimit -l {limit} || exit 99; exec "$@"', "sh", *wrapper,
                     BINARY, *command], cwd=self.folder, capture_output=True, text=True, timeout=60)
                if result.returncode == 99 and limit == "unlimited":
                    self.skipTest("in this container root may not raise a hard limit")
                self.assertRegex(result.stdout, "(?m)^" + line)


if __name__ == "__main__":
    unittest.main()
