# shellcheck shell=bash
# Accuracy step by step from random, from zero and from local first weights, at the same epsilon in all (the paper's figure of
# "Effectiveness of global model initialisation with local data"; its random weights are normal of deviation 0.2). Curves in the
# clear, with MNIST their ends secure too. Each curve's noise is calibrated to its own number of steps: all steps of the job, two
# fifths of them, and from local models half and a fifth.
# In the environment, SETS: which of "hog imdb cifar".

NEEDS=mnist

experiment() {
  local set
  echo "data,first_weights,steps,training,step,median,least,largest" >"$work/$name.part"
  for set in $(sets hog); do
    clear_curves "$set" || return
    if [ "$set" = hog ]; then secure_ends || return; fi
  done
  mv "$work/$name.part" "$work/$name.csv"
  plot_initialisation
}

# curves_of SET: all curves START-STEPS, in the order of the table.
curves_of() {
  case $1 in
    hog) echo random-60 zero-60 zero-150 local-30 local-75 ;;
    imdb | cifar) echo random-40 zero-40 zero-100 local-20 local-50 ;;
  esac
}

# clear_curves SET
clear_curves() {
  local curve settings arguments trainer options
  for curve in $(curves_of "$1"); do
    options=()
    case $curve in
      local-*) read -ra settings <<<"$(local_settings_of "$1")" ;;
      *)
        read -rd '' -a settings < <(settings_of "$1" 3.0) || true
        if [ "${curve%-*}" = random ]; then options=(--random-weights 0.2); fi
        ;;
    esac
    as_arguments "${settings[@]}" "training.steps=${curve#*-}" || return
    clear_thrice "clear-$1-$curve" "${arguments[@]}" "${options[@]}" --every 1 || return
    lines_of "$1" "$curve" || return
  done
}

# lines_of SET START-STEPS: of a curve in the clear.
lines_of() {
  local step a b c sorted
  paste -d , "$work/clear-$1-$2"-{1,2,3}.csv | tail -n +2 | while IFS=, read -r step a _ b _ c; do
    sorted=$(printf '%s\n' "$a" "$b" "$c" | sort -n | paste -sd ' ')
    row "$1,${2%-*},${2#*-},clear,$step" "$sorted" || return
  done
}

secure_ends() {
  secure zero 60 hog-steps-60 configs/mnist-hog.toml training.steps=60
  secure zero 150 hog configs/mnist-hog.toml
  secure local 30 pea-steps-30 configs/mnist-pea.toml training.steps=30
  secure local 75 pea configs/mnist-pea.toml
}

# secure START STEPS NAME JOB [KEY=VALUE ...]
secure() {
  local accuracies
  accuracies=$(train_thrice "${@:3}") || return
  row "hog,$1,$2,secure,$2" "$accuracies"
}

plot_initialisation() {
  local set title range curve commands="set multiplot layout 1,3
set key font 'sans,10' samplen 1.5
set xtics 50
set xlabel 'step'"
  while IFS=: read -r set title range; do
    if ! grep -q "^$set," "$work/$name.csv"; then continue; fi
    commands+="
set title '$title'
set yrange [$range]
plot"
    for curve in $(curves_of "$set"); do
      commands+=" '< grep \"^$set,${curve/-/,},clear,\" $work/$name.csv' using 5:(100*\$6) with lines linewidth 2"
      commands+=" title '${curve/-/, } steps',"
    done
    if [ "$set" = hog ]; then
      commands+=" '< grep \"^hog,.*,secure,\" $work/$name.csv' using 5:(100*\$6) with points pointtype 6 linecolor 'black' title 'secure'"
    fi
    commands=${commands%,}
  done <<<"hog:MNIST, HOG, accuracy in %:90:98
imdb:IMDb:50:90
cifar:CIFAR-10, 1,024 features:20:65"
  plot "$commands
unset multiplot"
}
