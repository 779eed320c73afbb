# shellcheck shell=bash
# A fresh clone: the demo, and all tests.
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`.

CHECKS=(
  "demo: scripts/demo on a fresh clone, in under 5 minutes"
  "tests: scripts/test on a fresh clone, also under asan and tsan"
)

check_demo() {
  local clone_dir=$work/demo-clone start seconds run
  clone "$clone_dir" || return
  scripts/setup || return
  start=$SECONDS
  (cd "$clone_dir" && env -u CMAKE_CXX_COMPILER_LAUNCHER scripts/demo) || return
  seconds=$((SECONDS - start))
  run=$(echo "$clone_dir"/runs/demo-*)
  has_summary_keys "$run/summary.json" || return
  measured "$seconds s with the build, accuracy $(value "$run/summary.json" accuracy)," \
    "epsilon $(value "$run/summary.json" epsilon_outsider) outsider $(value "$run/summary.json" epsilon_insider) insider"
  for i in 0 1 2; do [ -s "$run/party-$i/out/model.npz" ] || return; done
  holds "$seconds < 300 and $(value "$run/summary.json" accuracy) > 0.85"
}

check_tests() { test_in_clone release asan tsan; }
