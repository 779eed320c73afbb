# shellcheck shell=bash
# The containers of docker-compose.yml under podman-compose, for run_containers.sh and run_owner_containers.sh, which read it with
# `trefoil`, a path of the program, and `project`, the name that podman-compose gives their containers, volumes and networks.

# 1 once something was found wrong.
failed=0
wrong() {
  echo "wrong: $*"
  failed=1
}

# The program's options: a profile, where it knows any.
options=()
compose() { podman-compose -p "$project" "${options[@]}" "$@"; }
container() { echo "${project}_${1}_1"; }
state() { podman inspect --format '{{.State.Status}} {{.State.ExitCode}}' "$(container "$1")" 2>/dev/null; }
volume() { podman volume inspect --format '{{.Mountpoint}}' "${project}_$1"; }
# accuracy OUT FOLDER: of the model in the volume OUT on the test set in the volume FOLDER.
accuracy() { "$trefoil" evaluate --model "$(volume "$1")/model.npz" --data "$(volume "$2")/test" | sed -n 1p; }
# expect_ended SERVICE CODE
expect_ended() {
  local found
  found=$(state "$1") || true
  [ "$found" = "exited $2" ] || wrong "$1: found $found, expected exited $2: $(podman logs "$(container "$1")" 2>&1 | tail -n 3)"
}
# expect_one_model PREFIX: the volumes PREFIX-0 to PREFIX-2 have the same.
expect_one_model() {
  local i
  for i in 1 2; do
    cmp "$(volume "$1-$i")/model.npz" "$(volume "$1-0")/model.npz" || wrong "$1-$i has another model than $1-0"
  done
}
# expect_keys VOLUME NAME ...: files that their owner 10001 may read, and nobody else.
expect_keys() {
  local volume=$1 name found
  shift
  for name in "$@"; do
    found=$(stat -c '%a %u' "$(volume "$volume")/$name") || true
    [ "$found" = "400 10001" ] || wrong "$volume: $name of mode and owner $found, expected 400 10001"
  done
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
# expect_links SERVICE LINK I: the networks LINK-01 and so on of party I with the other two, and no other.
expect_links() {
  local pairs=("01 02" "01 12" "02 12") pair names=()
  for pair in ${pairs[$3]}; do names+=("$2-$pair"); done
  expect_networks "$1" "${names[@]}"
}
# With its volumes and networks, of which podman-compose forgets some.
down() {
  compose down >/dev/null 2>&1
  podman volume ls --quiet --filter "name=^${project}_" | xargs -r podman volume rm --force >/dev/null
  podman network ls --quiet --filter "name=^${project}_" | xargs -r podman network rm >/dev/null
}

# begin CLONE: makes the clone and goes into it, without what a run that was broken off left of the project; all of it is removed at the
# end, too. `memlock` is then how much memory a container may lock here, in KiB or "unlimited".
begin() {
  git clone -q --no-local . "$1"
  cd "$1" || return
  trap 'down || true' EXIT
  down || true
  memlock=unlimited
  if ! podman run --rm --ulimit memlock=-1:-1 --ulimit nofile=1024 --ulimit nproc=4096 debian:bookworm true 2>/dev/null; then
    memlock=$(ulimit -Hl)
    export TREFOIL_MEMLOCK=$((memlock * 1024))
  fi
}
