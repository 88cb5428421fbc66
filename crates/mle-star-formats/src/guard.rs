//! Panics of libraries on damaged files become errors.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether a panic on this thread is expected and says nothing.
    static IS_SHIELDED: Cell<bool> = const { Cell::new(false) };
}

/// Calls a library that may panic on damaged input; `None` if it did. Nothing is printed then.
pub(crate) fn shielded<T>(call: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_SHIELDED.get() {
                before(info);
            }
        }));
    });
    let was = IS_SHIELDED.replace(true);
    // What a call leaves behind is dropped: its callers give up the file.
    let result = panic::catch_unwind(AssertUnwindSafe(call));
    IS_SHIELDED.set(was);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_caught() {
        assert_eq!(shielded(|| 1), Some(1));
        assert_eq!(shielded(|| panic!("damaged")), None::<()>);
        assert!(!IS_SHIELDED.get());
    }
}
