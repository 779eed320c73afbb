# shellcheck shell=bash
# Parties of many machines: what R ranks compute, send and take, against one, and against the plan.
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`. Needs Open MPI
# (scripts/setup --mpi); all but time and first-step also root and the network simulator.

CHECKS=(
  "training: MNIST with 2 and 4 ranks, in network namespaces on a LAN: the epsilon of one, accuracy within one point, bytes a lane within 15 % of 1/R"
  "time: tall (24,576 x 784) and wide batches (4,096 x 15,552): also processor time of each rank, without waiting for ranks, within 15 % of 1/R, the middle of three turns"
  "netsim: MNIST with one and two ranks over LAN and WAN: the epsilon of one, bytes a lane within 15 % of 1/R"
  "plan: planned at the speed that loopback's runs have in the mean 0.75 to 1.33 of the time, with two ranks, of wide batches, and of the jobs of configs/, on loopback, LAN and WAN"
  "first-step: of these batches, with one and two ranks: a first step takes no longer than three later ones"
  "kills: kill -9 of a rank, in network namespaces on a LAN, at start, dealing, a step, a checkpoint and the release: the others end with 3 and name it, the run goes on"
  "slurm: three parties of two nodes under Slurm: goes on from a checkpoint after a killed rank, and after a stop (143) and a new submission; one model"
)

# Rank 0 reads and hashes all rows once, which is not to count as much as steps do.
TALL=(--set training.steps=80 --set training.expected_batch=24576 --set training.max_batch_per_owner=9000)
TURNS=(--time --turns 3)
SHORT=(--set training.steps=60)
BULK=(--set training.comparison=bulk)

scale_ready() {
  scripts/setup --mpi && scripts/build release trefoil stop_at || return
  command -v mpirun >/dev/null || skip "there is no mpirun"
  has_data mnist || skip "no MNIST: scripts/fetch_mnist"
  mkdir -p "$work/images"
  python3 -B "$helpers/wide_rows.py" "$work/images/wide"
}

# rank_training NAME JOB OPTION ...: with R ranks in $work/scale-NAME/ranks-R; a line each.
rank_training() {
  python3 -B "$helpers/rank_training.py" build/bin/trefoil "$2" "$work/scale-$1" "${@:3}"
}
mnist_ranks() { rank_training "$1" configs/mnist.toml "${@:2}"; }
wide_ranks() { rank_training "$1" "$helpers/wide.toml" "${@:2}" --any-accuracy --data "$work/images/wide"; }

# over_network lan|wan: options of rank_training.
over_network() { echo --network "$work/netsim" "$1" "$netsim_hosts"; }

# MNIST's job, 60 steps, with one and two ranks on a network.
netsim_runs() {
  local network=()
  [ "$1" = loopback ] || read -ra network < <(over_network "$1")
  mnist_ranks "net-$1" 2 --any-accuracy "${SHORT[@]}" "${BULK[@]}" "${network[@]}"
}

check_training() {
  needs_netsim
  local network
  read -ra network < <(over_network lan)
  scale_ready && netsim && gathered mnist_ranks training 2 4 "${network[@]}"
}

# tall_and_wide OPTION ...: of rank_training, for both.
tall_and_wide() {
  local status=0
  echo "tall" && mnist_ranks time 2 4 "$@" "${TALL[@]}" || status=1
  echo "wide" && wide_ranks wide 2 4 "$@" || status=1
  return "$status"
}

check_time() { scale_ready && gathered tall_and_wide "${TURNS[@]}"; }

both_networks() {
  local profile status=0
  for profile in lan wan; do
    echo "$profile" && netsim_runs "$profile" || status=1
  done
  return "$status"
}

check_netsim() {
  needs_netsim
  scale_ready && netsim && gathered both_networks
}

# Steps of each training of configs/, enough for half a second on loopback; a quarter of them on the WAN. 0: a job without steps. Not
# here are votes and ensembles whose data `operation plan` makes (pate, ensemble-transfer).
declare -A PLANNED_CONFIGS=(
  [adult]=300 [adult-average]=0 [adult-descent]=100 [adult-histogram]=0 [adult-least-squares]=0 [adult-statistics]=0
  [adult-vertical]=100 [audit]=120 [cifar-scatter]=8 [demo]=100 [demo-owners]=200 [heart]=400 [imdb]=24 [mnist]=40 [mnist-hog]=40
  [mnist-pate]=0 [mnist-pea]=40 [mnist-scatter]=40 [sum]=0 [tune]=40
)
# How many deposits the jobs on deposits have there.
declare -A PLANNED_DEPOSITS=([demo-owners]=1 [heart]=4)

# has_data_of CONFIG: whether its data are there, or the program makes them.
has_data_of() {
  case $1 in
    audit | demo | demo-owners | heart | sum | tune) ;;
    cifar-scatter) has_data cifar10 ;;
    *) has_data "${1%%-*}" ;;
  esac
}

# data_of CONFIG: the folder with its data, which are there; fails where they cannot be prepared. "-": the program makes them.
data_of() {
  case $1 in
    audit | demo | sum | tune) echo - ;;
    adult-vertical)
      local made=$work/images/adult-vertical part
      mkdir -p "$made"
      for part in train test; do
        awk 'NF { print NR ", " $0 }' "$(data_folder adult)/adult-$part.csv" >"$made/adult-vertical-$part.csv" || return
      done
      echo "$made"
      ;;
    imdb) prepared_imdb && echo "$work/reviews/imdb" ;;
    cifar-scatter) prepared_cifar && echo "$work/images/cifar10" ;;
    *) data_folder "${1%%-*}" ;;
  esac
}

# run_parties FOLDER: the three that are prepared there, on loopback.
run_parties() {
  local party processes=() status=0
  for party in 0 1 2; do
    build/bin/trefoil run --config "$1/party-$party/party.toml" --job "$1/job.toml" --out "$1/party-$party/out" --threads 1 &
    processes+=($!)
  done
  for party in "${processes[@]}"; do wait "$party" || status=1; done
  return "$status"
}

# run_on_deposits loopback|lan|wan NAME STEPS: a training of configs/ on deposits, which are made before.
run_on_deposits() {
  local profile=$1 name=$2 folder=$work/plan-$1-$2 hosts=127.0.0.1,127.0.0.1,127.0.0.1 records=()
  [ "$profile" = loopback ] || hosts=$netsim_hosts
  [ "$name" != heart ] || ! has_data heart || records=("$(data_folder heart)")
  python3 -B "$helpers/deposited_run.py" "$name" "$folder" "$hosts" "$3" "${records[@]}" >&2 || return
  if [ "$profile" = loopback ]; then
    run_parties "$folder" >&2
  else
    bash "$helpers/run_in_namespaces.sh" "$work/netsim" build/bin/trefoil "$folder" "$profile" >&2
  fi
}

# run_config loopback|lan|wan NAME: a job of configs/ on that network.
run_config() {
  local profile=$1 name=$2 folder=$work/plan-$1-$2 steps=${PLANNED_CONFIGS[$2]} data where=() length=()
  if [ -n "${PLANNED_DEPOSITS[$name]:-}" ]; then
    [ "$profile" != wan ] || steps=$((steps / 4))
    run_on_deposits "$profile" "$name" "$steps"
    return
  fi
  data=$(data_of "$name") || { echo "$profile, $name: its data cannot be prepared" && return 1; }
  [ "$profile" != wan ] || steps=$((steps / 4))
  [ "$steps" = 0 ] || length=(--set "training.steps=$steps" "${BULK[@]}")
  [ "$profile" = loopback ] || where=("${HOSTS[@]}")
  [ "$data" = - ] || where+=(--data "$data")
  rm -rf "$folder"
  build/bin/trefoil local --job "configs/$name.toml" "${length[@]}" "${where[@]}" --threads 3 --out "$folder" >&2 || return
  [ "$profile" = loopback ] || bash "$helpers/run_in_namespaces.sh" "$work/netsim" build/bin/trefoil "$folder" "$profile" >&2
}

# run_wide loopback|lan|wan: 4,096 x 15,552 x 10 on that network.
run_wide() {
  local network=() steps=8
  [ "$1" != wan ] || steps=2
  [ "$1" = loopback ] || read -ra network < <(over_network "$1")
  wide_ranks "plan-$1" --set training.steps=$steps "${BULK[@]}" "${network[@]}" >&2
}

# compared_runs loopback|lan|wan NAME ...: all runs on that network beside their plans; what is as planned is removed.
compared_runs() {
  local profile=$1 ranks name status=0
  for ranks in 1 2; do
    compared "$profile" "MNIST, $ranks ranks" "$work/scale-net-$profile/ranks-$ranks" "$ranks" || status=1
  done
  compared "$profile" "4,096 x 15,552 x 10" "$work/scale-plan-$profile/ranks-1" || status=1
  for name in "${@:2}"; do
    local options=()
    [ -z "${PLANNED_DEPOSITS[$name]:-}" ] || options=(1 --deposits "${PLANNED_DEPOSITS[$name]}")
    if compared "$profile" "$name" "$work/plan-$profile-$name" "${options[@]}"; then rm -rf "$work/plan-$profile-$name"; else status=1; fi
  done
  return "$status"
}

all_planned() {
  local profile name names status=0 speed
  readarray -t names < <(printf '%s\n' "${!PLANNED_CONFIGS[@]}" | sort)
  for profile in loopback lan wan; do
    netsim_runs "$profile" >&2 || status=1
    run_wide "$profile" || return
    for name in "${names[@]}"; do run_config "$profile" "$name" || return; done
    measured_link "$profile" "$work"/plan-"$profile"-{adult,audit,demo,mnist,mnist-hog,mnist-scatter} || return
    echo "$profile: round trip ${LINKS[$profile]% *} ms"
    if [ "$profile" = loopback ]; then
      speed=$(speed_of "$work"/scale-{net,plan}-loopback/ranks-1 "${names[@]/#/$work/plan-loopback-}") || return
      echo "speed $speed"
    fi
    compared_runs "$profile" "${names[@]}" || status=1
  done
  return "$status"
}

check_plan() {
  needs_netsim
  local name
  for name in "${!PLANNED_CONFIGS[@]}"; do
    has_data_of "$name" || skip "no data of configs/$name.toml"
  done
  scale_ready && netsim && gathered all_planned
}

first_steps() {
  tall_and_wide >&2 # one turn, which check_time's first one is
  python3 -B "$helpers/first_step.py" "$work"/scale-{time,wide}/ranks-{1,2}
}

check_first_step() { scale_ready && gathered first_steps; }

check_kills() {
  needs_netsim
  scale_ready && netsim || return
  local output status=0 begin=$SECONDS
  start_netsim "$work/netsim" lan "$work"
  output=$(TREFOIL_BINARY=$PWD/build/bin/trefoil TREFOIL_MPI=1 TREFOIL_STOP_LIBRARY=$PWD/build/lib/libstop_at.so \
    TREFOIL_NETSIM_HOSTS=$netsim_hosts python3 -B tests/apps/ranks_test.py --verbose -k kill 2>&1) || status=$?
  echo "$output"
  grep -q "^Ran [1-9]" <<<"$output" || status=1
  measured "the kills of tests/apps/ranks_test.py took $((SECONDS - begin)) s"
  return "$status"
}

check_slurm() {
  local command folder status=0 begin=$SECONDS
  [ "$(id -u)" -eq 0 ] || skip "namespaces need root"
  for command in slurmctld slurmd munged; do
    [ -x "/usr/sbin/$command" ] || skip "there is no $command: apt-get install slurm-wlm munge"
  done
  scripts/setup --mpi && scripts/build release trefoil || return
  folder=$(mktemp -d) && chmod 755 "$folder" || return # short, for the paths of sockets, and where every user may enter it
  # shellcheck disable=SC2064 # by its name now
  trap "rm -rf '$folder'" EXIT
  unshare --net --pid --fork --kill-child --mount-proc \
    "$helpers/slurm_parties.sh" build/bin/trefoil "$folder" || status=$?
  tail -n 100 "$folder"/party-?/trefoil-*.log "$folder"/*.log
  measured "$(slurmctld -V), $((SECONDS - begin)) s"
  return "$status"
}
