# shellcheck shell=bash
# List A: three processes train a differentially private linear model, end to end. Read by scripts/acceptance, from the
# project's top, with `work` (a folder), `measured` and `skip`. Checks run in a subshell whose output is logged.
#
# `set -e` is off inside a function that is called under `||`, so every step that must succeed says so with `|| return`.

TITLES=(
  [1]="scripts/demo on a fresh clone, in under 5 minutes"
  [2]="MNIST by trefoil local, three times: at least 90 % in under 4 minutes, less than 1 point apart"
  [3]="Adult by trefoil local: at least 83.5 % at epsilon 1"
  [4]="MNIST by hand in three network namespaces: same files and keys, one model, within 1 point of local"
  [5]="truncation of 2^24 values; inverse square root of 10^5"
  [6]="kill -9 of a party at a random step, 20 times: the others end with code 3 in under 15 s and name it"
  [7]="docker-compose.yml: three containers train the demo job and exit with 0"
  [8]="scripts/test on a fresh clone, also under asan; protocol tests under tsan"
)

check_1() {
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

check_2() {
  has_data mnist || skip "no MNIST: run scripts/fetch_mnist and set TREFOIL_DATA"
  build || return
  local accuracies=() seconds=() start run
  for i in 1 2 3; do
    run=$work/mnist-$i
    start=$SECONDS
    mnist_run "$run" || return
    seconds+=($((SECONDS - start)))
    has_summary_keys "$run/summary.json" || return
    holds "$(value "$run/summary.json" epsilon_outsider) <= 3" || return
    accuracies+=("$(value "$run/summary.json" accuracy)")
  done
  measured "accuracy ${accuracies[*]}, seconds ${seconds[*]}," \
    "epsilon $(value "$run/summary.json" epsilon_outsider) outsider $(value "$run/summary.json" epsilon_insider) insider"
  local all times
  all=$(IFS=,; echo "${accuracies[*]}")
  times=$(IFS=,; echo "${seconds[*]}")
  holds "min($all) >= 0.9 and max($all) - min($all) < 0.01 and max($times) < 240"
}

check_3() {
  has_data adult || skip "no Adult data: put adult-train.csv and adult-test.csv into \$TREFOIL_DATA/adult"
  build || return
  local run=$work/adult
  build/bin/trefoil local --job configs/adult.toml --out "$run" || return
  has_summary_keys "$run/summary.json" || return
  measured "accuracy $(value "$run/summary.json" accuracy), epsilon $(value "$run/summary.json" epsilon_outsider) outsider" \
    "$(value "$run/summary.json" epsilon_insider) insider, $(value "$run/summary.json" seconds) s"
  holds "$(value "$run/summary.json" accuracy) >= 0.835 and $(value "$run/summary.json" epsilon_outsider) <= 1"
}

check_4() {
  [ -f "$tools/netsim/netsim.cpp" ] || skip "no network simulator: $tools/netsim is absent"
  [ -c /dev/net/tun ] || skip "no /dev/net/tun"
  has_data mnist || skip "no MNIST"
  build || return
  local reference=$work/mnist-1 hosts=$work/hosts
  [ -f "$reference/summary.json" ] || mnist_run "$reference" || return
  build/bin/trefoil local --job configs/mnist.toml --prepare --hosts 10.77.0.1,10.77.0.2,10.77.0.3 --out "$hosts" || return
  g++ -O2 -std=c++20 "$tools/netsim/netsim.cpp" -o "$work/netsim" || return
  bash "$helpers/run_in_namespaces.sh" "$work/netsim" build/bin/trefoil "$hosts" || return

  for i in 0 1 2; do
    cmp "$hosts/party-$i/out/model.npz" "$hosts/party-0/out/model.npz" || return
    has_summary_keys "$hosts/party-$i/out/summary.json" || return
    diff <(cd "$reference/party-$i/out" && find . -type f | sort) <(cd "$hosts/party-$i/out" && find . -type f | sort) || return
  done
  local by_hand by_local
  by_hand=$(build/bin/trefoil evaluate --model "$hosts/party-0/out/model.npz" --data "$hosts/test" --json >"$work/hosts.json" &&
    value "$work/hosts.json" accuracy) || return
  by_local=$(value "$reference/summary.json" accuracy)
  measured "accuracy $by_hand by hand, $by_local by local; one model at all three;" \
    "$(value "$hosts/party-0/out/summary.json" seconds) s"
  holds "abs($by_hand - $by_local) <= 0.01"
}

check_5() { long_protocol_runs; }

check_6() {
  build || return
  local output status=0
  output=$(python3 "$helpers/kill_parties.py" build/bin/trefoil configs/demo.toml "$work/killed" --times 20) || status=$?
  echo "$output"
  measured "$(echo "$output" | tail -n 1)"
  return "$status"
}

check_7() {
  if ! command -v podman-compose >/dev/null; then
    [ -x "$tools/containers/setup" ] || skip "no podman-compose, and $tools/containers is absent"
    "$tools/containers/setup" || return
  fi
  build || return
  bash "$helpers/run_containers.sh" build/bin/trefoil "$work/compose-clone" >"$work/containers" || { cat "$work/containers"; return 1; }
  cat "$work/containers"
  measured "$(tail -n 1 "$work/containers")"
}

check_8() { test_in_clone release asan tsan; }
