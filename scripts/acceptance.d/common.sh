# shellcheck shell=bash
# What several files of checks use; read by scripts/acceptance before them.

tools=${TREFOIL_SHARED:-../shared}/tools
helpers=scripts/acceptance.d

# value FILE KEY: a value of a JSON file; of a run's summary also one of its privacy, cost or results.
value() {
  python3 -c 'import json, sys
found = json.load(open(sys.argv[1]))
if "results" in found: found |= found["privacy"] | found["cost"] | found["results"][found["type"]]
print(found[sys.argv[2]])' "$1" "$2"
}
# holds EXPRESSION: a comparison of numbers, in python3's notation.
holds() { [ "$(python3 -c "print($1)")" = True ]; }
build() { scripts/setup && scripts/build release; }
clone() { git clone -q --no-local . "$1"; }

# gathered COMMAND ...: its lines are what was measured; its exit code.
gathered() {
  local output status=0
  output=$("$@") || status=$?
  echo "$output"
  measured "$(paste -sd ';' <<<"$output" | sed 's/;/; /g')"
  return "$status"
}

# data_folder NAME: where `trefoil local` would find it; fails where it would not.
data_folder() {
  local folder
  for folder in "${TREFOIL_DATA:-/nonexistent}/$1" "../shared/data/$1"; do
    if [ -d "$folder" ]; then echo "$folder" && return; fi
  done
  return 1
}
has_data() { data_folder "$1" >/dev/null; }

# The network simulator, as $work/netsim; needs_netsim skips the check where it cannot be.
netsim() {
  [ -x "$work/netsim" ] || g++ -O2 -std=c++20 "$tools/netsim/netsim.cpp" -o "$work/netsim"
}
needs_netsim() {
  [ -f "$tools/netsim/netsim.cpp" ] || skip "no network simulator: $tools/netsim is absent"
  [ "$(id -u)" -eq 0 ] || skip "network namespaces need root"
}

# shellcheck source=scripts/acceptance.d/netsim.sh
source "$helpers/netsim.sh"
HOSTS=(--prepare --hosts "$netsim_hosts")

# What `plan` is told of the networks: milliseconds, once trainings have measured them, and Mbit/s.
declare -A LINKS=([loopback]="0.1 40000" [lan]="0.2 10000" [wan]="40 100")

# measured_link PROFILE FOLDER ...: the round trip is that of these trainings, as an operator knows it; the simulator's LAN has a
# longer one than it is set to, since it computes on the same cores.
measured_link() {
  local round_trip
  round_trip=$(python3 -B "$helpers/check_plan.py" --round-trip "${@:2}") || return
  LINKS[$1]="$round_trip ${LINKS[$1]#* }"
}

# speed_of FOLDER ...: of this machine, for plan's --speed, by these runs on loopback.
speed_of() {
  local link
  read -ra link <<<"${LINKS[loopback]}"
  python3 -B "$helpers/check_plan.py" --speed build/bin/trefoil "${link[@]}" "$@"
}

# compared PROFILE NAME FOLDER [RANKS [PLAN OPTION...]]: the plan of FOLDER/job.toml for machines of this `speed` beside what was run in
# FOLDER, in one line.
compared() {
  local link line status=0
  read -ra link <<<"${LINKS[$1]}"
  line=$(python3 -B "$helpers/check_plan.py" build/bin/trefoil "$3" "${link[@]}" "${4:-1}" --speed "$speed" "${@:5}") || status=$?
  echo "$1, $2: $line$([ "$status" = 0 ] || echo ' NOT AS PLANNED')"
  return "$status"
}

SUMMARY_KEYS="version type name job_hash session privacy cost warnings results"
# has_summary_keys FILE: exactly the keys that docs/reference/formats.md has, in its order.
has_summary_keys() {
  local keys
  keys=$(python3 -c 'import json, sys; print(*json.load(open(sys.argv[1])))' "$1") || return
  [ "$keys" = "$SUMMARY_KEYS" ]
}

# gtests FOLDER FILTER [FOLDER FILTER ...]: those tests of those test programs. None at all, or one that skips itself, proves nothing.
gtests() {
  local output all='' status=0
  scripts/setup || return
  while [ $# -gt 0 ]; do
    scripts/build release "$1_test" || return
    output=$(TREFOIL_SHARED=${TREFOIL_SHARED:-$PWD/../shared} "build/bin/$1_test" --gtest_filter="$2" 2>&1) || status=1
    echo "$output"
    if ! grep -q '^\[       OK' <<<"$output" || grep -q '^\[  SKIPPED' <<<"$output"; then status=1; fi
    all+=$output$'\n'
    shift 2
  done
  measured "$(grep -c '^\[       OK' <<<"$all") tests passed, $(grep -c '^\[  SKIPPED .* ms)$' <<<"$all") skipped"
  return "$status"
}

# program_test NAME [TEST]: an end-to-end test of tests/apps with three TLS processes, and how long it took. One that skips a case
# proves nothing.
program_test() {
  scripts/setup && scripts/build release trefoil || return
  local begin=$SECONDS output status=0
  output=$(TREFOIL_BINARY=$PWD/build/bin/trefoil python3 -B "tests/apps/$1_test.py" --verbose "${@:2}" 2>&1) || status=$?
  echo "$output"
  if [ "$status" -ne 0 ]; then return "$status"; fi
  if grep -q '^OK (.*skipped=' <<<"$output"; then
    skip "tests/apps/$1_test.py skipped: $(grep -o 'skipped .*' <<<"$output" | sort -u | paste -sd ';' | sed "s/skipped //g; s/;/; /g")"
  fi
  measured "tests/apps/$1_test.py passed in $((SECONDS - begin)) s"
}

# CIFAR-10 as configs/cifar-scatter.toml wants it, in $work/images/cifar10.
prepared_cifar() {
  [ -f "$work/images/cifar10/train.bin" ] || /usr/bin/python3 scripts/prepare_cifar "$(data_folder cifar10)/cifar10.tar.xz" "$work/images/cifar10" >&2
}

# The reviews as configs/imdb.toml wants them, in $work/reviews/imdb.
prepared_imdb() {
  local part
  mkdir -p "$work/reviews/imdb"
  for part in train test; do
    xz -dc "$(data_folder imdb)/imdb-$part.csv.xz" >"$work/reviews/imdb/imdb-$part.csv" || return
  done
}

# mnist_run DIR
mnist_run() { build/bin/trefoil local --job configs/mnist.toml --out "$1"; }

# test_in_clone PRESET ...: scripts/test on a fresh clone, under each preset.
test_in_clone() {
  local clone_dir=$work/test-clone shared preset start results=() presets=("$@")
  shared=$(realpath "${TREFOIL_SHARED:-../shared}")
  clone "$clone_dir" || return
  for preset in "${presets[@]}"; do
    start=$SECONDS
    if ! (cd "$clone_dir" && env -u CMAKE_CXX_COMPILER_LAUNCHER TREFOIL_SHARED="$shared" \
      scripts/test --preset "$preset") >"$work/test-$preset.log" 2>&1; then
      measured "${results[*]} $preset failed, see $work/test-$preset.log"
      return 1
    fi
    results+=("$preset: $(grep -o '[0-9]* tests failed out of [0-9]*' "$work/test-$preset.log") in $((SECONDS - start)) s;")
    measured "${results[*]}"
  done
}

# train DIR JOB [KEY=VALUE ...]: `trefoil local` with these settings, unless DIR holds a finished run already. With DATA set, on the
# records of that folder.
train() {
  local dir=$1 job=$2 assignment assignments=()
  shift 2
  if [ -f "$dir/summary.json" ]; then return; fi
  rm -rf "$dir"
  for assignment in "$@"; do assignments+=(--set "$assignment"); done
  mkdir -p "$(dirname "$dir")"
  build/bin/trefoil local --job "$job" --out "$dir" ${DATA:+--data "$DATA"} "${assignments[@]}"
}

# train_thrice NAME JOB [KEY=VALUE ...]: three such runs, NAME-1 to NAME-3 in `work`; prints their accuracies, ascending.
train_thrice() {
  local name=$1 i
  shift
  for i in 1 2 3; do
    train "$work/$name-$i" "$@" >>"$work/$name.log" 2>&1 || { tail -n 3 "$work/$name.log" >&2; return 1; }
  done
  for i in 1 2 3; do value "$work/$name-$i/summary.json" accuracy; done | sort -n | paste -sd ' '
}

# median "A B C": of three numbers in order.
median() { cut -d ' ' -f 2 <<<"$1"; }

# clear_thrice NAME ARGUMENT ...: clear_training with these arguments, to NAME-1.csv, NAME-2.csv and NAME-3.csv in `work`, those of
# them that are not there. Records are read once. With the array `trainer` set, by that program.
clear_thrice() {
  local i missing=()
  for i in 1 2 3; do
    if ! [ -f "$work/$1-$i.csv" ]; then missing+=("$work/$1-$i.csv"); fi
  done
  if [ ${#missing[@]} = 0 ]; then return; fi
  "${trainer[@]:-build/bin/clear_training}" "${@:2}" --runs ${#missing[@]} >"$work/$1.part" || return
  # A run begins with step 0, or with party 0.
  awk -F , -v files="${missing[*]}" 'NR == 1 { split(files, file, " "); header = $0; next }
    $1 == "0" { print header >file[++run] } { print >file[run] }' "$work/$1.part" && rm "$work/$1.part"
}

# best_local NAME: of `clear_thrice NAME --as local ...`, the best local model's accuracy in each run, ascending.
best_local() {
  local i
  for i in 1 2 3; do grep -E '^[012],' "$work/$1-$i.csv" | cut -d , -f 2 | sort -n | tail -n 1; done | sort -n | paste -sd ' '
}

# average_of NAME: the same of the local models' averages.
average_of() {
  local i
  for i in 1 2 3; do sed -n 's/^average,//p' "$work/$1-$i.csv"; done | sort -n | paste -sd ' '
}

# Truncations and inverse square roots in numbers that the tests have no time for.
long_protocol_runs() {
  build || return
  local output status=0
  output=$(build/bin/protocols_acceptance) || status=$?
  echo "$output"
  measured "$(echo "$output" | paste -sd ';' | sed 's/;/; /g')"
  return "$status"
}

# average_runs as-published|sound RUNS EPSILON...: test errors of that many secure averages of five owners' classifiers on Adult for each
# of three splits and each epsilon, a CSV of smallest, epsilon, error. lambda 0.01, rows scaled to norm 1, 123 features.
average_runs() {
  local noise=$1 runs=$2 epsilon size sizes accuracy
  rm -rf "$work/adult-123"
  python3 -B "$helpers/average_curves.py" features "$(data_folder adult)" "$work/adult-123" || return
  echo "smallest,epsilon,error"
  while read -r size sizes; do
    for epsilon in "${@:3}"; do
      for _ in $(seq "$runs"); do
        rm -rf "$work/average-run"
        build/bin/trefoil local --job scripts/acceptance.d/average.toml --data "$work/adult-123" --out "$work/average-run" \
          --set "average.noise=$noise" --set privacy.neighbours=replaced --set average.lambda=0.01 --set fraction_bits=16 \
          --set "privacy.epsilon=$epsilon" --set "local.owner_rows=[$sizes]" >&2 || return
        accuracy=$(value "$work/average-run/summary.json" accuracy) || return
        echo "$size,$epsilon,$(python3 -c "print(f'{1 - $accuracy:.6f}')")"
      done
    done
  done <<<"6512 6512, 6512, 6512, 6512, 6512
4884 4884, 6512, 6512, 6512, 8141
3256 3256, 6512, 6512, 6512, 9769"
}
