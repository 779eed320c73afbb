# shellcheck shell=bash
# Ensemble transfer on Adult (Hamm, Cao, Belkin 2016): test error by number of owners and epsilon, fractions of votes against their majority. Plain
# simulations of what `ensemble-transfer` jobs release, with the noise multiplier that such a job plans at each epsilon (of the two
# parties' noise that an insider faces); scripts/acceptance privacy transfer compares the secure steps with the plain ones.

NEEDS=adult

experiment() {
  local epsilon sigma sigmas=()
  for epsilon in 0.1 0.5 1 2 5 10; do
    sigma=$(build/bin/trefoil plan --job configs/ensemble-transfer.toml --set "privacy.epsilon=$epsilon" |
      sed -n 's/.*, sigma \([0-9.]*\),.*/\1/p') || return
    sigmas+=("$epsilon=$sigma")
  done
  python3 -B "$helpers/ensemble_curves.py" "$(data_folder adult)" "${RUNS:-50}" "${sigmas[@]}" >"$work/$name.part" || return
  mv "$work/$name.part" "$work/$name.csv"
}
