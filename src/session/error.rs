//! Why a run could not be taken.

use std::path::PathBuf;

use crate::archive::ArchiveError;
use crate::load::{ClientError, StartError};
use crate::probe::ProbeError;
use crate::provenance::{Declared, Observation, PinPath, Pins};

/// Why a run could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The target did not answer, or not what is needed.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// The target is not what the spec says; found before any load.
    #[error(
        "the target is not what the spec declares: {}; correct `pins` or the target, then run again",
        list(differences)
    )]
    Contradiction {
        /// Each pin with what is declared and what was seen.
        differences: Vec<(PinPath, String, String)>,
    },
    /// Two replicas are not the same.
    #[error(
        "the target's replicas differ in `{pin}`: `{}` at `{}`, `{}` at `{}`; requests go to each in turn,          so all have to be the same",
        first.1, first.0, other.1, other.0
    )]
    ReplicasDiffer {
        /// In this pin.
        pin: PinPath,
        /// The first replica's URL and what was seen there.
        first: (String, String),
        /// Those of the one that differs.
        other: (String, String),
    },
    /// The user asked to stop before there was anything to keep.
    #[error("interrupted before any request was sent")]
    Interrupted,
    /// The load client could not be made.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The load client could not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The instant that all shards have agreed on has passed.
    #[error(
        "stage `{stage}` of the shared run should have begun already; start every shard earlier than `--start-at`, by the time that probing the target takes, and run all of them again"
    )]
    TooLate {
        /// The stage.
        stage: String,
    },
    /// What is kept of a run that was cut off can't be used.
    #[error(
        "cannot go on with `{}`: {why}; start a new session without `--resume`", path.display()
    )]
    NotKept {
        /// Its records.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// A file could not be written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

fn list(differences: &[(PinPath, String, String)]) -> String {
    let each: Vec<String> = differences
        .iter()
        .map(|(pin, declared, seen)| format!("`{pin}` is declared `{declared}` and seen `{seen}`"))
        .collect();
    each.join(", ")
}

/// Refuses a target of which a pin is declared one way and seen another.
pub(super) fn refuse_contradictions(pins: &Pins) -> Result<(), MeasureError> {
    let differences: Vec<_> = pins
        .iter()
        .filter(|(path, pin)| pin.contradicts(**path))
        .filter_map(|(path, pin)| match (&pin.declared, &pin.observed) {
            (Some(Declared::Literal(declared)), Observation::Seen { value, .. }) => {
                Some((*path, declared.clone(), value.clone()))
            }
            _ => None,
        })
        .collect();
    if differences.is_empty() {
        Ok(())
    } else {
        Err(MeasureError::Contradiction { differences })
    }
}
