#!/bin/bash
# Runs three prepared parties in the network namespaces p0, p1 and p2 of the network simulator.
# Usage: run_in_namespaces.sh NETSIM TREFOIL FOLDER [lan|wan [RANKS]]
#   FOLDER   what `trefoil local --prepare --hosts 10.77.0.1,10.77.0.2,10.77.0.3` wrote, with --ranks RANKS where that is not 1
# Exit code: 0 if all three ended with 0; 1 otherwise.
set -euo pipefail
netsim=$1
trefoil=$2
folder=$3
ranks=${5:-1}
# shellcheck source=scripts/acceptance.d/netsim.sh
source "$(dirname "$0")/netsim.sh"
start_netsim "$netsim" "${4:-lan}" "$folder"

parties=()
for i in 0 1 2; do
  launcher=()
  if [ "$ranks" -gt 1 ]; then # each mpirun keeps its files in a folder of its own, since the first that ends removes a shared one
    launcher=(mpirun -q --oversubscribe --bind-to none --allow-run-as-root --mca btl "self,vader" --mca oob_tcp_if_include lo
      --mca orte_tmpdir_base "$(realpath "$folder/party-$i")" -np "$ranks")
  fi
  ip netns exec "p$i" "${launcher[@]}" "$trefoil" run --config "$folder/party-$i/party.toml" --job "$folder/job.toml" \
    --out "$folder/party-$i/out" --threads 1 >"$folder/party-$i/console.log" 2>&1 &
  parties+=($!)
done
failed=0
for i in 0 1 2; do
  status=0
  wait "${parties[$i]}" || status=$?
  echo "party $i ended with $status"
  if [ "$status" -ne 0 ]; then
    tail -n 3 "$folder/party-$i/console.log"
    failed=1
  fi
done
exit "$failed"
