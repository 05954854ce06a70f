//! What a run keeps of being one of several shards, or of having been put together from them.

use serde::{Deserialize, Serialize};

use super::health::ClientHealth;
use super::model::ClientStamp;
use crate::sample::{ClockSkew, StageObservation};

/// A run that is one of several shards: it cannot be judged alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ShardStamp {
    /// Which, from 1.
    pub index: u32,
    /// Of how many.
    pub count: u32,
    /// When all of them began, RFC 3339.
    pub start_at: String,
    /// How far its clock is off the target's; `None` where the target does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockSkew>,
    /// What it saw of each stage, to be put together.
    pub observations: Vec<StageObservation>,
}

/// A shard that a run was put together from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MergedShard {
    /// Which, from 1.
    pub index: u32,
    /// Its run.
    pub id: String,
    /// Who measured.
    pub client: ClientStamp,
    /// How far its clock was off the target's, where that said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockSkew>,
    /// How its client fared in each stage.
    pub health: Vec<ClientHealth>,
}
