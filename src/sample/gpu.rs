//! What a GPU said of itself at an instant.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::unit::Nanos;

/// One look at one GPU. What it does not report is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GpuSample {
    /// When, since the stage's start.
    #[serde(rename = "at_ns")]
    pub at: Nanos,
    /// Which, as the driver numbers them.
    pub index: u32,
    /// Power drawn, in watts.
    pub power_w: Option<f64>,
    /// Share of time in which a kernel ran.
    pub utilization: Option<f64>,
    /// Clock of the multiprocessors, in MHz.
    pub sm_clock_mhz: Option<f64>,
    /// Temperature, in °C.
    pub temperature_c: Option<f64>,
    /// Memory in use, in bytes.
    pub memory_used: Option<u64>,
    /// Why its clocks are lower than they could be; empty where nothing holds them back.
    pub throttled: BTreeSet<Throttle>,
}

/// What holds a GPU's clocks back. Idling is none of it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Throttle {
    /// The power limit, by software.
    PowerCap,
    /// Temperature, by software.
    SoftwareThermal,
    /// Temperature, by hardware.
    HardwareThermal,
    /// The external power brake.
    PowerBrake,
    /// Hardware, for one of these reasons or another.
    HardwareSlowdown,
    /// It follows the clocks of another in its group.
    SyncBoost,
    /// Clocks were set by somebody.
    ClocksSetting,
}
