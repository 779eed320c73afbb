# shellcheck shell=bash
# docker-compose.yml for real, on a fresh clone.
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`.

CHECKS=(
  "compose: three networks, keys in volumes of their own, not root, healthy; one container killed, all three resumed"
)

check_compose() {
  if ! command -v podman-compose >/dev/null; then
    [ -x "$tools/containers/setup" ] || skip "no podman-compose, and $tools/containers is absent"
    "$tools/containers/setup" || return
  fi
  build || return
  local output status=0
  output=$(bash "$helpers/run_containers.sh" build/bin/trefoil "$work/compose-clone") || status=$?
  echo "$output"
  measured "$(tail -n 1 <<<"$output")"
  return "$status"
}
