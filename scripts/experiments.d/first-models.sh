# shellcheck shell=bash
# Accuracy of the first model, before any joint step: the average of the parties' local models against the best of them, with
# data dealt evenly and sorted by label (the paper's table "Comparison of aggregation methods"). MNIST's raw pixels and HOG
# features, IMDb and CIFAR-10. The best local model is found in the clear on the test records; "chosen" is what Protocol 4 chooses
# of the average and the three by noisy counts. With MNIST averages and choices are secure runs with one joint step of next to no
# length, with the others averages are of the same models in the clear.
# In the environment, SETS: which of "raw hog imdb cifar".

NEEDS=mnist

experiment() {
  local features split
  echo "features,split,first_model,median,least,largest" >"$work/$name.part"
  for features in $(sets raw hog); do
    for split in even sorted; do
      first_models "$features" $split || return
    done
  done
  mv "$work/$name.part" "$work/$name.csv"
}

# first_models FEATURES SPLIT: two or three lines of the table.
first_models() {
  local settings arguments trainer accuracies step=(training.steps=1 training.learning_rate=1e-6)
  read -ra settings <<<"$(local_settings_of "$1") local.split=$2"
  as_arguments "${settings[@]}" || return
  clear_thrice "local-$1-$2" "${arguments[@]}" --as local || return
  accuracies=$(best_local "local-$1-$2") || return
  row "$1,$2,best local" "$accuracies" || return
  case $1 in
    imdb | cifar)
      accuracies=$(average_of "local-$1-$2") || return
      row "$1,$2,average" "$accuracies"
      return
      ;;
  esac
  accuracies=$(train_thrice "average-$1-$2" "${settings[@]}" "${step[@]}") || return
  row "$1,$2,average" "$accuracies" || return
  accuracies=$(train_thrice "chosen-$1-$2" "${settings[@]}" "${step[@]}" initialisation.method=accuracy) || return
  row "$1,$2,chosen" "$accuracies"
}
