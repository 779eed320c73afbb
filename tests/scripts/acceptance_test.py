"""That scripts/acceptance can run what it names: functions and tests are there. Usage: acceptance_test.py"""
import fnmatch
import importlib.util
import os
import pathlib
import re
import subprocess
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
FOLDER = TOP / "scripts" / "acceptance.d"
spec = importlib.util.spec_from_file_location("audit_table", TOP / "scripts" / "audit_table.py")
audit_table = importlib.util.module_from_spec(spec)
spec.loader.exec_module(audit_table)


def acceptance(*arguments):
    return subprocess.run([TOP / "scripts" / "acceptance", *arguments], capture_output=True, text=True, check=False)


class Acceptance(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.listed = [line.split(": ", 1)[0].split() for line in acceptance("--list").stdout.splitlines()]

    def test_has_a_function_for_each_check_that_it_lists(self):
        self.assertGreater(len(self.listed), 50)
        for subject, check in self.listed:
            function = f"check_{check.replace('-', '_')}"
            if subject != "audit":  # whose functions are made of its table
                self.assertRegex((FOLDER / f"{subject}.sh").read_text(), rf"(?m)^{function}\(\) {{", f"{subject} {check}")

    def test_names_its_subjects_in_its_help(self):
        usage = (TOP / "scripts" / "acceptance").read_text().split("set -euo")[0]
        for subject in {subject for subject, _ in self.listed}:
            self.assertRegex(usage, rf"\b{subject}\b")

    def test_refuses_what_is_not_there(self):
        for arguments in ((), ("nothing",), ("speed", "nothing")):
            self.assertEqual(acceptance(*arguments).returncode, 2, arguments)

    def test_runs_tests_that_are_there(self):
        known = audit_table.known_tests()
        for path in FOLDER.glob("*.sh"):
            text = path.read_text()
            for folder, filters in re.findall(r"\b(dp|ml|jobs|net|apps|runtime) '([^']+)'", text):
                for one in filters.split(":"):
                    self.assertTrue(fnmatch.filter(known, f"{folder}.{one}"), f"{path.name}: no test of {folder} is {one}")
            for name in re.findall(r"\bprogram_test ([a-z_]+)", text):
                self.assertTrue((TOP / "tests" / "apps" / f"{name}_test.py").is_file(), f"{path.name}: {name}")


class SkippedTests(unittest.TestCase):
    """A check of the audit whose tests were skipped has not looked."""

    PASSED = "    Start 1: apps.log\n1: OK\n1/3 Test  #1: apps.log ...   Passed    0.01 sec\n"
    SKIPPED = ("    Start 2: constant_time.memcheck\n2: skipped: needs valgrind\n"
               "2/3 Test  #2: constant_time.memcheck ...***Skipped   0.01 sec\n")
    IN_PART = "    Start 3: apps.stuck\n3: OK (skipped=2)\n3/3 Test  #3: apps.stuck ...   Passed    0.01 sec\n"

    def check(self, output, code=0):
        """Code and line of a check of the audit whose ctest says this."""
        script = """work=$(mktemp -d); trap 'rm -r "$work"' EXIT
            measured() { echo "$*" >"$work/measured"; }
            skip() { measured "$*"; exit 77; }
            source scripts/acceptance.d/audit.sh
            build() { :; }
            ctest() { echo "$said"; return "$code"; }
            (check_18) >/dev/null; status=$?; cat "$work/measured"; exit "$status" """
        done = subprocess.run(["bash", "-c", script], cwd=TOP, capture_output=True, text=True, check=False,
                              env=os.environ | {"said": output, "code": str(code)})
        return done.returncode, done.stdout.strip()

    def test_pass_where_all_passed(self):
        self.assertEqual(self.check(self.PASSED), (0, "1 tests passed, 0 failed"))

    def test_are_skips_with_their_reason(self):
        self.assertEqual(self.check(self.PASSED + self.SKIPPED + self.IN_PART),
                         (77, "2 tests passed, 0 failed, skipped: constant_time.memcheck: needs valgrind; apps.stuck (2 of its cases)"))

    def test_fail_where_one_failed(self):
        failed = "4/4 Test  #4: apps.plan ...***Failed    0.01 sec\n"
        self.assertEqual(self.check(self.SKIPPED + failed, 8)[0], 8)


class AuditTable(unittest.TestCase):
    TEXT = "- **5a** It was wrong. Test: `scripts.acceptance`. On 0.1: `1`. Now:\n  2.\n"
    EXPRESSIONS = {number: "scripts\\.acceptance" for number in range(1, 28)}

    def found(self, text):
        return [line for line in audit_table.findings(text, self.EXPRESSIONS) if "5a" in line]

    def test_takes_a_clause_with_its_four_parts(self):
        self.assertEqual(self.found(self.TEXT), [])
        self.assertIn("| 5a | It was wrong. | `scripts.acceptance` | `1`. | 2. |", audit_table.table(self.TEXT))

    def test_finds_what_a_clause_lacks(self):
        for old, new, problem in ((" Test: ", " ", "expected clause, Test:, On 0.1: and Now:"), (" Now:", " ", "and Now:"),
                                  ("`1`", "something", "nothing quoted"), ("`scripts.acceptance`", "`scripts.acceptances`", "is no test"),
                                  ("`scripts.acceptance`", "`scripts.derive`", "is not run by"),
                                  ("`scripts.acceptance`", "`scripts.acceptance: test_nothing`", "is no method"),
                                  ("`scripts.acceptance`", "`docs/nothing.md`", "is not there"),
                                  ("`scripts.acceptance`", "`scripts/acceptance nothing`", "is no subject"),
                                  ("`scripts.acceptance`", "the tests", "expected names in backticks")):
            with self.subTest(new):
                self.assertIn(problem, " ".join(self.found(self.TEXT.replace(old, new))))

    def test_finds_findings_that_have_no_clause_or_no_second_case(self):
        found = audit_table.findings(self.TEXT, self.EXPRESSIONS)
        self.assertIn("docs/explanation/audit.md: found no clause of finding 27", found)
        self.assertIn("docs/explanation/audit.md: finding 15: found no second case", found)
        self.assertIn("docs/explanation/audit.md: found clause 5a twice", audit_table.findings(self.TEXT * 2, self.EXPRESSIONS))



if __name__ == "__main__":
    unittest.main()
