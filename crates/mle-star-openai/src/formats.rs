//! The two formats of endpoints: how a question is asked in each, and how an answer is read.

use mle_star_domain::config::Format;
use serde_json::Value;

use crate::answer::{End, PartialAnswer};
use crate::failure::{Failure, beginning};
use crate::question::{Question, QuestionParts};
use crate::{chat, responses};

impl Question<'_> {
    /// The service that answers it.
    pub(crate) fn service(format: Format) -> &'static str {
        match format {
            Format::Chat => chat::SERVICE,
            Format::Responses => responses::SERVICE,
        }
    }

    /// The body of a request.
    pub(crate) fn body(&self, format: Format, asked: &QuestionParts) -> Value {
        match format {
            Format::Chat => chat::body(self, asked),
            Format::Responses => responses::body(self, asked),
        }
    }
}

impl PartialAnswer {
    /// Takes the data of one event. `Err` is an event that cannot be read.
    pub(crate) fn take(&mut self, format: Format, data: &str) -> Result<(), String> {
        if data.trim() == "[DONE]" {
            self.end.get_or_insert(End::Complete);
            return Ok(());
        }
        let event: Value = serde_json::from_str(data).map_err(|_| beginning(data))?;
        match format {
            Format::Chat => chat::event(self, &event),
            Format::Responses => responses::event(self, &event),
        }
        self.failure = self.failure.take().or_else(|| Failure::reported(&event));
        Ok(())
    }

    /// Takes an answer in one document. `Err` is one that cannot be read.
    pub(crate) fn whole(format: Format, document: &[u8]) -> Result<Self, String> {
        let mut collected = Self::default();
        let unreadable = |_| beginning(&String::from_utf8_lossy(document));
        let document: Value = serde_json::from_slice(document).map_err(unreadable)?;
        match format {
            Format::Chat => chat::document(&mut collected, &document),
            Format::Responses => responses::document(&mut collected, &document),
        }
        collected.failure = collected.failure.or_else(|| Failure::reported(&document));
        Ok(collected)
    }
}
