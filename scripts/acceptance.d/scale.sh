# shellcheck shell=bash
# Parties of many machines: what R ranks compute, send and take, against one.
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`. Needs Open MPI
# (scripts/setup --mpi).

CHECKS=(
  "training: MNIST with 2 and 4 ranks: the epsilon of one, accuracy within one point, bytes a lane within 15 % of 1/R"
  "time: the same with batches of 24,576: also processor time of ranks above 0, without waiting for ranks, within 15 % of 1/R"
  "kills: kill -9 of a rank at start, dealing, a step, a checkpoint and the release: the others end with 3 and name it, the run goes on"
)

scale_ready() {
  scripts/setup --mpi && scripts/build release trefoil stop_at || return
  command -v mpirun >/dev/null || skip "there is no mpirun"
}

# rank_training NAME OPTION ...
rank_training() {
  scale_ready || return
  has_data mnist || skip "no MNIST: scripts/fetch_mnist"
  local output status=0
  output=$(python3 -B "$helpers/rank_training.py" build/bin/trefoil configs/mnist.toml "$work/scale-$1" 2 4 "${@:2}") || status=$?
  echo "$output"
  measured "$(paste -sd ';' <<<"$output" | sed 's/;/; /g')"
  return "$status"
}

check_training() { rank_training training; }

check_time() {
  rank_training time --time --set training.steps=60 --set training.expected_batch=24576 --set training.max_batch_per_owner=9000
}

check_kills() {
  scale_ready || return
  local output status=0 begin=$SECONDS
  output=$(TREFOIL_BINARY=$PWD/build/bin/trefoil TREFOIL_MPI=1 TREFOIL_STOP_LIBRARY=$PWD/build/lib/libstop_at.so \
    python3 -B tests/apps/ranks_test.py --verbose 2>&1) || status=$?
  echo "$output"
  measured "tests/apps/ranks_test.py took $((SECONDS - begin)) s"
  return "$status"
}
