//! What is kept of a soak after each of its windows, so that one that is cut off can go on.

use serde::{Deserialize, Serialize};

use super::pause::{EngineTrack, Pause};
use super::stage::Pulse;
use crate::unit::Nanos;

/// How far a soak has come: written after each window in which every request has ended. Of what lies before
/// the last of them nothing is measured again. Instants are nanoseconds on the clock of its records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoakMark {
    /// Index of the stage in the plan.
    pub stage: u32,
    /// Start of the measured window.
    pub window_start: Nanos,
    /// Length of its windows.
    pub window: Nanos,
    /// Windows that are whole.
    pub windows: u64,
    /// Records in the run's file by then, of all its stages.
    pub records: u64,
    /// From the start of the process that measured to the end of the last whole window.
    pub at_s: f64,
    /// Most requests in flight that were seen so far.
    pub in_flight_max: u32,
    /// How the client fared since the mark before: a pulse a window.
    pub pulses: Vec<Pulse>,
    /// What the engine's metrics say of each window since the mark before.
    pub looks: Vec<WindowLook>,
    /// What tells the engine from one that was started anew.
    pub engines: Vec<EngineTrack>,
    /// Pauses that it had already.
    pub pauses: Vec<Pause>,
}

/// What an engine's metrics say of a window of a soak; absent what it does not say.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct WindowLook {
    /// Share of the KV cache in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kv_usage: Option<f64>,
    /// Blocks of it that can be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kv_blocks: Option<f64>,
    /// Preemptions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<f64>,
    /// Memory of the engine's processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<f64>,
}

impl SoakMark {
    /// The instant up to which everything is kept.
    pub fn until(&self) -> Nanos {
        self.window_start + self.measured()
    }

    /// Measured time that is kept: 7 windows of 60 s are 420 s.
    pub fn measured(&self) -> Nanos {
        Nanos::new(self.window.get().saturating_mul(self.windows))
    }

    /// With what a later mark of the same stage adds; that one alone where it is of another stage.
    #[must_use]
    pub fn then(mut self, later: Self) -> Self {
        if later.stage != self.stage {
            return later;
        }
        self.pulses.extend(later.pulses);
        self.looks.extend(later.looks);
        Self {
            pulses: self.pulses,
            looks: self.looks,
            ..later
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_a_stage_add_up_and_those_of_another_begin_anew() {
        let mark = |stage, windows, usage: &[f64]| SoakMark {
            stage,
            window_start: Nanos::from_secs(10),
            window: Nanos::from_secs(60),
            windows,
            records: 5 * windows,
            at_s: 1.0,
            in_flight_max: 2,
            pulses: Vec::new(),
            looks: usage
                .iter()
                .map(|usage| WindowLook {
                    kv_usage: Some(*usage),
                    ..WindowLook::default()
                })
                .collect(),
            engines: Vec::new(),
            pauses: Vec::new(),
        };
        let both = mark(1, 1, &[0.1]).then(mark(1, 3, &[0.2, 0.3]));
        assert_eq!(both, mark(1, 3, &[0.1, 0.2, 0.3]));
        assert_eq!(both.until(), Nanos::from_secs(10 + 180));
        assert_eq!(both.then(mark(2, 1, &[0.9])), mark(2, 1, &[0.9]));
    }
}
