#!/bin/bash
# Runs `trefoil bench` at three parties in the network namespaces of the network simulator.
# Usage: bench_in_namespaces.sh NETSIM TREFOIL FOLDER lan|wan JSON BENCH OPTIONS ...
#   FOLDER   for keys and party files; made anew
#   JSON     where party 0's results go
# Exit code: that of the first party that fails; 1 if the simulator does not come up.
set -euo pipefail
netsim=$1 trefoil=$2 folder=$3 profile=$4 json=$5
shift 5

rm -rf "$folder"
mkdir -p "$folder"
# shellcheck source=scripts/acceptance.d/netsim.sh
source "$(dirname "$0")/netsim.sh"
"$trefoil" init --all --hosts "$netsim_hosts" --out "$folder/parties" >"$folder/init.log"
start_netsim "$netsim" "$profile" "$folder"

parties=()
for i in 1 2; do
  ip netns exec "p$i" "$trefoil" bench --config "$folder/parties/party-$i/party.toml" "$@" --threads 1 \
    >"$folder/party-$i.log" 2>&1 &
  parties+=($!)
done
ip netns exec p0 "$trefoil" bench --config "$folder/parties/party-0/party.toml" "$@" --threads 1 --json "$json"
for party in "${parties[@]}"; do wait "$party"; done
