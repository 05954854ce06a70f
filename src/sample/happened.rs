//! What became of a stage's events.

use serde::{Deserialize, Serialize};

use crate::unit::Nanos;

/// An event of a stage, with what became of it. Instants are nanoseconds since the stage's start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Happened {
    /// Its name.
    pub name: String,
    /// What was to be done: `docker kill engine-2`, `kill replica 2 for 20s`.
    pub what: String,
    /// When it was to be done.
    #[serde(rename = "planned_ns")]
    pub planned: Nanos,
    /// How long it lasts, where it says so itself.
    #[serde(rename = "lasts_ns", default, skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Nanos>,
    /// When it was begun; `None` where it was not.
    #[serde(rename = "began_ns", default, skip_serializing_if = "Option::is_none")]
    pub began: Option<Nanos>,
    /// When that was done, or given up.
    #[serde(rename = "ended_ns", default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Nanos>,
    /// How it went.
    pub outcome: EventOutcome,
    /// The end of what the command or server said, secrets masked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

/// How an event went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EventOutcome {
    /// It was done.
    Done,
    /// It was tried, and failed.
    Failed {
        /// Why.
        why: String,
    },
    /// It was not tried.
    NotTried {
        /// Why not.
        why: String,
    },
}

impl EventOutcome {
    /// Why it was not done; `None` where it was.
    pub fn trouble(&self) -> Option<&str> {
        match self {
            Self::Done => None,
            Self::Failed { why } | Self::NotTried { why } => Some(why),
        }
    }
}
