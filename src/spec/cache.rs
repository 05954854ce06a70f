//! What a prefix cache may find of a run's prompts.

use serde::{Deserialize, Serialize};

/// The regime of the prefix cache, made by what prompts share.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CacheRegime {
    /// Nothing is found but a conversation's own history: each request has a salt of its own.
    Cold,
    /// Found is what the requests of one run share: each run has a salt of its own.
    #[default]
    Realistic,
    /// What requests share is there from the start: it has no salt, and is sent before the window.
    Warm,
}

impl CacheRegime {
    /// The name in specs and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Realistic => "realistic",
            Self::Warm => "warm",
        }
    }

    /// Whether it is what a spec gets that says nothing.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
