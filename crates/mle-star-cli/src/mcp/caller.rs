//! The MCP client of a tool call: tells it of progress, and notices when it cancels or disconnects.

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

/// Who waits for the answer of a call. When it cancels the call, the work is dropped where it waits.
pub struct Client {
    /// What names the call in notifications of its progress; null if the client wants none.
    pub progress_token: Value,
    /// Messages to the client.
    pub output: UnboundedSender<Value>,
    /// Becomes true when the client closes stdin.
    pub ended: watch::Receiver<bool>,
}

impl Client {
    /// Waits until the caller leaves: it closes stdin.
    pub async fn wait_for_disconnect(&self) {
        drop(self.ended.clone().wait_for(|ended| *ended).await);
    }

    /// Tells the caller what happened, `seconds` after the call, if it wants to know.
    pub fn notify(&self, seconds: f64, message: &str) {
        if !self.progress_token.is_null() {
            let params =
                json!({"progressToken": self.progress_token, "progress": seconds, "message": message});
            let _ = self.output.send(json!({"method": "notifications/progress", "params": params}));
        }
    }
}
