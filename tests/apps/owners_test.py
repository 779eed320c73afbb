"""Owners who run no party: keys, whom a party trusts, studies, deposits, a party's store of them."""

import hashlib
import json
import re
import resource
import sqlite3
import struct
import subprocess
import time
import tomllib
import unittest

from deposit_files import key_of, opened, rows_of
from schema_test import errors
from trefoil_program import BINARY, PATIENCE, TINY_JOB, ProgramTest

FINGERPRINT = r"((?:[0-9A-F]{2}:){31}[0-9A-F]{2})"
HOSTS = "127.0.0.1,127.0.0.1,127.0.0.1"
JOB = """version = 1
type = "dpsgd"
name = "visits"
[data]
name = "nobody-else"
format = "csv"
rows = [100, 100, 100]
classes = 2
[[data.column]]
name = "age"
mean = 50
scale = 50
[[data.column]]
name = "ward"
kind = "category"
values = ["planted-ward", "other"]
[data.label]
column = "ill"
values = ["no", "yes"]
[features]
row_norm = 1.0
[training]
steps = 6
expected_batch = 30
max_batch_per_owner = 50
learning_rate = 1.0
[privacy]
sigma = 2.0
delta = 1e-5
clip = 0.5
"""
TABLE = "age,ward,ill\n61,planted-ward,yes\n20,other,no\n33,other,yes\n"


def changed(content):
    """The same, but for a bit of the last byte."""
    return content[:-1] + bytes([content[-1] ^ 1])


class Keys(ProgramTest):
    def setUp(self):
        super().setUp()
        self.init = self.succeed("init", "--party", "1", "--hosts", HOSTS, "--out", "p")

    def owner(self, name):
        output = self.succeed("owner", "init", "--out", name)
        return re.search(f"(?m)^fingerprint {FINGERPRINT}$", output)[1]

    def trust(self, name, key):
        return "trust-owner", "--config", "p/party.toml", "--name", name, key

    def test_a_party_gets_a_deposit_key_beside_its_tls_key(self):
        self.assertRegex(self.init, f"(?m)^fingerprint of the deposit key {FINGERPRINT}$")
        self.assertEqual((self.folder / "p/deposit.key").stat().st_mode & 0o7777, 0o600)
        self.assertIn('[deposits]\nkey = "deposit.key"  # mode 0600, never leaves this machine\nowners = "owners"\nstore = "deposits"\n',
                      (self.folder / "p/party.toml").read_text())
        (self.folder / "p/party.toml").unlink()
        for name in ("party.key", "party.crt"):
            (self.folder / "p" / name).unlink()
        self.fail_with(2, "deposit.key: exists already", "init", "--party", "1", "--hosts", HOSTS, "--out", "p")

    def test_a_party_of_before_makes_one_by_itself(self):
        party = self.folder / "p/party.toml"
        party.write_text(re.sub(r"\[deposits\]\n(.+\n)+", "", party.read_text()))
        self.owner("o")
        self.fail_with(2, "found no [deposits]", *self.trust("a", "o/owner.pub"))
        output = self.succeed("deposit-key", "--out", "new")
        self.assertRegex(output, f"(?m)^fingerprint {FINGERPRINT}$")
        party.write_text(party.read_text() + '\n[deposits]\nkey = "../new/deposit.key"\nowners = "../new/owners"\nstore = "s"\n')
        self.succeed(*self.trust("a", "o/owner.pub"))
        self.assertTrue((self.folder / "new/owners/a.pub").exists())

    def test_trust_owner_stores_a_key_and_shows_its_fingerprint(self):
        first = self.owner("first")
        output = self.succeed(*self.trust("hospital", "first/owner.pub"))
        self.assertIn(f"owner hospital: stored as p/owners/hospital.pub\nfingerprint {first}\n", output)
        self.assertEqual((self.folder / "p/owners/hospital.pub").read_text(), (self.folder / "first/owner.pub").read_text())
        self.owner("second")
        self.assertIn(f"in place of {first}\n", self.succeed(*self.trust("hospital", "second/owner.pub")))

    def test_trust_owner_refuses_what_is_no_owner_of_that_name(self):
        self.owner("o")
        self.succeed(*self.trust("a", "o/owner.pub"))
        for name, key, text in [
            ("b", "o/owner.pub", "found the key of a, expected b's"),
            ("b", "o/owner.key", "found a private key"),
            ("b", "p/deposit.pub", "expected an owner's signing key, owner.pub"),
            ("b", "none.pub", "none.pub: "),
            ("../b", "o/owner.pub", '--name: found "../b", expected a name of letters, digits'),
        ]:
            with self.subTest(name=name, key=key):
                self.fail_with(2, text, *self.trust(name, key))
        self.assertEqual([path.name for path in (self.folder / "p/owners").iterdir()], ["a.pub"])

    def test_nothing_is_overwritten(self):
        self.owner("o")
        self.fail_with(2, "owner.key: exists already", "owner", "init", "--out", "o")
        self.fail_with(2, "deposit.key: exists already", "deposit-key", "--out", "p")


class Deposits(ProgramTest):
    def setUp(self):
        super().setUp()
        self.succeed("init", "--all", "--hosts", HOSTS, "--out", "d")
        self.succeed("owner", "init", "--out", "o")
        self.write("job.toml", JOB)
        self.write("t.csv", TABLE)
        self.keys = [f"d/party-{party}/deposit.pub" for party in range(3)]
        self.shown = self.succeed("study", "init", "--job", "job.toml", "--keys", *self.keys, "--out", "study.toml")

    def deposit(self, out, *more, study="study.toml", files=("t.csv",), capacity=10):
        return ("deposit", "--study", study, "--key", "o/owner.key", "--in", *files, "--capacity", str(capacity), "--out", out, *more)

    def test_a_study_has_the_records_and_the_keys(self):
        text = (self.folder / "study.toml").read_text()
        for absent in ("nobody-else", "rows", "steps", "sigma"):
            self.assertNotIn(absent, text)
        for party, key in enumerate(self.keys):
            content = (self.folder / key).read_bytes()
            digest = hashlib.sha256(content).hexdigest().upper()
            fingerprint = ":".join(digest[k:k + 2] for k in range(0, 64, 2))
            self.assertIn(f"party {party}     {fingerprint}\n", self.shown)
            self.assertIn(f'key = "{content.decode().splitlines()[1]}"', text)
        self.assertIn(self.succeed("study", "show", "study.toml"), self.shown)
        schema = json.loads(self.succeed("schema", "study"))
        self.assertEqual(list(errors(tomllib.loads(text), schema)), [])
        self.assertNotEqual(list(errors(tomllib.loads(text.replace("[columns]", "[columns]\nrows = 1")), schema)), [])
        study_id = re.search(r"(?m)^id +([0-9a-f]{64})$", self.shown)[1]
        self.assertTrue(text.startswith(f"# Study {study_id}\n"), text)
        self.succeed("study", "init", "--job", "job.toml", "--set", "training.steps=7", "--set", "data.rows=[90,80,70]", "--keys", *self.keys,
                     "--out", "same.toml")
        self.assertEqual((self.folder / "same.toml").read_text(), text)

    def test_a_study_refuses_what_makes_none(self):
        init = ("study", "init", "--job", "job.toml", "--keys")
        self.fail_with(2, "study.toml: exists already", *init, *self.keys, "--out", "study.toml")
        self.fail_with(2, "one deposit key for parties 2 and 0", *init, *self.keys[:2], self.keys[0], "--out", "x.toml")
        self.fail_with(2, "expected a party's deposit key", *init, *self.keys[:2], "o/owner.pub", "--out", "x.toml")
        wide = ("--set", "fraction_bits=24", "--set", "features.row_norm=30")
        self.assertEqual(self.run_program(*init, *self.keys, *wide, "--out", "x.toml").returncode, 2)
        self.assertFalse((self.folder / "x.toml").exists())

    def test_three_files_hold_the_records_and_show_nothing_of_them(self):
        output = self.succeed(*self.deposit("out"))
        self.assertIn("3 records in 10 rows\n", output)
        deposit_id = re.search(r"(?m)^deposit ([0-9a-f]{64})$", output)[1]
        files = [(self.folder / f"out/party-{party}.deposit").read_bytes() for party in range(3)]
        # Features of 19 bits in 3 bytes, a mask bit and a label in 8 each.
        sizes = [264 + 440 + 56 + 17 + 128] + 2 * [264 + 440 + 56 + 17 + 96 + 10 * (3 * 3 + 16)]
        self.assertEqual([len(file) for file in files], sizes)
        for party, file in enumerate(files):
            self.assertEqual(file[:24], b"trefoil deposit\n" + struct.pack("<II", 1, party))
            header = file[264:704]
            self.assertEqual(hashlib.sha256(header).hexdigest(), deposit_id)
            self.assertEqual(file[72:104].hex(), deposit_id)
            self.assertEqual(file[104 + 32 * party:136 + 32 * party], hashlib.sha256(file[704:]).digest())
            self.assertEqual(header[32:40], struct.pack("<Q", 10))
            self.assertIn(b"default" + bytes(57) + b"train", header)
            for planted in (b"planted-ward", (self.folder / "o/owner.key").read_bytes().split()[-1]):
                self.assertNotIn(planted, file)
        self.assertEqual(len({file[264:704] for file in files}), 1)
        again = self.succeed(*self.deposit("again"))
        self.assertNotIn(deposit_id, again)
        self.assertEqual([len((self.folder / f"again/party-{party}.deposit").read_bytes()) for party in range(3)], sizes)

    def test_any_two_files_opened_as_the_reference_says_are_the_records(self):
        self.succeed(*self.deposit("out"))
        parts = []
        for party in range(3):
            number, header, components = opened(self.folder / f"out/party-{party}.deposit", key_of(self.folder / f"d/party-{party}/deposit.key"))
            self.assertEqual(number, party)
            self.assertEqual(header[:32].hex(), re.search(r"(?m)^id +(\w+)$", self.shown)[1])
            parts.append(components)
        for one, other in ((0, 1), (1, 2), (0, 2)):
            self.assertTrue(all(parts[one][k] == parts[other][k] for k in parts[one].keys() & parts[other].keys()))
            rows = rows_of({**parts[one], **parts[other]}, 10, 3, 19, 1)
            found = sorted([[value / 2**16 for value in row[:3]], row[4]] for row in rows if row[3] == 1)
            self.assertEqual([row for row in rows if row[3] != 1], [[0] * 5] * 7)
            expected = []
            for age, ward, ill in ((61, [1, 0], 1), (20, [0, 1], 0), (33, [0, 1], 1)):
                row = [(age - 50) / 50, *ward]
                norm = max(1, sum(value * value for value in row) ** 0.5)  # rows are shortened to features.row_norm
                expected.append([[value / norm for value in row], ill])
            for (values, label), (wanted, ill) in zip(found, sorted(expected), strict=True):
                self.assertEqual(label, ill)
                for value, right in zip(values, wanted, strict=True):
                    self.assertAlmostEqual(value, right, delta=2**-15)

    def test_data_are_checked_before_anything_is_written(self):
        for table, text in [("age,ward,ill\n61,nowhere,yes\n", "nowhere"), ("age,ward,ill\nx,other,yes\n", 'found "x"'),
                            ("age,ward\n6,other\n", "ill"), (TABLE + "1,other,no\n" * 8, "found 11 rows, expected at most the 10 of --capacity")]:
            self.write("bad.csv", table)
            with self.subTest(table=table):
                self.fail_with(4, text, *self.deposit("out", files=("bad.csv",)))
        for arguments, text in [
            (self.deposit("out", capacity=0), "--capacity: found 0"),
            ([word for word in self.deposit("out") if word not in ("--capacity", "10")], "--capacity: found none, expected 1 to "),
            (self.deposit("out", capacity=10**12), "--capacity: found 1000000000000"),
            (self.deposit("out", "--population", "a b"), '--population: found "a b"'),
            (self.deposit("out", "--purpose", ""), "--purpose: "),
            (self.deposit("out", study="job.toml"), "unknown key"),
            ([word.replace("o/owner.key", "d/party-0/deposit.key") for word in self.deposit("out")], "expected an owner's signing key"),
        ]:
            with self.subTest(arguments=arguments):
                self.fail_with(2, text, *arguments)
        self.assertFalse((self.folder / "out").exists())
        self.succeed(*self.deposit("out"))
        self.fail_with(2, "out: exists already", *self.deposit("out"))

    def test_the_owner_alone_is_warned(self):
        self.write("one.csv", "age,ward,ill\n61,other,yes\n")
        result = self.run_program(*self.deposit("out", files=("one.csv",)))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn('warning to the owner alone: no row is of the declared class "no"', result.stderr)
        self.assertIn('no row has the declared value "planted-ward"', result.stderr)

    def test_tables_may_lie_in_several_files_or_a_database(self):
        self.write("more.csv", "age,ward,ill\n44,other,no\n")
        self.assertIn("4 records", self.succeed(*self.deposit("several", files=("t.csv", "more.csv"))))
        with sqlite3.connect(self.folder / "t.db") as base:
            base.execute("CREATE TABLE visits (age, ward, ill)")
            base.executemany("INSERT INTO visits VALUES (?, ?, ?)", [(50, "other", "no"), (61, "other", "yes")])
        base.close()
        self.assertIn("2 records", self.succeed(*self.deposit("queried", "--query", "SELECT age, ward, ill FROM visits", files=("t.db",))))

    def test_features_are_extracted_before_they_are_shared(self):
        job = TINY_JOB.replace("[training]", '[features]\nmethod = "hog"\n[training]')
        self.write("digits.toml", job)
        images = bytes(range(256)) * 16
        self.write("x", "").write_bytes(struct.pack(">BBBBIII", 0, 0, 8, 3, 5, 28, 28) + images[:5 * 784])
        self.write("y", "").write_bytes(struct.pack(">BBBBI", 0, 0, 8, 1, 5) + bytes([0, 1, 2, 3, 4]))
        self.assertIn("1296 features", self.succeed("study", "init", "--job", "digits.toml", "--keys", *self.keys, "--out", "digits-study.toml"))
        self.assertIn("5 records in 6 rows", self.succeed(*self.deposit("out", study="digits-study.toml", files=("x", "y"), capacity=6)))
        self.assertEqual((self.folder / "out/party-1.deposit").stat().st_size, 264 + 440 + 56 + 17 + 96 + 6 * (1296 * 3 + 8 * 11))

    def trust(self, party):
        self.succeed("trust-owner", "--config", f"d/party-{party}/party.toml", "--name", "hospital", "o/owner.pub")

    def accept(self, *files, party=1):
        return ("accept", "--config", f"d/party-{party}/party.toml", "--study", "study.toml", *files)

    def store(self, *words, party=1):
        return ("store", words[0], "--config", f"d/party-{party}/party.toml", *words[1:])

    def test_parties_take_what_they_trust_once(self):
        deposit_id = re.search(r"(?m)^deposit ([0-9a-f]{64})$", self.succeed(*self.deposit("out", "--population", "ward-3")))[1]
        for party in range(3):
            file = f"out/party-{party}.deposit"
            self.fail_with(4, "refused (owner): found the owner's key", *self.accept(file, party=party))
            self.trust(party)
            self.assertEqual(self.succeed(*self.store("list", party=party)), "")
            self.assertEqual(self.succeed(*self.accept(file, party=party)),
                             f"{file}: taken: deposit {deposit_id} of hospital, population ward-3, purpose train, 10 rows\n")
            self.fail_with(4, "refused (repeated)", *self.accept(file, party=party))
            self.assertRegex(self.succeed(*self.store("list", party=party)), f"^{deposit_id}  hospital  ward-3  train  10 rows  20..-")
            self.assertEqual(self.succeed(*self.store("verify", party=party)), "1 deposits, each as it was taken\n")
        shown = self.succeed(*self.store("show", deposit_id))
        self.assertIn("population  ward-3\npurpose     train\nadds        no\nrows        10\n", shown)
        self.fail_with(4, "found no deposit 00", *self.store("show", "00"))
        self.fail_with(4, "refused (party)", *self.accept("out/party-0.deposit"))

    def test_each_file_is_taken_or_refused_by_itself(self):
        self.trust(1)
        for out, more in (("a", ()), ("b", ()), ("c", ("--adds",))):
            self.succeed(*self.deposit(out, *more))
        altered = self.folder / "altered"
        altered.write_bytes(changed((self.folder / "a/party-1.deposit").read_bytes()))
        cut = self.folder / "cut"
        cut.write_bytes(altered.read_bytes()[:-1])
        result = self.run_program(*self.accept("altered", "cut", *(f"{out}/party-1.deposit" for out in "abc"), "job.toml"))
        self.assertEqual(result.returncode, 4)
        self.assertEqual(re.findall(r"(?m)^trefoil: (\S+): refused \((\w+)\)", result.stderr),
                         [("altered", "body"), ("cut", "size"), ("b/party-1.deposit", "live"), ("job.toml", "magic")])
        self.assertEqual(re.findall(r"(?m)^(\S+): taken", result.stdout), ["a/party-1.deposit", "c/party-1.deposit"])
        self.succeed(*self.deposit("e", "--adds"))
        result = self.run_program(*self.accept("missing", "e/party-1.deposit", "altered"))
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, "^trefoil: missing: No such file.*\ntrefoil: altered: refused")
        self.assertEqual(re.findall(r"(?m)^(\S+): taken", result.stdout), ["e/party-1.deposit"])

    def test_a_party_sets_deposits_aside_and_says_so(self):
        self.trust(1)
        ids = [self.deposit_id(out, "--adds") for out in "ab"]
        for out in "ab":
            self.succeed(*self.accept(f"{out}/party-1.deposit"))
        result = self.run_program(*self.store("set-aside", "00" * 32, "x", *ids))
        self.assertEqual((result.returncode, result.stdout), (4, "".join(f"deposit {one} is set aside\n" for one in ids)))
        self.assertEqual(result.stderr.splitlines(), [f"trefoil: found no deposit {'00' * 32}, expected one of store list",
                                                      'trefoil: ID: found "x", expected a deposit\'s id, as store list shows it'])
        self.assertEqual(self.succeed(*self.store("set-aside", ids[1])), f"deposit {ids[1]} was set aside before\n")
        self.assertEqual(self.succeed(*self.store("set-aside", "--undo", ids[0])), f"deposit {ids[0]} is used again\n")
        self.assertEqual(self.succeed(*self.store("set-aside", "--undo", ids[0])), f"deposit {ids[0]} was not set aside\n")
        lines = self.succeed(*self.store("list")).splitlines()
        self.assertEqual([line.endswith("Z  set aside") for line in lines], [False, True], lines)
        self.assertRegex(self.succeed(*self.store("show", ids[1])), "(?m)^set aside   20..-")
        self.assertNotIn("aside", self.succeed(*self.store("show", ids[0])))

    def test_a_changed_store_is_named(self):
        self.trust(1)
        self.succeed(*self.deposit("out"))
        self.succeed(*self.accept("out/party-1.deposit"))
        body, = (self.folder / "d/party-1/deposits/bodies").iterdir()
        body.write_bytes(changed(body.read_bytes()))
        self.fail_with(4, f"{body.name}: cannot be opened", *self.store("verify"))

    def test_two_acceptances_at_once_take_a_deposit_once(self):
        self.trust(1)
        self.succeed(*self.deposit("out"))
        processes = [self.start_program(*self.accept("out/party-1.deposit")) for _ in range(4)]
        outputs = [process.communicate(timeout=PATIENCE) for process in processes]
        self.assertEqual(sorted(process.returncode for process in processes), [0, 4, 4, 4], outputs)
        self.assertEqual(sum("refused (repeated)" in error for _, error in outputs), 3, outputs)
        self.succeed(*self.store("verify"))

    def test_a_full_disk_leaves_what_was_there(self):
        self.trust(1)
        self.succeed(*self.deposit("small"))
        self.succeed(*self.accept("small/party-1.deposit"))
        self.succeed(*self.deposit("out", "--adds", capacity=40_000))  # of a megabyte
        for arguments in (self.deposit("none", capacity=40_000), self.accept("out/party-1.deposit")):
            result = subprocess.run([BINARY, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60, restore_signals=False,
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000)))
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assert_one_error_line(result.stderr, "cannot be written")
        self.assertEqual(list(self.folder.glob("none*")), [])
        self.assertEqual(self.succeed(*self.store("verify")), "1 deposits, each as it was taken\n")
        self.succeed(*self.accept("out/party-1.deposit"))

    def test_a_deposit_is_there_whole_or_not_at_all_after_a_kill(self):
        self.trust(1)
        taken = set()
        for number in range(12):
            output = self.succeed(*self.deposit(f"o{number}", "--adds"))
            deposit_id = re.search(r"(?m)^deposit (\w+)$", output)[1]
            process = self.start_program(*self.accept(f"o{number}/party-1.deposit"))
            time.sleep(number * 0.004)
            process.kill()
            told = process.communicate()[0]
            found = {line.split()[0] for line in self.succeed(*self.store("list")).splitlines()}
            self.assertTrue(taken <= found <= taken | {deposit_id})
            if "taken" in told:
                self.assertIn(deposit_id, found)
            taken = found
            self.succeed(*self.store("verify"))
        missing = [number for number in range(12) if self.run_program(*self.accept(f"o{number}/party-1.deposit")).returncode == 0]
        self.assertEqual(len(missing), 12 - len(taken))
        self.assertEqual(self.succeed(*self.store("verify")), "12 deposits, each as it was taken\n")

    def deposit_id(self, out, *more):
        return re.search(r"(?m)^deposit (\w+)$", self.succeed(*self.deposit(out, *more)))[1]

    def withdraw(self, out, deposit_id, key="o/owner.key"):
        return "withdraw", "--key", key, "--out", out, deposit_id

    def test_a_withdrawn_deposit_is_deleted_and_never_taken_again(self):
        deposit_id = self.deposit_id("out")
        self.assertEqual(self.succeed(*self.withdraw("w", deposit_id)), f"withdrawal of deposit {deposit_id}: w\nNext: send it to all three parties.\n")
        for party in range(3):
            self.trust(party)
            if party != 2:
                self.succeed(*self.accept(f"out/party-{party}.deposit", party=party))
            told = "is withdrawn, and deleted" if party != 2 else "is not here, and will be refused if it comes"
            self.assertEqual(self.succeed(*self.store("withdraw", "w", party=party)), f"w: deposit {deposit_id} {told}\n")
            self.assertEqual(self.succeed(*self.store("withdraw", "w", party=party)), f"w: deposit {deposit_id} was withdrawn before\n")
            self.assertEqual(self.succeed(*self.store("list", party=party)), "")
            self.assertEqual(list((self.folder / f"d/party-{party}/deposits/bodies").iterdir()), [])
            self.assertRegex(self.succeed(*self.store("withdrawals", party=party)), f"^{deposit_id}  hospital  20..-")
            self.fail_with(4, "refused (withdrawn)", *self.accept(f"out/party-{party}.deposit", party=party))

    def test_what_is_no_withdrawal_of_the_owner_is_refused(self):
        self.trust(1)
        deposit_id = self.deposit_id("out")
        self.succeed(*self.accept("out/party-1.deposit"))
        self.succeed("owner", "init", "--out", "other")
        self.succeed(*self.withdraw("foreign", deposit_id, "other/owner.key"))
        self.succeed(*self.withdraw("w", deposit_id))
        content = (self.folder / "w").read_bytes()
        (self.folder / "altered").write_bytes(changed(content))
        (self.folder / "cut").write_bytes(content[:-1])
        result = self.run_program(*self.store("withdraw", "foreign", "altered", "cut", "out/party-1.deposit"))
        self.assertEqual((result.returncode, result.stdout), (4, ""))
        self.assertEqual(re.findall(r"(?m)^trefoil: (\S+): refused \((\w+)\)", result.stderr),
                         [("foreign", "owner"), ("altered", "signature"), ("cut", "size"), ("out/party-1.deposit", "magic")])
        self.assertEqual(self.succeed(*self.store("verify")), "1 deposits, each as it was taken\n")
        result = self.run_program(*self.store("withdraw", "missing", "w"))
        self.assertEqual((result.returncode, result.stdout), (2, f"w: deposit {deposit_id} is withdrawn, and deleted\n"))
        self.assert_one_error_line(result.stderr, "missing: No such file")
        self.fail_with(2, "w: exists already", *self.withdraw("w", deposit_id))
        self.fail_with(2, 'ID: found "00"', *self.withdraw("x", "00"))

    def test_a_killed_withdrawal_took_place_or_did_not_and_can_be_repeated(self):
        self.trust(1)
        for number in range(8):
            deposit_id = self.deposit_id(f"o{number}", "--adds")
            self.succeed(*self.accept(f"o{number}/party-1.deposit"))
            self.succeed(*self.withdraw(f"w{number}", deposit_id))
            process = self.start_program(*self.store("withdraw", f"w{number}"))
            time.sleep(number * 0.004)
            process.kill()
            told = process.communicate()[0]
            live = deposit_id in self.succeed(*self.store("list"))
            self.assertFalse(live and "withdrawn" in told)
            self.succeed(*self.store("verify"))
            self.assertIn("is withdrawn" if live else "was withdrawn before", self.succeed(*self.store("withdraw", f"w{number}")))
        self.assertEqual(list((self.folder / "d/party-1/deposits/bodies").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
