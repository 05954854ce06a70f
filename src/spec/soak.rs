//! `soak`: a stage that is there for drift over a long time.

use serde::{Serialize, Serializer};

use crate::unit::Nanos;

/// How a soak stage is cut and judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Soak {
    /// Length of its windows; where that makes more than [`Soak::MOST_WINDOWS`], a multiple.
    pub window: Nanos,
    /// How much a figure may move over the whole stage, as a share of its median.
    pub tolerance: f64,
}

impl Soak {
    /// Windows of a stage at the most.
    pub const MOST_WINDOWS: u64 = 1440;

    /// Minutes, and 5 %.
    pub const USUAL: Self = Self {
        window: Nanos::from_secs(60),
        tolerance: 0.05,
    };

    /// The length of a window of a stage of this length.
    ///
    /// Of 12 h a minute, which makes 720; of 48 h two.
    pub fn slice(self, stage: Nanos) -> Nanos {
        let window = self.window.get().max(1);
        let times = stage
            .get()
            .div_ceil(window.saturating_mul(Self::MOST_WINDOWS));
        Nanos::new(window * times.max(1))
    }
}

/// `true` where it is the usual one, as in specs, so that digests of earlier ones stay.
impl Serialize for Soak {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if *self == Self::USUAL {
            return to.serialize_bool(true);
        }
        (self.window, self.tolerance).serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_stage_has_longer_windows() {
        let hours = |hours: u64| Soak::USUAL.slice(Nanos::from_secs(3600 * hours));
        assert_eq!(hours(12), Nanos::from_secs(60));
        assert_eq!(hours(24), Nanos::from_secs(60));
        assert_eq!(hours(48), Nanos::from_secs(120));
        assert_eq!(hours(0), Nanos::from_secs(60));
    }

    #[test]
    fn the_usual_one_is_what_digests_had() {
        assert_eq!(serde_json::to_string(&Soak::USUAL).unwrap(), "true");
        let other = Soak {
            tolerance: 0.1,
            ..Soak::USUAL
        };
        assert_eq!(serde_json::to_string(&other).unwrap(), "[60000000000,0.1]");
    }
}
