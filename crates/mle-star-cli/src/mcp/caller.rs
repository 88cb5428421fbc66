//! The client behind a call.

use std::time::Duration;

use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};

use super::stdin::InputEnd;

/// Who waits for the answer of a call.
pub struct Caller {
    context: RequestContext<RoleServer>,
    ended: InputEnd,
}

impl Caller {
    pub fn new(context: RequestContext<RoleServer>, ended: InputEnd) -> Self {
        Self { context, ended }
    }

    /// Waits this long; `false` if the caller has left before: it cancelled the call or closed stdin.
    pub async fn pause(&self, time: Duration) -> bool {
        let mut ended = self.ended.clone();
        tokio::select! {
            () = tokio::time::sleep(time) => true,
            () = self.context.ct.cancelled() => false,
            _ = ended.wait_for(|ended| *ended) => false,
        }
    }

    /// Whether the caller wants to know what happens.
    pub fn listens(&self) -> bool {
        self.context.meta.get_progress_token().is_some()
    }

    /// Tells the caller what happened, `seconds` after the call, if it wants to know.
    pub async fn tell(&self, seconds: f64, message: String) {
        let Some(token) = self.context.meta.get_progress_token() else { return };
        let progress = ProgressNotificationParam::new(token, seconds).with_message(message);
        // A client that has left is noticed elsewhere.
        let _ = self.context.peer.notify_progress(progress).await;
    }
}
