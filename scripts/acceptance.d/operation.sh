# shellcheck shell=bash
# What an operator sees: checks, plans, metrics, logs.
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`.

CHECKS=(
  "check: trefoil check finds each of 20 and more planted misconfigurations, and names the mend"
  "plan: rounds and bytes within a tenth, planned at the speed that loopback's runs have in the mean 0.75 to 1.33 of the time, of trainings on loopback, LAN and WAN, of other jobs on LAN and WAN"
  "metrics: numbers, health and readiness while a run goes on"
  "logs: those of debug runs, text and JSON, hold none of the planted features, labels and keys"
  "session-log: in audit.jsonl damaged, exchanged, missing and cut lines are found"
)

# What `plan` is compared with: forms, batches, samplings and models whose time goes elsewhere.
declare -A PLANNED_JOBS=(
  [demo]=""
  [latency]="training.expected_batch=128 training.max_batch_per_owner=110 training.comparison=latency"
  [public]="training.expected_batch=128 training.max_batch_per_owner=110 privacy.sampling=public training.comparison=bulk"
  [network]="training.expected_batch=128 training.max_batch_per_owner=110 model.hidden=[32]"
)

# Left open on a WAN. On fast networks both forms may be expected to take as long, and what a run measures of a busy machine decides.
declare -A PLANNED_FORMS=([loopback]=training.comparison=bulk [lan]=training.comparison=bulk [wan]="")

# run_planned PROFILE NAME: a training of that name on that network.
run_planned() {
  local profile=$1 name=$2 folder=$work/plan-$1-$2 settings=() steps=80 setting
  [ "$profile" != wan ] || steps=20
  for setting in training.steps=$steps ${PLANNED_FORMS[$profile]} ${PLANNED_JOBS[$name]}; do settings+=(--set "$setting"); done
  rm -rf "$folder"
  if [ "$profile" = loopback ]; then
    build/bin/trefoil local --job configs/demo.toml "${settings[@]}" --out "$folder" >&2 || return
  else
    build/bin/trefoil local --job configs/demo.toml "${settings[@]}" "${HOSTS[@]}" --out "$folder" >&2 || return
    bash "$helpers/run_in_namespaces.sh" "$work/netsim" build/bin/trefoil "$folder" "$profile" >&2 || return
  fi
}

# planned_task lan|wan TYPE: a job of that type on that network beside its plan.
planned_task() {
  local profile=$1 type=$2 made=$work/plan-$1-$2-data folder=$work/plan-$1-$2
  rm -rf "$folder" "$made"
  python3 -B "$helpers/plan_jobs.py" "$type" "$made" || return
  build/bin/trefoil local --job "$made/job.toml" --data "$made/data" "${HOSTS[@]}" --out "$folder" >&2 || return
  bash "$helpers/run_in_namespaces.sh" "$work/netsim" build/bin/trefoil "$folder" "$profile" >&2 || return
  compared "$profile" "$type" "$folder"
}

# planned_prediction lan|wan: rows of party 0 by the shares of a network that two steps made, beside the plan.
planned_prediction() {
  local profile=$1 made=$work/plan-$1-model folder=$work/plan-$1-predict i run images
  rm -rf "$made" "$folder"
  build/bin/trefoil local --job configs/demo.toml --set training.steps=2 --set 'release.to=[]' --set 'model.hidden=[32]' "${HOSTS[@]}" --out "$made" >&2 || return
  bash "$helpers/run_in_namespaces.sh" "$work/netsim" build/bin/trefoil "$made" lan >&2 || return
  cp -r "$made" "$folder" || return
  for i in 0 1 2; do
    mv "$folder/party-$i/out" "$folder/party-$i/model" || return
    printf '\n[predict]\nshare = "model/model.share"\n' >>"$folder/party-$i/party.toml"
  done
  images=$(basename "$folder"/party-0/data/*images*)
  echo "x = \"data/$images\"" >>"$folder/party-0/party.toml"
  run=$(sed -n 's/.*"run_id": *"\([0-9a-f]*\)".*/\1/p' "$made/party-0/out/record.json")
  printf 'version = 1\ntype = "predict"\nname = "rows"\n[predict]\nrun = "%s"\nclient = 0\nrows = 8000\n' "$run" >"$folder/job.toml"
  bash "$helpers/run_in_namespaces.sh" "$work/netsim" build/bin/trefoil "$folder" "$profile" >&2 || return
  compared "$profile" predict "$folder" 1 --model-job "$made/job.toml"
}

check_check() {
  local test=Check.test_finds_what_is_wrong_with_the
  program_test check "${test}_files_and_names_the_mend" "${test}_job_and_names_the_mend" "${test}_links_and_names_the_mend"
}

check_plan() {
  needs_netsim
  scripts/setup && scripts/build release trefoil && netsim || return
  local profile name line figures status=0 trainings=(demo latency public network) speed
  for name in "${trainings[@]}"; do run_planned loopback "$name" || return; done
  measured_link loopback "${trainings[@]/#/$work/plan-loopback-}" || return
  speed=$(speed_of "${trainings[@]/#/$work/plan-loopback-}") || return
  figures="speed $speed; "
  for profile in loopback lan wan; do
    if [ "$profile" != loopback ]; then
      for name in "${trainings[@]}"; do run_planned "$profile" "$name" || return; done
      measured_link "$profile" "${trainings[@]/#/$work/plan-$profile-}" || return
    fi
    figures+="$profile: round trip ${LINKS[$profile]% *} ms; "
    for name in "${trainings[@]}"; do
      line=$(compared "$profile" "$name" "$work/plan-$profile-$name") || status=1
      echo "$line"
      figures+="$line; "
    done
  done
  for profile in lan wan; do
    for name in pate histogram classifier-average ensemble-transfer sum least-squares statistics tune predict; do
      if [ "$name" = predict ]; then
        line=$(planned_prediction "$profile") || status=1
      else
        line=$(planned_task "$profile" "$name") || status=1
      fi
      echo "$line"
      figures+="$line; "
    done
  done
  measured "${figures%; }"
  return "$status"
}

check_metrics() { program_test metrics; }

check_logs() { program_test log Logs.test_a_full_debug_run_tells_nothing_secret Logs.test_neither_do_failing_runs_at_any_level; }

check_session_log() { program_test log Logs.test_the_audit_log_accounts_for_every_session; }
