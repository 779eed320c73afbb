# shellcheck shell=bash
# List F: an operator's tool. Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`. Checks
# run in a subshell whose output is logged.
#
# `set -e` is off inside a function that is called under `||`, so every step that must succeed says so with `|| return`.

TITLES=(
  [1]="200 random kill -9 over one job with --resume: right accuracy, record and ledger"
  [2]="each fuzz target by libFuzzer for FUZZ_MINUTES (10) minutes without a finding"
  [3]="fault matrix: 15 faults at 5 moments, each party ends as docs/operations.md says, in time"
  [4]="docker-compose.yml for real: three networks, keys as secrets, not root, healthy; one container killed, all three resumed"
  [5]="soak: trainings back to back for SOAK_MINUTES (60), no growth of memory, descriptors or threads"
  [11]="metrics, health and readiness while a run goes on"
  [12]="logs of debug runs, text and JSON, hold none of the planted features, labels and keys"
  [13]="audit log: damaged, exchanged, missing and cut lines are found"
  [14]="bad data, full disk, no memory, signal, exceeded budget: both peers say why within seconds"
)

# program_test NAME [TEST]: an end-to-end test of tests/apps with three TLS processes, and how long it took.
program_test() {
  scripts/setup && scripts/build release trefoil || return
  local begin=$SECONDS
  TREFOIL_BINARY=$PWD/build/bin/trefoil python3 -B "tests/apps/$1_test.py" "${@:2}" || return
  measured "tests/apps/$1_test.py ${*:2} passed in $((SECONDS - begin)) s"
}

check_11() { program_test metrics; }
check_12() { program_test log Logs.test_a_full_debug_run_tells_nothing_secret Logs.test_neither_do_failing_runs_at_any_level; }
check_13() { program_test log Logs.test_the_audit_log_accounts_for_every_session; }
check_14() { program_test local_errors; }

check_1() {
  scripts/setup && scripts/build release trefoil || return
  local output status=0
  output=$(python3 -B "$helpers/kill_resume.py" build/bin/trefoil configs/demo.toml "$work/kill-resume" --times 200) || status=$?
  echo "$output"
  measured "$(tail -n 1 <<<"$output")"
  return "$status"
}

check_2() {
  local output status=0
  output=$(scripts/fuzz --minutes "${FUZZ_MINUTES:-10}" --in "$work/fuzz") || status=$?
  echo "$output"
  measured "$(paste -sd ';' <<<"$output" | sed 's/;/; /g')"
  return "$status"
}

check_3() {
  scripts/setup --faults && scripts/build release trefoil stop_at || return
  local output status=0
  output=$(python3 -B "$helpers/fault_matrix.py" build/bin/trefoil build/lib/libstop_at.so "$work/faults") || status=$?
  echo "$output"
  [ "$status" -ne 77 ] || skip "$output"
  measured "$(tail -n 1 <<<"$output")"
  return "$status"
}

check_4() {
  if ! command -v podman-compose >/dev/null; then
    [ -x "$tools/containers/setup" ] || skip "no podman-compose, and $tools/containers is absent"
    "$tools/containers/setup" || return
  fi
  build || return
  local output status=0
  output=$(bash "$helpers/run_containers.sh" build/bin/trefoil "$work/compose-clone") || status=$?
  echo "$output"
  measured "$(tail -n 1 <<<"$output")"
  return "$status"
}

check_5() {
  scripts/setup && scripts/build release trefoil || return
  local output status=0
  output=$(python3 -B "$helpers/soak.py" build/bin/trefoil configs/demo.toml "$work/soak" --minutes "${SOAK_MINUTES:-60}") || status=$?
  echo "$output"
  measured "$(tail -n 1 <<<"$output")"
  return "$status"
}
