# shellcheck shell=bash
# Small tables as a new user would train on them.
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`.

CHECKS=(
  "central: jobs of init-job, as three TLS processes, within 2 points (targets: 0.02 of R²) of central training at settings found by a grid"
)

check_central() {
  has_data tables || skip "no small tables (data/tables)"
  scripts/setup && scripts/build release trefoil || return
  /usr/bin/python3 -c "import numpy" 2>/dev/null || skip "no numpy for the central training: apt-get install python3-numpy"
  local status=0
  /usr/bin/python3 -B "$helpers/central_tables.py" build/bin/trefoil "$(data_folder tables)" "$work/central.csv" || status=$?
  cat "$work/central.csv"
  measured "$(tail -n +2 "$work/central.csv" | cut -d , -f 1,2,5,6,8 | paste -sd ';' | sed 's/;/; /g')"
  return "$status"
}
