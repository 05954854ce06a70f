//! What loading leaves behind, and what it keeps on the way.

use std::sync::Arc;

use tokio::time::Instant;

use super::beside::Beside;
use super::soaking::{Kept, Soaking};
use crate::archive::{ArchiveError, BadLine, Journal, RecordReader, RecordWriter};
use crate::load::LoadEvent;
use crate::plan::{Phase, Plan};
use crate::sample::{Pause, RequestRecord, SoakMark, StageObservation, StopReason};
use crate::spec::Stage;
use crate::summary::{RunEnd, Saturation, SkippedStage, StageSummary, soak_view};
use crate::unit::Nanos;

/// Records that are copied before the disk is waited for.
const AT_ONCE: u64 = 50_000;

/// What loading leaves behind.
pub(super) struct Loaded {
    pub(super) writer: RecordWriter,
    /// Records that were handed to the writer.
    written: u64,
    pub(super) stages: Vec<StageSummary>,
    /// What was seen of each stage.
    pub(super) observations: Vec<StageObservation>,
    pub(super) skipped: Vec<SkippedStage>,
    pub(super) end: RunEnd,
    pub(super) elapsed_s: f64,
    /// When this process began to measure.
    pub(super) began: Instant,
    /// Where what has ended is noted; `None` of runs that nobody goes on with.
    pub(super) journal: Option<Journal>,
    /// The stage that was cut off, until it goes on.
    pub(super) kept: Option<Kept>,
    /// Sessions of its window that were begun.
    begun: u32,
}

impl Loaded {
    /// Nothing yet.
    pub(super) fn new(writer: RecordWriter, end: RunEnd) -> Self {
        Self {
            writer,
            written: 0,
            stages: Vec::new(),
            observations: Vec::new(),
            skipped: Vec::new(),
            end,
            elapsed_s: 0.0,
            began: Instant::now(),
            journal: None,
            kept: None,
            begun: 0,
        }
    }

    /// Takes the records over that are kept of a run that was cut off: of stages that had ended, and of the
    /// one that goes on those of its whole windows.
    pub(super) fn copy(
        &mut self,
        records: RecordReader,
        ended: impl Fn(u32) -> bool,
    ) -> Result<(), Uncopied> {
        let mark = self.kept.as_ref().map(|kept| kept.mark.clone());
        // Beyond the mark nobody has seen to it that they are whole.
        let most = mark.as_ref().map_or(u64::MAX, |mark| mark.records);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let (mut found, mut flushed) = (0, false);
        for record in records.take(most) {
            let record = match record {
                Ok(record) => record,
                // Without a mark all that is kept was written before it was cut off.
                Err(BadLine::CutOff { .. }) if mark.is_none() => break,
                Err(bad) => return Err(Uncopied::Bad(bad)),
            };
            found += 1;
            let goes_on = mark.as_ref().filter(|mark| mark.stage == record.stage);
            let keeps = match goes_on {
                Some(mark) => record.scheduled < mark.until(),
                None => ended(record.stage),
            };
            if !keeps {
                continue;
            }
            if goes_on.is_some() {
                if !flushed {
                    // Records of the stage that goes on lie together.
                    self.writer.flush()?;
                    flushed = true;
                }
                if record.phase == Phase::Measured {
                    let number = record.conversation.unwrap_or(record.index);
                    self.begun = self.begun.max(number.saturating_add(1));
                }
            }
            self.append(record)?;
            if self.written.is_multiple_of(AT_ONCE) {
                self.writer.settle()?;
            }
        }
        if !flushed {
            self.writer.flush()?;
        }
        match mark {
            Some(mark) if found < mark.records => Err(Uncopied::Short {
                found,
                marked: mark.records,
            }),
            _ => Ok(()),
        }
    }

    fn append(&mut self, record: RequestRecord) -> Result<(), ArchiveError> {
        self.written += 1;
        self.writer.append(record)
    }

    /// The plan of what is left, where this stage was cut off.
    pub(super) fn rest(&self, plan: &Plan, index: usize) -> Option<Arc<Plan>> {
        let kept = self.kept.as_ref()?;
        let mark = Some(&kept.mark).filter(|mark| mark.stage as usize == index)?;
        Some(Arc::new(plan.without(index, mark.measured(), self.begun)))
    }

    /// What is kept of this stage, where it was cut off.
    pub(super) fn kept_of(&mut self, index: usize) -> Option<Kept> {
        self.kept.take_if(|kept| kept.mark.stage as usize == index)
    }

    /// Whether a stage was run already.
    pub(super) fn has(&self, stage: &Stage) -> bool {
        self.stages.iter().any(|before| before.name == stage.name)
    }

    /// Keeps a stage that was run, with its pauses.
    pub(super) fn take(&mut self, stage: &Stage, summary: StageSummary, pauses: Vec<Pause>) {
        let overloaded = summary
            .load_state
            .is_some_and(|load| load.state == Saturation::Overloaded);
        let stops = stage.stop_when.is_some_and(|stop| stop.overload);
        let soak = stage.soak;
        let soak = soak.map(|soak| soak_view(soak, &summary.windows, summary.window_s, pauses));
        self.stages.push(StageSummary {
            soak,
            stopped: summary
                .stopped
                .or((overloaded && stops).then_some(StopReason::Overload)),
            ..summary
        });
    }

    /// Notes the last stage in the journal.
    pub(super) fn journal_last(&mut self) -> Result<(), ArchiveError> {
        let Some((journal, stage)) = self.journal.clone().zip(self.stages.last().cloned()) else {
            return Ok(());
        };
        let skipped = self.skipped.clone();
        self.writer.then(move || journal.ended(&stage, &skipped))
    }

    /// Notes all that is there already, of a run that goes on.
    pub(super) fn journal_all(&mut self) -> Result<(), ArchiveError> {
        let Some(journal) = self.journal.clone() else {
            return Ok(());
        };
        let (stages, skipped) = (self.stages.clone(), self.skipped.clone());
        let mark = self.kept.as_ref().map(|kept| SoakMark {
            records: self.written,
            ..kept.mark.clone()
        });
        self.writer.then(move || {
            for stage in &stages {
                journal.ended(stage, &skipped)?;
            }
            mark.map_or(Ok(()), |mark| journal.mark(&mark))
        })
    }

    /// Whether a stage is a step of a sweep that has ended; notes it then.
    pub(super) fn skips(&mut self, stage: &Stage) -> bool {
        let ended = self.stages.iter().find_map(|before| {
            let same = before.name.split_once('@').map(|(sweep, _)| sweep) == stage.sweep();
            let reason = before.stopped.filter(|_| same && stage.sweep().is_some())?;
            Some(SkippedStage {
                name: stage.name.clone(),
                after: before.name.clone(),
                reason,
            })
        });
        let skips = ended.is_some();
        self.skipped.extend(ended);
        skips
    }
}

/// Why records of a run that was cut off can't be taken over.
#[derive(Debug, thiserror::Error)]
pub(super) enum Uncopied {
    /// A file could not be read or written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A line is none.
    #[error("{0}")]
    Bad(BadLine),
    /// There are fewer than were marked as written.
    #[error("{found} records are there and {marked} were written")]
    Short {
        /// So many are there.
        found: u64,
        /// So many were.
        marked: u64,
    },
}

/// The records and windows of a stage under way.
pub(super) struct Taking<'a> {
    loaded: &'a mut Loaded,
    soaking: Option<Soaking>,
    written: Result<(), ArchiveError>,
}

impl<'a> Taking<'a> {
    /// Of a stage that begins.
    pub(super) fn new(loaded: &'a mut Loaded, soaking: Option<Soaking>) -> Self {
        Self {
            loaded,
            soaking,
            written: Ok(()),
        }
    }

    /// A record.
    pub(super) fn keep(&mut self, record: RequestRecord) {
        match &mut self.soaking {
            Some(soaking) => {
                let records = soaking.take(record);
                self.append(records);
            }
            None => self.append(vec![record]),
        }
    }

    fn append(&mut self, records: Vec<RequestRecord>) {
        for record in records {
            if self.written.is_ok() {
                self.written = self.loaded.append(record);
            }
        }
    }

    /// What the stage tells. Windows that became whole are noted, once their records are on the disk.
    pub(super) fn hear(&mut self, event: &LoadEvent, beside: Option<&Beside>) {
        let Some(mut mark) = (self.soaking.as_mut()).and_then(|soak| soak.hear(event, beside))
        else {
            return;
        };
        // Records that waited are written first.
        let records = self.soaking.as_mut().map(Soaking::release);
        self.append(records.unwrap_or_default());
        mark.records = self.loaded.written;
        if let (Some(journal), Ok(())) = (self.loaded.journal.clone(), &self.written) {
            self.written = self.loaded.writer.then(move || journal.mark(&mark));
        }
    }

    /// The stage is over; its window opened there.
    pub(super) fn end(mut self, opened: Nanos) -> Result<Option<Soaking>, ArchiveError> {
        let records = self.soaking.as_mut().map(|soak| soak.last(opened));
        self.append(records.unwrap_or_default());
        self.written?;
        Ok(self.soaking)
    }
}
