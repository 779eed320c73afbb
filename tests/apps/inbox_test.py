"""A party's inbox over HTTPS: uploads, refusals, strangers, kills."""

import http.client
import json
import pathlib
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import time
import unittest

from owners_test import HOSTS, JOB, TABLE, changed
from trefoil_program import ProgramTest, free_base_port


class Inboxes(ProgramTest):
    def setUp(self):
        super().setUp()
        self.succeed("init", "--all", "--hosts", HOSTS, "--out", "d")
        self.succeed("owner", "init", "--out", "o")
        self.write("job.toml", JOB)
        self.write("t.csv", TABLE)
        self.port = free_base_port()
        keys, certificates = ([f"d/party-{party}/{name}" for party in range(3)] for name in ("deposit.pub", "party.crt"))
        inboxes = [f"127.0.0.1:{self.port + party}" for party in range(3)]
        self.succeed("study", "init", "--job", "job.toml", "--keys", *keys, "--out", "plain.toml")
        self.succeed("study", "init", "--job", "job.toml", "--keys", *keys, "--inboxes", *inboxes, "--certificates", *certificates, "--out", "study.toml")
        for party in range(3):
            self.succeed("trust-owner", "--config", f"d/party-{party}/party.toml", "--name", "hospital", "o/owner.pub")
        self.processes = {}

    def serve(self, party, *more):
        process = self.start_program("inbox", "--config", f"d/party-{party}/party.toml", "--study", "study.toml",
                                     "--listen", f"127.0.0.1:{self.port + party}", *more)
        self.assertRegex(process.stdout.readline(), "^listening on 127.0.0.1:")
        self.processes[party] = process

    def serve_all(self):
        for party in range(3):
            self.serve(party)

    def deposit(self, out, *more, capacity=10):
        return ("deposit", "--study", "study.toml", "--key", "o/owner.key", "--in", "t.csv", "--capacity", str(capacity), "--out", out, *more)

    def listed(self, party=1):
        return [line.split()[0] for line in self.succeed("store", "list", "--config", f"d/party-{party}/party.toml").splitlines()]

    def verify(self, party=1):
        return self.succeed("store", "verify", "--config", f"d/party-{party}/party.toml")

    def connect(self, timeout=20):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(socket.create_connection(("127.0.0.1", self.port + 1), timeout=timeout))

    @staticmethod
    def received(connection):
        """What came before the other side hung up, in whichever way."""
        try:
            return connection.recv(100)
        except OSError as error:
            assert not isinstance(error, TimeoutError), error
            return b""

    def ask(self, body, path="/deposits", method="POST", **headers):
        context = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection("127.0.0.1", self.port + 1, timeout=30, context=context)
        connection.request(method, path, body=body, headers={name.replace("_", "-"): str(value) for name, value in headers.items()})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text else None

    def test_a_study_has_one_id_wherever_its_inboxes_are(self):
        ids = [re.search(r"(?m)^id +(\w+)$", self.succeed("study", "show", name))[1] for name in ("plain.toml", "study.toml")]
        self.assertEqual(ids[0], ids[1])
        self.assertIn(f"  inbox     127.0.0.1:{self.port}\n", self.succeed("study", "show", "study.toml"))
        text = (self.folder / "study.toml").read_text()
        for old, new, told in [(r'inbox = "[^"]+"', 'inbox = "nowhere"', "party.inbox"), (r"inbox = .*\n", "", "missing party.inbox"),
                               (r'certificate = "..:', 'certificate = "0x:', "party.certificate"), (r"certificate = .*\n", "", "missing party.certificate")]:
            self.write("bad.toml", re.sub(old, new, text, count=1))
            with self.subTest(new=new, old=old):
                self.fail_with(2, told, "study", "show", "bad.toml")

    def test_what_is_taken_after_others_looked_into_the_store_is_there_for_them(self):
        self.serve_all()
        sent = []
        for k in range(3):
            # As the last one that has the store open, a command would delete the log that the inbox goes on writing to.
            self.assertEqual(sorted(self.listed()), sorted(sent))
            output = self.succeed(*self.deposit(f"out{k}", "--send", "--population", f"ward-{k}"))
            sent.append(re.search(r"(?m)^deposit (\w+)$", output)[1])
        self.assertEqual(sorted(self.listed()), sorted(sent))
        self.processes[1].kill()
        self.processes[1].wait()
        self.assertEqual(sorted(self.listed()), sorted(sent))
        self.assertEqual(self.verify(), "3 deposits, each as it was taken\n")

    def test_a_deposit_is_sent_and_its_receipts_are_kept(self):
        self.serve_all()
        output = self.succeed(*self.deposit("out", "--send", "--population", "ward-3"))
        deposit_id = re.search(r"(?m)^deposit (\w+)$", output)[1]
        receipts = {}
        for party in range(3):
            self.assertIn(f"party {party}: taken, receipt out/party-{party}.receipt\n", output)
            self.assertRegex(output, rf"(?m)^party {party}: .* sent, 100%$")
            self.assertEqual(self.listed(party), [deposit_id])
            self.assertEqual(self.verify(party), "1 deposits, each as it was taken\n")
            path = self.folder / f"out/party-{party}.receipt"
            receipts[party] = path.read_text()
            receipt = json.loads(receipts[party])
            self.assertEqual((receipt["deposit"], receipt["party"]), (deposit_id, party))
            self.assertEqual(receipt["certificate"], (self.folder / f"d/party-{party}/party.crt").read_text())
            if shutil.which("openssl"):
                self.write("key.pem", subprocess.run(["openssl", "x509", "-pubkey", "-noout"], input=receipt["certificate"], capture_output=True,
                                                     text=True, check=True).stdout)
                self.write("signature", "").write_bytes(bytes.fromhex(receipt["signature"]))
                self.write("signed", f"trefoil receipt 1\n{deposit_id}\n{party}\n{receipt['time']}\n")
                verified = subprocess.run(["openssl", "dgst", "-sha256", "-verify", "key.pem", "-signature", "signature", "signed"], cwd=self.folder,
                                          capture_output=True, text=True)
                self.assertEqual(verified.stdout, "Verified OK\n", verified.stderr)
            path.unlink()
        again = ("deposit", "--study", "study.toml", "--out", "out", "--send")
        self.assertNotIn("sent", self.succeed(*again))
        for party in range(3):
            self.assertEqual((self.folder / f"out/party-{party}.receipt").read_text(), receipts[party])
            self.assertEqual(self.listed(party), [deposit_id])
        kept = self.folder / "out/party-1.receipt"
        kept.write_text(receipts[2])
        self.fail_with(4, f"out/party-1.receipt: found no receipt for deposit {deposit_id}", *again)
        kept.write_text(receipts[1])
        for party in range(3):
            (self.folder / f"out/party-{party}.deposit").rename(self.folder / f"away-{party}")
        self.assertEqual(self.succeed(*again), "".join(f"party {party}: taken, receipt out/party-{party}.receipt\n" for party in range(3)))
        for party in range(3):
            (self.folder / f"away-{party}").rename(self.folder / f"out/party-{party}.deposit")
        self.fail_with(2, "out: exists already", *self.deposit("out", "--send"))
        self.fail_with(4, "refused (repeated)", "accept", "--config", "d/party-1/party.toml", "--study", "study.toml", "out/party-1.deposit")
        for party, process in self.processes.items():
            process.send_signal(signal.SIGTERM)
            output, errors = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 128 + signal.SIGTERM, errors)
            self.assertRegex(output, f"(?m)^taken: deposit {deposit_id} of hospital, population ward-3, purpose train, 10 rows$")

    def test_what_fails_at_one_party_does_not_keep_the_others_from_theirs(self):
        self.serve(0)
        self.serve(2)
        self.succeed(*self.deposit("out"))
        (self.folder / "study.toml").write_text((self.folder / "study.toml").read_text().replace(f":{self.port + 1}", f":{self.port + 2}"))
        result = self.run_program("deposit", "--study", "study.toml", "--out", "out", "--send")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(f"trefoil: party 1: 127.0.0.1:{self.port + 2}: found a server with the certificate ", result.stderr)
        self.assertIn("To go on: trefoil deposit --study STUDY --out out --send\n", result.stdout)
        self.assertEqual([len(self.listed(party)) for party in range(3)], [1, 0, 1])
        for arguments, text in [(("--send",), "no inbox of party 0"), ((), "--in is required")]:
            self.fail_with(2, text, "deposit", "--study", "plain.toml", "--out", "out", *arguments)

    def test_what_is_no_request_for_it_is_answered_as_such(self):
        self.serve(1)
        self.succeed(*self.deposit("out"))
        content = (self.folder / "out/party-1.deposit").read_bytes()
        for status, arguments in [(405, {"body": b"", "method": "GET"}), (404, {"body": content, "path": "/"}), (400, {"body": content[:100]}),
                                  (411, {"body": iter([content])}), (400, {"body": content, "Upload_Offset": "-1"}),
                                  (400, {"body": content, "Upload_Offset": "1x"}), (409, {"body": content[:264] + content[300:], "Upload_Offset": 36}),
                                  (400, {"body": content + b"x"}), (400, {"body": b"x" * 300}),
                                  (403, {"body": content[:50] + bytes([content[50] ^ 1]) + content[51:]})]:
            with self.subTest(status=status, **{name: value for name, value in arguments.items() if name != "body"}):
                found, problem = self.ask(**arguments)
                self.assertEqual((found, problem["status"], problem["type"]), (status, status, "about:blank"), problem)
        self.assertEqual(list((self.folder / "d/party-1/deposits/parts").iterdir()), [])
        with self.connect() as garbage:
            garbage.sendall(bytes(range(256)))
            self.assertEqual(self.received(garbage), b"")
        with self.connect() as long:
            try:
                long.sendall(b"POST /deposits HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n\r\n")
            except OSError:
                pass
            self.assertNotIn(b"201", self.received(long))
        self.assertEqual(self.ask(content)[0], 201)
        self.assertEqual(self.ask(changed(content))[1]["code"], "repeated")
        with socket.create_connection(("127.0.0.1", self.port + 1), timeout=20) as plain:
            plain.sendall(b"POST /deposits HTTP/1.1\r\n\r\n")
            self.assertNotIn(b"HTTP", self.received(plain))

    def test_a_truncated_upload_goes_on_and_a_larger_one_than_is_taken_does_not_begin(self):
        self.serve(1, "--most", "1")
        self.succeed(*self.deposit("out", capacity=30_000))
        content = (self.folder / "out/party-1.deposit").read_bytes()
        head = f"POST /deposits HTTP/1.1\r\nHost: a\r\nContent-Length: {len(content)}\r\n\r\n".encode()
        with self.connect() as cut:
            cut.sendall(head + content[:400_000])
        for _ in range(100):
            status, told = self.ask(content[:264], "/status")
            if told.get("offset", 0) > 0:
                break
            time.sleep(0.05)
        self.assertEqual(status, 200)
        offset = told["offset"]
        self.assertTrue(0 < offset <= 400_000 - 264)
        self.assertEqual(self.ask(content[:264] + content[264 + offset:], Upload_Offset=offset)[0], 201)
        self.assertEqual(self.verify(), "1 deposits, each as it was taken\n")
        self.succeed(*self.deposit("large", "--adds", capacity=60_000))
        large = (self.folder / "large/party-1.deposit").read_bytes()
        self.assertGreater(len(large), 1 << 20)
        self.assertEqual(self.ask(large[:264], "/status")[0], 413)
        self.assertEqual(self.ask(large[:264] + b"x" * 10, Upload_Offset=0)[0], 400)
        # Of what its prefix says nothing was allocated.
        claims = large[:32] + struct.pack("<Q", 1 << 62) + large[40:264]
        self.assertEqual(self.ask(claims, "/status")[0], 413)
        peak = int(re.search(r"(?m)^VmHWM:\s+(\d+) kB$", pathlib.Path(f"/proc/{self.processes[1].pid}/status").read_text())[1])
        self.assertLess(peak, 400_000)
        self.assertEqual(list((self.folder / "d/party-1/deposits/parts").iterdir()), [])

    def test_silent_and_slow_ones_are_let_go(self):
        self.serve(1)
        self.succeed(*self.deposit("out"))
        content = (self.folder / "out/party-1.deposit").read_bytes()
        begin = time.monotonic()
        silent = [socket.create_connection(("127.0.0.1", self.port + 1), timeout=30), self.connect(30), self.connect(30)]
        silent[1].sendall(b"POST /deposits HTTP/1.1\r\n")
        silent[2].sendall(b"POST /deposits HTTP/1.1\r\nContent-Length: 1000\r\n\r\n" + content[:100])
        self.assertEqual(self.ask(content)[0], 201)
        for one in silent:
            self.assertEqual(self.received(one), b"")
            one.close()
        self.assertLess(time.monotonic() - begin, 25)

    def test_ten_thousand_strangers_leave_it_serving(self):
        self.serve(1)
        self.succeed(*self.deposit("out"))
        content = (self.folder / "out/party-1.deposit").read_bytes()
        answers, held = [], []
        for number in range(10_000):
            # Other addresses than the owner's, some of which hold on to their connections.
            one = socket.socket()
            one.settimeout(20)
            one.bind((f"127.0.1.{1 + number % 100}", 0))
            one.connect(("127.0.0.1", self.port + 1))
            if number % 3 == 0:
                one.sendall(b"\x16\x03\x01 no handshake")
            held.append(one)
            if len(held) > 300:
                held.pop(0).close()
            if number % 1000 == 500:
                answers.append(self.served(content))
        answers.append(self.served(content))
        for one in held:
            one.close()
        self.assertEqual(set(answers), {201})
        self.assertEqual(len(self.listed()), 1)
        self.assertIsNone(self.processes[1].poll())

    def served(self, content):
        """The status of an answer, which may want several attempts among so many."""
        for _ in range(20):
            try:
                return self.ask(content)[0]
            except OSError:
                time.sleep(0.05)
        return None

    def test_a_killed_inbox_loses_nothing_and_takes_nothing_twice(self):
        self.serve_all()
        ids = []
        for number in range(6):
            output = self.succeed(*self.deposit(f"o{number}", "--adds", capacity=30_000))
            ids.append(re.search(r"(?m)^deposit (\w+)$", output)[1])
            sender = self.start_program("deposit", "--study", "study.toml", "--out", f"o{number}", "--send")
            for kill in range(3):
                time.sleep(0.03 * (number + 1) + 0.05 * kill)
                self.processes[1].kill()
                self.processes[1].communicate()
                self.serve(1)
            output, errors = sender.communicate(timeout=120)
            self.assertEqual(sender.returncode, 0, errors)
            receipt = self.folder / f"o{number}/party-1.receipt"
            before = receipt.read_text()
            receipt.unlink()
            self.succeed("deposit", "--study", "study.toml", "--out", f"o{number}", "--send")
            self.assertEqual(receipt.read_text(), before)
        for party in range(3):
            self.assertEqual(self.listed(party), ids)
            self.assertEqual(self.verify(party), "6 deposits, each as it was taken\n")


if __name__ == "__main__":
    unittest.main()
