# shellcheck shell=bash
# Accuracy step by step from random, from zero and from local first weights, at the same epsilon in all (the paper's figure of
# "Effectiveness of global model initialisation with local data"; its random weights are normal of deviation 0.2). Curves in the
# clear, their ends secure too. Each curve's noise is calibrated to its own number of steps.

NEEDS=mnist

experiment() {
  clear_thrice clear-random-60 --job configs/mnist-hog.toml --set training.steps=60 --random-weights 0.2 --every 1
  clear_thrice clear-zero-60 --job configs/mnist-hog.toml --set training.steps=60 --every 1
  clear_thrice clear-zero-150 --job configs/mnist-hog.toml --every 1
  clear_thrice clear-local-30 --job configs/mnist-pea.toml --set training.steps=30 --every 1
  clear_thrice clear-local-75 --job configs/mnist-pea.toml --every 1
  local curve
  echo "first_weights,steps,training,step,median,least,largest" >"$work/$name.part"
  for curve in random-60 zero-60 zero-150 local-30 local-75; do curve_of "$curve"; done
  secure zero 60 hog-steps-60 configs/mnist-hog.toml training.steps=60
  secure zero 150 hog configs/mnist-hog.toml
  secure local 30 pea-steps-30 configs/mnist-pea.toml training.steps=30
  secure local 75 pea configs/mnist-pea.toml
  mv "$work/$name.part" "$work/$name.csv"
  plot_initialisation
}

# curve_of START-STEPS: its lines, clear.
curve_of() {
  local step a b c
  paste -d , "$work/clear-$1"-{1,2,3}.csv | tail -n +2 | while IFS=, read -r step a _ b _ c; do
    row "${1%-*},${1#*-},clear,$step" "$(printf '%s\n' "$a" "$b" "$c" | sort -n | paste -sd ' ')"
  done
}

# secure START STEPS NAME JOB [KEY=VALUE ...]
secure() {
  local accuracies
  accuracies=$(train_thrice "${@:3}")
  row "$1,$2,secure,$2" "$accuracies"
}

plot_initialisation() {
  local curve curves=
  for curve in random,60 zero,60 zero,150 local,30 local,75; do
    grep "^$curve,clear," "$work/$name.csv" >"$work/$name-${curve/,/-}.csv"
    curves+="'$work/$name-${curve/,/-}.csv' using 4:(100*\$5) with lines linewidth 2 title '${curve/,/ weights, } steps', "
  done
  grep ",secure," "$work/$name.csv" >"$work/$name-secure.csv"
  plot "set xlabel 'step'
set ylabel 'test accuracy, %'
set yrange [90:98]
set title 'MNIST, HOG features, epsilon 3 in all: first weights'
plot ${curves}'$work/$name-secure.csv' using 4:(100*\$5) with points pointtype 6 pointsize 2 linecolor 'black' title 'secure'"
}
