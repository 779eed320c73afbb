#!/bin/bash
# Trains in three containers on what a fourth one, an owner's, deposited at three inboxes, by podman-compose and docker-compose.owners.yml
# from a fresh clone, in the image `trefoil` that is there.
# Usage: run_owner_containers.sh TREFOIL CLONE
#   CLONE   a folder that is made: the project in it
# Checks that the owner ends with 0 and has three receipts, that it sees no volume of a party and no network but those of the inboxes, that
# no party or inbox sees the owner's, that each runs as 10001 with keys of mode 0400, that the three parties end with 0 and one model, that
# each charged the owner's population, and that the inboxes go on, and end with 143. The last line is a summary. Exit code: 0 all is well;
# 1 otherwise.
set -euo pipefail
trefoil=$(realpath "$1")
clone=$2
project="trefoil-owners-acceptance"
failed=0
wrong() {
  echo "wrong: $*"
  failed=1
}
git clone -q --no-local . "$clone"
cd "$clone"
compose() { podman-compose -p "$project" -f docker-compose.owners.yml "$@"; }
container() { echo "${project}_${1}_1"; }
state() { podman inspect --format '{{.State.Status}} {{.State.ExitCode}}' "$(container "$1")" 2>/dev/null; }
volume() { podman volume inspect --format '{{.Mountpoint}}' "${project}_$1"; }
down() {
  compose down >/dev/null 2>&1
  podman volume ls --quiet --filter "name=^${project}_" | xargs -r podman volume rm --force >/dev/null
}
trap 'down || true' EXIT
down || true  # volumes of a run that was broken off
if ! podman run --rm --ulimit memlock=-1:-1 --ulimit nofile=1024 --ulimit nproc=4096 debian:bookworm true 2>/dev/null; then
  TREFOIL_MEMLOCK=$(($(ulimit -Hl) * 1024))
  export TREFOIL_MEMLOCK
fi

# wait_for SERVICE: until its container has ended, at most fifteen minutes.
wait_for() {
  local second
  for second in {1..900}; do
    if [[ $(state "$1") == exited* ]]; then return; fi
    sleep 1
  done
  wrong "$1 has not ended after $second s"
}
# expect_only FORMAT SERVICE NAME ...: what its container is connected with by that format of podman inspect, and nothing else.
expect_only() {
  local format=$1 service=$2 found expected
  shift 2
  found=$(podman inspect --format "$format" "$(container "$service")" | sed '/^$/d' | sort)
  expected=$(printf "${project}_%s\n" "$@" | sort)
  [ "$found" = "$expected" ] || wrong "$service: found $found, expected $expected"
}
expect_volumes() { expect_only '{{range .Mounts}}{{println .Name}}{{end}}' "$@"; }
expect_networks() { expect_only '{{range $name, $_ := .NetworkSettings.Networks}}{{println $name}}{{end}}' "$@"; }

start=$SECONDS
compose up >up.log 2>&1 &
wait_for owner
deposited=$((SECONDS - start))
[ "$(state owner)" = "exited 0" ] || wrong "owner: found $(state owner), expected exited 0: $(podman logs "$(container owner)" 2>&1 | tail -n 3)"
for i in 0 1 2; do
  [ -s "$(volume out-owner)/deposit/party-$i.receipt" ] || wrong "owner: no receipt of party $i"
  wait_for "party-$i"
  [ "$(state "party-$i")" = "exited 0" ] || wrong "party $i: found $(state "party-$i"), expected exited 0: $(podman logs "$(container "party-$i")" 2>&1 | tail -n 3)"
done
trained=$((SECONDS - start))
expect_volumes owner owner out-owner
expect_networks owner upload-0 upload-1 upload-2
networks=("link-01 link-02" "link-01 link-12" "link-02 link-12")
for i in 0 1 2; do
  expect_volumes "party-$i" "party-$i" "key-$i" "out-$i"
  expect_volumes "inbox-$i" "party-$i" "key-$i"
  expect_networks "inbox-$i" "upload-$i"
  # shellcheck disable=SC2086  # two words
  expect_networks "party-$i" ${networks[i]}
  for key in party.key deposit.key; do
    [ "$(stat -c '%a %u' "$(volume "key-$i")/$key")" = "400 10001" ] || wrong "party $i: $key of mode and owner $(stat -c '%a %u' "$(volume "key-$i")/$key")"
  done
  [ "$(podman exec "$(container "inbox-$i")" id -u)" = 10001 ] || wrong "inbox $i runs as another user"
  cmp "$(volume "out-$i")/model.npz" "$(volume out-0)/model.npz" || wrong "party $i has another model"
  charged=$("$trefoil" ledger show "$(volume "party-$i")/owner-ledgers/hospital/default.jsonl" | grep -c demo-owners) || wrong "party $i charged nobody"
  [ "${charged:-0}" -ge 1 ] || wrong "party $i: the owner's ledger has no job"
  [ "$(state "inbox-$i")" = "running 0" ] || wrong "inbox $i: found $(state "inbox-$i"), expected running"
  podman stop --time 60 "$(container "inbox-$i")" >/dev/null
  [ "$(state "inbox-$i")" = "exited 143" ] || wrong "inbox $i: found $(state "inbox-$i"), expected exited 143"
done
[ "$(stat -c '%a %u' "$(volume owner)/owner.key")" = "400 10001" ] || wrong "the owner's key: $(stat -c '%a %u' "$(volume owner)/owner.key")"
accuracy=$("$trefoil" evaluate --model "$(volume out-0)/model.npz" --data "$(volume party-0)/test" | sed -n 1p) || wrong "no model"

echo "an owner's container deposited within $deposited s at three inboxes, three parties had trained on it after $trained s: $accuracy"
exit "$failed"
