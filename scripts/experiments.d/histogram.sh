# shellcheck shell=bash
# Local against central differential privacy: how far off the count of each of Adult's fourteen occupations is, in percent of all
# records, by epsilon. Three processes of `trefoil local` for each figure. What one expects: randomised response
# within about 5 % of a large count, the central model two orders of magnitude closer.

NEEDS=adult

# errors_of NAME KEY=VALUE ...: mean errors of three runs, ascending.
errors_of() {
  local run=$1 i
  shift
  for i in 1 2 3; do
    [ -f "$work/$run-$i/summary.json" ] || train "$work/$run-$i" configs/adult-histogram.toml "$@" >>"$work/$run.log" 2>&1 || return
    python3 -B "$helpers/histogram_error.py" "$work/$run-$i/histogram.csv" "$(data_folder adult)/adult-train.csv" 6
  done | sort -n | paste -sd ' '
}

experiment() {
  local epsilon way settings errors
  echo "epsilon,way,median,least,largest" >"$work/$name.part"
  for epsilon in 0.1 0.5 1.0 2.0 4.0; do
    for way in central k-ary symmetric-unary optimised-unary; do
      settings=("privacy.epsilon=$epsilon")
      if [ $way != central ]; then settings+=(histogram.mode=local "histogram.randomiser=$way"); fi
      errors=$(errors_of "histogram-$way-$epsilon" "${settings[@]}")
      row "$epsilon,$way" "$errors"
    done
  done
  mv "$work/$name.part" "$work/$name.csv"
}
