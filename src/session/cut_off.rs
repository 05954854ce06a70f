//! A run that was cut off, and what the run that goes on with it takes over.

use std::path::PathBuf;

use super::error::MeasureError;
use super::loaded::{Loaded, Uncopied};
use super::soaking::Kept;
use crate::archive::{Journalled, RecordReader};
use crate::plan::Plan;

/// A run that was cut off.
#[derive(Debug, Clone, PartialEq)]
pub struct CutOff {
    /// What its journal says.
    pub journalled: Journalled,
    /// Its records.
    pub records: PathBuf,
    /// From when it began to measure until now.
    pub since_s: f64,
}

impl CutOff {
    /// Measured time that is kept: of stages that ended, and of whole windows.
    pub fn measured_s(&self) -> f64 {
        let Journalled { stages, mark, .. } = &self.journalled;
        let ended: f64 = stages.iter().map(|stage| stage.window_s).sum();
        ended
            + mark
                .as_ref()
                .map_or(0.0, |mark| mark.measured().as_secs_f64())
    }

    /// Hands over what is kept.
    pub(super) fn take_over(self, plan: &Plan, loaded: &mut Loaded) -> Result<(), MeasureError> {
        let Journalled {
            begun,
            stages,
            skipped,
            mark,
        } = self.journalled;
        (loaded.stages, loaded.skipped) = (stages, skipped);
        loaded.kept = mark.map(|mark| Kept {
            paused_s: (self.since_s - mark.at_s).max(0.0),
            run: begun.run.id,
            mark,
        });
        let names: Vec<&str> = loaded.stages.iter().map(|one| one.name.as_str()).collect();
        let planned = plan.stages();
        let ended: Vec<bool> = planned
            .iter()
            .map(|planned| names.contains(&planned.stage.name.as_str()))
            .collect();
        // Steps that refined a sweep are behind those of the plan.
        let refined = names.len() > ended.iter().filter(|ended| **ended).count();
        let ended = move |stage: u32| ended.get(stage as usize).copied().unwrap_or(refined);
        if loaded.stages.is_empty() && loaded.kept.is_none() {
            return Ok(());
        }
        let records = RecordReader::open(&self.records)?;
        loaded
            .copy(records, ended)
            .map_err(|uncopied| match uncopied {
                Uncopied::Archive(error) => error.into(),
                Uncopied::Bad(_) | Uncopied::Short { .. } => MeasureError::NotKept {
                    path: self.records,
                    why: uncopied.to_string(),
                },
            })
    }
}
