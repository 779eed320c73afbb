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
  [5]="soak: trainings back to back for SOAK_MINUTES (60), no growth of memory, descriptors or threads, nothing left behind"
  [6]="trefoil check finds each of 20 and more planted misconfigurations, and names the mend"
  [7]="hostile network: a thousand connections, slow handshakes, long and cut frames, replays, wrong certificates, plain text, TLS 1.2"
  [11]="metrics, health and readiness while a run goes on"
  [12]="logs of debug runs, text and JSON, hold none of the planted features, labels and keys"
  [13]="audit log: damaged, exchanged, missing and cut lines are found"
  [14]="bad data, full disk, no memory, signal, exceeded budget: both peers say why within seconds"
  [15]="trefoil plan: rounds and bytes within a tenth, time within a factor of 1.5, on loopback, LAN and WAN"
)

# program_test NAME [TEST]: an end-to-end test of tests/apps with three TLS processes, and how long it took.
program_test() {
  scripts/setup && scripts/build release trefoil || return
  local begin=$SECONDS
  TREFOIL_BINARY=$PWD/build/bin/trefoil python3 -B "tests/apps/$1_test.py" "${@:2}" || return
  measured "tests/apps/$1_test.py passed in $((SECONDS - begin)) s"
}

check_6() {
  local test=Check.test_finds_what_is_wrong_with_the
  program_test check "${test}_files_and_names_the_mend" "${test}_job_and_names_the_mend" "${test}_links_and_names_the_mend"
}

check_7() {
  scripts/setup && scripts/build release net_test || return
  local output status=0
  output=$(build/bin/net_test --gtest_filter='MeshHostile*:MeshStrangers*:MeshWrongParty*') || status=$?
  echo "$output"
  measured "net_test, $(grep -E '^\[  (PASSED|FAILED)  \] [0-9]+' <<<"$output" | paste -sd ' ')"
  return "$status"
}

check_11() { program_test metrics; }
check_12() { program_test log Logs.test_a_full_debug_run_tells_nothing_secret Logs.test_neither_do_failing_runs_at_any_level; }
check_13() { program_test log Logs.test_the_audit_log_accounts_for_every_session; }
check_14() { program_test local_errors; }

# What `plan` is compared with: forms, batches, samplings and models whose time goes elsewhere.
declare -A PLANNED_JOBS=(
  [demo]=""
  [latency]="training.expected_batch=128 training.max_batch_per_owner=110 training.comparison=latency"
  # Left open, its form on loopback is one or the other: both are expected to take as long.
  [public]="training.expected_batch=128 training.max_batch_per_owner=110 privacy.sampling=public training.comparison=bulk"
  [network]="training.expected_batch=128 training.max_batch_per_owner=110 model.hidden=[32]"
)

# planned_run PROFILE NAME: a run of that job on that network beside its plan; prints both in one line.
planned_run() {
  local profile=$1 name=$2 folder=$work/plan-$1-$2 settings=() link steps=80 setting line
  case $profile in
    loopback) link=(--rtt-ms 0.1 --mbit 40000) ;;
    lan) link=(--rtt-ms 0.2 --mbit 10000) ;;
    wan)
      link=(--rtt-ms 40 --mbit 100)
      steps=20
      ;;
  esac
  for setting in training.steps=$steps ${PLANNED_JOBS[$name]}; do settings+=(--set "$setting"); done
  rm -rf "$folder"
  if [ "$profile" = loopback ]; then
    build/bin/trefoil local --job configs/demo.toml "${settings[@]}" --out "$folder" >&2 || return
  else
    build/bin/trefoil local --job configs/demo.toml "${settings[@]}" --prepare --hosts 10.77.0.1,10.77.0.2,10.77.0.3 --out "$folder" >&2 || return
    bash "$helpers/run_in_namespaces.sh" "$work/netsim" build/bin/trefoil "$folder" "$profile" >&2 || return
  fi
  build/bin/trefoil plan --job "$folder/job.toml" "${link[@]}" --json >"$folder/plan.json" || return
  line=$(python3 -B "$helpers/check_plan.py" "$folder")
  local status=$?
  echo "$profile, $name: $line"
  return "$status"
}

check_15() {
  [ -f "$tools/netsim/netsim.cpp" ] || skip "no network simulator: $tools/netsim is absent"
  [ "$(id -u)" -eq 0 ] || skip "network namespaces need root"
  scripts/setup && scripts/build release trefoil || return
  [ -x "$work/netsim" ] || g++ -O2 -std=c++20 "$tools/netsim/netsim.cpp" -o "$work/netsim" || return
  local profile name line figures='' status=0
  for profile in loopback lan wan; do
    for name in demo latency public network; do
      line=$(planned_run "$profile" "$name") || status=1
      echo "$line"
      figures+="$line; "
    done
  done
  measured "${figures%; }"
  return "$status"
}

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
  output=$(unshare --net bash -c 'ip link set lo up && exec "$@"' soak python3 -B "$helpers/soak.py" build/bin/trefoil configs/demo.toml "$work/soak" --minutes "${SOAK_MINUTES:-60}") || status=$?
  echo "$output"
  measured "$(tail -n 1 <<<"$output")"
  return "$status"
}
