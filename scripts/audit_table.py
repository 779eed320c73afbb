"""Keeps the tests that docs/explanation/audit.md names for each finding as scripts/acceptance runs them (scripts/acceptance.d/H.sh).

Usage: scripts/audit_table.py [--check]
  --check   change nothing; fail if the document names other tests, or a finding without any
"""
import pathlib
import re
import sys
import textwrap

TOP = pathlib.Path(__file__).resolve().parent.parent
TESTS = TOP / "scripts" / "acceptance.d" / "H.sh"
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
    found = [f"docs/explanation/audit.md: finding {number}: no tests in scripts/acceptance.d/H.sh" for number in sorted(numbers - set(expressions) - {24})]
    if current != text:
        found.append("docs/explanation/audit.md: the tests are not those of scripts/acceptance.d/H.sh; run scripts/audit_table.py")
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
