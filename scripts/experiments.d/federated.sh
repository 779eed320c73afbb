# shellcheck shell=bash
# Training on shares against federated learning at the same epsilon, with noise at each party: everybody trains on its own third of
# the records with noise of its own, and the models are averaged after each step, after every fifth, or once (the paper's
# comparison with federated learning); and against federated learning by a noisy sum in each step. In the clear; data dealt evenly,
# and sorted by label.
# In the environment, SETS: which of "hog imdb cifar".

NEEDS=mnist

experiment() {
  local set split epsilon
  echo "data,split,epsilon,training,median,least,largest" >"$work/$name.part"
  for set in $(sets hog); do
    for split in even sorted; do
      for epsilon in $(epsilons_of "$set"); do
        federated_against_shares "$set" $split "$epsilon" || return
      done
    done
  done
  mv "$work/$name.part" "$work/$name.csv"
}

epsilons_of() {
  case $1 in
    hog) echo 0.5 1.0 3.0 ;;
    imdb) echo 1.0 3.0 ;;
    cifar) echo 3.0 ;;
  esac
}

# federated_against_shares SET SPLIT EPSILON: four or five lines of the table.
federated_against_shares() {
  local settings arguments trainer accuracies every run
  read -rd '' -a settings < <(settings_of "$1" "$3") || true
  as_arguments "${settings[@]}" "local.split=$2" || return
  run=clear-$1-$2-$3
  clear_thrice "$run" "${arguments[@]}" --every 1000 || return
  accuracies=$(last_of "$run") || return
  row "$1,$2,$3,on shares" "$accuracies" || return
  # By a noisy sum in each step (jobs of type "sum") everybody sees every model on the way, so that each party counts on the two others'
  # noise alone. Whose record is whose does not matter.
  if [ "$2" = even ]; then
    run=noisy-sums-$1-$3
    clear_thrice "$run" "${arguments[@]}" --set privacy.against=insider --every 1000 || return
    accuracies=$(last_of "$run") || return
    row "$1,$2,$3,by noisy sums" "$accuracies" || return
  fi
  # A thousand steps are more than there are, and after the last one the models are averaged.
  for every in 1 5 1000; do
    run=federated-$1-$2-$3-$every
    clear_thrice "$run" "${arguments[@]}" --as federated --local-steps $every --every 1000 || return
    accuracies=$(last_of "$run") || return
    row "$1,$2,$3,averaged every $every" "$accuracies" || return
  done
}
