"""Makes the Debian package of a program, unpacks it and trains with what is in it. Usage: package_test.py PROGRAM"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.argv[1]).resolve()


def run(*command, cwd=None):
    return subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, text=True, check=True).stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.package = cls.make("one")

    @classmethod
    def make(cls, name):
        """By names that are the caller's."""
        program = os.path.relpath(PROGRAM, cls.folder.resolve())
        said = run(PROJECT / "scripts/package", "--program", program, "--out", name, cwd=cls.folder)
        return pathlib.Path(said.splitlines()[0])

    def test_holds_a_program_that_trains(self):
        version = run(PROGRAM, "--version").split()[1]
        self.assertRegex(self.package.name, rf"^trefoil_{re.escape(version)}_\w+\.deb$")
        self.assertEqual(run("dpkg-deb", "--field", self.package, "Version").strip(), version)
        self.assertIn("libsodium23", run("dpkg-deb", "--field", self.package, "Depends"))
        run("dpkg-deb", "--extract", self.package, self.folder / "root")
        said = run(self.folder / "root/usr/bin/trefoil", "local", "--job",
                   self.folder / "root/usr/share/doc/trefoil/examples/demo.toml", "--set", "training.steps=3",
                   "--out", self.folder / "run", cwd=self.folder)
        self.assertIn("accuracy", said)
        self.assertTrue((self.folder / "run/model.npz").is_file())

    def test_is_the_same_each_time(self):
        self.assertEqual(self.package.read_bytes(), self.make("two").read_bytes())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
