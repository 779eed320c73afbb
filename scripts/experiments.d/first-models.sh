# shellcheck shell=bash
# Accuracy of the first model, before any joint step: the average of the parties' local models against the best of them, with
# data dealt evenly and sorted by label (the paper's table "Comparison of aggregation methods"). Raw pixels and HOG features.
# The best local model is found in the clear on the test images; "chosen" is what Protocol 4 chooses of the average and the
# three by noisy counts. Averages and choices are secure runs with one joint step of next to no length.

NEEDS=mnist

# local_settings_of FEATURES: the job, and what it has beside it.
local_settings_of() {
  case $1 in
    raw) echo configs/mnist.toml initialisation.method=averaging initialisation.steps=200 initialisation.expected_batch=2000 \
      initialisation.learning_rate=10.0 initialisation.epsilon=2.0 ;;
    hog) echo configs/mnist-pea.toml ;;
  esac
}

experiment() {
  local features split settings arguments accuracies step=(training.steps=1 training.learning_rate=1e-6)
  echo "features,split,first_model,median,least,largest" >"$work/$name.part"
  for features in raw hog; do
    for split in even sorted; do
      read -ra settings <<<"$(local_settings_of $features) local.split=$split"
      as_arguments "${settings[@]}"
      clear_thrice "local-$features-$split" "${arguments[@]}" --as local
      accuracies=$(best_local "local-$features-$split")
      row "$features,$split,best local" "$accuracies"
      accuracies=$(train_thrice "average-$features-$split" "${settings[@]}" "${step[@]}")
      row "$features,$split,average" "$accuracies"
      accuracies=$(train_thrice "chosen-$features-$split" "${settings[@]}" "${step[@]}" initialisation.method=accuracy)
      row "$features,$split,chosen" "$accuracies"
    done
  done
  mv "$work/$name.part" "$work/$name.csv"
}
