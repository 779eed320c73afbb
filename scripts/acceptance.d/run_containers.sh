#!/bin/bash
# Builds the image from a fresh clone, prepares three party folders, trains in three containers by podman-compose.
# Usage: run_containers.sh TREFOIL CLONE     CLONE, a folder that is made: the project and the runs in it
# Checks that each container ends with 0, sees nothing of the project but its own folder and the job, and that all three
# got one model. The last line is a summary. Exit code: 0 all is well; 1 otherwise.
set -euo pipefail
trefoil=$(realpath "$1")
clone=$2
project="trefoil-acceptance"

git clone -q --no-local . "$clone"
cd "$clone"
start=$SECONDS
podman build --network=host -t trefoil .
build_seconds=$((SECONDS - start))
"$trefoil" local --job configs/demo.toml --prepare --hosts party-0,party-1,party-2 --out runs/compose

trap 'podman-compose -p "$project" down >/dev/null 2>&1 || true' EXIT
start=$SECONDS
# `up` comes back when all three have ended, and returns 0 whatever they returned.
timeout 600 podman-compose -p "$project" up
seconds=$((SECONDS - start))

failed=0
codes=()
for i in 0 1 2; do
  container=${project}_party-${i}_1
  codes+=("$(podman inspect --format '{{.State.Status}} {{.State.ExitCode}}' "$container")")
  [ "${codes[$i]}" = "exited 0" ] || failed=1
  mounts=$(podman inspect --format '{{range .Mounts}}{{println .Source}}{{end}}' "$container" | sed '/^$/d' | sort)
  expected=$(printf '%s\n' "$PWD/runs/compose/job.toml" "$PWD/runs/compose/party-$i")
  if [ "$mounts" != "$expected" ]; then
    echo "party $i mounts: $mounts"
    failed=1
  fi
  cmp "runs/compose/party-$i/out/model.npz" runs/compose/party-0/out/model.npz || failed=1
done
accuracy=$("$trefoil" evaluate --model runs/compose/party-0/out/model.npz --data runs/compose/test) || failed=1
echo "image built in $build_seconds s; containers: ${codes[0]}, ${codes[1]}, ${codes[2]} after $seconds s; $accuracy"
exit "$failed"
