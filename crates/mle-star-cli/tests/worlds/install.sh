#!/bin/bash
# Installs what the worlds need: Debian's OpenSSH, Slurm and munge, and Ray in a Python environment of its own.
#
#     install.sh [FOLDER]        FOLDER gets the environment with Ray; by default target/ray
#
# A second call installs nothing. No daemon is started: while packages are installed, a policy of Debian's
# (/usr/sbin/policy-rc.d, exit code 101) forbids it; one that lies there already is put back afterwards. Services that
# came with the packages are disabled for the next boot.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
ray=${1:-$here/../../../../target/ray}
# Every step ends by itself, whatever the network does.
limit=600

sudo=""
[ "$(id -u)" -eq 0 ] || sudo="sudo"

packages=()
[ -x /usr/sbin/sshd ] || packages+=(openssh-server)
command -v ssh >/dev/null || packages+=(openssh-client)
[ -x /usr/sbin/slurmctld ] && [ -x /usr/sbin/slurmd ] && command -v srun >/dev/null || packages+=(slurm-wlm)
[ -x /usr/sbin/munged ] || packages+=(munge)
# They give names and addresses to a namespace, and close it.
command -v ip >/dev/null || packages+=(iproute2)
command -v unshare >/dev/null || packages+=(util-linux)

policy=/usr/sbin/policy-rc.d
put_policy_back() {
    $sudo rm -f "$policy"
    [ ! -e "$policy.before-worlds" ] || $sudo mv "$policy.before-worlds" "$policy"
}

with_no_daemon_started() {
    trap put_policy_back EXIT
    [ ! -e "$policy" ] || $sudo mv "$policy" "$policy.before-worlds"
    printf '#!/bin/sh\nexit 101\n' | $sudo tee "$policy" >/dev/null
    $sudo chmod 755 "$policy"
    "$@"
    put_policy_back
    trap - EXIT
}

install_packages() {
    timeout "$limit" $sudo env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$@" </dev/null
}

if [ "${#packages[@]}" -gt 0 ]; then
    echo "installing ${packages[*]}"
    timeout "$limit" $sudo apt-get update -qq
    with_no_daemon_started install_packages "${packages[@]}"
    # Nor at the next boot; those that were there before stay as they are.
    for package in "${packages[@]}"; do
        case $package in
        openssh-server) services=ssh ;;
        slurm-wlm) services="slurmctld slurmd" ;;
        munge) services=munge ;;
        *) services="" ;;
        esac
        for service in $services; do
            $sudo update-rc.d "$service" disable || echo "$service will start at the next boot" >&2
        done
    done
fi

if ! "$ray/bin/python3" -c 'import ray' 2>/dev/null; then
    echo "installing ray into $ray"
    timeout "$limit" python3 -m venv "$ray"
    timeout "$limit" "$ray/bin/python3" -m pip install --quiet --disable-pip-version-check 'ray[default]~=2.60'
fi
