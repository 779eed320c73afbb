"""Runs the commands of the tutorials as they stand there."""

import random
import shlex
import subprocess
import unittest

from trefoil_program import BINARY, PATIENCE, PROJECT, ProgramTest

FIRST_RUN, OWN_TABLE = (PROJECT / "docs" / "tutorial" / name for name in ("first_run.md", "own_table.md"))
PROGRAM = "build/bin/trefoil "


def commands(page):
    return [line[4:] for line in page.read_text().splitlines() if line.startswith("    ")]


class Tutorial(ProgramTest):
    def test_each_command_of_the_first_run_does_what_the_page_says(self):
        (self.folder / "configs").symlink_to(PROJECT / "configs")
        told = [self.succeed(*shlex.split(line)[1:]) for line in commands(FIRST_RUN) if line.startswith(PROGRAM)]
        plan, more_noise, run = told[:3]
        for line in ("Epsilon, outsider       3\n", "Epsilon, insider        4.56111\n"):
            self.assertIn(line, plan)
            self.assertIn("    " + line, FIRST_RUN.read_text())
        self.assertGreater(self.noise(more_noise), self.noise(plan))
        self.assertIn("\nepsilon 3.000 outsider 4.562 insider, delta 1e-05\n", run)
        for file in ("model.npz", "record.json", "report.html", "model.onnx"):
            self.assertTrue((self.folder / "runs" / "first" / file).is_file(), file)

    def test_a_table_of_ones_own_is_trained_on(self):
        draw = random.Random(5)
        lines = []
        for _ in range(600):
            age, town = draw.randint(20, 80), draw.choice(("Ulm", "Bonn"))
            lines.append(f"{age},{town},{draw.gauss(0, 1):.2f},{'yes' if age + draw.gauss(0, 5) > 50 else 'no'}")
        self.write("table.csv", "\n".join(lines) + "\n")
        told = {}
        for line in commands(OWN_TABLE):
            # One table for all, so every proposal may be taken; a user who is asked says yes once and else Enter.
            words = [str(BINARY), *shlex.split(line)[1:]] if line.startswith(PROGRAM) else ["sh", "-c", line]
            asked = "init-job" in words
            done = subprocess.run(words, cwd=self.folder, input="\n\nyes\n\n\n\n" if asked else "", text=True,
                                  capture_output=True, timeout=PATIENCE, check=False)
            self.assertEqual(done.returncode, 0, (line, done.stderr))
            told[line.removeprefix(PROGRAM).split()[0]] = done.stdout
        self.assertEqual(len((self.folder / "mine/train.csv").read_text().splitlines()), 480)
        # The label follows age by a coin's width; a model that says nothing has 0.5, with 120 rows 0.65 once in 1,000.
        self.assertGreater(float(told["evaluate"].split("accuracy")[1].split()[0].strip(":,")), 0.65, told["evaluate"])
        self.assertTrue((self.folder / "runs/table/report.html").is_file())

    @staticmethod
    def noise(plan):
        return float(plan.split("Noise multiplier ")[1].split()[0])


if __name__ == "__main__":
    unittest.main()
