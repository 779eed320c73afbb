#!/bin/bash
# Trains in three containers on what a fourth one, an owner's, deposited at three inboxes, by podman-compose and the profile `owners` of
# docker-compose.yml from a fresh clone, in the image `trefoil` that is there; beside them the three that train on records of their own.
# Usage: run_owner_containers.sh TREFOIL CLONE
#   CLONE   a folder that is made: the project in it
# Checks that the owner ends with 0 and has three receipts, that it sees no volume of a party and no network but those of the inboxes, that
# no party or inbox sees the owner's, that each runs as 10001 with keys of mode 0400, that the three parties end with 0 and one model, that
# each charged the owner's population, that the inboxes go on, and end with 143, and that the other three end with 0 and one model, too.
# The last line is a summary. Exit code: 0 all is well; 1 otherwise.
set -euo pipefail
trefoil=$(realpath "$1")
project="trefoil-owners-acceptance"
# shellcheck source=scripts/acceptance.d/compose_project.sh
source "$(dirname "$0")/compose_project.sh"
# Versions before 1.1 start the services of every profile.
if grep -q -e --profile <<<"$(podman-compose --help)"; then options=(--profile owners); fi
begin "$2"

# wait_for SERVICE: until its container has ended, at most fifteen minutes.
wait_for() {
  local second
  for second in {1..900}; do
    if [[ $(state "$1") == exited* ]]; then return; fi
    sleep 1
  done
  wrong "$1 has not ended after $second s"
}

start=$SECONDS
compose up >up.log 2>&1 &
wait_for owner
deposited=$((SECONDS - start))
expect_ended owner 0
for i in 0 1 2; do
  [ -s "$(volume out-owner)/deposit/party-$i.receipt" ] || wrong "owner: no receipt of party $i"
done
for service in {deposits,party}-{0,1,2}; do
  wait_for "$service"
  expect_ended "$service" 0
done
trained=$((SECONDS - start))
expect_volumes owner owner out-owner
expect_networks owner upload-0 upload-1 upload-2
expect_keys owner owner.key
expect_one_model out
expect_one_model deposits-out
for i in 0 1 2; do
  expect_volumes "deposits-$i" "deposits-$i" "deposits-key-$i" "deposits-out-$i"
  expect_volumes "inbox-$i" "deposits-$i" "deposits-key-$i"
  expect_networks "inbox-$i" "upload-$i"
  expect_links "deposits-$i" link-deposits "$i"
  expect_keys "deposits-key-$i" party.key deposit.key
  [ "$(podman exec "$(container "inbox-$i")" id -u)" = 10001 ] || wrong "inbox $i runs as another user"
  charged=$("$trefoil" ledger show "$(volume "deposits-$i")/owner-ledgers/hospital/default.jsonl" | grep -c demo-owners) || wrong "party $i charged nobody"
  [ "${charged:-0}" -ge 1 ] || wrong "party $i: the owner's ledger has no job"
  [ "$(state "inbox-$i")" = "running 0" ] || wrong "inbox $i: found $(state "inbox-$i"), expected running"
  podman stop --time 60 "$(container "inbox-$i")" >/dev/null
  expect_ended "inbox-$i" 143
done
accuracy=$(accuracy deposits-out-0 deposits-0) || wrong "no model"

echo "an owner's container deposited within $deposited s at three inboxes, three parties had trained on it, and three on their own records, after $trained s: $accuracy"
exit "$failed"
