# shellcheck shell=bash
# Settings by rule ("auto") beside the best of a grid of 30 around them, on 14 data sets at epsilon 1 and 3; medians of eleven runs in
# the clear (defaults.py says what is compared).
# In the environment, SETS: which of them (all), in this order.

NEEDS=tables

experiment() {
  local sets=() mnist=$work/rows/mnist-hog
  read -ra sets <<<"${SETS:-}"
  scripts/setup --python || return
  if [[ -z ${SETS:-} || " $SETS " == *" mnist "* ]]; then mnist=$(extracted_rows mnist-hog) || return; fi
  /usr/bin/python3 -B scripts/experiments.d/defaults.py build/bin "$(dirname "$(data_folder tables)")" \
    "$mnist" "$work/$name.part" ${sets:+--sets "${sets[@]}"} || return
  mv "$work/$name.part" "$work/$name.csv"
}
