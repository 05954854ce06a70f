//! `capacity`: what a service has to carry, and how much room it is to keep.

use serde::{Deserialize, Serialize};

use crate::unit::Rps;

/// What is declared of a service's traffic, and the factors that its replicas are counted by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct CapacityPlan {
    /// Requests a second at the peak; `None` where nobody says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_rps: Option<Rps>,
    /// Requests a second on average over a day, for the bill; `None` where nobody says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic_rps: Option<Rps>,
    /// Users by Little's law times this: 1.3 to 1.5 where load is steady, 1.5 to 2 where it peaks.
    pub redundancy: f64,
    /// Output tokens times this, for load that comes faster than replicas do.
    pub elasticity: f64,
    /// And times this, for a replica that fails.
    pub failure: f64,
    /// Share of the knee's load from which on somebody is to be told.
    pub alert: f64,
    /// Share of requests that have to be good for a load to be within the SLO.
    pub attainment: f64,
}

impl Default for CapacityPlan {
    /// 1.3, 1.2 and 1.2; an alert at 70 % of the knee; 95 % of requests good.
    fn default() -> Self {
        Self {
            peak_rps: None,
            traffic_rps: None,
            redundancy: 1.3,
            elasticity: 1.2,
            failure: 1.2,
            alert: 0.7,
            attainment: 0.95,
        }
    }
}
