#!/bin/bash
# Builds the image from a fresh clone and trains in three containers by podman-compose, with nothing built or prepared on the host; in a
# second run, one container is killed in the middle and all three are started again, then one is told to stop, and again.
# Usage: run_containers.sh TREFOIL CLONE [built]
#   CLONE   a folder that is made: the project and the runs in it
#   built   takes the image `trefoil` that is there instead of building it
# Checks that each container ends with 0, is healthy while it runs, is not root, cannot write but to its results, sees nothing of the
# project but its own volumes, and no network that is not its own; that its key has mode 0400 and memory may be locked without a limit
# where the machine grants that; that all three got one model; that killing one ends the others with 3, that one that is told to stop ends
# with 143 as the first process of its container, and that the run goes on from a checkpoint each time. The last line is a summary. Exit
# code: 0 all is well; 1 otherwise.
set -euo pipefail
trefoil=$(realpath "$1")
project="trefoil-acceptance"
# shellcheck source=scripts/acceptance.d/compose_project.sh
source "$(dirname "$0")/compose_project.sh"

# A base image that was made from a folder of mktemp's has a root that only root may enter.
open_base() {
  local container root
  container=$(podman create debian:bookworm true)
  root=$(podman mount "$container")
  if [ "$(stat -c %a "$root")" = 700 ]; then
    chmod 755 "$root"
    tar -C "$root" -c . | podman import - debian:bookworm
  fi
  podman umount "$container" && podman rm "$container"
} >/dev/null 2>&1

open_base
begin "$2"
start=$SECONDS
if [ "${3:-}" = built ]; then
  image="image that was there"
else
  podman build --network=host --format docker -t trefoil .
  image="image built in $((SECONDS - start)) s"
fi

# up LOG: comes back when all three have ended, and returns 0 whatever they returned. Services by name: where podman-compose knows no
# profiles it would start all.
up() { timeout 600 podman-compose -p "$project" up prepare party-0 party-1 party-2 >"$1" 2>&1; }

# wait_for_lines PARTY N: until its progress.csv has N lines, for as long as `up` may take: a loaded machine takes minutes to make three
# containers.
wait_for_lines() {
  local file
  while kill -0 "$up" 2>/dev/null; do
    file=$(volume "out-$1" 2>/dev/null || true)/progress.csv  # podman-compose makes volumes one by one
    if [ -f "$file" ] && [ "$(grep -c . "$file")" -ge "$2" ]; then return; fi
    sleep 0.1
  done
  wrong "party $1 ended before its progress had $2 lines"
}
# expect_codes CODE CODE CODE: of the three parties.
expect_codes() {
  local i
  for i in 0 1 2; do
    expect_ended "party-$i" "$1"
    shift
  done
}
# In a container that runs: health, user, what it may write, and whom it sees.
expect_confined() {
  local i party user place limit
  for i in 0 1 2; do
    party=$(container "party-$i")
    podman exec "$party" trefoil-health || wrong "party $i is not healthy"
    user=$(podman exec "$party" id -u)
    [ "$user" = 10001 ] || wrong "party $i runs as user $user"
    for place in /x /party/x /secret/x; do
      if podman exec "$party" touch "$place" 2>/dev/null; then wrong "party $i can write $place"; fi
    done
    expect_keys "key-$i" party.key
    limit=$(podman exec "$party" bash -c 'ulimit -l')
    [ "$limit" = "$memlock" ] || wrong "party $i may lock $limit of memory, expected $memlock"
    expect_volumes "party-$i" "party-$i" "key-$i" "out-$i"
    expect_links "party-$i" link "$i"
  done
}

start=$SECONDS
up up.log &
up=$!
wait_for_lines 0 1
expect_confined
wait "$up"
seconds=$((SECONDS - start))
expect_codes 0 0 0
expect_one_model out
whole=$(accuracy out-0 party-0) || wrong "no model"
down

# interrupt PARTY LINES CODE COMMAND ...: COMMAND on the container of a party whose progress has LINES ends it with CODE, the others with 3.
interrupt() {
  local party=$1 lines=$2 codes=(3 3 3)
  codes[party]=$3
  shift 3
  up "$1.log" &
  up=$!
  wait_for_lines "$party" "$lines"
  podman "$@" "$(container "party-$party")" >/dev/null
  wait "$up"
  expect_codes "${codes[@]}"
}
interrupt 1 31 137 kill --signal KILL
interrupt 2 71 143 stop --time 90
up resumed.log
expect_codes 0 0 0
expect_one_model out
resumed=$(grep -o 'resuming run .* in session 3' "$(volume out-0)/party.log") || wrong "the run did not go on"
disturbed=$(accuracy out-0 party-0) || wrong "no model"

echo "$image; three containers done after $seconds s, $whole; party 1 killed and party 2 stopped, then ${resumed#resuming run }, $disturbed; memory that may be locked: $memlock"
exit "$failed"
