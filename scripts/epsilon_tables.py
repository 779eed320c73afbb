"""Keeps the figures of epsilon in the documents as the program computes them.

Usage: scripts/epsilon_tables.py PROGRAM [--check]
  PROGRAM   the built trefoil, whose plan and account say the figures
  --check   change nothing; fail if a document holds another figure, or no longer holds a sentence that is listed here

A table between two markers in docs/explanation/privacy.md is made whole: what the jobs of configs/ promise. Other figures stand in sentences and
tables that people write: figures() below has each with {} for a figure, where it comes from, and how it is rounded: epsilons up, noise
multipliers down. A job's hash stands there by its first eight digits.
"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
TABLE = TOP / "docs" / "explanation" / "privacy.md"
BEGIN = "<!-- made by scripts/epsilon_tables.py: begin -->\n"
END = "<!-- made by scripts/epsilon_tables.py: end -->\n"
NUMBER = r"([0-9a-f]{8}…|[0-9]+(?:\.[0-9]+)?|∞)"


def up(value, digits=3):
    """Rounded up to so many significant digits; infinity as a sign."""
    if value is None or math.isinf(value):
        return "∞"
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(value))
    unit = 10.0 ** -decimals
    # A figure that is such a number to within what a double keeps stays as it is.
    return f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.{max(decimals, 0)}f}"


def fixed(value, decimals=3):
    """Rounded up to so many decimals, as lines of progress have them."""
    return f"{math.ceil(value * 10 ** decimals * (1 - 1e-12)) / 10 ** decimals:.{decimals}f}"


def below(value, digits=6):
    """A noise multiplier: rounded down to so many significant digits, as the program prints it."""
    unit = 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    return f"{math.floor(value / unit * (1 + 1e-12)) * unit:.{digits}g}"


class Program:
    def __init__(self, binary):
        self.binary = binary
        self.kept = {}

    def json(self, *arguments):
        if arguments not in self.kept:
            command = [self.binary, *map(str, arguments), "--json"]
            self.kept[arguments] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=TOP).stdout)
        return self.kept[arguments]

    def plan(self, job, *assignments):
        path = job if "/" in job else f"configs/{job}.toml"
        return self.json("plan", "--job", path, *(argument for one in assignments for argument in ("--set", one)))

    def numbers(self, rate, multiplier, steps, accountant="rdp", delta=1e-5):
        return self.json("account", "--sampling-rate", rate, "--noise-multiplier", multiplier, "--steps", steps, "--delta", delta,
                         "--accountant", accountant)

    def votes(self, folder, counts, sigma, threshold, threshold_sigma):
        """One query, answered behind a threshold, by what its votes were."""
        path = pathlib.Path(folder) / "votes.csv"
        path.write_text(counts + "\n")
        return self.json("account", "--votes", path, "--mechanism", "confident-gnmax", "--sigma", sigma, "--threshold", threshold,
                         "--threshold-sigma", threshold_sigma, "--delta", 1e-5)["data_dependent"]["improved"]["epsilon"]


def of(plan, adversary, k=1):
    """An epsilon of a plan, for k rows."""
    return next(row for row in plan["rows"] if row["k"] == k)[f"epsilon_{adversary}"]


def lnmax(folder):
    """configs/mnist-pate.toml by LNMax, gamma 0.05, as scripts/experiments pate makes it."""
    lines = (TOP / "configs" / "mnist-pate.toml").read_text().splitlines(keepends=True)
    kept = [line for line in lines if not re.match(r"(sigma|threshold|threshold_sigma|answers) ", line)]
    text = re.sub(r"(?m)^mechanism .*", 'mechanism = "lnmax"\nscale = 20.0', "".join(kept))
    path = pathlib.Path(folder) / "lnmax.toml"
    path.write_text(text)
    return str(path)


def table(program):
    lines = ["| job | δ | ε, outsider and insider | k = 2 | k = 5 | k = 10 |\n", "|---|---|---|---|---|---|\n"]
    for path in sorted((TOP / "configs").glob("*.toml")):
        plan = program.plan(path.stem)
        cells = [f"{up(of(plan, 'outsider', k))}, {up(of(plan, 'insider', k))}" for k in (1, 2, 5, 10)]
        lines.append(f"| {path.stem} | {plan['delta']:g} | {' | '.join(cells)} |\n")
    return "".join(lines)


def figures(program, folder):
    """(document, sentence, its figures)."""
    mnist = program.plan("mnist")
    demo = program.plan("demo", "training.steps=12")
    whole_demo = program.plan("demo")
    vertical = program.plan("adult-vertical")
    pate = program.plan("mnist-pate")
    few = program.plan("mnist-pate", "pate.queries=250", "pate.answers=100")
    known = {(steps, share): program.numbers(1, share * vertical["sigma"], steps)["epsilon"]
             for steps in (150, 18) for share in (0.5, 1)}
    found = [
        ("privacy.md", "it is {} and {} for an outsider at k = 5 and 10, where ε = 3, and {} and {} for an insider.",
         [up(of(mnist, adversary, k)) for adversary in ("outsider", "insider") for k in (5, 10)]),
        ("privacy.md", "it is {} where the insider's ε is {} if a row is taken in all 150 steps, and {} against {} if it is taken in 18.",
         [up(known[150, 1]), up(known[150, 0.5]), up(known[18, 1], 2), up(known[18, 0.5])]),
        ("privacy.md", "epsilon           {}\n    delta             1e-05\n    noise multiplier  1.1",
         [up(program.numbers(0.034133, 1.1, 439)["epsilon"], 6)]),
        ("privacy.md", "job {} hash of the job that was run", [demo["job_hash"][:8] + "…"]),
        ("privacy.md", "noise multiplier  {} σ: noise of any two parties", [below(demo["sigma"])]),
        ("privacy.md", "epsilon outsider  {} for whoever", [up(demo["epsilon_outsider"], 6)]),
        ("privacy.md", "epsilon insider   {} for the other", [up(demo["epsilon_insider"], 6)]),
        ("operations.md", "job demo: 12 steps, sigma {}\n    epsilon {} outsider {} insider, delta 1e-05, at most",
         [below(demo["sigma"]), fixed(demo["epsilon_outsider"]), fixed(demo["epsilon_insider"])]),
        ("README.md", "job demo: 150 steps, sigma {}\n    epsilon {} outsider {} insider, delta 1e-05, at most",
         [below(whole_demo["sigma"]), fixed(whole_demo["epsilon_outsider"]), fixed(whole_demo["epsilon_insider"])]),
        ("README.md", "on 2000 test records\n    epsilon {} outsider {} insider, delta 1e-05",
         [fixed(whole_demo["epsilon_outsider"]), fixed(whole_demo["epsilon_insider"])]),
        ("operations.md", "step 12/12, epsilon {} outsider {} insider,",
         [fixed(demo["epsilon_outsider"]), fixed(demo["epsilon_insider"])]),
        ("operations.md", "done: epsilon {} outsider {} insider, delta 1e-05, 278 rounds, 77.6 MB sent, model.npz in runs/first",
         [fixed(demo["epsilon_outsider"]), fixed(demo["epsilon_insider"])]),
        ("experiments.md", "Confident-GNMax, 640 queries | 286 (97.6, 98.3, 96.2 %) | at most 0.98 | {} | {} |",
         [up(of(pate, "outsider")), up(of(pate, "insider"))]),
        ("experiments.md", "(`rounds = 0`) | 286 (97.2 %) | at most 0.98 | {} | {} |",
         [up(of(pate, "outsider")), up(of(pate, "insider"))]),
        ("experiments.md", "at most 100 answers | 100 (100 %) | at most 0.58 | {} | {} |",
         [up(of(few, "outsider")), up(of(few, "insider"))]),
    ]
    of_lnmax = lnmax(folder)
    for queries, answers in ((100, "LNMax γ = 0.05, 100 queries | 100 (100 %) | 0.35"), (500, "500 queries | 500 (96.8 %) | 1.41"),
                             (1000, "1,000 queries | 1,000 (96.5 %) | 2.61")):
        plan = program.plan(of_lnmax, f"pate.queries={queries}")
        found.append(("experiments.md", answers + " | {} | {} |", [up(of(plan, "outsider")), up(of(plan, "insider"))]))
    return found + audited(program, folder)


def audited(program, folder):
    """What docs/explanation/audit.md says of now; what it quotes of version 0.1 stays."""
    mnist = program.plan("mnist")
    adult = program.plan("adult")
    pate = program.plan("mnist-pate")
    sigma = program.plan("adult-vertical")["sigma"]
    known = [program.numbers(1, sigma / 2, steps)["epsilon"] for steps in (150, 18)]
    votes = [program.votes(folder, "50,50", multiplier, 166.3, 50) for multiplier in (0.3, 1)] + [program.votes(folder, "30,30", 0.25, 112, 30)]
    laplace = [program.plan(lnmax(folder), f"pate.queries={queries}", f"pate.scale={scale}")
               for queries, scale in ((1000, 20.0), (200, 10.0), (40, 2.0))]
    unary = [program.plan("adult-histogram", "histogram.mode=local", f"histogram.randomiser={randomiser}-unary", "privacy.epsilon=1.0")
             for randomiser in ("symmetric", "optimised")]
    twice = program.numbers(0.034, 0.85 / math.sqrt(2), 1, "pld")["epsilon"]
    thrice = program.numbers(0.1, 1.2 / math.sqrt(3), 1, "pld", 1e-6)["epsilon"]
    both = ("outsider", "insider")
    return [("audit.md", sentence, figures) for sentence, figures in (
        ("Now: {}, {}, above 12.92 in every call", [up(votes[0], 4), up(votes[1], 4)]),
        ("Now: {}; above the exact one for all tables", [up(votes[2], 4)]),
        ("is converted with loss ({} where 12.87 is exact)", [up(votes[0], 4)]),
        ("Now: outsider {} and {}, insider {} and {}.", [up(of(mnist, who, k), 4) for who in both for k in (5, 10)]),
        ("Now: outsider {}, insider {}, also by quadrature.", [up(of(mnist, who, 2), 4) for who in both]),
        ("Now: {} and {} come first; the old figures are", [up(epsilon) for epsilon in known]),
        ("`adult.toml`: outsider {} and {}, insider {} and {}.", [up(of(adult, who, k)) for who in both for k in (5, 10)]),
        ("exact 3.22238. Now: {}: one event with less noise.", [up(twice, 5)]),
        ("exact 4.44277. Now: {}, as three executions.", [up(thrice, 5)]),
        ("`19.0536` for both. Now: {} outsider, {} insider.", [fixed(of(laplace[0], who), 2) for who in both]),
        ("Now: {} and {}; {} and {}.", [fixed(of(plan, who), 2) for plan in laplace[1:] for who in both]),
        ("2.20054 and 2.75789. Now: {} and {}: the analytic Gaussian.", [fixed(of(pate, who), 4) for who in both]),
        ("Now: added or removed {} (symmetric), {} (optimised); replaced 1 beside it.", [up(of(plan, "insider")) for plan in unary]),
    )]


def with_figures(text, sentence, values):
    """The text with these figures in the sentence, however its lines are broken; nothing where it does not hold the sentence once."""
    words = [r"\s+".join(map(re.escape, re.split(r"\s+", part))) for part in sentence.split("{}")]
    matches = list(re.finditer(NUMBER.join(words), text))
    if len(matches) != 1:
        return None
    for group in range(len(values), 0, -1):
        begin, end = matches[0].span(group)
        text = text[:begin] + values[group - 1] + text[end:]
    return text


def main() -> int:
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    program = Program(str(pathlib.Path(sys.argv[1]).resolve()))
    paths = {path.name: path for path in [*(TOP / "docs").glob("*/*.md"), TOP / "README.md"]}
    texts = {name: path.read_text() for name, path in paths.items()}
    made = dict(texts)
    before, rest = made[TABLE.name].split(BEGIN)
    made[TABLE.name] = before + BEGIN + table(program) + END + rest.split(END)[1]
    lost = []
    with tempfile.TemporaryDirectory() as folder:
        for document, sentence, values in figures(program, folder):
            text = with_figures(made[document], sentence, values)
            if text is None:
                lost.append(f"{document}: does not hold once: {sentence}")
            elif text != made[document] and "--check" in sys.argv:
                lost.append(f"{document}: expected {', '.join(values)} in: {sentence}")
            else:
                made[document] = text
    if "--check" not in sys.argv:
        for name, text in made.items():
            if text != texts[name]:
                paths[name].write_text(text)
    elif made[TABLE.name] != texts[TABLE.name]:
        lost.append("docs/explanation/privacy.md: the table of jobs is stale; run scripts/epsilon_tables.py build/bin/trefoil")
    for line in lost:
        print(line)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
