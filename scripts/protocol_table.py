"""Keeps the table of docs/protocols.md as the declared costs say.

Usage: scripts/protocol_table.py PROGRAM [--check]
  PROGRAM   the built protocol_table, which prints the table from the declared costs
  --check   change nothing; fail if the document holds another table, or a declared cost has no line in it
"""
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = TOP / "docs" / "protocols.md"
BEGIN = "<!-- made by scripts/protocol_table.py: begin -->\n"
END = "<!-- made by scripts/protocol_table.py: end -->\n"

# Declared costs of parts, which are not protocols that a user calls.
PARTS = {"PairExchangeCost", "SplitForAdderCost", "CarryOutCost", "AllCarriesCost", "DealDcfCost",
         "BelowThresholdsPairCost", "LookUpByLeadingBitCost", "ReciprocalOfNormalisedCost"}


def missing_costs() -> list[str]:
    declared = set()
    for header in [*TOP.glob("protocols/*.h"), TOP / "ml" / "dp_sgd.h", TOP / "ml" / "published_clipping.h"]:
        declared.update(re.findall(r"mpc::Cost (\w+Cost)\(", header.read_text()))
    listed = (TOP / "bench" / "protocol_table.cpp").read_text()
    return sorted(name for name in declared - PARTS if not re.search(rf"\b{name}\(", listed))


def main() -> int:
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    table = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout
    text = DOCUMENT.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    current = before + BEGIN + table + END + after
    if "--check" not in sys.argv:
        DOCUMENT.write_text(current)
        return 0
    missing = missing_costs()
    for name in missing:
        print(f"bench/protocol_table.cpp: no line for {name}")
    if current != text:
        print("docs/protocols.md: the table of costs is stale; run scripts/protocol_table.py build/bin/protocol_table")
    return 1 if missing or current != text else 0


if __name__ == "__main__":
    sys.exit(main())
