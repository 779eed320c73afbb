# shellcheck shell=bash
# List D: privacy that an auditor signs. Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured`
# and `skip`. Checks run in a subshell whose output is logged.
#
# `set -e` is off inside a function that is called under `||`, so every step that must succeed says so with `|| return`.

TITLES=(
  [1]="every reference value of vectors/accounting.json is matched within its tolerance"
  [2]="ledger: SIGKILL at 200 random instants of a process that writes one, and of a party in real trainings; every changed byte found"
  [3]="trefoil audit, 1000 canaries at 99.7 %: 20 of 20 runs below the claimed epsilon, 19 of 20 above it for each planted bug"
)

# The tests that read the vectors skip themselves where these are not there, which would prove nothing.
check_1() {
  scripts/setup && scripts/build release dp_test || return
  local output status=0
  output=$(TREFOIL_SHARED=${TREFOIL_SHARED:-$PWD/../shared} build/bin/dp_test --gtest_filter='*Vector*:*Shared*' 2>&1) || status=$?
  echo "$output"
  measured "$(grep -c '^\[       OK' <<<"$output") tests passed, $(grep -c '^\[  SKIPPED' <<<"$output") skipped"
  [ "$status" -eq 0 ] && grep -q '^\[       OK' <<<"$output" && ! grep -q '^\[  SKIPPED' <<<"$output"
}

check_2() {
  scripts/setup && scripts/build release trefoil dp_test apps_test || return
  local output
  build/bin/dp_test --gtest_filter='OpenChain.FindsEverySingleByteThatWasChanged' || return
  build/bin/apps_test --gtest_filter='LedgerFile.SurvivesAKillAtAnyInstant:LedgerFile.GoesOnAfterACutAnywhere' || return
  rm -rf "$work/kill-ledger"
  output=$(python3 -B "$helpers/kill_ledger.py" build/bin/trefoil configs/demo.toml "$work/kill-ledger" --times 200) || {
    tail -n 1 <<<"$output"
    return 1
  }
  echo "$output"
  measured "200 kills of a process that writes a ledger; real runs: $(tail -n 1 <<<"$output")"
}

AUDITS=20
# The bugs of scripts/acceptance.d/planted, each a patch of what trains.
PLANTED=(noise-off noise-tenth clip-off canary-times-ten)

# audits PROGRAM NAME: runs `trefoil audit` AUDITS times and prints how many refuted the claim. Finished ones are not repeated.
audits() {
  local program=$1 name=$2 i status refuted=0
  mkdir -p "$work/audits"
  for ((i = 1; i <= AUDITS; i++)); do
    local kept=$work/audits/$name-$i.json folder=$work/audits/$name-$i
    if [ ! -f "$kept" ]; then
      rm -rf "$folder"
      status=0
      "$program" audit --job configs/audit.toml --out "$folder" >>"$work/audits/$name.log" 2>&1 || status=$?
      if [ "$status" -ne 0 ] && [ "$status" -ne 5 ]; then return 1; fi
      mv "$folder/audit.json" "$kept" && rm -r "$folder" || return
    fi
    if [ "$(value "$kept" refuted)" = True ]; then refuted=$((refuted + 1)); fi
    holds "$(value "$kept" claim) <= 3 and $(value "$kept" canaries) >= 1000 and $(value "$kept" confidence) >= 0.997" || return
  done
  echo "$refuted"
}

# mean_auc NAME: of membership inference on the canaries of those audits.
mean_auc() {
  python3 -c 'import json, sys
print("%.3f" % (sum(json.load(open(file))["membership"]["canaries"]["auc"] for file in sys.argv[1:]) / (len(sys.argv) - 1)))' \
    "$work/audits/$1"-*.json
}

check_3() {
  scripts/setup && scripts/build release trefoil || return
  local bug refuted clone_dir=$work/planted-clone results good=true
  refuted=$(audits build/bin/trefoil as-it-is) || return
  results="as it is: $refuted of $AUDITS refuted"
  measured "$results"
  if [ "$refuted" -ne 0 ]; then good=false; fi
  if [ ! -d "$clone_dir" ]; then clone "$clone_dir" || return; fi
  for bug in "${PLANTED[@]}"; do
    git -C "$clone_dir" checkout -q . || return
    git -C "$clone_dir" apply "scripts/acceptance.d/planted/$bug.patch" || return
    "$clone_dir/scripts/build" release trefoil || return
    refuted=$(audits "$clone_dir/build/bin/trefoil" "$bug") || return
    results+="; $bug: $refuted"
    measured "$results"
    if [ "$refuted" -lt $((AUDITS - 1)) ]; then good=false; fi
  done
  measured "$results; membership inference, mean AUC: as it is $(mean_auc as-it-is), noise-off $(mean_auc noise-off)"
  $good && holds "$(mean_auc as-it-is) < 0.7 and $(mean_auc noise-off) > 0.9"
}
