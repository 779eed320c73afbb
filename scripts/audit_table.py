"""Keeps the tests that docs/explanation/audit.md names for each finding as scripts/acceptance runs them (scripts/acceptance.d/audit.sh).

Usage: scripts/audit_table.py [--check]
  --check   change nothing; fail if the document names other tests, a finding without any, or a test that is not there
"""
import pathlib
import re
import sys
import textwrap

TOP = pathlib.Path(__file__).resolve().parent.parent
TESTS = TOP / "scripts" / "acceptance.d" / "audit.sh"
DOCUMENT = TOP / "docs" / "explanation" / "audit.md"
BEGIN = "<!-- made by scripts/audit_table.py: begin -->\n"
END = "<!-- made by scripts/audit_table.py: end -->\n"


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


def table(expressions: dict[int, str]) -> str:
    lines = []
    for number, expression in expressions.items():
        names = " ".join(f"'{part}'" for part in alternatives(expression))
        lines.append(textwrap.fill(names, 110, initial_indent=f"    {number:>2}  ", subsequent_indent=" " * 8,
                                   break_long_words=False, break_on_hyphens=False))
    return "\n" + "\n".join(lines) + "\n\n"


def main() -> int:
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    expressions = {int(number): expression for number, expression in re.findall(r"^  \[(\d+)\]='([^']*)'$", TESTS.read_text(), re.MULTILINE)}
    text = DOCUMENT.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    current = before + BEGIN + table(expressions) + END + after
    if "--check" not in sys.argv:
        DOCUMENT.write_text(current)
        return 0
    numbers = {int(number) for number in re.findall(r"^- \*\*(\d+)b?\*\*:", before, re.MULTILINE)}
    found = [f"docs/explanation/audit.md: finding {number}: no tests in scripts/acceptance.d/audit.sh" for number in sorted(numbers - set(expressions) - {24})]
    names = known_tests()
    found += [f"scripts/acceptance.d/audit.sh: finding {number}: no test is named {one}" for number, expression in expressions.items()
              for part in alternatives(expression) for one in expanded(part) if not any(re.search(one, name) for name in names)]
    if current != text:
        found.append("docs/explanation/audit.md: the tests are not those of scripts/acceptance.d/audit.sh; run scripts/audit_table.py")
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
