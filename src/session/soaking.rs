//! A soak under way: its windows as they become whole, so that one that is cut off can go on.

use tokio::time::Instant;

use super::beside::Beside;
use crate::load::{Live, LoadEvent};
use crate::plan::{Phase, StagePlan};
use crate::sample::{AcrossPause, Move, Pause, Pulse, RequestRecord, SoakMark};
use crate::spec::Extent;
use crate::summary::goes_on;
use crate::unit::Nanos;

/// How long after a window's end a request of it may still be sent, late as it is.
const LATE: Nanos = Nanos::from_millis(500);

/// What is kept of a stage that was cut off.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kept {
    pub(super) mark: SoakMark,
    /// The run that was cut off.
    pub(super) run: String,
    /// From the end of the last window that is kept until this process began to measure.
    pub(super) paused_s: f64,
}

/// Follows a soak.
#[derive(Debug)]
pub(super) struct Soaking {
    stage: u32,
    window: Nanos,
    /// When this process began to measure.
    began: Instant,
    kept: Option<Kept>,
    across: AcrossPause,
    opened: Option<Nanos>,
    /// From the beginning to the window's opening, in seconds of the clock on the wall.
    opened_s: f64,
    /// Windows of this process that are marked.
    marked: u64,
    in_flight_max: u32,
    /// Since the last mark, on the stage's clock.
    pulses: Vec<Pulse>,
    /// Records that came before it was known where the window opens.
    held: Vec<RequestRecord>,
}

impl Soaking {
    /// Of a stage that can be gone on with by its windows; `None` of every other: one that is no soak, one in
    /// which things happen at an instant, one whose end nobody knows.
    pub(super) fn of(index: usize, planned: &StagePlan, began: Instant) -> Option<Self> {
        let stage = &planned.stage;
        let soak = stage.soak.filter(|_| stage.events.is_empty())?;
        let length = match (&planned.schedule, stage.extent) {
            (Some(schedule), _) => schedule.window_end.since(schedule.window_start),
            (None, Extent::Duration(length)) => length,
            (None, Extent::Requests(_)) => return None,
        };
        Some(Self {
            stage: index as u32,
            window: soak.slice(length),
            began,
            kept: None,
            across: AcrossPause::RanOn,
            opened: None,
            opened_s: 0.0,
            marked: 0,
            in_flight_max: 0,
            pulses: Vec::new(),
            held: Vec::new(),
        })
    }

    /// Goes on where it was cut off; the engine was this across the pause.
    #[must_use]
    pub(super) fn after(self, kept: Kept, across: AcrossPause) -> Self {
        Self {
            kept: Some(kept),
            across,
            ..self
        }
    }

    /// From the stage's own clock to that of its records; `None` until the window is open.
    fn there(&self) -> Option<Move> {
        let opened = self.opened?;
        Some(match &self.kept {
            Some(kept) => goes_on(&kept.mark, opened),
            None => Move {
                from: opened,
                to: opened,
            },
        })
    }

    /// A record as it is kept, with those that had to wait. Of a stage that goes on the warm-up is none of
    /// its records.
    pub(super) fn take(&mut self, record: RequestRecord) -> Vec<RequestRecord> {
        if self.kept.is_none() {
            return vec![record];
        }
        if record.phase == Phase::Warmup {
            return Vec::new();
        }
        self.held.push(record);
        self.release()
    }

    /// Records that had to wait and need not any more.
    pub(super) fn release(&mut self) -> Vec<RequestRecord> {
        let Some(there) = self.there() else {
            return Vec::new();
        };
        let held = std::mem::take(&mut self.held).into_iter();
        held.map(|record| there.record(record)).collect()
    }

    /// What is left of the records when the stage is over.
    pub(super) fn last(&mut self, opened: Nanos) -> Vec<RequestRecord> {
        self.opened.get_or_insert(opened);
        self.release()
    }

    /// Takes note of what the stage tells, and gives a mark where more windows are whole; it is to count the
    /// records so far.
    pub(super) fn hear(&mut self, event: &LoadEvent, beside: Option<&Beside>) -> Option<SoakMark> {
        match event {
            LoadEvent::Pulse(pulse) => {
                self.pulses.push(*pulse);
                None
            }
            LoadEvent::Tick(live) => self.tick(live, beside),
            LoadEvent::StageStarted { .. } | LoadEvent::StageEnded { .. } => None,
        }
    }

    fn tick(&mut self, live: &Live, beside: Option<&Beside>) -> Option<SoakMark> {
        let opened = live.opened.filter(|at| *at <= live.elapsed)?;
        if self.opened.is_none() {
            self.opened = Some(opened);
            self.opened_s = self.ago_s(live, opened);
        }
        if live.measuring {
            self.in_flight_max = self.in_flight_max.max(live.in_flight);
        }
        let whole = live.landed.since(opened + LATE).get() / self.window.get();
        if whole <= self.marked {
            return None;
        }
        let there = self.there()?;
        let edge = |window: u64| opened + Nanos::new(self.window.get() * window);
        let (from, until) = (edge(self.marked), edge(whole));
        let count = (whole - self.marked) as usize;
        let pulses = std::mem::take(&mut self.pulses);
        let (pulses, later) = pulses.into_iter().partition(|p: &Pulse| p.middle() < until);
        self.pulses = later;
        let before = self.kept.as_ref().map_or(0, |kept| kept.mark.windows);
        let at_s = self.ago_s(live, until);
        let first = self.marked == 0;
        self.marked = whole;
        let kept = self.kept.as_ref().filter(|_| first);
        Some(SoakMark {
            stage: self.stage,
            window_start: self
                .kept
                .as_ref()
                .map_or(opened, |kept| kept.mark.window_start),
            window: self.window,
            windows: before + whole,
            records: 0,
            at_s,
            in_flight_max: self
                .kept
                .as_ref()
                .map_or(0, |kept| kept.mark.in_flight_max)
                .max(self.in_flight_max),
            // A pulse a window says as much of windows as all.
            pulses: kept
                .map_or(&[][..], |kept| &kept.mark.pulses)
                .iter()
                .copied()
                .chain(by_window(&pulses, from, self.window).map(|pulse| there.pulse(pulse)))
                .collect(),
            looks: kept
                .map_or(&[][..], |kept| &kept.mark.looks)
                .iter()
                .copied()
                .chain(
                    beside
                        .map(|beside| beside.windows(from, self.window, count))
                        .unwrap_or_default(),
                )
                .collect(),
            engines: beside.map(Beside::engines).unwrap_or_default(),
            pauses: self.pauses(),
        })
    }

    /// How long after the beginning an instant of the stage was.
    fn ago_s(&self, live: &Live, at: Nanos) -> f64 {
        self.began.elapsed().as_secs_f64() - live.elapsed.as_secs_f64() + at.as_secs_f64()
    }

    /// Its pauses, the last of them too.
    pub(super) fn pauses(&self) -> Vec<Pause> {
        let Some(kept) = &self.kept else {
            return Vec::new();
        };
        let mut pauses = kept.mark.pauses.clone();
        pauses.push(Pause {
            after_windows: kept.mark.windows,
            after_s: kept.mark.measured().as_secs_f64(),
            lasted_s: kept.paused_s + self.opened_s,
            run: kept.run.clone(),
            engine: self.across.clone(),
        });
        pauses
    }

    /// What is kept from before.
    pub(super) fn kept(&self) -> Option<&SoakMark> {
        self.kept.as_ref().map(|kept| &kept.mark)
    }
}

/// Pulses as one each window.
fn by_window(pulses: &[Pulse], from: Nanos, window: Nanos) -> impl Iterator<Item = Pulse> {
    let index = move |pulse: &Pulse| pulse.middle().since(from).get() / window.get();
    pulses
        .chunk_by(move |one, other| index(one) == index(other))
        .filter_map(|own| own.iter().copied().reduce(Pulse::joined))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Outcome;
    use crate::sample::record::tests::record;

    fn secs(secs: u64) -> Nanos {
        Nanos::from_secs(secs)
    }

    fn soaking(window: Nanos) -> Soaking {
        Soaking {
            stage: 1,
            window,
            began: Instant::now(),
            kept: None,
            across: AcrossPause::RanOn,
            opened: None,
            opened_s: 0.0,
            marked: 0,
            in_flight_max: 0,
            pulses: Vec::new(),
            held: Vec::new(),
        }
    }

    fn tick(elapsed: u64, landed: u64, opened: Option<u64>) -> LoadEvent {
        LoadEvent::Tick(Live {
            elapsed: secs(elapsed),
            landed: secs(landed),
            opened: opened.map(secs),
            measuring: true,
            in_flight: elapsed as u32,
            ..Live::default()
        })
    }

    fn pulse(start: u64) -> LoadEvent {
        LoadEvent::Pulse(Pulse {
            start: secs(start),
            end: secs(start + 1),
            cpu_share: Some(0.1),
            loop_lag_max: None,
            connections: 1,
            memory: Some(start),
        })
    }

    #[tokio::test]
    async fn a_window_is_marked_once_all_its_requests_have_ended() {
        let mut soaking = soaking(secs(10));
        let mut hear = |event: &LoadEvent| soaking.hear(event, None);
        assert_eq!(hear(&tick(1, 0, None)), None);
        assert_eq!(hear(&tick(3, 2, Some(5))), None, "it opens later");
        for second in 5..17 {
            assert_eq!(hear(&pulse(second)), None);
        }
        assert_eq!(hear(&tick(20, 15, Some(5))), None, "some may be late");
        let mark = hear(&tick(21, 16, Some(5))).unwrap();
        assert_eq!((mark.windows, mark.until()), (1, secs(15)));
        assert_eq!(mark.pulses.len(), 1);
        assert_eq!(mark.pulses[0].connections, 10);
        assert_eq!(mark.in_flight_max, 21);
        assert_eq!(mark.pauses, []);
        assert_eq!(hear(&tick(22, 17, Some(5))), None);
        for second in 17..36 {
            hear(&pulse(second));
        }
        let mark = hear(&tick(40, 36, Some(5))).unwrap();
        assert_eq!((mark.windows, mark.pulses.len()), (3, 2), "two at once");
    }

    #[tokio::test]
    async fn what_goes_on_is_kept_on_the_clock_of_the_whole() {
        let mut before = soaking(secs(10));
        let mark = before.hear(&tick(50, 46, Some(5)), None).unwrap();
        assert_eq!(mark.windows, 4);
        let kept = Kept {
            mark,
            run: "x".to_owned(),
            paused_s: 100.0,
        };
        let mut after = soaking(secs(10)).after(kept, AcrossPause::RanOn);
        let measured = |at: u64| RequestRecord {
            phase: Phase::Measured,
            scheduled: secs(at),
            ..record(Outcome::Completed)
        };
        let warm = RequestRecord {
            phase: Phase::Warmup,
            ..measured(1)
        };
        assert_eq!(after.take(warm), []);
        assert_eq!(after.take(measured(7)), [], "nobody knows where it opens");
        assert_eq!(after.hear(&tick(8, 3, Some(6)), None), None);
        let both = after.take(measured(9));
        let starts: Vec<Nanos> = both.iter().map(|record| record.scheduled).collect();
        // The window opened at 6 s, and on the whole's clock at 5 + 40 s.
        assert_eq!(starts, [secs(46), secs(48)]);
        let next = after.hear(&tick(18, 17, Some(6)), None).unwrap();
        assert_eq!((next.windows, next.window_start), (5, secs(5)));
        assert_eq!(next.until(), secs(55));
        assert_eq!(next.pauses[0].after_windows, 4);
        // 100 s before this process, which has measured for no time yet, and 2 s fewer: it opened 2 s ago.
        assert!(next.pauses[0].lasted_s >= 98.0);
        let last = after.take(measured(20));
        assert_eq!(last[0].scheduled, secs(59));
    }
}
