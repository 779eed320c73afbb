"""Owners who run no party: keys, whom a party trusts, studies."""

import hashlib
import re
import unittest

from trefoil_program import ProgramTest

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
        self.assertIn('[deposits]\nkey = "deposit.key"  # mode 0600, never leaves this machine\nowners = "owners"\n',
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
        party.write_text(party.read_text() + '\n[deposits]\nkey = "../new/deposit.key"\nowners = "../new/owners"\n')
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
            ("../b", "o/owner.pub", '--name: found "../b"'),
        ]:
            with self.subTest(name=name, key=key):
                self.fail_with(2, text, *self.trust(name, key))
        self.assertEqual([path.name for path in (self.folder / "p/owners").iterdir()], ["a.pub"])

    def test_nothing_is_overwritten(self):
        self.owner("o")
        self.fail_with(2, "owner.key: exists already", "owner", "init", "--out", "o")
        self.fail_with(2, "deposit.key: exists already", "deposit-key", "--out", "p")


class Studies(ProgramTest):
    def setUp(self):
        super().setUp()
        self.succeed("init", "--all", "--hosts", HOSTS, "--out", "d")
        self.succeed("owner", "init", "--out", "o")
        self.write("job.toml", JOB)
        self.keys = [f"d/party-{party}/deposit.pub" for party in range(3)]
        self.shown = self.succeed("study", "init", "--job", "job.toml", "--keys", *self.keys, "--out", "study.toml")

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
        study_id = re.search(r"(?m)^id +([0-9a-f]{64})$", self.shown)[1]
        self.assertTrue(text.startswith(f"# Study {study_id}\n"), text)
        self.succeed("study", "init", "--job", "job.toml", "--set", "training.steps=7", "--set", "data.rows=[5,5,5]", "--keys", *self.keys,
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


if __name__ == "__main__":
    unittest.main()
