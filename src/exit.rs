//! The exit codes: the one contract that every CI reads.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};

/// How a command ended. 101 is not here: it is a panic, and always a bug of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// Every gated cell is within tolerance, or better; or the command did what it was asked.
    Pass,
    /// At least one gated cell is worse than its tolerance, or breaks an absolute limit.
    Regression,
    /// Usage, spec or configuration error.
    Usage,
    /// Cannot decide: inconclusive after the last repeat, no baseline, incomparable pins.
    Undecided,
    /// Invalid measurement: target lost, client was the bottleneck, cell missing, interrupted.
    Invalid,
}

impl Exit {
    /// All codes in numeric order.
    pub const ALL: [Self; 5] = [
        Self::Pass,
        Self::Regression,
        Self::Usage,
        Self::Undecided,
        Self::Invalid,
    ];

    /// The process's exit code, 0 to 4.
    pub const fn code(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Regression => 1,
            Self::Usage => 2,
            Self::Undecided => 3,
            Self::Invalid => 4,
        }
    }

    /// What the code means, in one line.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Pass => "pass: every gated cell is within tolerance, or better",
            Self::Regression => {
                "regression: a gated cell is worse than its tolerance, or breaks an absolute limit"
            }
            Self::Usage => "usage, spec or configuration error",
            Self::Undecided => {
                "cannot decide: inconclusive after the last repeat, no baseline, or incomparable pins"
            }
            Self::Invalid => {
                "invalid measurement: target unreachable or lost, client was the bottleneck, gated cell missing, interrupted"
            }
        }
    }

    /// Which of two endings stands when both happened: 2 > 1 > 4 > 3 > 0.
    ///
    /// A proven regression is not hidden by an invalid stage beside it.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        let rank = |exit: Self| match exit {
            Self::Usage => 4,
            Self::Regression => 3,
            Self::Invalid => 2,
            Self::Undecided => 1,
            Self::Pass => 0,
        };
        if rank(other) > rank(self) {
            other
        } else {
            self
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_count_up_from_zero() {
        assert_eq!(Exit::ALL.map(Exit::code), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_regression_outranks_an_invalid_stage() {
        assert_eq!(Exit::Invalid.worst(Exit::Regression), Exit::Regression);
        assert_eq!(Exit::Regression.worst(Exit::Undecided), Exit::Regression);
        assert_eq!(Exit::Undecided.worst(Exit::Invalid), Exit::Invalid);
        assert_eq!(Exit::Pass.worst(Exit::Undecided), Exit::Undecided);
        assert_eq!(Exit::Regression.worst(Exit::Usage), Exit::Usage);
    }
}
