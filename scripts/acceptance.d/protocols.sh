# shellcheck shell=bash
# Every protocol exact, proved and at its budget.
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`.

CHECKS=(
  "costs: trefoil bench: every operation's measured cost is the declared one, and within its budget"
  "random-inputs: 2^24 truncations; inverse square roots of 10^5 inputs a scale"
  "derivations: PEA's figure of the inverse square root as a plot; constants as derived; the table of protocols current"
)

check_costs() {
  build || return
  local form output status=0
  for form in latency bulk; do
    build/bin/trefoil bench --form "$form" --reps 2 --sizes 1,37,1024 --json "$work/bench-$form.json" || return
  done
  output=$(python3 "$helpers/check_bench.py" build/bin/protocol_table "$work/bench-latency.json" "$work/bench-bulk.json") || status=$?
  echo "$output"
  measured "$(echo "$output" | tail -n 1)"
  return "$status"
}

check_random_inputs() { long_protocol_runs; }

check_derivations() {
  build || return
  scripts/plot_inverse_sqrt "$work/inverse_sqrt.svg" || return
  [ -s "$work/inverse_sqrt.svg" ] || return
  (cd build && ctest -R '^scripts\.') || return
  measured "$work/inverse_sqrt.svg"
}
