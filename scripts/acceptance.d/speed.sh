# shellcheck shell=bash
# Speed and memory.
#
# The limits are those for two cores of an Intel Xeon with AVX-512 (docs/reference/performance.md). On another machine set
# TREFOIL_SCALE to how much slower it is, by the ratio of the peaks that `kernels_benchmark --benchmark_filter=MultiplierPeak`
# prints (12.2 billion a second there).
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`.

CHECKS=(
  "loopback: over TLS every operation's median within its limit, bytes within theirs"
  "lan: the same"
  "wan: the same"
  "epochs: MNIST, raw pixels, 10 epochs, batch 1024, owner-poisson: 40 s on loopback, 60 s on the LAN, 12 min on the WAN"
  "narrow: MNIST's rows in 5 bytes a number, in turns with a program of 0.1 (TREFOIL_BEFORE): medians of three runs at most 0.65 of its bytes and half a point apart, WAN time of ten epochs at most 0.7"
  "memory: of a party with MNIST below 1.5 GiB in public mode, below 300 MiB in owner-poisson"
  "products: of rings at least 70 % of the multiplier's peak, tall and skinny shapes, too"
  "growth: with batch, features and classes, plotted: rounds always the same"
  "larger-than-memory: a data set of 10 GiB at every party, trained on with 2 GiB of address space each"
  "noise: discrete Gaussian, at least 2 million samples a second on one core"
  "peer: faster than MP-SPDZ (built in the folder MP_SPDZ, see performance.md) in turns with it, loopback"
)

scale=${TREFOIL_SCALE:-1}

# within JSON OP SHAPE|N SECONDS [BYTES]: the result's median and most online bytes.
within() {
  python3 - "$1" "$2" "$3" "$4" "${5:-0}" "$scale" <<'PY'
import json
import sys

path, op, size, seconds, limit, scale = sys.argv[1:]
result = next(r for r in json.load(open(path))["results"] if r["op"] == op and size in (r["shape"], str(r["n"])))
median, most = result["seconds"]["median"], max(result["bytes_sent"])
sustained = result.get("seconds_sustained")
right = median <= float(seconds) * float(scale) and (float(limit) == 0 or most <= float(limit))
print(f"{op} {size}, {result['form']}: {1000 * median:.2f} ms (limit {1000 * float(seconds):g}"
      + (f", sustained {1000 * sustained:.2f}" if sustained else "")
      + f"), {most} bytes online{'' if right else ' BEYOND ITS LIMIT'}, {max(result['bytes_offline'])} offline")
sys.exit(0 if right else 1)
PY
}

# bench NAME PROFILE OPTIONS ...: into $work/NAME.json
bench() {
  local name=$1 profile=$2
  shift 2
  if [ "$profile" = loopback ]; then
    build/bin/trefoil bench --threads 1 --json "$work/$name.json" "$@"
  else
    netsim && "$helpers/bench_in_namespaces.sh" "$work/netsim" build/bin/trefoil "$work/bench-$profile" "$profile" \
      "$work/$name.json" "$@"
  fi
}

lines=()
beyond=0
# judge ...: `within`, its line kept
judge() { lines+=("$(within "$@")") || beyond=1; }
# told: what was judged, and whether all was within its limits
told() {
  printf '%s\n' "${lines[@]}"
  measured "$(printf '%s; ' "${lines[@]}")"
  return "$beyond"
}

# table PROFILE REPS STEP INVERSE CLIP COMPARE [MULTIPLY]: limits in seconds
table() {
  local profile=$1 reps=$2
  local sustained=$((reps * 2))
  bench "$profile-step" "$profile" --ops dpsgd_step --shape 128x784x10 --reps "$reps" --sustained "$sustained" || return
  bench "$profile-small" "$profile" --ops inverse_sqrt,clip_factor --sizes 128 --reps "$reps" --sustained "$sustained" || return
  bench "$profile-compare" "$profile" --ops compare --sizes 100000 --reps 10 || return
  judge "$work/$profile-step.json" dpsgd_step 128x784x10 "$3" 450000
  judge "$work/$profile-small.json" inverse_sqrt 128 "$4"
  judge "$work/$profile-small.json" clip_factor 128 "$5"
  judge "$work/$profile-compare.json" compare 100000 "$6" 2900000
  if [ -z "${7:-}" ]; then return; fi
  bench "$profile-multiply" "$profile" --ops multiply_truncate --sizes 1000000 --reps 10 || return
  judge "$work/$profile-multiply.json" multiply_truncate 1000000 "$7" 22000000
}

TEN_EPOCHS=(--set training.steps=586 --set training.expected_batch=1024 --set training.max_batch_per_owner=466)

check_loopback() {
  build || return
  table loopback 100 0.0055 0.0025 0.0015 0.020 0.090 || return
  bench products loopback --ops matmul --shape 128x784x10,256x4096x10 --reps 50 || return
  bench square loopback --ops matmul --shape 1024x1024x1024 --reps 5 || return
  judge "$work/products.json" matmul 128x784x10 0.0014
  judge "$work/products.json" matmul 256x4096x10 0.009
  judge "$work/square.json" matmul 1024x1024x1024 0.5
  told
}

check_lan() {
  [ -d "$tools/netsim" ] || skip "there is no $tools/netsim"
  build && table lan 100 0.008 0.0045 0.002 0.028 0.120 && told
}

check_wan() {
  [ -d "$tools/netsim" ] || skip "there is no $tools/netsim"
  build && table wan 10 0.35 0.22 0.1 0.42 && told
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
  build || return
  local profile limit seconds line
  for profile in loopback lan wan; do
    case $profile in
      loopback) limit=40 ;;
      lan) limit=60 ;;
      wan) limit=720 ;;
    esac
    if [ "$profile" != loopback ] && ! [ -d "$tools/netsim" ]; then continue; fi
    seconds=$(ten_epochs "$work/epochs-$profile" "$profile" build/bin/trefoil configs/mnist.toml) || return
    line="$profile $(printf '%.1f' "$seconds") s (limit $limit)"
    holds "$seconds <= $limit * $scale" || { line+=" BEYOND ITS LIMIT" && beyond=1; }
    lines+=("$line")
  done
  told
}

check_narrow() {
  has_data mnist || skip "there is no MNIST"
  needs_netsim
  [ -x "${TREFOIL_BEFORE:-}" ] || skip "TREFOIL_BEFORE names no program of 0.1"
  scripts/setup && scripts/build release trefoil || return
  local i new=build/bin/trefoil old=$TREFOIL_BEFORE accuracies=() before=() bytes seconds
  # 0.1 does not know the key that makes rows narrow.
  sed '/^fraction_bits = 9 /d' configs/mnist.toml >"$work/whole.toml"
  for i in 1 2 3; do
    rm -rf "$work/narrow-$i" "$work/whole-$i"
    "$new" local --job configs/mnist.toml --out "$work/narrow-$i" && "$old" local --job "$work/whole.toml" --out "$work/whole-$i" || return
    accuracies+=("$(value "$work/narrow-$i/summary.json" accuracy)")
    before+=("$(value "$work/whole-$i/summary.json" accuracy)")
  done
  bytes="$(value "$work/narrow-1/party-0/out/summary.json" bytes_sent) / $(value "$work/whole-1/party-0/out/summary.json" bytes_sent)"
  seconds="$(ten_epochs "$work/narrow-wan" wan "$new" configs/mnist.toml) / $(ten_epochs "$work/whole-wan" wan "$old" "$work/whole.toml")"
  measured "accuracy ${accuracies[*]}, before ${before[*]}; bytes $bytes; WAN seconds $seconds"
  local all whole
  all=$(IFS=,; echo "${accuracies[*]}")
  whole=$(IFS=,; echo "${before[*]}")
  holds "abs(sorted([$all])[1] - sorted([$whole])[1]) <= 0.005 and $bytes <= 0.65 and $seconds <= 0.7"
}

check_memory() {
  has_data mnist || skip "there is no MNIST"
  build || return
  local sampling limit bytes line
  for sampling in public owner-poisson; do
    rm -rf "$work/memory-$sampling"
    build/bin/trefoil local --job configs/mnist.toml --out "$work/memory-$sampling" --set training.steps=30 \
      --set "privacy.sampling=$sampling" || return
    if [ "$sampling" = public ]; then limit=$((1536 << 20)); else limit=$((300 << 20)); fi
    bytes=$(value "$work/memory-$sampling/summary.json" peak_rss_bytes)
    line="$sampling $((bytes >> 20)) MiB (limit $((limit >> 20)))"
    [ "$bytes" -le "$limit" ] || { line+=" BEYOND ITS LIMIT" && beyond=1; }
    lines+=("$line")
  done
  told
}

build_kernels() { scripts/setup --bench && scripts/build release kernels_benchmark; }

check_products() {
  build_kernels || return
  build/bin/kernels_benchmark --benchmark_filter='Peak|Product' --benchmark_format=json --benchmark_repetitions=10 \
    --benchmark_out="$work/kernels.json" --benchmark_out_format=json >/dev/null || return
  measured "$(python3 - "$work/kernels.json" <<'PY'
import json
import sys

best = {}
for run in json.load(open(sys.argv[1]))["benchmarks"]:
    if run["run_type"] == "iteration":
        best[run["name"]] = max(best.get(run["name"], 0), run["items_per_second"])
peak = best.pop("MultiplierPeak")
print(f"peak {peak / 1e9:.2f} G/s;", "; ".join(f"{name} {rate / 1e9:.2f} ({100 * rate / peak:.0f} %)" for name, rate in best.items()))
sys.exit(0 if all(rate >= 0.7 * peak for rate in best.values()) else 1)
PY
)"
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
  measured "$("$helpers/larger_than_memory.py" build/bin/trefoil "$work/large" --gib 10 --limit-gib 2)"
}

check_noise() {
  build_kernels || return
  build/bin/kernels_benchmark --benchmark_filter='Gaussian' --benchmark_format=json >"$work/noise.json" || return
  local slowest
  slowest=$(python3 -c 'import json, sys
print(min(run["items_per_second"] for run in json.load(open(sys.argv[1]))["benchmarks"]))' "$work/noise.json") || return
  measured "$(python3 -c "print(f'{$slowest / 1e6:.1f} million a second, the slowest standard deviation')")"
  holds "$slowest >= 2e6"
}

check_peer() {
  [ -n "${MP_SPDZ:-}" ] || skip "MP_SPDZ names no folder of MP-SPDZ"
  build && build_kernels || return
  local status=0
  "$helpers/peer.py" build/bin/trefoil build/bin/kernels_benchmark "$MP_SPDZ" --json "$work/peer.json" >"$work/peer.txt" || status=$?
  cat "$work/peer.txt"
  measured "$(grep -v '^turn' "$work/peer.txt" | sed 's/  */ /g' | paste -sd ';' | sed 's/;/; /g')"
  return "$status"
}
