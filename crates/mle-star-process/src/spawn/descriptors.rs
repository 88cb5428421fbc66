//! Closes inherited descriptors.

use std::os::fd::RawFd;

use nix::libc;

/// Closes everything inherited from the program: pipes of other children, open files, standard streams. Negative
/// descriptors in `kept` are ignored.
pub(super) fn close_all_but(kept: &mut [RawFd]) {
    kept.sort_unstable();
    let mut from = 0;
    for descriptor in kept.iter().filter_map(|descriptor| u32::try_from(*descriptor).ok()) {
        if from < descriptor {
            close_range(from, descriptor - 1);
        }
        from = descriptor + 1;
    }
    close_range(from, u32::MAX);
}

/// Closes a range of descriptors.
pub(super) fn close_range(from: u32, to: u32) {
    // SAFETY: this process owns the descriptors and no longer uses them.
    if unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) } == 0 {
        return;
    }
    for descriptor in from..=to.min(4096) {
        // SAFETY: as above.
        unsafe { libc::close(descriptor.cast_signed()) };
    }
}
