"""Keeps what the program says of its protocols in the docs: the table of docs/reference/protocols.md, made of the declared costs,
and the list of what is revealed in docs/explanation/threat_model.md.

Usage: scripts/protocol_table.py PROGRAM [--check]
  PROGRAM   the built protocol_table, which prints the table and the list
  --check   change nothing; fail if a document holds something else, if a declared cost or a protocol has no line in the table,
            or if a line is not complete or names a section that the document does not have
"""
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
# A document and how the program is asked for what stands in it.
DOCUMENTS = {TOP / "docs/reference/protocols.md": [], TOP / "docs/explanation/threat_model.md": ["reasons"]}
BEGIN = "<!-- made by scripts/protocol_table.py: begin -->\n"
END = "<!-- made by scripts/protocol_table.py: end -->\n"

# What the table need not name, each with its reason.
PARTS = {
    "StartAdder": "a step of comparison and bit decomposition",
    "CarryOut": "a step of comparison",
    "AllCarries": "a step of bit decomposition",
    "AllPlanes": "the last step of EqualEverywhere, a tree of ANDs",
    "AnyPlane": "the last step of FaultyRows, a tree of ANDs",
    "AnyItem": "AnyPlane, with a word's bits for planes, time after time",
    "BelowThresholdsPair": "BelowThresholds before it is re-shared",
    "DealDcf": "the dealt part of a comparison by keys",
    "TruncatePair": "the last step of Sigmoid: Truncate of what A and B share",
    "ReciprocalOfNormalised": "a step of Reciprocal and Softmax, made of truncated products",
    "LocalProduct": "local: sends nothing",
    "LocalRowInnerProducts": "local: sends nothing",
    "LocalMatrixProduct": "local: sends nothing",
    "LocalTransposedProduct": "local: sends nothing",
    "Measure": "measures what it is given, behind a barrier; no protocol",
    "PairExchange": "a message of a masked opening",
    "OpeningOfSum": "the same of a 3-of-3 sharing",
    "BelowThresholdsPairOfSum": "BelowThresholdsPair of a 3-of-3 sharing, in ClipFactor",
    "LookUpOfSum": "LookUp of a 3-of-3 sharing, in ClipFactor",
    "OpenSharedCounts": "OpenNoisyCounts of counts that are in shares: all but its input",
    "TransferLabels": "the first part of MinimiseTransferRisk",
    "TransferStep": "a step of MinimiseTransferRisk",
    "Gradient": "DpSgdStep before its noise, of a batch or a block",
    "ApplyUpdate": "DpSgdStep behind its noise",
    "PredictionErrors": "Predict with labels and the classes' weights: a step of the gradient",
    "EvaluateAndFirst": "Evaluate, with one looked-up number an element more in latency form",
    "ClipFactorAndWithin": "ClipFactor, the same",
    "SquaredGradientNorms": "a step of the gradient: re-share, multiply locally",
    "TimesFactors": "a step of the gradient: truncate a product",
    "Parallel": "runs two protocols beside each other; no protocol of its own",
}

# Headers of ml/ whose operations have lines, too.
OF_JOBS = ["classifier_average", "dp_sgd", "ensemble_transfer", "noisy_counts", "noisy_votes", "published_clipping"]

# Where entries stand.
CATALOGUE = [*TOP.glob("protocols/catalogue/*.cpp"), *TOP.glob("bench/*_entries.cpp")]

# A function at the outermost level whose first parameter is the party.
PROTOCOL = re.compile(r"^(?:\[\[nodiscard\]\] )?\w[\w:<>, ]* (\w+)\(\s*mpc::Context& party\b", re.MULTILINE)


def missing_costs() -> list[str]:
    declared = set()
    for header in [*TOP.glob("protocols/**/*.h"), *(path for name in OF_JOBS for path in TOP.glob(f"ml/**/{name}.h"))]:
        declared.update(re.findall(r"mpc::Cost (\w+)Cost\(", header.read_text()))
    listed = "".join(path.read_text() for path in CATALOGUE)
    return sorted(f"{name}Cost" for name in declared - PARTS.keys() if not re.search(rf"\b{name}Cost\(", listed))


def missing_protocols(named: set[str]) -> list[str]:
    headers = [header for header in TOP.glob("protocols/**/*.h") if header.parent.name != "catalogue"]
    declared = {name for header in headers for name in PROTOCOL.findall(header.read_text())}
    return sorted(declared - named - PARTS.keys())


def findings(table: str, text: str) -> list[str]:
    rows = [[cell.strip() for cell in line.strip("|\n ").split(" | ")] for line in table.splitlines()[2:]]
    columns = len(table.splitlines()[0].strip("| ").split(" | "))
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    sections = set(re.findall(r"^##+ (.*)$", text, re.MULTILINE))
    found = [f"protocols/catalogue: no entry for {name}" for name in missing_costs()]
    found += [f"protocols/catalogue: no entry names {name}" for name in missing_protocols(named)]
    found += [f"protocols/catalogue: {row[0]}: not complete" for row in rows if len(row) != columns or not all(row)]
    for row in rows:
        found += [f"protocols/catalogue: {row[0]}: docs/reference/protocols.md has no section {title}"
                  for title in re.findall(r'"([^"]*)"', row[6]) if title not in sections]
    return found


def main() -> int:
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    check = "--check" in sys.argv
    found = []
    for document, arguments in DOCUMENTS.items():
        made = subprocess.run([sys.argv[1], *arguments], check=True, capture_output=True, text=True).stdout
        text = document.read_text()
        before, rest = text.split(BEGIN)
        _, after = rest.split(END)
        current = before + BEGIN + made + END + after
        if not check:
            document.write_text(current)
            continue
        if not arguments:
            found += findings(made, text)
        if current != text:
            found.append(f"{document.relative_to(TOP)} is stale; run scripts/protocol_table.py build/bin/protocol_table")
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
