# shellcheck shell=bash
# What befalls parties, links, machines and files, and what comes of it.
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`.

CHECKS=(
  "killed-party: kill -9 of a party at a random step, 20 times: the others end with code 3 in under 15 s and name it"
  "kill-resume: 200 random kill -9 over one job with --resume: right accuracy, record and ledger"
  "matrix: 15 faults at 5 moments, each party ends as docs/howto/operations.md says, in time"
  "causes: bad data, full disk, no memory, signal, exceeded budget: both peers say why within seconds"
  "ledger-kills: SIGKILL at 200 random instants of a process that writes one, and of a party in real trainings; every changed byte found"
  "hostile-network: a thousand connections, slow handshakes, long and cut frames, replays, wrong certificates, plain text, TLS 1.2"
  "fuzz: each fuzz target by libFuzzer for FUZZ_MINUTES (10) minutes without a finding"
  "soak: trainings back to back for SOAK_MINUTES (60), no growth of memory, descriptors or threads, nothing left behind"
)

check_killed_party() {
  build || return
  local output status=0
  output=$(python3 "$helpers/kill_parties.py" build/bin/trefoil configs/demo.toml "$work/killed" --times 20) || status=$?
  echo "$output"
  measured "$(echo "$output" | tail -n 1)"
  return "$status"
}

check_kill_resume() {
  scripts/setup && scripts/build release trefoil || return
  local output status=0
  output=$(python3 -B "$helpers/kill_resume.py" build/bin/trefoil configs/demo.toml "$work/kill-resume" --times 200) || status=$?
  echo "$output"
  measured "$(tail -n 1 <<<"$output")"
  return "$status"
}

check_matrix() {
  scripts/setup --faults && scripts/build release trefoil stop_at || return
  local output status=0
  output=$(python3 -B "$helpers/fault_matrix.py" build/bin/trefoil build/lib/libstop_at.so "$work/faults") || status=$?
  echo "$output"
  [ "$status" -ne 77 ] || skip "$output"
  measured "$(tail -n 1 <<<"$output")"
  return "$status"
}

check_causes() { program_test local_errors; }

check_ledger_kills() {
  gtests dp 'OpenChain.FindsEverySingleByteThatWasChanged' || return
  gtests apps 'LedgerFile.SurvivesAKillAtAnyInstant:LedgerFile.GoesOnAfterACutAnywhere' || return
  scripts/build release trefoil || return
  local output
  rm -rf "$work/kill-ledger"
  output=$(python3 -B "$helpers/kill_ledger.py" build/bin/trefoil configs/demo.toml "$work/kill-ledger" --times 200) || {
    tail -n 1 <<<"$output"
    return 1
  }
  echo "$output"
  measured "200 kills of a process that writes a ledger; real runs: $(tail -n 1 <<<"$output")"
}

check_hostile_network() {
  gtests net 'MeshHostile*:MeshStrangers*:MeshWrongParty*'
}

check_fuzz() {
  local output status=0
  output=$(scripts/fuzz --minutes "${FUZZ_MINUTES:-10}" --in "$work/fuzz") || status=$?
  echo "$output"
  measured "$(paste -sd ';' <<<"$output" | sed 's/;/; /g')"
  return "$status"
}

check_soak() {
  scripts/setup && scripts/build release trefoil || return
  local output status=0
  output=$(unshare --net bash -c 'ip link set lo up && exec "$@"' soak python3 -B "$helpers/soak.py" build/bin/trefoil configs/demo.toml "$work/soak" --minutes "${SOAK_MINUTES:-60}") || status=$?
  echo "$output"
  measured "$(tail -n 1 <<<"$output")"
  return "$status"
}
