# shellcheck shell=bash
# List G: the other types of job on the same runtime. Read by scripts/acceptance, from the project's top, with `work` (a folder),
# `measured` and `skip`. Checks run in a subshell whose output is logged.
#
# `set -e` is off inside a function that is called under `||`, so every step that must succeed says so with `|| return`.

TITLES=(
  [1]="histogram: exact noise in parts and reports by their laws, the reference values of vectors/local_dp.json, OpenNoisyCounts over 1000 inputs"
  [2]="histogram as three TLS processes: exact where noise is surely zero, and every documented outcome"
  [3]="adult-histogram at epsilon 1: central counts within 0.1 % on average, optimised unary encoding over a hundred times as far off"
  [4]="trefoil account --votes: the reference values of vectors/pate.json, bounds above the mechanisms' exact divergences, smooth sensitivity against all neighbours"
  [5]="pate as three TLS processes: winners as in the clear, and every documented outcome"
  [6]="pate: 640 queries of 10 classes to 250 teachers in under 20 s on loopback, and the answers those of clear majorities"
  [7]="classifier-average: sums with chosen noise equal to plain ones over 2000 random inputs, sensitivities, the solver"
  [8]="classifier-average as three TLS processes: averages of plain fits, and every documented outcome"
  [9]="adult-average at epsilon 0.4 as published and sound: released weights within the noise of an independent plain average"
  [10]="ensemble-transfer: steps on shares equal to plain ones over 1000 random inputs, gap and sensitivity bounds"
  [11]="ensemble-transfer as three TLS processes: plain minimisers, and every documented outcome"
  [12]="pate that trains its teachers and student, as three TLS processes: plain least squares, and every documented outcome"
  [13]="mnist-pate: 250 teachers of MNIST at three parties, a student of at least 97.5 % at a data-independent epsilon"
  [14]="ensemble-transfer's published noise: two parts have the density exp(-|x| / s), norm and direction, and the charge for rounding"
  [15]="noisy gradient descent on Adult, gradients clipped and examples bounded, as three TLS processes: above 77 % at epsilon 1"
  [16]="adult-average: the published curves at three splits, 200 plain draws a point, and secure runs within their error bars"
)

check_1() {
  scripts/setup && scripts/build release dp_test ml_test || return
  local output
  output=$(TREFOIL_SHARED=${TREFOIL_SHARED:-$PWD/../shared} build/bin/dp_test \
    --gtest_filter='*LaplacePart*:*HalfGeometric*:*LocalRandomiser*' 2>&1 && build/bin/ml_test --gtest_filter='*NoisyCounts*:*LaplaceParts*' 2>&1) || return
  echo "$output"
  measured "$(grep -c '^\[       OK' <<<"$output") tests passed"
  ! grep -q '^\[  SKIPPED' <<<"$output"
}

check_2() {
  build || return
  TREFOIL_BINARY=$PWD/build/bin/trefoil python3 -B tests/apps/histogram_test.py
}

# mean_error DIR: over the values of adult-histogram, of |count - exact| / 32561 in percent.
mean_error() {
  python3 -B "$helpers/histogram_error.py" "$1/histogram.csv" "$(data_folder adult)/adult-train.csv" 6
}

check_3() {
  has_data adult || skip "no adult in \$TREFOIL_DATA/adult or ../shared/data/adult"
  build || return
  local central unary
  rm -rf "$work/central" "$work/unary"
  build/bin/trefoil local --job configs/adult-histogram.toml --out "$work/central" || return
  build/bin/trefoil local --job configs/adult-histogram.toml --out "$work/unary" \
    --set histogram.mode=local --set histogram.randomiser=optimised-unary || return
  central=$(mean_error "$work/central") && unary=$(mean_error "$work/unary") || return
  measured "mean error of a count, of all records: central $central %, optimised unary $unary %"
  # Laplace noise of shape 3/2 at epsilon 1 is about 1.3 of 32,561 records on average; a mean of 14 stays below 0.1 % but for
  # e^-30. A count of the encoding deviates by 370 records; a mean over 14 of them below 130 has probability under 1e-5.
  holds "$central < 0.1 and $unary > 100 * 0.004"
}

check_4() {
  scripts/setup && scripts/build release trefoil dp_test || return
  local output
  output=$(TREFOIL_SHARED=${TREFOIL_SHARED:-$PWD/../shared} build/bin/dp_test --gtest_filter='Pate.*:SmoothCostOfVotes.*:SmoothNoiseRdp.*:OffsetOfSmoothBound.*' 2>&1) || return
  echo "$output"
  measured "$(grep -c '^\[       OK' <<<"$output") tests passed"
  ! grep -q '^\[  SKIPPED' <<<"$output" || return
  TREFOIL_BINARY=$PWD/build/bin/trefoil python3 -B tests/apps/account_votes_test.py
}

check_5() {
  scripts/setup && scripts/build release trefoil ml_test || return
  build/bin/ml_test --gtest_filter='NoisyVotes.*' || return
  TREFOIL_BINARY=$PWD/build/bin/trefoil python3 -B tests/apps/pate_test.py
}

check_6() {
  build || return
  local right
  rm -rf "$work/votes" "$work/pate"
  python3 -B "$helpers/teacher_votes.py" write "$work/votes" || return
  build/bin/trefoil local --job configs/pate.toml --data "$work/votes" --out "$work/pate" || return
  right=$(python3 -B "$helpers/teacher_votes.py" compare "$work/votes" "$work/pate/answers.csv") || return
  measured "$(value "$work/pate/summary.json" seconds) s, $(value "$work/pate/summary.json" rounds) rounds," \
    "$(value "$work/pate/summary.json" answered) answers, $right of them the majority's; epsilon" \
    "$(value "$work/pate/summary.json" epsilon_insider) insider, $(value "$work/pate/summary.json" epsilon_outsider) outsider"
  holds "$(value "$work/pate/summary.json" seconds) < 20 and $right >= 0.9 * $(value "$work/pate/summary.json" answered)"
}

check_7() {
  scripts/setup && scripts/build release dp_test ml_test || return
  local output
  output=$(build/bin/dp_test --gtest_filter='LaplacePartsMargin.*:Events.ChargeApproximate*' 2>&1 &&
    build/bin/ml_test --gtest_filter='*ClassifierSum.*:ClassifierSums*:*AveragePlan*:SumSensitivity*:FitLogistic*:AverageOfSum*' 2>&1) || return
  echo "$output"
  measured "$(grep -c '^\[       OK' <<<"$output") tests passed"
}

check_8() {
  build || return
  TREFOIL_BINARY=$PWD/build/bin/trefoil python3 -B tests/apps/average_test.py
}

check_9() {
  has_data adult || skip "no adult in \$TREFOIL_DATA/adult or ../shared/data/adult"
  build || return
  local way distance
  rm -rf "$work/adult-123" "$work/average-sound" "$work/average-as-published"
  python3 -B "$helpers/average_curves.py" features "$(data_folder adult)" "$work/adult-123" || return
  for way in sound as-published; do
    build/bin/trefoil local --job scripts/acceptance.d/average.toml --data "$work/adult-123" --out "$work/average-$way" \
      --set "average.noise=$way" --set privacy.neighbours=replaced || return
    distance=$(python3 -B "$helpers/average_curves.py" compare "$work/average-$way/model.npz" "$(data_folder adult)" \
      4884 6512 6512 6512 8141) || return
    measured "$way: weights at most $distance from the plain average, accuracy $(value "$work/average-$way/summary.json" accuracy)"
    # Scales on the average: sound 2 sqrt(123) / (5 * 4884 * 0.4) and at most a step of the grid more, 0.0025 and less; published
    # 2 / (4884 * 0.4) = 0.00102. One of 123 weights beyond 30 scales has probability below 1e-10.
    holds "$distance < 30 * 0.0027 and $distance > 0" || return
  done
}

check_10() {
  scripts/setup && scripts/build release ml_test || return
  local output
  output=$(build/bin/ml_test --gtest_filter='*Transfer*' 2>&1) || return
  echo "$output"
  measured "$(grep -c '^\[       OK' <<<"$output") tests passed"
}

check_11() {
  build || return
  TREFOIL_BINARY=$PWD/build/bin/trefoil python3 -B tests/apps/transfer_test.py
}

check_12() {
  build || return
  scripts/build release ml_test apps_test || return
  build/bin/ml_test --gtest_filter='*FitClassifier*:*Classify*:*LabelByTeachers*:*TrainStudent*' &&
    build/bin/apps_test --gtest_filter='*LoadSlices*' &&
    TREFOIL_BINARY=$PWD/build/bin/trefoil python3 -B tests/apps/pate_training_test.py
}

check_13() {
  has_data mnist || skip "no mnist in \$TREFOIL_DATA/mnist or ../shared/data/mnist"
  build || return
  local summary=$work/mnist-pate/summary.json
  rm -rf "$work/mnist-pate"
  build/bin/trefoil local --job configs/mnist-pate.toml --out "$work/mnist-pate" || return
  measured "accuracy $(value "$summary" accuracy), epsilon $(value "$summary" epsilon_insider) insider," \
    "$(value "$summary" epsilon_outsider) outsider; $(value "$summary" answered) answers in $(value "$summary" vote_seconds) s"
  holds "$(value "$summary" accuracy) >= 0.975 and $(value "$summary" vote_seconds) < 20 and $(value "$summary" epsilon_insider) < 3"
}

check_14() {
  scripts/setup && scripts/build release dp_test ml_test || return
  build/bin/dp_test --gtest_filter='RadialLaplacePart.*' && build/bin/ml_test --gtest_filter='RadialLaplaceParts.*:AverageOfSum.*'
}

check_15() {
  has_data adult || skip "no adult in \$TREFOIL_DATA/adult or ../shared/data/adult"
  build || return
  local clipping clip rate accuracy
  for clipping in factorised examples; do
    if [ $clipping = factorised ]; then clip=0.5 rate=10.0; else clip=1.5 rate=4.0; fi
    train "$work/descent-$clipping" configs/adult-descent.toml training.steps=20 "training.clipping=$clipping" \
      "privacy.clip=$clip" "training.learning_rate=$rate" privacy.epsilon=1.0 || return
    accuracy=$(value "$work/descent-$clipping/summary.json" accuracy) || return
    measured "$clipping: accuracy $accuracy, epsilon $(value "$work/descent-$clipping/summary.json" epsilon_insider) for an insider"
    holds "$accuracy > 0.77" || return
  done
}

# The settings at which the published curves' shape shows (docs/explanation/experiments.md).
check_16() {
  has_data adult || skip "no adult in \$TREFOIL_DATA/adult or ../shared/data/adult"
  build || return
  local draws=200 line status
  LAMBDA=0.01 python3 -B "$helpers/average_curves.py" curves "$(data_folder adult)" "$draws" 0.05 0.1 0.4 >"$work/average-curves.csv" || return
  average_runs as-published "${RUNS:-40}" 0.05 0.1 0.4 >"$work/average-runs.csv" || return
  python3 -B "$helpers/average_curves.py" means "$work/average-runs.csv" >"$work/average-means.csv" || return
  line=$(python3 -B "$helpers/average_curves.py" within "$work/average-curves.csv" "$draws" "$work/average-means.csv")
  status=$?
  measured "$line"
  return "$status"
}
