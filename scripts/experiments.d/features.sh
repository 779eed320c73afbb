# shellcheck shell=bash
# Accuracy against epsilon for raw and extracted features (the paper's section on feature extraction). In the clear at five
# epsilons, secure at 1 and 3.

NEEDS=mnist

experiment() {
  local features epsilon settings arguments accuracies
  echo "features,epsilon,training,median,least,largest" >"$work/$name.part"
  for features in raw hog scatter; do
    for epsilon in 0.5 1.0 2.0 3.0 5.0; do
      read -rd '' -a settings < <(settings_of $features $epsilon) || true
      as_arguments "${settings[@]}"
      clear_thrice "clear-$features-$epsilon" "${arguments[@]}" --every 1000
      accuracies=$(last_of "clear-$features-$epsilon")
      row "$features,$epsilon,clear" "$accuracies"
      if [ "$epsilon" != 1.0 ] && [ "$epsilon" != 3.0 ]; then continue; fi
      accuracies=$(train_thrice "$(secure_name $features $epsilon)" "${settings[@]}")
      row "$features,$epsilon,secure" "$accuracies"
    done
  done
  mv "$work/$name.part" "$work/$name.csv"
  plot_features
}

plot_features() {
  local features part curves=
  for features in raw hog scatter; do
    for part in clear secure; do grep "^$features,.*,$part," "$work/$name.csv" >"$work/$name-$features-$part.csv"; done
    curves+="'$work/$name-$features-clear.csv' using 2:(100*\$4):(100*\$5):(100*\$6) with yerrorlines title '$features', "
    curves+="'$work/$name-$features-secure.csv' using 2:(100*\$4) with points pointtype 6 pointsize 2 title '$features, secure', "
  done
  plot "set xlabel 'epsilon (outsider, delta 1e-5)'
set ylabel 'test accuracy, %'
set title 'MNIST, linear model, 60,000 images of three parties'
set key center right
plot ${curves%, }"
}
