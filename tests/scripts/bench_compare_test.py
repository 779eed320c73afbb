"""That scripts/bench_compare compares builds, and any commands, in turns. Usage: bench_compare_test.py"""
import json
import pathlib
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]

# Stands for a build of trefoil: writes what its bench found behind --json, its last argument.
BUILD = """#!/bin/bash
echo "$1" >>{folder}/runs
cat >"${{@: -1}}" <<'END'
{found}
END
"""


def found(*operations):
    return {"results": [{"op": op, "form": "bulk", "shape": None, "n": 100, "seconds": {"median": seconds}, "rounds": rounds,
                         "bytes_sent": [1, 1, 1], "bytes_offline": [0, 0, 0]} for op, seconds, rounds in operations]}


class BenchCompare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def build(self, name, *operations):
        path = self.folder / name / "bin" / "trefoil"
        path.parent.mkdir(parents=True)
        path.write_text(BUILD.format(folder=self.folder, found=json.dumps(found(*operations))))
        path.chmod(0o755)
        return path

    def compare(self, *arguments, code=0):
        done = subprocess.run([TOP / "scripts" / "bench_compare", *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def line(self, output, name):
        """Milliseconds of A and B and their ratio."""
        return [float(one) for one in next(line for line in output.splitlines() if line.startswith(name)).split()[-6:-3]]

    def test_compares_two_builds(self):
        first = self.build("first", ("compare", 0.002, 7), ("matmul", 0.5, 1))
        self.build("second", ("compare", 0.001, 8), ("matmul", 0.5, 1))
        output = self.compare(first, self.folder / "second", "--turns", "3")  # a program, and a folder that holds one
        self.assertEqual(self.line(output, "compare"), [2, 1, 0.5])
        self.assertEqual(self.line(output, "matmul"), [500, 500, 1])
        self.assertIn("rounds: A 7, B 8", output)
        self.assertEqual((self.folder / "runs").read_text(), "bench\n" * 6)

    def test_takes_any_command_as_a_whole(self):
        first, second, ratio = self.line(self.compare("sleep 0.5", "true | sleep 0.1", "--turns", "1"), "command")
        self.assertGreaterEqual(first, 500)
        self.assertGreaterEqual(second, 100)
        self.assertLess(ratio, 1)

    def test_takes_the_seconds_that_a_command_prints(self):
        says = [f"for t in {times}; do echo Time = $t seconds; done" for times in ("4", "1 2 9")]
        output = self.compare(*says, "--turns", "2", "--seconds", r"^Time = (\S+) seconds")
        self.assertEqual(self.line(output, "command"), [4000, 2000, 0.5])

    def test_takes_a_command_against_one_operation(self):
        one = self.build("one", ("compare", 0.002, 7))
        output = self.compare(one, "echo 0.004", "--seconds", "(.+)")
        self.assertEqual(self.line(output, "compare"), [2, 4, 2])
        two = self.build("two", ("compare", 0.002, 7), ("matmul", 0.5, 1))
        self.assertIn("expected one", self.compare("true", two, "--turns", "1", code=2))

    def test_ends_with_the_code_of_what_failed(self):
        self.compare("exit 7", "true", code=7)
        self.assertIn("found nothing like", self.compare("true", "true", "--seconds", "(.+)", code=1))

    def test_refuses_wrong_usage(self):
        for arguments in (("true",), ("true", "true", "--turns", "0"), ("true", "true", "--seconds", "x"), (self.folder, "true")):
            self.compare(*arguments, code=2)
        self.assertIn("any command", subprocess.run([TOP / "scripts" / "bench_compare", "--help"], capture_output=True, text=True,
                                                    check=True).stdout)


if __name__ == "__main__":
    unittest.main()
