# shellcheck shell=bash
# Noisy gradient descent on Adult: the whole data set in every step, gradients clipped or examples bounded, test accuracy by
# epsilon and number of steps: medians of three runs, each three processes of `trefoil local`.

NEEDS=adult

experiment() {
  local epsilon steps clipping rate clip run accuracies insider
  echo "epsilon,clipping,steps,epsilon_insider,median,least,largest" >"$work/$name.part"
  for epsilon in 0.01 0.03 0.1 0.5 1.0 2.0; do
    for clipping in factorised examples; do
      # A logistic gradient of a row of norm 1 and its constant has norm sqrt(2) at most: with "examples" that is what is charged.
      if [ $clipping = factorised ]; then clip=0.5 rate=10.0; else clip=1.5 rate=4.0; fi
      for steps in 5 10 20 50 100; do
        run=descent-$clipping-$epsilon-$steps
        accuracies=$(train_thrice "$run" configs/adult-descent.toml "training.steps=$steps" "training.clipping=$clipping" \
          "privacy.clip=$clip" "training.learning_rate=$rate" "privacy.epsilon=$epsilon") || return
        insider=$(value "$work/$run-1/summary.json" epsilon_insider) || return
        row "$epsilon,$clipping,$steps,$insider" "$accuracies" || return
      done
    done
  done
  mv "$work/$name.part" "$work/$name.csv"
}
