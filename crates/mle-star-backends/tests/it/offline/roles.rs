//! What every role promises, without running anything.
