//! Where a command measures, run after run.

use super::launch::Launchpad;
use super::target::{RunningTarget, TargetError};
use crate::load::Stop;
use crate::spec::TargetPlace;

/// One side of a measurement: URLs and the embedded engine stay up from the first run to the last, a
/// launched engine is started anew for each, so that none finds what an earlier one left behind.
#[derive(Debug)]
pub struct Station {
    place: TargetPlace,
    label: String,
    pad: Launchpad,
    target: Option<RunningTarget>,
    /// Whether even the embedded engine is started anew for each run.
    anew: bool,
}

impl Station {
    /// At this place; logs of a launched engine are called by the label.
    pub fn new(place: TargetPlace, label: &str, pad: Launchpad) -> Self {
        Self {
            place,
            label: label.to_owned(),
            pad,
            target: None,
            anew: false,
        }
    }

    /// Starts the embedded engine anew for each run too: one that was brought down on purpose is no
    /// start for the next.
    #[must_use]
    pub fn starting_anew(self, anew: bool) -> Self {
        let embedded = matches!(self.place, TargetPlace::Sim { .. });
        Self {
            anew: anew && embedded,
            ..self
        }
    }

    /// Whether it is an engine that is started anew for each run.
    pub const fn is_launched(&self) -> bool {
        matches!(self.place, TargetPlace::Launched { .. })
    }

    /// The target for the next run, brought up where it is not.
    pub async fn up(&mut self, stop: Stop) -> Result<&RunningTarget, TargetError> {
        let target = match self.target.take() {
            Some(target) => target,
            None => RunningTarget::start(&self.place, &self.label, &self.pad, stop).await?,
        };
        Ok(self.target.insert(target))
    }

    /// Says that a run is over, which ends a launched engine.
    pub async fn rest(&mut self) {
        if self.is_launched() || self.anew {
            self.down().await;
        }
    }

    /// Ends what was started here.
    pub async fn down(&mut self) {
        if let Some(target) = self.target.take() {
            target.stop().await;
        }
    }
}
