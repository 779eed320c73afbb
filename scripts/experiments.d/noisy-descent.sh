# shellcheck shell=bash
# Noisy gradient descent on Adult (seed 004): the whole data set in every step, gradients clipped or examples bounded, test accuracy by
# epsilon and number of steps. Three processes of `trefoil local` for each figure; one run of each, since the noise moves the
# accuracy by a few tenths of a percent only where epsilon is small.

NEEDS=adult

experiment() {
  local epsilon steps clipping rate clip dir
  echo "epsilon,clipping,steps,accuracy,epsilon_insider" >"$work/$name.part"
  for epsilon in 0.1 0.5 1.0 2.0; do
    for clipping in factorised examples; do
      # A logistic gradient of a row of norm 1 and its constant has norm sqrt(2) at most: with "examples" that is what is charged.
      if [ $clipping = factorised ]; then clip=0.5 rate=10.0; else clip=1.5 rate=4.0; fi
      for steps in 5 10 20 50 100; do
        dir=$work/descent-$clipping-$epsilon-$steps
        train "$dir" configs/adult.toml training.expected_batch=32561.0 training.max_batch_per_owner=10854 "training.steps=$steps" \
          "training.clipping=$clipping" "privacy.clip=$clip" "training.learning_rate=$rate" "privacy.epsilon=$epsilon" \
          >>"$work/$name.log" 2>&1 || return
        echo "$epsilon,$clipping,$steps,$(value "$dir/summary.json" accuracy),$(value "$dir/summary.json" epsilon_insider)" >>"$work/$name.part"
      done
    done
  done
  mv "$work/$name.part" "$work/$name.csv"
}
