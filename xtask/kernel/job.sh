# Runs the tests of control groups in groups of several kinds, as root or as nobody.
# Prints `scenario NAME: ok` or `scenario NAME: FAILED` for each.

PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
cp /dev/job/tests /tmp/tests
# Files come slowly the first time; workers have to answer in time.
python3 -c "import ctypes, json, multiprocessing, select, socket, threading"
all=/sys/fs/cgroup
echo "+memory +pids" > $all/cgroup.subtree_control

# Makes a group that belongs to user $2, with what a program that was killed has left in it.
group() {
    mkdir "$all/$1" "$all/$1/mle-star-4194303-0"
    chown -R "$2" "$all/$1/mle-star-4194303-0"
    chown "$2" "$all/$1" "$all/$1/cgroup.procs" "$all/$1/cgroup.subtree_control" "$all/$1/cgroup.threads"
}

# Runs the test $4 as user $3 in the group $2.
scenario() {
    echo "scenario $1 begins"
    if (
        echo 0 > "$all/$2/cgroup.procs"
        cd /tmp
        export MLE_STAR_TEST_CGROUP="$all/$2" TMPDIR=/tmp HOME=/nonexistent
        exec setpriv --reuid "$3" --regid "$3" --clear-groups /tmp/tests --ignored "cgroups::$4"
    ) > /tmp/said 2>&1 && grep -q "1 passed" /tmp/said; then
        echo "scenario $1: ok"
    else
        cat /tmp/said
        echo "scenario $1: FAILED"
    fi
}

scenario "root in the first group" . 0 a_script_has_a_group_with_limits
group box 0
scenario "root in a group" box 0 what_is_given_is_used
group given 65534
scenario "nobody in a group that was given to him" given 65534 a_script_has_a_group_with_limits
mkdir $all/shared && chown 65534 $all/shared $all/shared/*
sleep 600 & echo $! > $all/shared/cgroup.procs
scenario "nobody beside another program" shared 65534 nobody_else_is_moved
mkdir $all/closed
scenario "nobody in a group of root" closed 65534 where_nothing_is_delegated_it_is_said
mkdir -p /run/systemd/system
group unmarked 0
scenario "a group of root that systemd keeps" unmarked 0 where_nothing_is_delegated_it_is_said
mkdir $all/manager && echo "+memory +pids" > $all/manager/cgroup.subtree_control
group manager/unit 65534
python3 -c "import os; os.setxattr('$all/manager', 'user.delegate', b'1')"
chown 65534 $all/manager/cgroup.procs
scenario "a group in one that systemd gave away" manager/unit 65534 what_is_given_is_used
