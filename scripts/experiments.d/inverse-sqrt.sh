# shellcheck shell=bash
# Time of the inverse square root for batches of 1, 32, 64 and 128 on a LAN and a WAN: Protocol 1 as published and the two fast
# forms (the paper's table "Efficiency of Protocol 1"), and their errors on inputs from 0.01 to 300 (its figure of
# approximation errors), which scripts/plot_inverse_sqrt plots. The networks are simulated (../shared/tools/netsim); root.

NEEDS=

# Round trip and bandwidth of the simulator's own profiles.
declare -A NETWORK=([lan]="--rtt-ms 0.2 --mbit 10000 --mtu 65000" [wan]="--rtt-ms 40 --mbit 100 --mtu 9000")

experiment() {
  if ! [ -f "$tools/netsim/netsim.cpp" ] || ! [ -c /dev/net/tun ]; then
    echo "experiments: no network simulator: $tools/netsim or /dev/net/tun is absent" >&2
    exit 1
  fi
  netsim
  rm -rf "$work/hosts"
  build/bin/trefoil init --all --hosts "$netsim_hosts" --out "$work/hosts" >"$work/hosts.log"
  local network
  for network in lan wan; do bench_on "$network"; done
  python3 -c '
import csv, json, sys
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow("network,operation,form,n,rounds,bytes_sent,median_ms,least_ms,largest_ms".split(","))
for network in ("lan", "wan"):
    for form in ("bulk", "latency"):
        for result in json.load(open(f"{sys.argv[1]}/bench-{network}-{form}.json"))["results"]:
            milliseconds = [f"{1000 * result['"'seconds'"'][key]:.2f}" for key in ("median", "min", "max")]
            out.writerow([network, result["op"], form, result["n"], result["rounds"], max(result["bytes_sent"])] + milliseconds)
' "$work" >"$work/$name.csv"
  scripts/plot_inverse_sqrt "$work/$name-error.svg"
  errors
}

# errors: of each form the range of its errors, absolute and against the true value.
errors() {
  python3 -c '
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
print("form,least,largest,least_percent,largest_percent")
for form in ("published", "bulk", "latency"):
    errors = [float(row["error_" + form]) for row in rows]
    relative = [100 * error / float(row["true_value"]) for error, row in zip(errors, rows)]
    print(f"{form},{min(errors):.3e},{max(errors):.3e},{min(relative):.3f},{max(relative):.3f}")
' "$work/$name-error.csv" >"$work/$name-errors.csv"
  echo "$work/$name-errors.csv"
}

# bench_on NETWORK: to bench-NETWORK-FORM.json; the published protocol has one form, and is measured beside the bulk one.
bench_on() {
  local ready=$work/ready simulator form i parties
  rm -f "$ready"
  # shellcheck disable=SC2086  # a list of options
  "$work/netsim" ${NETWORK[$1]} --ready-file "$ready" &
  simulator=$!
  # shellcheck disable=SC2064  # this simulator, whatever comes later
  trap "kill $simulator 2>/dev/null; wait $simulator || true" EXIT
  for ((i = 0; i < 100; ++i)); do if [ -f "$ready" ]; then break; fi; sleep 0.1; done
  for form in bulk latency; do
    parties=()
    for i in 0 1 2; do
      ip netns exec "p$i" build/bin/trefoil bench --config "$work/hosts/party-$i/party.toml" --form "$form" --threads 1 \
        --ops "$([ "$form" = bulk ] && echo inverse_sqrt_published,)inverse_sqrt" --sizes 1,32,64,128 --reps 11 \
        --json "$work/bench-$1-$form-$i.json" >"$work/bench-$1-$form-$i.log" 2>&1 &
      parties+=($!)
    done
    for i in 0 1 2; do wait "${parties[$i]}"; done
    mv "$work/bench-$1-$form-0.json" "$work/bench-$1-$form.json"
  done
  kill "$simulator"
  wait "$simulator" || true
  trap - EXIT
}
