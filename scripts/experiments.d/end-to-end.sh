# shellcheck shell=bash
# End to end on a LAN (0.2 ms set, 10 Gbit/s) and a WAN (40 ms, 100 Mbit/s): seconds of a run, bytes and accuracy of medians of three
# secure trainings at epsilon 3, all steps from zero weights, and a fifth of them from local models (the paper's end-to-end
# comparison). MNIST's HOG features, words of IMDb, and random rows of the size of CIFAR-10's features by a large pre-trained network,
# of which only the time says anything. The networks are simulated (../shared/tools/netsim); root. For an otherwise idle machine.
# In the environment, SETS: which of "hog imdb random"; PROFILES: which of "lan wan".

NEEDS=mnist

experiment() {
  local set profile first
  if ! [ -f "$tools/netsim/netsim.cpp" ] || ! [ -c /dev/net/tun ]; then
    echo "experiments: no network simulator: $tools/netsim or /dev/net/tun is absent" >&2
    return 1
  fi
  netsim || return
  echo "data,network,first_weights,steps,bytes_sent,accuracy,seconds,least,largest" >"$work/$name.part"
  for set in ${SETS:-hog imdb random}; do
    records_for "$set" || return
    for first in zero local; do
      for profile in ${PROFILES:-lan wan}; do three_runs "$set" "$first" "$profile" || return; done
    done
  done
  mv "$work/$name.part" "$work/$name.csv"
}

# records_for SET: the folder of its data, in the variable `data`.
records_for() {
  local part
  data=$work/$1
  mkdir -p "$data"
  case $1 in
    hog) data=$(data_folder mnist) ;;
    imdb) for part in train test; do xz -dc "$(data_folder imdb)/imdb-$part.csv.xz" >"$data/imdb-$part.csv" || return; done ;;
    random) [ -f "$data/test.npz" ] || random_rows "$data" ;;
  esac
}

# random_rows DIR: 50,000 rows for training and 1,000 for testing, of length 4, with classes that have nothing to do with them.
random_rows() {
  /usr/bin/python3 - "$1" <<'PYTHON'
import sys
import numpy

generator = numpy.random.default_rng(1)
for part, rows in (("train", 50_000), ("test", 1_000)):
    x = generator.standard_normal((rows, 4096), dtype=numpy.float32)
    x *= 4 / numpy.linalg.norm(x, axis=1, keepdims=True)
    numpy.savez(f"{sys.argv[1]}/{part}.npz", x=x, y=generator.integers(0, 10, rows, dtype=numpy.uint8))
PYTHON
}

# job_from SET zero|local: the job and its settings, and its number of steps as the last.
job_from() {
  local job
  case $1-$2 in
    hog-zero) job=configs/mnist-hog.toml ;;
    hog-local | imdb-local) job=$(local_settings_of "$1") ;;
    imdb-zero) job=configs/imdb.toml ;;
    random-zero) job=scripts/experiments.d/random.toml ;;
    random-local)
      job="scripts/experiments.d/random.toml initialisation.method=averaging initialisation.steps=200 initialisation.epsilon=2.0
        initialisation.expected_batch=1667 initialisation.learning_rate=80.0"
      ;;
  esac
  case $1-$2 in
    imdb-zero) echo "$job training.steps=100" ;;
    *-zero) echo "$job training.steps=150" ;;
    imdb-local) echo "$job training.steps=20" ;;
    *-local) echo "$job training.steps=30" ;;
  esac
}

# three_runs SET zero|local PROFILE: a line of the table.
three_runs() {
  local settings i run seconds bytes accuracy
  read -rd '' -a settings < <(job_from "$1" "$2") || true
  for i in 1 2 3; do networked "$work/$name-$1-$2-$3-$i" "$3" "${settings[@]}" || return; done
  seconds=$(of_runs "$1-$2-$3" seconds) || return
  bytes=$(of_runs "$1-$2-$3" bytes_sent) || return
  accuracy=$(of_runs "$1-$2-$3" accuracy .test) || return
  row "$1,$3,$2,${settings[-1]#*=},$(median "$bytes"),$(median "$accuracy")" "$seconds"
}

# of_runs RUNS KEY [.test]: of three summaries, or evaluations on the test rows, ascending.
of_runs() {
  local i
  for i in 1 2 3; do value "$work/$name-$1-$i${3:-}.json" "$2" || return; done | sort -g | paste -sd ' '
}

# networked RUN PROFILE JOB KEY=VALUE ...: the summary of party 0 as RUN.json and its model's evaluation as RUN.test.json, unless
# they are there.
networked() {
  local run=$1 profile=$2 job=$3 setting assignments=()
  if [ -f "$run.json" ] && [ -f "$run.test.json" ]; then return; fi
  for setting in "${@:4}"; do assignments+=(--set "$setting"); done
  rm -rf "$run"
  build/bin/trefoil local --job "$job" --data "$data" "${assignments[@]}" "${HOSTS[@]}" \
    --out "$run" >"$run.log" 2>&1 || { tail -n 3 "$run.log" >&2 && return 1; }
  bash "$helpers/run_in_namespaces.sh" "$work/netsim" build/bin/trefoil "$run" "$profile" >>"$run.log" 2>&1 ||
    { tail -n 6 "$run.log" >&2 && return 1; }
  build/bin/trefoil evaluate --model "$run/party-0/out/model.npz" --data "$run/test" --json >"$run.test.json" || return
  cp "$run/party-0/out/summary.json" "$run.json" && rm -rf "$run"
}
