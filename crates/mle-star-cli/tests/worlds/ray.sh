#!/bin/bash
# ray.sh CMD...: a Ray cluster of two nodes.
#
# Makes, in namespaces of its own (Ray listens on every address): a head node with two CPUs and a resource `first`,
# and a second node with two CPUs, a GPU that does not exist, and a resource `second`. MLE_STAR_TEST_RAY names the
# Python that has Ray. CMD finds in MLE_STAR_WORLD_RAY_ADDRESS the cluster's address (HOST:PORT), in
# MLE_STAR_WORLD_RAY_CLIENT the one for machines outside (ray://HOST:PORT), and in MLE_STAR_WORLD_PIDS a folder with
# a file for each process that a test may kill: head.pid and second.pid (the raylet of each node), gcs.pid (the
# cluster's memory of itself). Exits with CMD's code; 77: something is not installed.
set -euo pipefail
. "$(dirname "$0")/namespaces.sh"
enter "$@"
python=${MLE_STAR_TEST_RAY:-}
[ -n "$python" ] || skip "MLE_STAR_TEST_RAY names no Python"
"$python" -c 'import ray' 2>/dev/null || skip "$python has no Ray (pip install 'ray[default]')"
furnish
mount -t tmpfs -o mode=1777 world /dev/shm

# A token of the user elsewhere would close the cluster to its own processes.
export RAY_USAGE_STATS_ENABLED=0 RAY_AUTH_MODE=disabled
ray="$(dirname "$python")/ray"

# The process of a node's own program that was started last.
newest() { pgrep --newest --full "/$1( |\$)"; }

node() {
    local name=$1
    shift
    timeout 120 "$ray" start --node-ip-address=10.99.0.1 --num-cpus=2 --object-store-memory=200000000 \
        --disable-usage-stats "$@" >"$WORLD/$name.log" 2>&1 </dev/null || fail "$(tail -n 5 "$WORLD/$name.log")"
    newest raylet/raylet >"$WORLD/$name.pid"
}

node head --head --port=6379 --ray-client-server-port=10001 --include-dashboard=false --temp-dir="$WORLD/ray" \
    --resources='{"first": 100}'
newest gcs/gcs_server >"$WORLD/gcs.pid"
node second --address=10.99.0.1:6379 --num-gpus=1 --resources='{"second": 100}'

export MLE_STAR_WORLD_RAY_ADDRESS=10.99.0.1:6379 MLE_STAR_WORLD_RAY_CLIENT=ray://10.99.0.1:10001
export MLE_STAR_WORLD_PIDS=$WORLD
run_command "$@"
