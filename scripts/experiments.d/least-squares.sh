# shellcheck shell=bash
# Least squares against gradient descent on the same features, by epsilon (outsider): MNIST's gradient directions, Adult, words of
# reviews, and a table with a target (abalone; R²). Medians of eleven runs in the clear, and of three secure ones at epsilon 1. Of
# MNIST and of reviews the runs in the clear are by plain_training.py, several times as fast as clear_training: minutes. Of
# abalone each run has another split, every fifth of the shuffled rows for testing. Settings of descent follow in all cells from
# rules that see no record ("auto").
# In the environment, SETS: which of "adult mnist imdb abalone" (all), in this order.

NEEDS=adult
RUNS=11
# docs/howto/settings.md.
RULES=('training.steps="auto"' 'training.expected_batch="auto"' 'training.max_batch_per_owner="auto"' 'training.learning_rate="auto"'
  'training.schedule="linear"' 'training.momentum=0.0' 'privacy.clip="auto"' 'privacy.accountant="pld"')
# On four fifths of the training reviews, tried on the others, 2,048 columns were better than fewer, and up to epsilon 1 as good as
# 4,096; the time of a solution grows with the cube of their number.
COLUMNS_OF_REVIEWS=2048

experiment() {
  local set epsilon
  echo "data,way,epsilon,training,runs,median,least,largest" >"$work/$name.part"
  for set in ${SETS:-adult mnist imdb abalone}; do
    prepare_records "$set" || return
    as_least_squares "$(descent_job "$set")" >"$work/$set-squares.toml" || return
    for epsilon in 0.1 0.3 1.0 3.0; do
      cell "$set" squares $epsilon clear $RUNS || return
      cell "$set" descent $epsilon clear $RUNS || return
    done
    cell "$set" squares 1.0 secure 3 || return
    cell "$set" descent 1.0 secure 3 || return
  done
  mv "$work/$name.part" "$work/$name.csv"
  plot_squares
}

descent_job() {
  case $1 in
    mnist) echo configs/mnist-hog.toml ;;
    abalone) echo scripts/experiments.d/abalone.toml ;;
    *) echo "configs/$1.toml" ;;
  esac
}

# as_least_squares JOB: the same records and features, by least squares.
as_least_squares() {
  awk '/^\[/ { skip = /^\[(model|training)\]/ } !skip && !/^(clip|sampling|accountant) =/' "$1" | sed 's/^type = .*/type = "least-squares"/'
}

prepare_records() {
  local source part folder=$1
  if [ "$folder" = abalone ]; then folder=tables; fi
  source=$(data_folder "$folder") || { echo "experiments: no $folder in \$TREFOIL_DATA or ../shared/data" >&2 && return 4; }
  mkdir -p "$work/$1"
  case $1 in
    imdb) for part in train test; do xz -dc "$source/imdb-$part.csv.xz" >"$work/imdb/imdb-$part.csv" || return; done ;;
    abalone) split_rows "$source/abalone.csv" "$work/abalone" ;;
  esac
}

# split_rows TABLE DIR: DIR/1 to DIR/RUNS with train.csv and test.csv.
split_rows() {
  python3 -B - "$1" "$2" $RUNS <<'PYTHON'
import pathlib, random, sys

lines = pathlib.Path(sys.argv[1]).read_text().split()
for split in range(1, int(sys.argv[3]) + 1):
    random.Random(split).shuffle(shuffled := lines[:])
    folder = pathlib.Path(sys.argv[2]) / str(split)
    folder.mkdir(exist_ok=True)
    for name, test in (("train", False), ("test", True)):
        (folder / f"{name}.csv").write_text("".join(f"{line}\n" for k, line in enumerate(shuffled) if (k % 5 == 4) == test))
PYTHON
}

# cell SET WAY EPSILON TRAINING RUNS: a line of the table.
cell() {
  local set=$1 way=$2 epsilon=$3 training=$4 runs=$5 job found settings=("privacy.epsilon=$3")
  job=$(descent_job "$set")
  if [ "$way" = descent ]; then settings+=("${RULES[@]}"); fi
  if [ "$set-$way" = imdb-squares ]; then settings+=("features.dimension=$COLUMNS_OF_REVIEWS"); fi
  if [ "$training-$set" = clear-mnist ] || [ "$training-$set" = clear-imdb ]; then
    found=$(plain_runs "$set" "$way" "$work/squares-$set-$way-$epsilon.csv" "$runs" "${settings[@]}") || return
  elif [ "$training" = clear ]; then
    found=$(clear_runs "$set" "$way" "$work/squares-$set-$way-$epsilon" "$runs" "$job" "${settings[@]}") || return
  else
    if [ "$way" = squares ]; then job=$work/$set-squares.toml; fi
    found=$(secure_runs "$set" "squares-$set-$way-$epsilon-secure" "$runs" "$job" "${settings[@]}") || return
  fi
  row "$set,$way,$epsilon,$training,$runs" "$found" "$runs"
}

# records_of SET RUN: the folder of what it reads.
records_of() {
  case $1 in
    abalone) echo "$work/abalone/$2" ;;
    imdb) echo "$work/imdb" ;;
    *) data_folder "$1" ;;
  esac
}

# plain_runs SET WAY FILE RUNS KEY=VALUE ...: scores of runs in FILE, ascending; one that is there is kept. The job of descent is as
# `trefoil local` prepares it, with numbers in place of "auto".
plain_runs() {
  local rows job as=joint setting columns=() options=()
  job=$(descent_job "$1")
  for setting in "${@:5}"; do options+=(--set "$setting"); done
  if ! [ -f "$3" ]; then
    if [ "$1-$2" = imdb-squares ]; then columns=("$COLUMNS_OF_REVIEWS"); fi
    rows=$(extracted_rows "$(basename "$job" .toml)" "${columns[@]}") || return
    rm -rf "$work/prepared"
    build/bin/trefoil local --job "$job" --data "$(records_of "$1")" "${options[@]}" --out "$work/prepared" --prepare \
      --hosts 127.0.0.1,127.0.0.1,127.0.0.1 >&2 || return
    if [ "$2" = squares ]; then as=least-squares; fi
    /usr/bin/python3 -B scripts/experiments.d/plain_training.py --job "$work/prepared/job.toml" --data "$rows" --as $as --every 1000 \
      --runs "$4" >"$3.part" || return
    mv "$3.part" "$3"
  fi
  awk -F , '$1 + 0 > 0 { print $2 }' "$3" | sort -g | paste -sd ' '
}

# clear_runs SET WAY NAME RUNS JOB KEY=VALUE ...: scores of runs in NAME.csv, or NAME-1.csv, NAME-2.csv, ... of splits, ascending;
# files that are there are kept.
clear_runs() {
  local as=joint i file files=()
  if [ "$2" = squares ]; then as=least-squares; fi
  as_arguments "${@:5}"
  arguments+=(--as "$as" --every 1000)
  if [ "$1" != abalone ]; then
    files=("$3.csv")
    clear_file "${files[0]}" --data "$(records_of "$1")" --runs "$4" || return
  else
    for i in $(seq "$4"); do
      file=$3-$i.csv
      files+=("$file")
      clear_file "$file" --data "$(records_of "$1" "$i")" || return
    done
  fi
  # Of descent steps, the first weights' among them; of least squares runs.
  awk -F , '$1 + 0 > 0 { print $2 }' "${files[@]}" | sort -g | paste -sd ' '
}

clear_file() {
  if [ -f "$1" ]; then return; fi
  build/bin/clear_training "${arguments[@]}" "${@:2}" >"$1.part" && mv "$1.part" "$1"
}

# secure_runs SET NAME RUNS JOB KEY=VALUE ...: the same of secure runs NAME-1, NAME-2, ... in `work`.
secure_runs() {
  local set=$1 run=$2 runs=$3 job=$4 key=accuracy i data found=()
  if [ "$set" = abalone ]; then key=r_squared; fi
  for i in $(seq "$runs"); do
    data=$(records_of "$set" "$i")
    DATA=$data train "$work/$run-$i" "$job" "${@:5}" >>"$work/$run.log" 2>&1 || { tail -n 3 "$work/$run.log" >&2 && return 1; }
    found+=("$(value "$work/$run-$i/summary.json" $key)")
  done
  printf '%s\n' "${found[@]}" | sort -g | paste -sd ' '
}

plot_squares() {
  local set title way commands="set multiplot layout 2,2
set logscale x
set xtics (0.1, 0.3, 1, 3)
set xrange [0.08:3.7]
set xlabel 'epsilon (outsider, delta 1e-5)'"
  while IFS=: read -r set title; do
    commands+="
set title '$title'
plot"
    for way in squares descent; do
      commands+=" '< grep -E \"^$set,$way,.*,clear,\" $work/$name.csv' using 3:(100*\$6):(100*\$7):(100*\$8) with yerrorlines"
      if [ $way = squares ]; then commands+=" title 'least squares',"; else commands+=" title 'gradient descent'"; fi
    done
  done <<<"adult:Adult, accuracy in %
mnist:MNIST, gradient directions, accuracy in %
imdb:Reviews, words, accuracy in %
abalone:Rings of abalones, R² in %"
  plot "$commands
unset multiplot"
}
