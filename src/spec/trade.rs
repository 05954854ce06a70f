//! A loss in one cell that a gain in another may buy, up to a cap.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::lang::{Said, of_judged};
use crate::metric::Cell;

/// "TTFT p95 may lose 8 % if output throughput gains 15 %": while the gain is shown, the cell's
/// tolerance is the cap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Trade {
    /// The cell that has to gain.
    pub gain: Cell,
    /// By how much it has to be better, as a fraction: 0.15 is 15 % more throughput, or 15 % less
    /// time.
    pub better_by: f64,
    /// The tolerance of the losing cell while the gain is shown, as a fraction.
    pub up_to: f64,
}

impl Trade {
    /// As a sentence.
    pub fn said(&self) -> Said {
        let percent = |ratio: f64| ((ratio * 1e11).round() / 1e9).to_string();
        let args = [
            percent(self.up_to),
            self.gain.to_string(),
            percent(self.better_by),
        ];
        Said::new(of_judged::TRADE, args)
    }
}

impl fmt::Display for Trade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.said().fmt(f)
    }
}
