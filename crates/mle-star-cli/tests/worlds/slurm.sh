#!/bin/bash
# slurm.sh CMD...: a Slurm cluster of two nodes.
#
# Makes, in namespaces of its own: munged, slurmctld, and a slurmd for each of the nodes n1 and n2 (two CPUs each; n2
# has a GPU that does not exist, `--gres=gpu:1`). CMD sees srun, sbatch, squeue, scancel and scontrol at work. In
# MLE_STAR_WORLD_PIDS is a folder with a file for each daemon's process: munged.pid, slurmctld.pid, n1.pid, n2.pid;
# killing the one of a node takes the node down. Jobs wait while the nodes are full.
# Exits with CMD's code; 77: something is not installed.
set -euo pipefail
. "$(dirname "$0")/namespaces.sh"
enter "$@"
needs slurm-wlm slurmctld slurmd srun scontrol
needs munge munged
furnish

# Keeps a daemon's process number, and its output.
daemon() {
    local name=$1
    shift
    "$@" >"$WORLD/$name.log" 2>&1 </dev/null &
    echo $! >"$WORLD/$name.pid"
}

mkdir -m 755 /run/munge
(umask 077 && head -c 1024 /dev/urandom >"$WORLD/munge.key")
daemon munged munged --force --foreground --key-file "$WORLD/munge.key" --socket "$WORLD/munge.socket" \
    --pid-file "$WORLD/munged.own" --log-file "$WORLD/munged.log" --seed-file "$WORLD/munge.seed"

mkdir "$WORLD/state" "$WORLD/n1" "$WORLD/n2"
export SLURM_CONF=$WORLD/slurm.conf
cat >"$SLURM_CONF" <<END
ClusterName=world
SlurmctldHost=world(10.99.0.1)
SlurmUser=root
SlurmctldPort=17000
AuthType=auth/munge
AuthInfo=socket=$WORLD/munge.socket
CredType=cred/munge
StateSaveLocation=$WORLD/state
SlurmdSpoolDir=$WORLD/%n
SlurmctldPidFile=$WORLD/slurmctld.own
SlurmdPidFile=$WORLD/%n.own
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=5
SlurmctldTimeout=5
KillWait=2
OverTimeLimit=0
MaxJobCount=102
MinJobAge=5
MpiDefault=none
MailProg=/bin/true
GresTypes=gpu
NodeName=n1 NodeHostname=world NodeAddr=10.99.0.1 Port=17001 CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname=world NodeAddr=10.99.0.1 Port=17002 CPUs=2 Gres=gpu:1 State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE DefaultTime=60 State=UP
END
echo 'NodeName=n2 Name=gpu File=/dev/null' >"$WORLD/gres.conf"

soon munged munge -S "$WORLD/munge.socket" -n
daemon slurmctld slurmctld -D -i
soon slurmctld scontrol ping
daemon n1 slurmd -D -N n1
daemon n2 slurmd -D -N n2
nodes_are_idle() { [ "$(sinfo --noheader --Node --format %T | sort -u)" = idle ]; }
soon slurmd nodes_are_idle

export MLE_STAR_WORLD_PIDS=$WORLD
run_command "$@"
