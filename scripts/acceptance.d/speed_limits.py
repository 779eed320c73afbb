#!/usr/bin/env python3
"""Measures operations against their limits: the least of several medians, beside the machine's peaks of the same minute.

Usage: speed_limits.py TREFOIL KERNELS_BENCHMARK FOLDER loopback|lan|wan [--netsim NETSIM] [--turns N] [--sums]
  FOLDER     for keys, party files and results; lan and wan want the network simulator, and root
  --turns    how often everything is measured (default 3)
  --sums     noisy sums in place of what a training is made of
Limits in milliseconds are for two cores of an EPYC with AVX-512, whose multiplier does 16.6 G/s in registers. Where the best of
the turns' peaks is another, those of loopback and lan are as much longer or shorter. Of each operation the turn counts whose
median is the shortest, and the most bytes of any. A line an operation. A step takes sustained, what it is dealt included, at most
1.4 times its limit, and a noisy sum, noise included, its own. Where there are two forms both are measured beside what was chosen,
and no turn may have chosen one whose shortest sustained time, which the choice is made by, is more than a fifth longer than the
other's.
Exit code: 0; 1 if one is beyond its limit; 2 usage; else that of a bench that failed.
"""
import argparse
import dataclasses
import json
import pathlib
import subprocess
import sys

import peaks


@dataclasses.dataclass(frozen=True)
class Work:
    """What `trefoil bench` is to measure, and its limits by network: milliseconds, None where it is not measured there."""
    op: str
    size: str  # a number of elements, or a shape
    reps: int
    limits: dict
    most_bytes: dict = dataclasses.field(default_factory=dict)  # online, of a party, by form; none: any number
    sustained: bool = False
    sustained_limit: float = 0  # milliseconds; 0: none
    forms: bool = False  # whether there are two forms; then sustained, too

    def options(self, profile, form):
        reps = min(self.reps, 10) if profile == "wan" else self.reps
        size = "--shape" if "x" in self.size else "--sizes"
        sustained = ["--sustained", str(2 * reps)] if self.sustained else []
        return ["--ops", self.op, size, self.size, "--reps", str(reps), "--form", form, *sustained]


FORMS = ("latency", "bulk")
# Bytes at most: a twentieth more than the declared ones.
WORKS = [
    Work("dpsgd_step", "128x784x10", 100, {"loopback": 3.5, "lan": 5.5, "wan": 230},
         {"latency": 162_000, "bulk": 179_000}, True, forms=True),
    Work("inverse_sqrt", "128", 100, {"loopback": 2.5, "lan": 4.5, "wan": 220}, sustained=True, forms=True),
    Work("clip_factor", "128", 100, {"loopback": 1.5, "lan": 2, "wan": 100}, sustained=True, forms=True),
    Work("compare", "100000", 10, {"loopback": 7, "lan": 28, "wan": 420}, {"latency": 1_680_000, "bulk": 1_977_000}),
    Work("multiply_truncate", "1000000", 10, {"loopback": 60, "lan": 85}, {"bulk": 16_800_000}),
    Work("matmul", "128x784x10", 50, {"loopback": 1.4}),
    Work("matmul", "256x4096x10", 50, {"loopback": 9}),
    Work("matmul", "1024x1024x1024", 5, {"loopback": 500}),
]
SUMS = [Work("noisy_sum", "1000000", 10, {"loopback": 60}, sustained=True, sustained_limit=300)]
SUSTAINED = 1.4  # times the limit of a step
SLOWER = 1.2  # times the other form: what times of the same form differ by from turn to turn


def measured(chosen, work, turn, form):
    """The result of `trefoil bench`."""
    out = chosen.folder / f"{work.op}-{work.size}-{form}-{turn}.json"
    if chosen.profile == "loopback":
        command = [chosen.trefoil, "bench", "--threads", "1", "--json", out]
    else:
        script = pathlib.Path(__file__).with_name("bench_in_namespaces.sh")
        command = ["bash", script, chosen.netsim, chosen.trefoil, chosen.folder / "parties", chosen.profile, out]
    run = subprocess.run([*command, *work.options(chosen.profile, form)], stdout=subprocess.DEVNULL, check=False)
    if run.returncode != 0:
        sys.exit(run.returncode)
    return json.loads(out.read_text())["results"][0]


def choice_of(results, of_forms):
    """What is said of the forms that were chosen, and whether none was the slower one. `of_forms`: each form's results of each turn."""
    online = {form: min(each["seconds"]["median"] for each in found) for form, found in of_forms.items()}
    sustained = {form: min(each["seconds_sustained"] for each in found) for form, found in of_forms.items()}
    right = all(sustained[each["form"]] <= SLOWER * min(sustained.values()) for each in results)
    times = ", ".join(f"{form} {1000 * online[form]:.2f} and sustained {1000 * sustained[form]:.2f}" for form in of_forms)
    return f" ({times}; chosen {' '.join(each['form'] for each in results)}{'' if right else ': THE SLOWER ONE'})", right


def line_of(work, profile, results, of_forms, slowness):
    """What is said of an operation, and whether it is within its limits. `results`: of each turn, in the form that was chosen."""
    result = min(results, key=lambda each: each["seconds"]["median"])
    median = 1000 * result["seconds"]["median"]
    most = max(max(each["bytes_sent"]) for each in results)
    limit = work.limits[profile]
    right = median <= limit * slowness and all(
        max(each["bytes_sent"]) <= work.most_bytes[each["form"]] for each in results if work.most_bytes)
    sustained = f", sustained {1000 * result['seconds_sustained']:.2f}" if work.sustained else ""
    sustained_limit = SUSTAINED * limit if work.op == "dpsgd_step" else work.sustained_limit
    if sustained_limit > 0:
        sustained += f" (limit {sustained_limit:.1f})"
        right = right and 1000 * result["seconds_sustained"] <= sustained_limit * slowness
    choice = ""
    if of_forms:
        choice, chosen_well = choice_of(results, of_forms)
        right = right and chosen_well
    medians = " ".join(f"{1000 * each['seconds']['median']:.2f}" for each in results)
    return (f"{work.op} {work.size}, {result['form']}: {median:.2f} ms of {medians} (limit {limit:g}, times "
            f"{slowness:.2f} here){choice}{sustained}, {most} bytes online{'' if right else ' BEYOND ITS LIMIT'}"), right


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("trefoil", type=pathlib.Path)
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("profile", choices=["loopback", "lan", "wan"])
    parser.add_argument("--netsim", type=pathlib.Path)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--sums", action="store_true")
    chosen = parser.parse_args()
    if chosen.turns < 1 or (chosen.profile != "loopback" and chosen.netsim is None):
        parser.error("expected at least one turn, and a network simulator for lan and wan")
    chosen.folder.mkdir(parents=True, exist_ok=True)
    works = [work for work in (SUMS if chosen.sums else WORKS) if chosen.profile in work.limits]
    results = [{form: [] for form in ("auto", *(FORMS if work.forms else ()))} for work in works]  # of each turn
    found = []
    for turn in range(chosen.turns):
        found.append(peaks.peaks(chosen.kernels))
        print(f"turn {turn + 1}: {peaks.in_words(found[-1])}", flush=True)
        for work, its_results in zip(works, results):
            for form, of_form in its_results.items():
                of_form.append(measured(chosen, work, turn, form))
    slowness = 1.0 if chosen.profile == "wan" else peaks.slowness(found)
    status = 0
    for work, its_results in zip(works, results):
        line, right = line_of(work, chosen.profile, its_results.pop("auto"), its_results, slowness)
        print(line)
        status = status if right else 1
    return status


if __name__ == "__main__":
    sys.exit(main())
