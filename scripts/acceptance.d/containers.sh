# shellcheck shell=bash
# docker-compose.yml for real, without and with its profile `owners`, on fresh clones.
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`.

CHECKS=(
  "compose: three networks, keys in volumes of their own, not root, healthy; one container killed, all three resumed"
  "owners: an owner's container deposits at three inboxes and ends, three parties train on what it deposited"
)

# The engine, podman-compose and the program; `skip` where there is none.
containers_there() {
  if ! command -v podman-compose >/dev/null; then
    [ -x "$tools/containers/setup" ] || skip "no podman-compose, and $tools/containers is absent"
    "$tools/containers/setup" || return
  fi
  build
}

check_compose() {
  containers_there || return
  local output status=0
  output=$(bash "$helpers/run_containers.sh" build/bin/trefoil "$work/compose-clone") || status=$?
  echo "$output"
  measured "$(tail -n 1 <<<"$output")"
  return "$status"
}

check_owners() {
  containers_there || return
  # Not an older one: that of the check before, or a new one.
  [ -e "$work/compose-clone" ] || podman build --network=host --format docker -t trefoil . || return
  local output status=0
  output=$(bash "$helpers/run_owner_containers.sh" build/bin/trefoil "$work/owners-clone") || status=$?
  echo "$output"
  measured "$(tail -n 1 <<<"$output")"
  return "$status"
}
