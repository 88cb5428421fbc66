//! The time of one call. Waiting for a busy service extends it, up to a limit.

use std::time::Duration;

use tokio::time::Instant;

/// The time of one call.
#[derive(Debug)]
pub struct Deadline {
    began: Instant,
    /// When the call ends unless it is extended.
    ends: Instant,
    /// No extension goes beyond this.
    last: Instant,
    max_wait: Duration,
    waited: Duration,
}

impl Deadline {
    /// A call that begins now, takes `timeout` without its waiting, and `time_left` with it.
    pub fn new(timeout: Duration, time_left: Duration, max_wait: Duration) -> Self {
        let began = Instant::now();
        let last = began + time_left;
        Self { began, ends: (began + timeout).min(last), last, max_wait, waited: Duration::ZERO }
    }

    /// When the call ends unless it is extended.
    pub fn ends(&self) -> Instant {
        self.ends
    }

    /// The time since the call began.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// The time of all waits.
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// The time until the call ends.
    pub fn left(&self) -> Duration {
        self.ends.saturating_duration_since(Instant::now())
    }

    /// Extends the deadline by a wait, shortened to what is allowed; `None` if no more waiting is.
    pub fn extend(&mut self, wanted: Duration) -> Option<Duration> {
        let wait = wanted.min(self.longest_wait());
        if wait.is_zero() {
            return None;
        }
        self.waited += wait;
        self.ends = (self.ends + wait).min(self.last);
        Some(wait)
    }

    /// Extends the deadline by the whole wait, or not at all.
    pub fn extend_by_all(&mut self, wanted: Duration) -> bool {
        wanted <= self.longest_wait() && (wanted.is_zero() || self.extend(wanted).is_some())
    }

    fn longest_wait(&self) -> Duration {
        let time_left = self.last.saturating_duration_since(Instant::now());
        self.max_wait.saturating_sub(self.waited).min(time_left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deadline(max_wait: u64, time_left: u64) -> Deadline {
        let seconds = Duration::from_secs;
        Deadline::new(seconds(10), seconds(time_left), seconds(max_wait))
    }

    #[test]
    fn waiting_extends_the_deadline_up_to_its_limits() {
        let seconds = Duration::from_secs;
        let mut short_of_wait = deadline(5, 1000);
        let ends = short_of_wait.ends();
        assert_eq!(short_of_wait.extend(seconds(4)), Some(seconds(4)));
        assert_eq!(short_of_wait.ends(), ends + seconds(4));
        assert_eq!(short_of_wait.extend(seconds(4)), Some(seconds(1)));
        assert_eq!(short_of_wait.extend(seconds(4)), None);
        let mut short_of_time = deadline(3600, 10);
        assert!(short_of_time.extend(seconds(60)).unwrap() <= seconds(10));
        assert_eq!(short_of_time.ends(), short_of_time.last);
        assert_eq!(deadline(3600, 0).extend(seconds(1)), None);
    }

    #[test]
    fn a_whole_wait_is_granted_or_refused() {
        let mut deadline = deadline(5, 1000);
        let mut check = |seconds: u64, expected: bool| {
            assert_eq!(deadline.extend_by_all(Duration::from_secs(seconds)), expected, "{seconds}");
        };
        // A refused wait uses nothing up.
        check(6, false);
        check(5, true);
        check(0, true);
        check(1, false);
    }
}
