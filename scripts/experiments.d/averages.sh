# shellcheck shell=bash
# Averages of five owners' logistic regressions on Adult: test error by epsilon for three splits, 200 draws of the noise each, as
# published and with the noise that suffices; seed 003's figure 2. Plain simulations of the laws; scripts/acceptance G 9 compares
# the secure averages with the plain ones. lambda 1 is the published one; less lets the classifiers say more.

NEEDS=adult

experiment() {
  local lambda
  echo "lambda,way,smallest,epsilon,error,standard_error" >"$work/$name.part"
  for lambda in 1 0.01; do
    LAMBDA=$lambda python3 -B "$helpers/average_curves.py" curves "$(data_folder adult)" "${RUNS:-200}" 0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 \
      >"$work/$name-$lambda.csv" || return
    tail -n +2 "$work/$name-$lambda.csv" | sed "s/^/$lambda,/" >>"$work/$name.part"
  done
  mv "$work/$name.part" "$work/$name.csv"
}
