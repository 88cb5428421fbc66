# Sourced by each world: runs the world's script again in namespaces of its own, and ends everything there.
#
# A world sees no network but its own loopback, its own processes, and a fresh /run: all its files lie below
# /run/world, in memory. Whatever ends the script, SIGKILL as well, ends the first process of the namespaces, and with
# it the kernel ends all others. Nothing of the system is changed.
#
# MLE_STAR_WORLD_LIMIT is the longest time of a world in seconds (600).

WORLD=/run/world
LIMIT=${MLE_STAR_WORLD_LIMIT:-600}

# Ends the script as one that cannot run here.
skip() {
    echo "$(basename "$0"): $*" >&2
    exit 77
}

# Ends the script because the world cannot be made.
fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# needs PACKAGE FILE...: skips if a file of a package is missing.
needs() {
    local package=$1 file
    shift
    for file in "$@"; do
        command -v "$file" >/dev/null || skip "$file is missing (Debian: apt-get install $package)"
    done
}

# Goes on only inside. Outside, it starts the script again there, and exits with its code.
enter() {
    [ "${MLE_STAR_WORLD:-}" != "$$ $0" ] || return 0
    [ "$(id -u)" -eq 0 ] || skip "only root can make this world"
    PATH=$PATH:/usr/sbin:/sbin
    needs iproute2 ip
    needs util-linux unshare setpriv
    [ "$#" -gt 0 ] || fail "which command?"
    unshare -n -u -p -f -m true 2>/dev/null || skip "namespaces are not permitted here"
    # Inside, this script is process 1. The one out here must not outlive its caller's patience.
    MLE_STAR_WORLD="1 $0" setpriv --pdeathsig KILL timeout --foreground --signal KILL "$((LIMIT + 30))" \
        setpriv --pdeathsig KILL unshare -n -u -p -f -m --mount-proc --kill-child=KILL "$0" "$@" <&0 &
    local inside=$! code=0
    trap 'kill -KILL "$inside" 2>/dev/null' TERM INT HUP
    wait "$inside" || code=$?
    exit "$code"
}

# The first steps inside: names, addresses, an empty /run.
furnish() {
    hostname world
    mount -t tmpfs -o mode=755 world /run
    mkdir "$WORLD"
    ip link set lo up
    # With 127.0.0.1 alone, getaddrinfo(AI_ADDRCONFIG) believes that there is no IPv4.
    ip address add 10.99.0.1/24 dev lo
    printf '127.0.0.1 localhost\n10.99.0.1 world\n' >"$WORLD/hosts"
    mount --bind "$WORLD/hosts" /etc/hosts
    # Names are asked of nobody.
    printf 'hosts: files\npasswd: files\ngroup: files\nshadow: files\n' >"$WORLD/nsswitch.conf"
    [ ! -e /etc/nsswitch.conf ] || mount --bind "$WORLD/nsswitch.conf" /etc/nsswitch.conf
}

# soon WHAT COMMAND...: waits until the command succeeds, at most half a minute.
soon() {
    local what=$1 end=$((SECONDS + 30))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || fail "$what does not start: $(tail -n 3 "$WORLD"/*.log 2>/dev/null)"
        sleep 0.05
    done
}

# Runs the command, and exits with its code. The kernel ends what is left.
run_command() {
    local code=0
    timeout --foreground --kill-after 5 "$LIMIT" "$@" || code=$?
    [ "$code" -ne 124 ] || echo "$(basename "$0"): the command took longer than $LIMIT s" >&2
    exit "$code"
}
