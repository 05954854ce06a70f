//! What followed from a stage's events and bursts: requests lost, attainment gone and back, goodput
//! meanwhile, the backlog and its end.

mod grid;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::class::{Frame, is_good};
use crate::plan::Phase;
use crate::sample::{EventOutcome, Happened, OutcomeKind, RequestRecord};
use crate::spec::{Arrival, Class, RateProfile, Stage};
use crate::unit::Nanos;
use grid::Grid;

/// How far before the first event, at most, what is usual is looked for.
const BEFORE: Nanos = Nanos::from_secs(60);
/// Requests that attainment is looked at by.
const FEWEST: u64 = 20;
/// How far below the usual attainment is still usual, beside chance.
const LEEWAY: f64 = 0.05;
/// How many standard deviations are chance.
const CHANCE: f64 = 3.0;

/// An event of a stage, with what followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EventSummary {
    /// Its name.
    pub name: String,
    /// What was done.
    pub what: String,
    /// When it was planned, from the window's start.
    pub planned_s: f64,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_s: Option<f64>,
    /// How long the command or call took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_s: Option<f64>,
    /// How it went.
    pub outcome: EventOutcome,
    /// The end of what the command or server said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// What followed; `None` where it was not begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aftermath: Option<Aftermath>,
}

/// What followed from an event.
///
/// What is usual is taken from the time before the stage's first event, 60 s of the window at most; each
/// event is held against that, so that one which repairs shows when the damage of another is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Aftermath {
    /// Requests of the window that failed from then until the next event or the window's end, by kind.
    pub lost: BTreeMap<OutcomeKind, u64>,
    /// Attainment before the first event: good by all whose end had come until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attainment_before: Option<f64>,
    /// When attainment was back.
    pub recovery: Recovery,
    /// How long goodput is looked at: while the event lasts, or until the next or the window's end.
    pub while_s: f64,
    /// Good requests a second before the first event, by their ends.
    pub goodput_before_rps: f64,
    /// Good requests a second while it lasted.
    pub goodput_while_rps: f64,
    /// Mean of requests in flight before the first event.
    pub in_flight_before: f64,
    /// Most in flight from then until the next event or the window's end.
    pub in_flight_most: u64,
    /// When the backlog was gone, from the event's end.
    pub drained: Recovery,
}

/// When something was as before again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// It never was otherwise.
    Kept,
    /// So long after.
    After {
        /// Seconds.
        s: f64,
    },
    /// It was not.
    Never {
        /// Until when.
        why: String,
    },
    /// Nobody can tell.
    Absent {
        /// Why.
        why: String,
    },
}

impl Recovery {
    /// Seconds until it was as before, 0 where it stayed so; `None` where it was not.
    pub const fn seconds(&self) -> Option<f64> {
        match self {
            Self::Kept => Some(0.0),
            Self::After { s } => Some(*s),
            Self::Never { .. } | Self::Absent { .. } => None,
        }
    }
}

impl Aftermath {
    /// Requests lost in all.
    pub fn lost(&self) -> u64 {
        self.lost.values().sum()
    }

    /// Goodput while it lasted by goodput before: the capacity that remained, where the load was at or
    /// above it. 3.9/s of 8.0/s are 0.4875; `None` where nothing was good before.
    pub fn remaining(&self) -> Option<f64> {
        (self.goodput_before_rps > 0.0).then(|| self.goodput_while_rps / self.goodput_before_rps)
    }
}

/// What followed from a stage's bursts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Bursts {
    /// Bursts that began in the window and ended in it.
    pub bursts: u64,
    /// Of those, whose backlog was gone before the next burst and the window's end.
    pub drained: u64,
    /// Mean of requests in flight before the first.
    pub in_flight_before: f64,
    /// Most in flight in or after any of them.
    pub in_flight_most: u64,
    /// Median of the times from a burst's end until its backlog was gone, of those where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_median_s: Option<f64>,
    /// The longest of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_max_s: Option<f64>,
}

/// What is gathered of a stage's records, in bounded memory: 2^15 slices at the most.
pub(super) struct Gathered<'a> {
    classes: &'a [Class],
    frame: Frame,
    grid: Grid,
    /// Events that were begun, in order of time; none where the stage has none.
    events: Vec<Happened>,
    lost: Vec<BTreeMap<OutcomeKind, u64>>,
    /// Good requests and all, of those before the first event whose end had come.
    settled: (u64, u64),
    bursts: Option<(Nanos, Nanos)>,
}

impl<'a> Gathered<'a> {
    /// `None` of a stage in which nothing happens.
    pub(super) fn new(
        stage: &Stage,
        classes: &'a [Class],
        frame: Frame,
        happened: &[Happened],
    ) -> Option<Self> {
        let bursts = match stage.arrival {
            Arrival::Open {
                profile: RateProfile::Burst { every, lasting, .. },
                ..
            } => Some((every, lasting)),
            Arrival::Closed { .. } | Arrival::Open { .. } | Arrival::Trace(_) => None,
        };
        let begun = |event: &&Happened| event.began.is_some_and(|at| frame.contains(at));
        let mut events: Vec<Happened> = happened.iter().filter(begun).cloned().collect();
        events.sort_by_key(|event| event.began);
        if events.is_empty() && bursts.is_none() {
            return None;
        }
        Some(Self {
            classes,
            frame,
            grid: Grid::new(frame),
            lost: vec![BTreeMap::new(); events.len()],
            events,
            settled: (0, 0),
            bursts,
        })
    }

    /// A record, in one pass.
    pub(super) fn see(&mut self, record: &RequestRecord) {
        if let Some(sent) = record.sent {
            self.grid
                .flew(sent, record.done.unwrap_or(Nanos::new(u64::MAX)));
        }
        if record.phase != Phase::Measured {
            return;
        }
        let kind = record.outcome.kind();
        let end = record.done.unwrap_or(record.scheduled);
        if kind != OutcomeKind::Cancelled {
            let good = is_good(record, self.classes, self.frame.from_schedule);
            self.grid.ended(record.scheduled, end, good);
            if let Some(first) = self.first()
                && end < first
                && record.scheduled >= first.since(BEFORE)
            {
                self.settled.0 += u64::from(good);
                self.settled.1 += 1;
            }
        }
        if kind.is_error() {
            // What was cut at the stage's end counts to the last event.
            let after = self
                .events
                .iter()
                .rposition(|e| e.began.is_some_and(|at| at <= end));
            if let Some(after) = after {
                *self.lost[after].entry(kind).or_default() += 1;
            }
        }
    }

    fn first(&self) -> Option<Nanos> {
        self.events.first()?.began
    }

    /// After the pass: each event by its name, and the bursts.
    pub(super) fn finish(self) -> (BTreeMap<String, Aftermath>, Option<Bursts>) {
        let bursts = self
            .bursts
            .map(|(every, lasting)| self.after_bursts(every, lasting));
        let mut out = BTreeMap::new();
        let begun: Vec<Nanos> = self.events.iter().filter_map(|event| event.began).collect();
        for index in 0..begun.len() {
            out.insert(self.events[index].name.clone(), self.after(index, &begun));
        }
        (out, bursts)
    }

    fn after(&self, index: usize, begun: &[Nanos]) -> Aftermath {
        let event = &self.events[index];
        let (first, began) = (begun[0], begun[index]);
        let from = first.since(BEFORE).max(self.frame.start);
        let next = begun.get(index + 1).copied().unwrap_or(self.frame.end);
        let over = event.lasts.map_or(next, |lasts| (began + lasts).min(next));
        let (good, of) = self.settled;
        let usual = (of >= FEWEST).then(|| good as f64 / of as f64);
        let before = self.grid.level(from, first);
        // Of what has no length of its own, the end is that of the action.
        let end = match event.lasts {
            Some(_) => over,
            None => event.ended.unwrap_or(began).min(next),
        };
        Aftermath {
            lost: self.lost[index].clone(),
            attainment_before: usual,
            recovery: match usual {
                None => Recovery::Absent {
                    why: format!(
                        "only {of} requests ended before the first event, {FEWEST} tell what is usual"
                    ),
                },
                Some(usual) => self.back(usual, index, begun),
            },
            while_s: over.since(began).as_secs_f64(),
            goodput_before_rps: self.grid.good_rate(from, first),
            goodput_while_rps: self.grid.good_rate(began, over),
            in_flight_before: before,
            in_flight_most: self.grid.most(began, next),
            drained: self.drained(before, began, end, next),
        }
    }

    /// When attainment was back for good: at the end of the last bad stretch before the next event; where
    /// it is not back by then, before the one after that.
    ///
    /// A stretch is as many slices as 20 requests are due in. It is bad where fewer are good than
    /// `n·p − 3·√(n·p·(1−p)) − n·5 %`: of 20 at p = 1 fewer than 19, at p = 0.9 fewer than 12.98.
    fn back(&self, usual: f64, index: usize, begun: &[Nanos]) -> Recovery {
        let bad = |good: u64, of: u64| {
            let (good, n) = (good as f64, of as f64);
            let chance = CHANCE * (n * usual * (1.0 - usual)).sqrt();
            good < n * usual - chance - n * LEEWAY
        };
        let began = begun[index];
        for segment in index..begun.len() {
            let from = begun[segment];
            let to = begun.get(segment + 1).copied().unwrap_or(self.frame.end);
            match self.grid.last_bad(from, to, FEWEST, bad) {
                grid::Bad::Never if segment == index => return Recovery::Kept,
                grid::Bad::Never => {
                    return Recovery::After {
                        s: from.since(began).as_secs_f64(),
                    };
                }
                grid::Bad::Until(at) => {
                    return Recovery::After {
                        s: at.since(began).as_secs_f64(),
                    };
                }
                grid::Bad::Still => {}
                grid::Bad::TooFew => {
                    return Recovery::Absent {
                        why: format!("fewer than {FEWEST} requests were due after it"),
                    };
                }
            }
        }
        Recovery::Never {
            why: "attainment was not back when the window ended".to_owned(),
        }
    }

    /// When no more was in flight than usually: the mean before, two standard deviations of a Poisson
    /// level, and one.
    fn drained(&self, before: f64, began: Nanos, end: Nanos, until: Nanos) -> Recovery {
        let usual = before + 2.0 * before.sqrt() + 1.0;
        if self.grid.most(began, until) as f64 <= usual {
            return Recovery::Kept;
        }
        match self.grid.down_to(usual, end, until) {
            Some(at) => Recovery::After {
                s: at.since(end).as_secs_f64(),
            },
            None => Recovery::Never {
                why: "the backlog was not gone before the next event or the window's end"
                    .to_owned(),
            },
        }
    }

    fn after_bursts(&self, every: Nanos, lasting: Nanos) -> Bursts {
        let Frame { start, end, .. } = self.frame;
        let before = self.grid.level(start, start + every);
        let mut out = Bursts {
            bursts: 0,
            drained: 0,
            in_flight_before: before,
            in_flight_most: 0,
            drain_median_s: None,
            drain_max_s: None,
        };
        let mut times = Vec::new();
        let mut began = start + every;
        while began + lasting < end {
            let next = (began + every).min(end);
            out.bursts += 1;
            out.in_flight_most = out.in_flight_most.max(self.grid.most(began, next));
            let drained = self.drained(before, began, began + lasting, next);
            times.extend(drained.seconds());
            began = began + every;
        }
        out.drained = times.len() as u64;
        out.drain_max_s = times.iter().copied().max_by(f64::total_cmp);
        out.drain_median_s = crate::stats::median(times);
        out
    }
}

/// Events as a run keeps them.
pub(super) fn events(
    happened: &[Happened],
    frame: Frame,
    mut found: BTreeMap<String, Aftermath>,
) -> Vec<EventSummary> {
    let since = |at: Nanos| at.since(frame.start).as_secs_f64();
    happened
        .iter()
        .map(|event| EventSummary {
            name: event.name.clone(),
            what: event.what.clone(),
            planned_s: since(event.planned),
            began_s: event.began.map(since),
            took_s: event
                .began
                .zip(event.ended)
                .map(|(began, ended)| ended.since(began).as_secs_f64()),
            outcome: event.outcome.clone(),
            output: event.output.clone(),
            aftermath: found.remove(&event.name),
        })
        .collect()
}
