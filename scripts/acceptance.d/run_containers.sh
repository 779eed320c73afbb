#!/bin/bash
# Builds the image from a fresh clone and trains in three containers by podman-compose, with nothing built or prepared on the host; in a
# second run, one container is killed in the middle and all three are started again, then one is told to stop, and again.
# Usage: run_containers.sh TREFOIL CLONE [built]
#   CLONE   a folder that is made: the project and the runs in it
#   built   takes the image `trefoil` that is there instead of building it
# Checks that each container ends with 0, is healthy while it runs, is not root, cannot write but to its results, sees nothing of the
# project but its own volumes, and no network that is not its own; that its key has mode 0400 and memory may be locked without a limit
# where the machine grants that; that all three got one model; that killing one ends the others with 3, that one that is told to stop ends
# with 143 as the first process of its container, and that the run goes on from a checkpoint each time. The last line is a summary. Exit code: 0 all is well; 1 otherwise.
set -euo pipefail
trefoil=$(realpath "$1")
clone=$2
project="trefoil-acceptance"
failed=0
wrong() {
  echo "wrong: $*"
  failed=1
}

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

git clone -q --no-local . "$clone"
cd "$clone"
start=$SECONDS
open_base
if [ "${3:-}" = built ]; then
  image="image that was there"
else
  podman build --network=host --format docker -t trefoil .
  image="image built in $((SECONDS - start)) s"
fi

container() { echo "${project}_party-${1}_1"; }
state() { podman inspect --format '{{.State.Status}} {{.State.ExitCode}}' "$(container "$1")"; }
volume() { podman volume inspect --format '{{.Mountpoint}}' "${project}_$1"; }
accuracy() { "$trefoil" evaluate --model "$(volume out-0)/model.npz" --data "$(volume party-0)/test" | sed -n 1p; }
# With its volumes, of which podman-compose forgets some.
down() {
  podman-compose -p "$project" down >/dev/null 2>&1
  podman volume ls --quiet --filter "name=^${project}_" | xargs -r podman volume rm --force >/dev/null
}
trap 'down || true' EXIT
down || true  # volumes of a run that was broken off

# What locked memory the machine grants to a container.
memlock=unlimited
if ! podman run --rm --ulimit memlock=-1:-1 --ulimit nofile=1024 --ulimit nproc=4096 debian:bookworm true 2>/dev/null; then
  memlock=$(ulimit -Hl)
  export TREFOIL_MEMLOCK=$((memlock * 1024))
fi

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
# `up` comes back when all three have ended, and returns 0 whatever they returned.
expect_ended() {
  local i
  for i in 0 1 2; do
    [ "$(state $i)" = "exited $1" ] || wrong "party $i: found $(state $i), expected exited $1"
  done
}
expect_one_model() {
  local i
  for i in 1 2; do
    cmp "$(volume out-$i)/model.npz" "$(volume out-0)/model.npz" || wrong "party $i has another model"
  done
}
# In a container that runs: health, user, what it may write, and whom it sees.
expect_confined() {
  local i mounts expected user place mode limit
  for i in 0 1 2; do
    podman exec "$(container $i)" trefoil-health || wrong "party $i is not healthy"
    user=$(podman exec "$(container $i)" id -u)
    [ "$user" = 10001 ] || wrong "party $i runs as user $user"
    for place in /x /party/x /secret/x; do
      if podman exec "$(container $i)" touch "$place" 2>/dev/null; then wrong "party $i can write $place"; fi
    done
    mode=$(podman exec "$(container $i)" stat -c '%a %u' /secret/party.key)
    [ "$mode" = "400 10001" ] || wrong "party $i: key of mode and owner $mode"
    limit=$(podman exec "$(container $i)" bash -c 'ulimit -l')
    [ "$limit" = "$memlock" ] || wrong "party $i may lock $limit of memory, expected $memlock"
    mounts=$(podman inspect --format '{{range .Mounts}}{{println .Name}}{{end}}' "$(container $i)" | sed '/^$/d' | sort)
    expected=$(printf '%s\n' "${project}_party-$i" "${project}_key-$i" "${project}_out-$i" | sort)
    [ "$mounts" = "$expected" ] || wrong "party $i mounts: $mounts"
    [ "$(podman inspect --format '{{len .NetworkSettings.Networks}}' "$(container $i)")" = 2 ] || wrong "party $i is on other networks"
  done
}

start=$SECONDS
timeout 600 podman-compose -p "$project" up >up.log 2>&1 &
up=$!
wait_for_lines 0 1
expect_confined
wait "$up"
seconds=$((SECONDS - start))
expect_ended 0
expect_one_model
whole=$(accuracy) || wrong "no model"
down

# interrupt PARTY LINES CODE COMMAND ...: COMMAND on the container of a party whose progress has LINES ends it with CODE, the others with 3.
interrupt() {
  local party=$1 lines=$2 code=$3 i expected
  shift 3
  timeout 600 podman-compose -p "$project" up >"$1.log" 2>&1 &
  up=$!
  wait_for_lines "$party" "$lines"
  podman "$@" "$(container "$party")" >/dev/null
  wait "$up"
  for i in 0 1 2; do
    expected=3
    if [ "$i" = "$party" ]; then expected=$code; fi
    [ "$(state "$i")" = "exited $expected" ] || wrong "$*: party $i: found $(state "$i"), expected exited $expected"
  done
}
interrupt 1 31 137 kill --signal KILL
interrupt 2 71 143 stop --time 90
timeout 600 podman-compose -p "$project" up >resumed.log 2>&1
expect_ended 0
expect_one_model
resumed=$(grep -o 'resuming run .* in session 3' "$(volume out-0)/party.log") || wrong "the run did not go on"
disturbed=$(accuracy) || wrong "no model"

echo "$image; three containers done after $seconds s, $whole; party 1 killed and party 2 stopped, then ${resumed#resuming run }, $disturbed; memory that may be locked: $memlock"
exit "$failed"
