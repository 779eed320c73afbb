# shellcheck shell=bash
# Read by scripts that run parties in the network namespaces p0, p1 and p2 of the network simulator.

# Where it has the parties.
netsim_hosts=10.77.0.1,10.77.0.2,10.77.0.3

# start_netsim NETSIM lan|wan FOLDER: the simulator with that profile; it ends with the script. FOLDER exists.
start_netsim() {
  local netsim=$1 profile=$2 folder=$3 link
  case $profile in
    lan) link=(--rtt-ms 0.2 --mbit 10000 --mtu 65000) ;;
    wan) link=(--rtt-ms 40 --mbit 100 --mtu 9000) ;;
    *) echo "found $profile, expected lan or wan" >&2 && exit 2 ;;
  esac
  rm -f "$folder/ready"
  "$netsim" "${link[@]}" --ready-file "$folder/ready" >"$folder/netsim.log" 2>&1 &
  simulator=$!
  trap 'kill "$simulator" 2>/dev/null || true; wait "$simulator" || true' EXIT
  for _ in $(seq 100); do
    if [ -f "$folder/ready" ]; then return; fi
    sleep 0.1
  done
  echo "the network simulator did not come up" >&2
  exit 1
}
