//! A pin that was seen.

use crate::provenance::PinPath;

/// A pin that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Which.
    pub pin: PinPath,
    /// Its value.
    pub value: String,
    /// Where it was seen.
    pub source: String,
}

impl Seen {
    /// `None` where there is no such pin or the value is empty.
    pub fn new(path: &str, value: impl Into<String>, source: &str) -> Option<Self> {
        let value = value.into();
        let source = source.to_owned();
        let pin = path.parse().ok()?;
        (!value.is_empty()).then_some(Self { pin, value, source })
    }
}
