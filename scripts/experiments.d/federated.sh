# shellcheck shell=bash
# Training on shares against federated learning at the same epsilon, with noise at each party: everybody trains on its own 20,000
# images with noise of its own, and the models are averaged after each step, after every fifth, or once (the paper's comparison
# with federated learning). In the clear; data dealt evenly, and sorted by label.

NEEDS=mnist

experiment() {
  local split epsilon every settings arguments accuracies
  echo "split,epsilon,training,median,least,largest" >"$work/$name.part"
  for split in even sorted; do
    for epsilon in 0.5 1.0 3.0; do
      read -rd '' -a settings < <(settings_of hog $epsilon) || true
      as_arguments "${settings[@]}" "local.split=$split"
      clear_thrice "clear-hog-$split-$epsilon" "${arguments[@]}" --every 1000
      accuracies=$(last_of "clear-hog-$split-$epsilon")
      row "$split,$epsilon,on shares" "$accuracies"
      for every in 1 5 150; do
        clear_thrice "federated-$split-$epsilon-$every" "${arguments[@]}" --as federated --local-steps $every --every 1000
        accuracies=$(last_of "federated-$split-$epsilon-$every")
        row "$split,$epsilon,averaged every $every" "$accuracies"
      done
    done
  done
  mv "$work/$name.part" "$work/$name.csv"
}
