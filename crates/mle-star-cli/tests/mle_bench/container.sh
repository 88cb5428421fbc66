#!/bin/bash
# Starts a command as in a container of MLE-bench: as the user nonroot, with the public data in /home/data, read-only, and
# with folders for submission, logs, code and agent in /home. The answers are out of sight.
#
#     container.sh PUBLIC DATA AGENT OUT COMMAND...
#
# PUBLIC is the public folder of the competition, DATA a folder to hide, AGENT the folder of the agent, and OUT receives the
# folders submission, logs and code. With NO_NAMESPACES=1, the command cannot create namespaces, as under most container
# runtimes.
set -euo pipefail

if [ "$1" != --inside ]; then
    as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(--user --map-root-user)
    exec unshare "${as_root[@]}" --mount -- bash "$0" --inside "$@"
fi
public=$2 data=$3 agent=$4 out=$5
shift 5

mount -t tmpfs -o mode=755 tmpfs /mnt
mkdir -p /mnt/data /mnt/agent /mnt/nonroot
cp -r "$agent"/. /mnt/agent
mount --bind "$public" /mnt/data
mount -o remount,bind,ro /mnt/data || mount -o remount,bind,ro,nosuid,nodev /mnt/data
for folder in submission logs code; do
    mkdir -p "$out/$folder" "/mnt/$folder"
    mount --bind "$out/$folder" "/mnt/$folder"
done
printf 'root:x:0:0::/root:/bin/bash\nnonroot:x:1000:1000::/home/nonroot:/bin/bash\n' >/mnt/passwd
mount --bind /mnt/passwd /etc/passwd
mount --rbind /mnt /home
# After the public folder was bound, which lies in it.
mount -t tmpfs -o mode=700 tmpfs "$data"

refuse=:
if [ -n "${NO_NAMESPACES:-}" ]; then
    # One for the user below. The limits are those of a user namespace of its own: nothing of the system changes.
    refuse='cd /proc/sys/user; echo 1 >max_user_namespaces
        for kind in mnt pid net ipc; do echo 0 >max_${kind}_namespaces; done; cd /'
fi
# Root of the namespace gives way to nonroot, who has no capability.
exec unshare --user --map-root-user -- bash -c "$refuse"'
    exec unshare --user --map-user=1000 --map-group=1000 -- "$@"' bash "$@"
