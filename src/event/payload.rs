//! The JSON of an event, asked by path.

use serde_json::Value;

use super::{Ci, EventError};
use crate::ident::Commit;

/// An event's JSON.
pub(super) struct Payload<'a> {
    pub(super) event: &'a str,
    pub(super) value: Value,
}

impl Payload<'_> {
    /// The text at a pointer such as `/pull_request/head/ref`; an empty one is none.
    pub(super) fn text(&self, pointer: &str) -> Option<&str> {
        let text = self.value.pointer(pointer)?.as_str()?;
        (!text.is_empty()).then_some(text)
    }

    /// The text there, which the event has to have.
    pub(super) fn need(&self, pointer: &'static str) -> Result<&str, EventError> {
        self.text(pointer).ok_or_else(|| self.lacks(pointer))
    }

    /// The commit there; zeros are none.
    pub(super) fn commit(&self, pointer: &str) -> Option<Commit> {
        self.text(pointer)?.parse().ok()
    }

    /// The commit there, which the event has to have.
    pub(super) fn need_commit(&self, pointer: &'static str) -> Result<Commit, EventError> {
        self.commit(pointer).ok_or_else(|| self.lacks(pointer))
    }

    /// The number there.
    pub(super) fn number(&self, pointer: &str) -> Option<u64> {
        self.value.pointer(pointer)?.as_u64()
    }

    /// Whether `true` stands there.
    pub(super) fn is_true(&self, pointer: &str) -> bool {
        self.value.pointer(pointer).and_then(Value::as_bool) == Some(true)
    }

    fn lacks(&self, pointer: &'static str) -> EventError {
        EventError::Lacks {
            ci: Ci::GitHub,
            event: self.event.to_owned(),
            field: pointer,
        }
    }
}
