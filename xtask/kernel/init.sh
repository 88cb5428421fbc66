#!/bin/busybox sh
# First process of the virtual machine: the host's files, read-only, below a layer in memory; then the job.
busybox=/bin/busybox
$busybox mkdir -p /proc /dev /host /above /root
$busybox mount -t proc proc /proc
$busybox mount -t devtmpfs dev /dev
$busybox depmod
for module in virtio_pci 9p 9pnet_virtio overlay; do
    $busybox modprobe $module || echo "no module $module"
done
options=trans=virtio,version=9p2000.L,msize=262144,cache=loose
$busybox mount -t 9p -o ro,$options host /host
$busybox mount -t tmpfs above /above
$busybox mkdir /above/upper /above/work
$busybox mount -t overlay -o lowerdir=/host,upperdir=/above/upper,workdir=/above/work overlay /root
$busybox mount -t proc proc /root/proc
$busybox mount -t sysfs sys /root/sys
$busybox mount -t cgroup2 cgroup2 /root/sys/fs/cgroup
$busybox mount -t devtmpfs dev /root/dev
$busybox mkdir -p /root/dev/shm /root/dev/job
$busybox mount -t tmpfs shm /root/dev/shm
$busybox mount -t tmpfs -o mode=1777 tmp /root/tmp
# No system daemon runs here, whatever the host has.
$busybox mount -t tmpfs run /root/run
$busybox mount -t 9p -o ro,$options job /root/dev/job
$busybox ip link set lo up
# Not with chroot: the kernel does not allow user namespaces in it.
exec $busybox switch_root -c /dev/console /root /bin/sh -c 'sh /dev/job/job.sh; echo o > /proc/sysrq-trigger; while :; do :; done'
