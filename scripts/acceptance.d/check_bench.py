"""Checks what `trefoil bench --json` wrote: declared costs are the measured ones, and within their budgets.

Usage: check_bench.py PROTOCOL_TABLE FILE ...
  PROTOCOL_TABLE   the built program of that name, which knows every operation that there is
Prints what is wrong, and last a line with the budgeted figures. Exit code: 0 all is well, 1 not.
"""
import json
import subprocess
import sys

# (operation, form): most rounds, most megabytes sent online by a party. Of a step, whose shape is 128 x 784 x 10: its rounds, and
# a twentieth more than its bytes.
BUDGETS = {
    ("dpsgd_step", "latency"): (10, 0.162),
    ("dpsgd_step_squared", "latency"): (13, 0.206),
    ("clip_factor", "latency"): (4, None),
    ("sigmoid", "latency"): (3, None),
    ("compare", "latency"): (2, None),
    ("compare", "bulk"): (8, None),
    ("inverse_sqrt", "latency"): (10, None),
    ("inverse_sqrt", "bulk"): (24, None),
}


def main() -> int:
    names = subprocess.run([sys.argv[1], "operations"], check=True, capture_output=True, text=True).stdout.split()
    results = [result for name in sys.argv[2:] for result in json.load(open(name))["results"]]
    wrong = [f"{name}: not measured" for name in names if name not in {result["op"] for result in results}]
    figures = {}
    for result in results:
        name = f'{result["op"]} ({result["form"]}, n = {result["n"]})'
        declared = result["declared"]
        for key in ("rounds", "bytes_sent", "bytes_offline"):
            if declared[key] != result[key]:
                wrong.append(f"{name}: {key} {result[key]} measured, {declared[key]} declared")
        budget = BUDGETS.get((result["op"], result["form"]))
        if budget is None:
            continue
        megabytes = max(result["bytes_sent"]) / 1e6
        if result["rounds"] > budget[0] or (budget[1] is not None and megabytes > budget[1]):
            wrong.append(f"{name}: {result['rounds']} rounds, {megabytes:.3f} MB; the budget is {budget}")
        figures[result["op"], result["form"]] = (result["rounds"], megabytes)
    wrong += [f"{op} ({form}): not measured" for op, form in BUDGETS if (op, form) not in figures]
    print("\n".join(wrong))
    step = figures.get(("dpsgd_step", "latency"), (0, 0))
    rounds = ", ".join(f"{op} ({form}) {figures[op, form][0]}" for op, form in BUDGETS if (op, form) in figures)
    print(f"{len(results)} results, {len(wrong)} wrong; rounds: {rounds}; a step sends {step[1]:.3f} MB online")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
