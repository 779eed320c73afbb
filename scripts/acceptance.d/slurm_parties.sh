#!/bin/bash
# Three parties of two machines under deploy/slurm/party.sbatch, on a Slurm of six nodes that are one machine. A rank is
# killed, and a party stopped and submitted anew; all three have to end with 0 and one model.
# Usage: unshare --net --pid --fork --kill-child --mount-proc slurm_parties.sh TREFOIL FOLDER
#   FOLDER   empty, where everybody may enter; daemons and parties keep all in it, and end with these namespaces
# Exit code: 0 if all went so; not 0 otherwise.
set -euo pipefail
folder=$2
export SLURM_CONF=$folder/slurm.conf TREFOIL_NETWORK=10.88.0.0/24 PATH=$folder:$PATH TMPDIR=$folder/tmp
mkdir -m 1777 "$TMPDIR"
install "$1" "$folder/trefoil"

ip link add nodes type bridge
ip address add 10.88.0.1/24 dev nodes
ip link set nodes up
ip link set lo up
cat >"$SLURM_CONF" <<EOC
ClusterName=trefoil
SlurmctldHost=n0(10.88.0.1)
SlurmUser=root
AuthInfo=socket=$folder/munge
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/slurmctld.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdSpoolDir=$folder/%n
SlurmdPidFile=$folder/%n.pid
SlurmdLogFile=$folder/%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
MpiDefault=none
$(for i in {1..6}; do echo "NodeName=n$i NodeAddr=10.88.0.1 Port=1700$i CPUs=1"; done)
PartitionName=all Nodes=ALL Default=YES State=UP
EOC
(umask 077 && head -c 128 /dev/urandom >"$folder/munge.key")
munged --socket="$folder/munge" --key-file="$folder/munge.key" --seed-file="$folder/munge.seed" \
  --pid-file="$folder/munge.pid" --log-file="$folder/munge.log"
# on_node NAME COMMAND ...: MPI tells machines apart by their host names.
on_node() { unshare --uts sh -c 'hostname "$0" && exec "$@"' "$@"; }
on_node n0 slurmctld
for i in {1..6}; do mkdir "$folder/n$i" && on_node "n$i" slurmd -N "n$i"; done

# within SECONDS COMMAND ...: until it succeeds.
within() {
  local _
  for _ in $(seq "$1"); do if "${@:2}"; then return; else sleep 1; fi; done
  echo "not within $1 s: ${*:2}" && exit 1
}
at_step() { [ "$(tail -n 1 "$folder/party-0/runs/first/progress.csv" | cut -d , -f 1)" -ge "$1" ]; } 2>/dev/null
logged() { grep -q "$2" "$folder/party-$1"/trefoil-*.log; }
# ended I STATE CODE: whether party I's job has.
ended() { scontrol --oneliner show job "${jobs[$1]}" | grep -q "JobState=$2 .* ExitCode=$3:0"; }
# submit I: as a user, since mpirun refuses root.
submit() {
  cd "$folder/party-$1"
  setpriv --reuid=nobody --regid=nogroup --clear-groups sbatch --parsable --nodes=2 --cpus-per-task=1 --time=20 \
    --nodelist="n$((2 * $1 + 1)),n$((2 * $1 + 2))" "$project/deploy/slurm/party.sbatch"
}

project=$PWD
trefoil local --prepare --job configs/demo.toml --set training.steps=1000 --set training.checkpoint_every=10 --ranks 2 --out "$folder/prepared"
for i in 0 1 2; do
  mkdir "$folder/party-$i"
  mv "$folder/prepared/party-$i" "$folder/party-$i/trefoil"
  cp "$folder/prepared/job.toml" "$folder/party-$i"
  chown -R nobody "$folder/party-$i"
  jobs[i]=$(submit "$i")
done
within 120 at_step 20
for process in $(pgrep -x trefoil); do
  if [ "$(nsenter --target "$process" --uts hostname)" = n6 ]; then kill -9 "$process"; fi
done
within 120 logged 2 'ended with code 137'
for i in 0 1 2; do within 120 logged "$i" 'resuming run'; done
within 120 at_step 60
scancel --batch --signal=TERM "${jobs[1]}"
within 60 ended 1 FAILED 143
for i in 0 2; do within 60 logged "$i" 'aborted: it was told to stop'; done
jobs[1]=$(submit 1)
for i in 0 1 2; do within 300 ended "$i" COMPLETED 0; done
for i in 1 2; do cmp "$folder"/party-{0,$i}/runs/first/model.npz; done
