//! What GPUs did in a stage's window.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::engine::Gauge;
use crate::sample::Throttle;

/// The GPUs' side of a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GpuView {
    /// They were looked at.
    Seen(Vec<GpuFigures>),
    /// They were not.
    Unknown {
        /// Why not.
        why: String,
    },
}

/// One GPU over the measured window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuFigures {
    /// Which, as the driver numbers them.
    pub index: u32,
    /// Looks at it.
    pub samples: u32,
    /// Power drawn, in watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_w: Option<Gauge>,
    /// Share of time in which a kernel ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilization: Option<Gauge>,
    /// Clock of the multiprocessors, in MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_clock_mhz: Option<Gauge>,
    /// Temperature, in °C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<Gauge>,
    /// Memory in use, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_used: Option<Gauge>,
    /// Share of the looks in which something held the clocks back, by what.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub throttled: BTreeMap<Throttle, f64>,
}
