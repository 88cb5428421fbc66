//! The client behind a call.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

/// Who waits for the answer of a call. When it cancels the call, the work is dropped where it waits.
pub struct Caller {
    /// What names the call in notifications of its progress; null if the client wants none.
    pub progress_token: Value,
    /// Messages to the client.
    pub output: UnboundedSender<Value>,
    /// Becomes true when the client closes stdin.
    pub ended: watch::Receiver<bool>,
}

impl Caller {
    /// Waits this long; `false` if the caller has left before: it closed stdin.
    pub async fn pause(&self, time: Duration) -> bool {
        let mut ended = self.ended.clone();
        tokio::time::timeout(time, ended.wait_for(|ended| *ended)).await.is_err()
    }

    /// Whether the caller wants to know what happens.
    pub fn listens(&self) -> bool {
        !self.progress_token.is_null()
    }

    /// Tells the caller what happened, `seconds` after the call, if it wants to know.
    pub fn tell(&self, seconds: f64, message: &str) {
        if self.listens() {
            let params =
                json!({"progressToken": self.progress_token, "progress": seconds, "message": message});
            let _ = self.output.send(json!({"method": "notifications/progress", "params": params}));
        }
    }
}
