# shellcheck shell=bash
# What training together by secret shares gives over its alternatives at the same epsilon: one party alone on its third of the
# records (the same DP-SGD and accountant, a third of the batch), and local differential privacy, where each record and label is
# perturbed by itself and the model then trained in the clear; the paper's comparison of multi-party with single-party training and
# with local differential privacy. MNIST's raw pixels and HOG features with secure runs beside them, IMDb and CIFAR-10 in the clear.
# In the environment, SETS: which of "raw hog imdb cifar".

NEEDS=mnist

experiment() {
  local features epsilon
  echo "features,epsilon,training,median,least,largest" >"$work/$name.part"
  for features in $(sets raw hog); do
    for epsilon in 1.0 3.0; do
      against_baselines "$features" $epsilon || return
    done
  done
  mv "$work/$name.part" "$work/$name.csv"
}

# against_baselines FEATURES EPSILON: three lines of the table.
against_baselines() {
  local settings arguments trainer accuracies way=secure
  read -rd '' -a settings < <(settings_of "$1" "$2") || true
  as_arguments "${settings[@]}" || return
  clear_thrice "single-$1-$2" "${arguments[@]}" --as single-party --every 1000 || return
  clear_thrice "local-dp-$1-$2" "${arguments[@]}" --as local-dp --every 1000 --set training.learning_rate=1.0 || return
  case $1 in
    imdb | cifar)
      way=clear
      clear_thrice "clear-$1-even-$2" "${arguments[@]}" --every 1000 || return
      accuracies=$(last_of "clear-$1-even-$2") || return
      ;;
    *) accuracies=$(train_thrice "$(secure_name "$1" "$2")" "${settings[@]}") || return ;;
  esac
  row "$1,$2,$way" "$accuracies" || return
  accuracies=$(last_of "single-$1-$2") || return
  row "$1,$2,single party" "$accuracies" || return
  accuracies=$(last_of "local-dp-$1-$2") || return
  row "$1,$2,local DP" "$accuracies"
}
