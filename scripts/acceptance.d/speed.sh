# shellcheck shell=bash
# Speed and memory.
#
# Limits in seconds are for two cores of an EPYC with AVX-512 (docs/reference/performance.md). On a machine, or at a minute,
# whose multiplier does less in registers, they are as much longer, and shorter where it does more (speed_limits.py, peaks.py).
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`.

CHECKS=(
  "loopback: over TLS the least of three medians of every operation within its limit at that minute's peak, bytes within theirs, the faster form chosen"
  "lan: the same"
  "wan: the same"
  "sum: noisy sums of 1,000,000 numbers on loopback, 60 ms where noise is drawn ahead, 300 ms sustained, likewise"
  "epochs: MNIST, raw pixels, 10 epochs, batch 1024, owner-poisson: 40 s on loopback, 60 s on the LAN, 12 min on the WAN"
  "narrow: MNIST's rows in 5 bytes a number, in turns with a program of 0.1 (TREFOIL_BEFORE): medians of three runs at most 0.65 of its bytes and half a point apart, WAN time of ten epochs at most 0.7"
  "memory: of a party with MNIST below 1.5 GiB in public mode, below 300 MiB in owner-poisson"
  "wide: batches of 4,096 x 15,552 on loopback, by bench and a training, files not compressed: at most 2 s a step, 1.6 GB at a party's peak, planned within 25 %, 15 % of processor time the kernel's"
  "products: of rings at least 70 % of the multiplier's peak, tall and skinny shapes, too"
  "growth: with batch, features and classes, plotted: rounds always the same"
  "larger-than-memory: a data set of 10 GiB at every party, trained on with 2 GiB of address space each"
  "noise: discrete Gaussian, at least 2 million samples a second on one core"
  "peer: faster than MP-SPDZ (built in the folder MP_SPDZ, see performance.md) in turns with it, on loopback, LAN and WAN"
)

build_bench() { scripts/setup --bench && scripts/build release trefoil kernels_benchmark; }

# within_limits PROFILE [OPTION ...]: of speed_limits.py.
within_limits() {
  build_bench || return
  gathered python3 -B "$helpers/speed_limits.py" build/bin/trefoil build/bin/kernels_benchmark "$work/bench-$1" "$@"
}

lines=()
beyond=0
# told: what was judged, and whether all was within its limits
told() {
  printf '%s\n' "${lines[@]}"
  measured "$(printf '%s; ' "${lines[@]}")"
  return "$beyond"
}

TEN_EPOCHS=(--set training.steps=586 --set training.expected_batch=1024 --set training.max_batch_per_owner=466)

check_loopback() { within_limits loopback; }

check_sum() { within_limits loopback --sums; }

on_network() {
  needs_netsim
  netsim && within_limits "$1" --netsim "$work/netsim"
}
check_lan() { on_network lan; }
check_wan() { on_network wan; }

# carried_by_loopback COMMAND ...: bytes that the kernel counts on the loopback interface while it runs: all three parties', with all
# that sockets add. Nothing else should use the interface meanwhile.
carried_by_loopback() {
  local counter=/sys/class/net/lo/statistics/tx_bytes before
  before=$(<$counter)
  "$@" >&2 || return
  echo $(($(<$counter) - before))
}

# ten_epochs FOLDER PROFILE PROGRAM JOB: party 0's seconds.
ten_epochs() {
  rm -rf "$1"
  if [ "$2" = loopback ]; then
    "$3" local --job "$4" --out "$1" "${TEN_EPOCHS[@]}" >&2 || return
  else
    "$3" local --job "$4" --out "$1" "${TEN_EPOCHS[@]}" "${HOSTS[@]}" >&2 || return
    netsim && "$helpers/run_in_namespaces.sh" "$work/netsim" "$3" "$1" "$2" >&2 || return
  fi
  value "$1/party-0/out/summary.json" seconds
}

check_epochs() {
  has_data mnist || skip "there is no MNIST"
  build_bench || return
  local profile limit seconds line slower
  for profile in loopback lan wan; do
    case $profile in
      loopback) limit=40 ;;
      lan) limit=60 ;;
      wan) limit=720 ;;
    esac
    if [ "$profile" != loopback ] && ! [ -d "$tools/netsim" ]; then continue; fi
    seconds=$(ten_epochs "$work/epochs-$profile" "$profile" build/bin/trefoil configs/mnist.toml) || return
    slower=$(python3 -B "$helpers/peaks.py" build/bin/kernels_benchmark) || return
    line="$profile $(printf '%.1f' "$seconds") s (limit $limit, times $slower here)"
    holds "$seconds <= $limit * $slower" || { line+=" BEYOND ITS LIMIT" && beyond=1; }
    lines+=("$line")
  done
  told
}

# MNIST's job without the key that makes rows narrow, which 0.1 does not know, and only owner-poisson sampling has.
whole_rows() { sed '/^fraction_bits = 9 /d' configs/mnist.toml; }

check_narrow() {
  has_data mnist || skip "there is no MNIST"
  needs_netsim
  [ -x "${TREFOIL_BEFORE:-}" ] || skip "TREFOIL_BEFORE names no program of 0.1"
  scripts/setup && scripts/build release trefoil || return
  local i new=build/bin/trefoil old=$TREFOIL_BEFORE accuracies=() before=() bytes carried carried_before seconds
  whole_rows >"$work/whole.toml"
  for i in 1 2 3; do
    rm -rf "$work/narrow-$i" "$work/whole-$i"
    # In one form, since each run chooses by the links that it measures, and forms differ in bytes.
    carried=$(carried_by_loopback "$new" local --job configs/mnist.toml --out "$work/narrow-$i" --set training.comparison=bulk) || return
    carried_before=$(carried_by_loopback "$old" local --job "$work/whole.toml" --out "$work/whole-$i" --set training.comparison=bulk) || return
    accuracies+=("$(value "$work/narrow-$i/summary.json" accuracy)")
    before+=("$(value "$work/whole-$i/summary.json" accuracy)")
  done
  bytes="$(value "$work/narrow-1/party-0/out/summary.json" bytes_sent) / $(value "$work/whole-1/party-0/out/summary.json" bytes_sent)"
  seconds="$(ten_epochs "$work/narrow-wan" wan "$new" configs/mnist.toml) / $(ten_epochs "$work/whole-wan" wan "$old" "$work/whole.toml")"
  measured "accuracy ${accuracies[*]}, before ${before[*]}; bytes $bytes; on the wire" \
    "$carried / $carried_before; WAN seconds $seconds"
  local all whole
  all=$(IFS=,; echo "${accuracies[*]}")
  whole=$(IFS=,; echo "${before[*]}")
  holds "abs(sorted([$all])[1] - sorted([$whole])[1]) <= 0.005 and max($bytes, $carried / $carried_before) <= 0.65 and $seconds <= 0.7"
}

check_memory() {
  has_data mnist || skip "there is no MNIST"
  build || return
  local sampling job limit bytes line
  for sampling in public owner-poisson; do
    rm -rf "$work/memory-$sampling"
    job=configs/mnist.toml limit=$((300 << 20))
    if [ "$sampling" = public ]; then
      job=$work/whole.toml limit=$((1536 << 20))
      whole_rows >"$job"
    fi
    build/bin/trefoil local --job "$job" --out "$work/memory-$sampling" --set training.steps=30 \
      --set "privacy.sampling=$sampling" || return
    bytes=$(value "$work/memory-$sampling/summary.json" peak_rss_bytes)
    line="$sampling $((bytes >> 20)) MiB (limit $((limit >> 20)))"
    [ "$bytes" -le "$limit" ] || { line+=" BEYOND ITS LIMIT" && beyond=1; }
    lines+=("$line")
  done
  told
}

# Fifty steps of three parties, which this shell's children are: what they take of the kernel's time is all of it. The first touch
# of each page, a third of the kernel's time of twenty steps, is done once: a training has some hundred steps.
check_wide() {
  build_bench || return
  local folder=$work/wide times=$work/wide.times kernel all step peak planned slower bench
  rm -rf "$folder"
  python3 -B "$helpers/wide_rows.py" "$work/images/wide" || return
  # Prepared apart, since that reads all rows.
  local job=(--job "$helpers/wide.toml" --data "$work/images/wide" --set training.steps=50)
  build/bin/trefoil local --out "$folder" "${job[@]}" --prepare || return
  gunzip "$folder"/party-?/data/*.gz && sed -i 's/\.gz"/"/' "$folder"/party-?/party.toml || return  # compressed files do not stay on disk
  python3 -B "$helpers/processor_time.py" build/bin/trefoil local --out "$folder" --resume >"$times" || return
  read -r kernel all <"$times"
  step=$(seconds_of_step "$folder/party-0/out/progress.csv") || return
  peak=$(value "$folder/summary.json" peak_rss_bytes) || return
  build/bin/trefoil plan --json --job "$folder/job.toml" >"$work/wide-plan.json" && planned=$(value "$work/wide-plan.json" memory_bytes) || return
  build/bin/trefoil bench --ops dpsgd_step --shape 4096x15552x10 --reps 5 --sustained 10 --threads 1 --json "$work/wide-bench.json" || return
  bench=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["results"][0]["seconds_sustained"])' "$work/wide-bench.json") || return
  slower=$(python3 -B "$helpers/peaks.py" build/bin/kernels_benchmark) || return
  measured "$(python3 -c "print(f'{$step:.2f} s a step, {$bench:.2f} by bench, {$peak / 1e9:.2f} GB, planned {$planned / 1e9:.2f}, {100 * $kernel / $all:.1f} % of {$all:.0f} s the kernel')")"
  holds "max($step, $bench) <= 2 * $slower and $peak <= 1.6e9 and abs($planned - $peak) <= 0.25 * $peak and $kernel <= 0.15 * $all"
}

# seconds_of_step PROGRESS: in the mean, without the first one.
seconds_of_step() {
  python3 -c 'import csv, sys
seconds = [float(row["seconds"]) for row in csv.DictReader(open(sys.argv[1]))]
print((seconds[-1] - seconds[0]) / (len(seconds) - 1))' "$1"
}

# product_rates KERNELS: the products that kernels_benchmark measured, beside the multiplier's peak.
product_rates() {
  python3 - "$1" <<'PY'
import json
import sys

best = {}
for run in json.load(open(sys.argv[1]))["benchmarks"]:
    if run["run_type"] == "iteration":
        best[run["name"]] = max(best.get(run["name"], 0), run["items_per_second"])
peak = best.pop("MultiplierPeak")
print(f"peak {peak / 1e9:.2f} G/s;", "; ".join(f"{name} {rate / 1e9:.2f} ({100 * rate / peak:.0f} %)" for name, rate in best.items()))
sys.exit(0 if best and all(rate >= 0.7 * peak for rate in best.values()) else 1)
PY
}

check_products() {
  build_bench || return
  build/bin/kernels_benchmark --benchmark_filter='MultiplierPeak|(Matrix|Transposed)Product' --benchmark_format=json \
    --benchmark_repetitions=10 --benchmark_out="$work/kernels.json" --benchmark_out_format=json >/dev/null || return
  gathered product_rates "$work/kernels.json"
}

check_growth() {
  scripts/plot_growth "$work/growth.svg" || return
  measured "$(tail -n +2 "$work/growth.csv" | tr '\n' ';')"
  [ "$(tail -n +2 "$work/growth.csv" | cut -d, -f5 | sort -u | wc -l)" = 1 ]
}

check_larger_than_memory() {
  has_data mnist || skip "there is no MNIST"
  build || return
  rm -rf "$work/large"
  build/bin/trefoil local --job configs/mnist.toml --out "$work/large" "${TEN_EPOCHS[@]}" --set training.steps=100 \
    --set data.rows='[13800000, 13800000, 13800000]' --prepare || return
  gathered "$helpers/larger_than_memory.py" build/bin/trefoil "$work/large" --gib 10 --limit-gib 2
}

check_noise() {
  build_bench || return
  build/bin/kernels_benchmark --benchmark_filter='Gaussian' --benchmark_format=json >"$work/noise.json" || return
  local slowest
  slowest=$(python3 -c 'import json, sys
print(min(run["items_per_second"] for run in json.load(open(sys.argv[1]))["benchmarks"]))' "$work/noise.json") || return
  measured "$(python3 -c "print(f'{$slowest / 1e6:.1f} million a second, the slowest standard deviation')")"
  holds "$slowest >= 2e6"
}

# beside_peer PROFILE [OPTION ...]: of peer.py.
beside_peer() {
  local status=0
  "$helpers/peer.py" build/bin/trefoil build/bin/kernels_benchmark "$MP_SPDZ" --json "$work/peer-$1.json" "${@:2}" >"$work/peer.txt" || status=$?
  cat "$work/peer.txt" >&2
  echo "$1"
  grep -v '^turn' "$work/peer.txt" | sed 's/  */ /g'
  return "$status"
}

# On the WAN an operation of the peer's takes seconds.
beside_peer_everywhere() {
  local status=0
  beside_peer loopback || status=1
  if [ -d "$tools/netsim" ] && [ "$(id -u)" -eq 0 ]; then
    netsim || return
    (start_netsim "$work/netsim" lan "$work" && beside_peer lan --hosts "$netsim_hosts" --works compare,multiply,inverse_sqrt,step) || status=1
    (start_netsim "$work/netsim" wan "$work" && beside_peer wan --hosts "$netsim_hosts" --works compare,inverse_sqrt,step --turns 1) || status=1
  fi
  return "$status"
}

check_peer() {
  [ -n "${MP_SPDZ:-}" ] || skip "MP_SPDZ names no folder of MP-SPDZ"
  build_bench && gathered beside_peer_everywhere
}
