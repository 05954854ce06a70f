//! Figures that are known, and why others are not.

use serde::{Deserialize, Serialize};

/// A figure, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Known<T> {
    /// The figure.
    Figure(T),
    /// There is none.
    Unknown(Why),
}

impl<T> Known<T> {
    /// The figure, where there is one.
    pub const fn figure(&self) -> Option<&T> {
        match self {
            Self::Figure(figure) => Some(figure),
            Self::Unknown(_) => None,
        }
    }

    /// Why there is none.
    pub const fn why(&self) -> Option<&Why> {
        match self {
            Self::Figure(_) => None,
            Self::Unknown(why) => Some(why),
        }
    }
}

impl<T> From<Result<T, Why>> for Known<T> {
    fn from(result: Result<T, Why>) -> Self {
        match result {
            Ok(figure) => Self::Figure(figure),
            Err(why) => Self::Unknown(why),
        }
    }
}

/// Why there is no figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The runs have no sweep with two valid steps at least.
    NoSweep,
    /// No class has an SLO, so nobody says what a good answer is.
    NoSlo,
    /// Not even the smallest load kept the SLO.
    NeverWithin {
        /// The smallest load.
        load: f64,
        /// The share of its requests that were good.
        attainment: f64,
    },
    /// The last step still raised the figure: the knee lies beyond it.
    NotReached {
        /// The last load.
        load: f64,
        /// What the last step raised, as a share.
        gain: f64,
    },
    /// No request completed, or none was good.
    NothingGood,
    /// The spec declares no peak (`capacity: {peak: 50/s}`).
    NoPeak,
    /// The spec has no price (`cost: {gpu_hour: 3.50}`).
    NoPrice,
    /// Nobody knows how many GPUs there are (`pins: {hardware: {count: 1}}`).
    NoGpus,
    /// Nobody knows how large the KV cache is: the engine reports no blocks, and no model's configuration
    /// was given.
    NoKv,
    /// There is no load within the SLO to count by.
    NoLoad,
    /// Answers brought no tokens that were counted.
    NoTokens,
}
