//! Why figures moved: from what client, engine and GPUs say of both sides to causes, with the evidence
//! for each. It never decides: a verdict stands without it, and where nothing tells, it says so.

mod causes;
mod moved;
mod signal;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use causes::Cause;
pub use signal::Signal;

use crate::compare::{Arrangement, Sides, in_order};
use crate::summary::{EngineView, GpuView, Run, StageSummary};
use causes::Stage;
use moved::Moved;

/// What is complained of: a stage, and which way its gated cells moved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Complaint {
    /// The stage; `None` is each one, of cells that pool them.
    pub stage: Option<String>,
    /// Which way.
    pub way: Way,
}

/// Which way the gated cells of a stage moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// They are better.
    Better,
    /// They could not be measured, by the client's fault.
    Unmeasured,
    /// They are worse.
    Worse,
}

/// One cause of what moved in a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Diagnosis {
    /// The stage.
    pub stage: String,
    /// The cause.
    pub cause: Cause,
    /// Whether it made the stage worse; else better.
    pub worse: bool,
    /// What shows it, the most telling first.
    pub evidence: Vec<Evidence>,
    /// What would have told more, and why it is not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<Lack>,
}

/// One figure on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Evidence {
    /// Which.
    pub signal: Signal,
    /// Mean over the baseline's runs, in the signal's unit.
    pub baseline: f64,
    /// The same of the candidate's.
    pub candidate: f64,
    /// The change: as a fraction of the baseline's, or for shares as a difference.
    pub change: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Whether it is a difference.
    pub points: bool,
}

/// A source that did not speak.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Lack {
    /// The engine's metrics.
    Engine {
        /// Why.
        why: String,
    },
    /// Its times in the queue and with the prompt.
    EngineTimes,
    /// The GPUs.
    Gpu {
        /// Why.
        why: String,
    },
}

/// A queue, a lag or a delay of less than this part of the time to first token doesn't matter.
const GRAIN: f64 = 0.02;

/// The causes of each complaint, stage by stage. `uniform` is whether all cells moved alike.
pub fn diagnose(sides: &Sides<'_>, complaints: &[Complaint], uniform: bool) -> Vec<Diagnosis> {
    let ordered = in_order(sides);
    let paired = ordered.arrangement == Arrangement::Interleaved;
    let (baseline, candidate) = (&ordered.baseline, &ordered.candidate);
    if ordered.arrangement == Arrangement::SameRun {
        return Vec::new();
    }
    let names = candidate.first().into_iter().flat_map(|run| &run.stages);
    let mut found = Vec::new();
    for name in names.map(|stage| stage.name.as_str()) {
        let about = complaints.iter().filter(|complaint| {
            let of = complaint.stage.as_deref();
            of.is_none_or(|of| of == name)
        });
        // A stage that is worse in one cell and better in another is asked why it is worse.
        let Some(way) = about.map(|complaint| complaint.way).max() else {
            continue;
        };
        let worse = way != Way::Better;
        let both = Both::new(baseline, candidate, name, paired);
        let stage = Stage {
            moved: both.moved(),
            worse,
            client_at_fault: both.client_at_fault(),
            uniform,
        };
        let mut causes = stage.causes();
        // What was not measured can't be asked why it moved.
        causes.retain(|(cause, _)| way != Way::Unmeasured || *cause == Cause::Client);
        found.extend(causes.into_iter().map(|(cause, signals)| {
            let evidence = signals.iter().filter_map(|signal| stage.moved.get(signal));
            Diagnosis {
                stage: name.to_owned(),
                cause,
                worse,
                evidence: evidence.filter_map(Evidence::of).collect(),
                lacks: both.lacks(cause, &stage),
            }
        }));
    }
    found
}

impl Evidence {
    /// `None` where a figure is beyond all numbers.
    fn of(moved: &Moved) -> Option<Self> {
        let points = moved.signal.scale() == signal::Scale::Points;
        let change = |value: f64| if points { value } else { value.exp_m1() };
        let evidence = Self {
            signal: moved.signal,
            baseline: moved.baseline,
            candidate: moved.candidate,
            change: change(moved.estimate),
            low: change(moved.low),
            high: change(moved.high),
            points,
        };
        let figures = [
            evidence.baseline,
            evidence.candidate,
            evidence.low,
            evidence.high,
        ];
        figures
            .iter()
            .all(|figure| figure.is_finite())
            .then_some(evidence)
    }
}

/// One stage in the runs of both sides.
struct Both<'a> {
    baseline: Vec<&'a StageSummary>,
    candidate: Vec<&'a StageSummary>,
    paired: bool,
}

impl<'a> Both<'a> {
    fn new(baseline: &[&'a Run], candidate: &[&'a Run], name: &str, paired: bool) -> Self {
        let of = |run: &&'a Run| run.stages.iter().find(|stage| stage.name == name);
        let pairs = baseline.iter().zip(candidate);
        let whole: Option<Vec<_>> = pairs
            .filter(|_| paired)
            .map(|(base, head)| Some((of(base)?, of(head)?)))
            .collect();
        match whole.filter(|pairs| !pairs.is_empty()) {
            Some(pairs) => {
                let (baseline, candidate) = pairs.into_iter().unzip();
                Self {
                    baseline,
                    candidate,
                    paired: true,
                }
            }
            None => Self {
                baseline: baseline.iter().filter_map(of).collect(),
                candidate: candidate.iter().filter_map(of).collect(),
                paired: false,
            },
        }
    }

    fn moved(&self) -> BTreeMap<Signal, Moved> {
        let read = |stages: &[&StageSummary], signal: Signal| -> Vec<Option<f64>> {
            stages.iter().map(|stage| signal.read(stage)).collect()
        };
        let known = |values: &[Option<f64>]| values.iter().flatten().copied().collect::<Vec<_>>();
        let ttft = known(&read(&self.baseline, Signal::Ttft));
        let grain = GRAIN * crate::stats::mean(&ttft).unwrap_or(0.0);
        let mut moved = BTreeMap::new();
        for signal in Signal::ALL {
            let mut base = read(&self.baseline, signal);
            let mut head = read(&self.candidate, signal);
            if self.paired {
                // A pair of which one side says nothing says nothing.
                for (one, other) in base.iter_mut().zip(&mut head) {
                    if one.is_none() || other.is_none() {
                        (*one, *other) = (None, None);
                    }
                }
            }
            let (base, head) = (known(&base), known(&head));
            let grain = grain.max(f64::MIN_POSITIVE);
            if let Some(seen) = Moved::new(signal, &base, &head, self.paired, grain) {
                moved.insert(signal, seen);
            }
        }
        moved
    }

    fn client_at_fault(&self) -> bool {
        let faulty = |stages: &[&StageSummary]| {
            let at_fault = stages.iter().filter(|stage| signal::client_at_fault(stage));
            2 * at_fault.count() > stages.len()
        };
        faulty(&self.candidate) && !faulty(&self.baseline)
    }

    /// What would have told more where a cause is not known for sure.
    fn lacks(&self, cause: Cause, stage: &Stage) -> Vec<Lack> {
        if !matches!(
            cause,
            Cause::Unclear | Cause::BeforeFirstToken | Cause::Uniform
        ) {
            return Vec::new();
        }
        let mut lacks = BTreeSet::new();
        for seen in self.baseline.iter().chain(&self.candidate) {
            if let Some(EngineView::Unknown { why }) = &seen.engine {
                lacks.insert(Lack::Engine { why: why.clone() });
            }
            if let Some(GpuView::Unknown { why }) = &seen.gpus {
                lacks.insert(Lack::Gpu { why: why.clone() });
            }
        }
        let engine = lacks.iter().any(|lack| matches!(lack, Lack::Engine { .. }));
        let times = [Signal::Queue, Signal::Prefill];
        if !engine && times.iter().any(|time| !stage.moved.contains_key(time)) {
            lacks.insert(Lack::EngineTimes);
        }
        lacks.into_iter().collect()
    }
}
