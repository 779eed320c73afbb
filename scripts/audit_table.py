"""Reads the findings of docs/explanation/audit.md: a clause each, with its tests, what 0.1 does and what holds now.

Usage: scripts/audit_table.py [--check]
  (nothing)  print them as one table, a line a clause
  --check    fail if a clause lacks a part, names a test that is not there or that scripts/acceptance audit does not run, quotes nothing of
             0.1, or if a finding has no clause or no tests
"""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
TESTS = TOP / "scripts" / "acceptance.d" / "audit.sh"
DOCUMENT = TOP / "docs" / "explanation" / "audit.md"
CLAUSE = re.compile(r"- \*\*(\d+)([a-z])\*\* (.+?) Test: (.+?)\. On 0\.1: (.+?) Now: (.+)", re.DOTALL)
# Where a finding has a second counterexample.
TWICE = {1, 2, 8, 10, 15}


def alternatives(expression: str) -> list[str]:
    """The parts between the bars that stand in no parenthesis."""
    parts, depth = [""], 0
    for character in expression:
        depth += (character == "(") - (character == ")")
        if character == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def expanded(expression: str) -> list[str]:
    """The expressions without groups that it stands for."""
    group = re.search(r"\(([^()]*)\)", expression)
    if not group:
        return [expression]
    return [one for part in group[1].split("|") for one in expanded(expression[:group.start()] + part + expression[group.end():])]


def known_tests() -> list[str]:
    """As ctest names them: programs' tests by folder, suite and name, scripts by folder and name."""
    names = []
    for path in sorted((TOP / "tests").rglob("*_test.*")):
        folder = path.relative_to(TOP / "tests").parts[0]
        if path.suffix == ".py":
            names.append(f"{folder}.{path.stem.removesuffix('_test')}")
            continue
        tests = re.findall(r"^TEST(_P|_F)?\(\s*(\w+),\s*(\w+)\)", path.read_text(), re.MULTILINE)
        names += [f"{folder}.I/{suite}.{name}/0" if kind == "_P" else f"{folder}.{suite}.{name}" for kind, suite, name in tests]
    for path in sorted((TOP / "tests").rglob("CMakeLists.txt")):
        names += re.findall(r"add_test\(NAME (\w+\.\w+)", path.read_text())
    return names


def clauses(text: str) -> tuple[list[tuple[str, ...]], list[str]]:
    """(finding, letter, clause, tests, 0.1, now) of each, in one line, and what is no clause though it stands where one should."""
    whole, broken = [], []
    for item in re.findall(r"^- \*\*\d+[a-z]\*\*(?:.+\n)+?(?=- |\n|\Z)", text, re.MULTILINE):
        line = " ".join(item.split())
        match = CLAUSE.fullmatch(line)
        if match and all(line.count(label) == 1 for label in (" Test: ", " On 0.1: ", " Now: ")):
            whole.append(match.groups())
        else:
            broken.append(line)
    return whole, broken


def missing(test: str, expression: str, names: list[str]) -> str | None:
    """What is wrong with a test that a clause names. A document stands where nothing can be run; scripts/acceptance has its own tests."""
    if test.startswith("scripts/acceptance "):
        return None if (TESTS.parent / f"{test.split()[1]}.sh").is_file() else "is no subject of scripts/acceptance"
    if test.endswith(".md"):
        return None if (TOP / test).is_file() else "is not there"
    program, _, method = test.partition(": ")
    found = [name for name in names if name.removesuffix("/0") == program or name.endswith((f"/{program}/0", f".{program}"))]
    if not found:
        return "is no test"
    if method and f"def {method}(" not in (TOP / "tests" / (program.replace(".", "/") + "_test.py")).read_text():
        return "is no method of that test"
    return None if any(re.search(expression, name) for name in found) else "is not run by scripts/acceptance audit"


def findings(text: str, expressions: dict[int, str]) -> list[str]:
    names = known_tests()
    whole, broken = clauses(text)
    found = [f"docs/explanation/audit.md: found \"{line[:60]}...\", expected clause, Test:, On 0.1: and Now:" for line in broken]
    for number, letter, _, tests, before, _ in whole:
        place = f"docs/explanation/audit.md: {number}{letter}"
        if "`" not in before and not re.search(r"\d", before):
            found.append(f"{place}: found nothing quoted of 0.1")
        named = re.findall(r"`([^`]+)`", tests)
        if not named or re.sub(r"`[^`]+`|, ", "", tests):
            found.append(f"{place}: found the tests {tests}, expected names in backticks")
        for test in named:
            if problem := missing(test, expressions.get(int(number), ""), names):
                found.append(f"{place}: {test} {problem}")
    marks = [number + letter for number, letter, *_ in whole]
    numbers = sorted({int(number) for number, *_ in whole})
    found += [f"docs/explanation/audit.md: found clause {mark} twice" for mark in sorted({one for one in marks if marks.count(one) > 1})]
    found += [f"docs/explanation/audit.md: found no clause of finding {number}" for number in range(1, 28) if number not in numbers]
    found += [f"docs/explanation/audit.md: finding {number}: found no second case" for number in sorted(TWICE)
              if not any(int(one) == number and re.search(r"\bsecond (case|way)\b", clause, re.IGNORECASE) for one, _, clause, *_ in whole)]
    found += [f"scripts/acceptance.d/audit.sh: finding {number}: no tests" for number in numbers if number not in expressions]
    found += [f"scripts/acceptance.d/audit.sh: finding {number}: no test is named {one}" for number, expression in expressions.items()
              for part in alternatives(expression) for one in expanded(part) if not any(re.search(one, name) for name in names)]
    return found


def table(text: str) -> str:
    rows = [f"| {number}{letter} | {clause} | {tests} | {before} | {now} |" for number, letter, clause, tests, before, now in
            (tuple(part.replace("|", "\\|") for part in parts) for parts in clauses(text)[0])]
    return "\n".join(["| clause | what was wrong | tests | 0.1 | now |", "|---|---|---|---|---|", *rows])


def main() -> int:
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    text = DOCUMENT.read_text()
    if "--check" not in sys.argv:
        print(table(text))
        return 0
    expressions = {int(number): expression for number, expression in re.findall(r"^  \[(\d+)\]='([^']*)'$", TESTS.read_text(), re.MULTILINE)}
    found = findings(text, expressions)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
