#!/usr/bin/env bash
# `run.sh TESTS` runs job.sh, the tests of control groups, with the program TESTS on Debian's newest kernel: in a virtual machine
# that sees this system's files read-only. Limits by control groups need a delegated group, which hardly any build machine has.
# The processor is emulated, so nothing there is fast, and it needs no device of the host.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
folder=$here/../../target/kernel
mkdir -p "$folder/job"
cp "$1" "$folder/job/tests"
cp "$here/job.sh" "$folder/job"

cd "$folder"
package=$(apt-cache depends --important linux-image-amd64 | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | head -n 1)
if [ ! -d "$package/boot" ]; then
    rm -rf part && mkdir part
    (cd part && apt-get download --quiet "$package" && dpkg-deb -x ./*.deb kernel)
    mv part/kernel "$package"
fi

# The initial file system: BusyBox, the modules that mount the host's files, with their dependencies, and the first process.
rm -rf initial && mkdir -p initial/bin
cp "$(command -v busybox)" initial/bin/busybox
install -m 755 "$here/init.sh" initial/init
for module in drivers/virtio drivers/block/virtio_blk.ko fs/9p fs/fscache fs/netfs fs/overlayfs lib net/9p; do
    (cd "$package" && for file in lib/modules/*/kernel/"$module"; do [ ! -e "$file" ] || cp -r --parents "$file" ../initial; done)
done
(cd initial && find . | busybox cpio -o -H newc > ../initial.cpio 2>/dev/null)

share() {
    echo "local,path=$2,mount_tag=$1,security_model=none,readonly=on,multidevs=remap"
}
timeout 900 qemu-system-x86_64 -machine q35 -accel tcg,thread=multi -cpu max -smp 2 -m 3072 -display none -no-reboot \
    -serial stdio -nic none -kernel "$package"/boot/vmlinuz* -initrd initial.cpio \
    -append "console=ttyS0 quiet panic=-1" -virtfs "$(share host /)" -virtfs "$(share job job)" < /dev/null | tee said

# A scenario that was not reached has failed.
passed=$(grep -c '^scenario .*: ok' said || true)
all=$(grep -c '^scenario "' "$here/job.sh")
echo "$passed of $all scenarios passed"
[ "$passed" -eq "$all" ]
