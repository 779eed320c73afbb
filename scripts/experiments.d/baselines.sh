# shellcheck shell=bash
# What training together by secret shares gives over its alternatives at the same epsilon: one party alone on its 20,000 images
# (the same DP-SGD and accountant, a third of the batch), and local differential privacy, where each image and label is
# perturbed by itself and the model then trained in the clear. HOG features and raw pixels; the paper's comparison of
# multi-party with single-party training and with local differential privacy.

NEEDS=mnist

experiment() {
  local features epsilon settings arguments accuracies
  echo "features,epsilon,training,median,least,largest" >"$work/$name.part"
  for features in raw hog; do
    for epsilon in 1.0 3.0; do
      read -rd '' -a settings < <(settings_of $features $epsilon) || true
      as_arguments "${settings[@]}"
      clear_thrice "single-$features-$epsilon" "${arguments[@]}" --as single-party --every 1000
      clear_thrice "local-dp-$features-$epsilon" "${arguments[@]}" --as local-dp --every 1000 --set training.learning_rate=1.0
      accuracies=$(train_thrice "$(secure_name $features $epsilon)" "${settings[@]}")
      row "$features,$epsilon,secure" "$accuracies"
      accuracies=$(last_of "single-$features-$epsilon")
      row "$features,$epsilon,single party" "$accuracies"
      accuracies=$(last_of "local-dp-$features-$epsilon")
      row "$features,$epsilon,local DP" "$accuracies"
    done
  done
  mv "$work/$name.part" "$work/$name.csv"
}
