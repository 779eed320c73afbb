"""Checks what `trefoil bench --json` wrote: declared costs are the measured ones, and within their budgets.

Usage: check_bench.py FILE ...
Prints what is wrong, and last a line with the budgeted figures. Exit code: 0 all is well, 1 not.
"""
import json
import sys

# Every operation of the program, in order of name.
OPERATIONS = [
    "above_threshold", "and", "arg_max", "average_of_sum", "bit_decompose", "bit_times", "bit_to_arith",
    "classifier_sum", "classifier_sum_published", "clip_factor", "compare", "dpsgd_step", "dpsgd_step_exact",
    "dpsgd_step_hidden", "dpsgd_step_published", "dpsgd_step_softmax", "dpsgd_step_squared", "equal_everywhere",
    "evaluate", "evaluate_model", "exp", "input", "input_ahead", "input_bits", "input_each", "input_each_bits", "inverse_sqrt",
    "inverse_sqrt_published", "look_up", "look_up_by_leading_bit", "look_up_by_low_bits", "matmul", "matmul_wide",
    "maximum", "multiply", "multiply_truncate", "multiply_truncate_exact", "noisy_counts", "noisy_winners",
    "predict_classes", "predict_scores", "reciprocal", "relu", "reshare", "reveal", "reveal_bits", "reveal_to",
    "sigmoid", "sigmoid_of_product", "softmax", "softmax_bounded", "suffix_or", "transfer_step", "truncate",
    "truncate_exact",
]
# (operation, form): most rounds, most megabytes sent online by a party.
BUDGETS = {
    ("dpsgd_step", "latency"): (14, 0.45),
    ("dpsgd_step_squared", "latency"): (14, 0.45),
    ("clip_factor", "latency"): (4, None),
    ("sigmoid", "latency"): (3, None),
    ("compare", "latency"): (2, None),
    ("compare", "bulk"): (8, None),
    ("inverse_sqrt", "latency"): (10, None),
    ("inverse_sqrt", "bulk"): (24, None),
}


def main() -> int:
    results = [result for name in sys.argv[1:] for result in json.load(open(name))["results"]]
    wrong = [f"{name}: not measured" for name in OPERATIONS if name not in {result["op"] for result in results}]
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
