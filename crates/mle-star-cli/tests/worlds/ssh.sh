#!/bin/bash
# ssh.sh CMD...: a machine that is reached with ssh.
#
# Makes, in namespaces of its own: an sshd on loopback with a host key, a user key and a home folder of its own. CMD
# finds in MLE_STAR_WORLD_SSH the words that come before a remote command (`ssh -F FILE node`), in
# MLE_STAR_WORLD_HOME the remote user's home folder, in MLE_STAR_WORLD_PIDS a folder with the daemon's process
# (`sshd.pid`; each connection has a child of it). Exits with CMD's code; 77: something is not installed.
set -euo pipefail
. "$(dirname "$0")/namespaces.sh"
enter "$@"
needs openssh-server sshd
needs openssh-client ssh ssh-keygen
furnish

home=$WORLD/home
mkdir -m 700 "$home" "$WORLD/ssh"
mkdir -m 755 /run/sshd
# The user is root, elsewhere at home, with a password that is not locked (nobody knows it either).
sed "s|^root:.*|root:x:0:0:root:$home:/bin/bash|" /etc/passwd >"$WORLD/passwd"
grep -q '^sshd:' "$WORLD/passwd" || echo 'sshd:x:22222:65534::/run/sshd:/usr/sbin/nologin' >>"$WORLD/passwd"
(umask 077 && sed 's|^root:[^:]*:|root:*:|' /etc/shadow >"$WORLD/shadow")
mount --bind "$WORLD/passwd" /etc/passwd
mount --bind "$WORLD/shadow" /etc/shadow

ssh-keygen -q -t ed25519 -N '' -f "$WORLD/ssh/host_key"
ssh-keygen -q -t ed25519 -N '' -f "$WORLD/ssh/user_key"
sed 's|^|[127.0.0.1]:2222 |' "$WORLD/ssh/host_key.pub" >"$WORLD/ssh/known_hosts"
cat >"$WORLD/ssh/sshd_config" <<END
ListenAddress 127.0.0.1:2222
HostKey $WORLD/ssh/host_key
AuthorizedKeysFile $WORLD/ssh/user_key.pub
PidFile $WORLD/sshd.pid
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
UseDNS no
MaxStartups 100
MaxSessions 100
END
cat >"$WORLD/ssh/config" <<END
Host node
    HostName 127.0.0.1
    Port 2222
    User root
    IdentityFile $WORLD/ssh/user_key
    IdentitiesOnly yes
    UserKnownHostsFile $WORLD/ssh/known_hosts
    GlobalKnownHostsFile /dev/null
END
/usr/sbin/sshd -f "$WORLD/ssh/sshd_config" -E "$WORLD/sshd.log"
soon sshd ssh -F "$WORLD/ssh/config" -o BatchMode=yes node true </dev/null

export MLE_STAR_WORLD_SSH="ssh -F $WORLD/ssh/config node"
export MLE_STAR_WORLD_HOME=$home MLE_STAR_WORLD_PIDS=$WORLD
run_command "$@"
