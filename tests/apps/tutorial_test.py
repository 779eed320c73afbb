"""Runs the commands of docs/tutorial/first_run.md as they stand there, in a folder with the project's jobs."""

import shlex
import unittest

from trefoil_program import PROJECT, ProgramTest

PAGE = PROJECT / "docs" / "tutorial" / "first_run.md"
PROGRAM = "    build/bin/trefoil "


class Tutorial(ProgramTest):
    def test_each_command_does_what_the_page_says(self):
        (self.folder / "configs").symlink_to(PROJECT / "configs")
        commands = [line[len(PROGRAM):] for line in PAGE.read_text().splitlines() if line.startswith(PROGRAM)]
        told = [self.succeed(*shlex.split(command)) for command in commands]
        plan, more_noise, run = told[:3]
        for line in ("Epsilon, outsider       3\n", "Epsilon, insider        4.56111\n"):
            self.assertIn(line, plan)
            self.assertIn("    " + line, PAGE.read_text())
        self.assertGreater(self.noise(more_noise), self.noise(plan))
        self.assertIn("\nepsilon 3.000 outsider 4.562 insider, delta 1e-05\n", run)
        for file in ("model.npz", "record.json", "report.html", "model.onnx"):
            self.assertTrue((self.folder / "runs" / "first" / file).is_file(), file)

    @staticmethod
    def noise(plan):
        return float(plan.split("Noise multiplier ")[1].split()[0])


if __name__ == "__main__":
    unittest.main()
