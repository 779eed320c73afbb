# shellcheck shell=bash
# List B: every protocol exact, proved and at its budget. Read by scripts/acceptance, from the project's top, with `work`
# (a folder), `measured` and `skip`. Checks run in a subshell whose output is logged.
#
# `set -e` is off inside a function that is called under `||`, so every step that must succeed says so with `|| return`.

TITLES=(
  [1]="trefoil bench: every operation's measured cost is the declared one, and within its budget"
  [2]="MNIST by trefoil local, three times: the median within 0.3 points of 91.3 %"
  [3]="scripts/test on a fresh clone, also under asan; base, net, mpc, protocols and ml under tsan"
  [4]="2^24 truncations; inverse square roots of 10^5 inputs a scale"
  [5]="discrete Gaussian noise: at least 2 million samples a second on one core"
  [6]="PEA's figure of the inverse square root as a plot; constants as derived; the table of protocols current"
)

check_1() {
  build || return
  local form output status=0
  for form in latency bulk; do
    build/bin/trefoil bench --form "$form" --reps 2 --sizes 1,37,1024 --json "$work/bench-$form.json" || return
  done
  output=$(python3 "$helpers/check_bench.py" "$work/bench-latency.json" "$work/bench-bulk.json") || status=$?
  echo "$output"
  measured "$(echo "$output" | tail -n 1)"
  return "$status"
}

check_2() {
  has_data mnist || skip "no MNIST: run scripts/fetch_mnist and set TREFOIL_DATA"
  build || return
  local accuracies=() all
  for i in 1 2 3; do
    mnist_run "$work/mnist-$i" || return
    accuracies+=("$(value "$work/mnist-$i/summary.json" accuracy)")
  done
  measured "accuracy ${accuracies[*]}"
  all=$(IFS=,; echo "${accuracies[*]}")
  holds "abs(sorted([$all])[1] - 0.913) <= 0.003"
}

check_3() { test_in_clone release asan tsan; }

check_4() { long_protocol_runs; }

check_5() {
  build || return
  build/bin/kernels_benchmark --benchmark_filter='Gaussian' --benchmark_format=json >"$work/noise.json" || return
  local slowest
  slowest=$(python3 -c 'import json, sys
print(min(run["items_per_second"] for run in json.load(open(sys.argv[1]))["benchmarks"]))' "$work/noise.json") || return
  measured "$(python3 -c "print(f'{$slowest / 1e6:.1f} million a second, the slowest standard deviation')")"
  holds "$slowest >= 2e6"
}

check_6() {
  build || return
  scripts/plot_inverse_sqrt "$work/inverse_sqrt.svg" || return
  [ -s "$work/inverse_sqrt.svg" ] || return
  (cd build && ctest -R '^scripts\.') || return
  measured "$work/inverse_sqrt.svg"
}
