//! The window of a stage in slices, for drift and for plots.

use super::class::{Frame, tokens_at};
use super::pulses::fold;
use super::stage::lateness;
use super::window::Window;
use crate::plan::Phase;
use crate::sample::{OutcomeKind, Pulse, RequestRecord, Timeline};
use crate::spec::Soak;
use crate::stats::select::Selection;
use crate::stats::sum::ExactSum;
use crate::unit::Nanos;

/// Most slices of a window.
const MOST: u64 = 60;

/// The window in equal slices of at least a second; of a soak stage, in its windows, the last one shorter.
pub(super) struct Windows {
    frame: Frame,
    /// Nanoseconds in a window of a soak stage.
    soak: Option<u64>,
    /// Nanoseconds in a slice.
    slice: f64,
    slices: Vec<Slice>,
}

struct Slice {
    scheduled: u64,
    completed: u64,
    unsent: u64,
    latest: f64,
    output_tokens: ExactSum,
    ttft: Selection,
    /// Of a soak stage.
    tpot: Option<Selection>,
}

impl Windows {
    /// How many slices a window has; none where it is empty.
    pub(super) fn count(frame: Frame, soak: Option<Soak>) -> u64 {
        let length = frame.end.since(frame.start);
        match (length.get(), soak) {
            (0, _) => 0,
            (nanos, Some(soak)) => nanos.div_ceil(soak.slice(length).get()),
            (nanos, None) => (nanos / 1_000_000_000).clamp(1, MOST),
        }
    }

    /// Before the first pass; `fineness` is that of the selections.
    pub(super) fn new(frame: Frame, soak: Option<Soak>, fineness: u32) -> Self {
        let count = Self::count(frame, soak);
        let soak = soak.map(|soak| soak.slice(frame.end.since(frame.start)).get());
        let slice = || Slice {
            scheduled: 0,
            completed: 0,
            unsent: 0,
            latest: 0.0,
            output_tokens: ExactSum::default(),
            ttft: Selection::new(fineness),
            tpot: soak.map(|_| Selection::new(fineness)),
        };
        Self {
            frame,
            soak,
            slice: soak.map_or_else(
                || frame.end.since(frame.start).get() as f64 / count.max(1) as f64,
                |slice| slice as f64,
            ),
            slices: std::iter::repeat_with(slice).take(count as usize).collect(),
        }
    }

    fn at(&mut self, at: Nanos) -> Option<&mut Slice> {
        let index = self.index(at)?;
        self.slices.get_mut(index)
    }

    fn index(&self, at: Nanos) -> Option<usize> {
        if !self.frame.contains(at) {
            return None;
        }
        let since = u128::from(at.since(self.frame.start).get());
        let index = if let Some(slice) = self.soak {
            since / u128::from(slice)
        } else {
            let length = self.frame.end.since(self.frame.start).get();
            since * self.slices.len() as u128 / u128::from(length.max(1))
        };
        Some(index as usize)
    }

    /// A record in the first pass.
    pub(super) fn see(&mut self, record: &RequestRecord) {
        for (at, tokens) in tokens_at(record) {
            if let Some(slice) = self.at(at) {
                slice.output_tokens.add(tokens, 1);
            }
        }
        if record.phase == Phase::Measured
            && let Some(slice) = self.at(record.scheduled)
        {
            slice.scheduled += 1;
            slice.completed += u64::from(record.outcome.ended_well());
            slice.unsent += u64::from(record.outcome.kind() == OutcomeKind::Unsent);
            slice.latest = slice.latest.max(lateness(record).unwrap_or(0.0));
        }
        self.look(record);
    }

    /// The same record in a later pass.
    pub(super) fn look(&mut self, record: &RequestRecord) {
        if record.phase != Phase::Measured {
            return;
        }
        let timeline = Timeline::new(record, self.frame.from_schedule);
        let (ttft, tpot) = (timeline.ttft(), timeline.tpot());
        let Some(slice) = self.at(record.scheduled) else {
            return;
        };
        if let Ok(ttft) = ttft {
            slice.ttft.add(ttft, 1);
        }
        if let (Some(values), Ok(tpot)) = (&mut slice.tpot, tpot) {
            values.add(tpot, 1);
        }
    }

    /// Ends the first pass.
    pub(super) fn want(&mut self) {
        for slice in &mut self.slices {
            match &mut slice.tpot {
                Some(tpot) => {
                    slice.ttft.want([(0.5, 0), (0.99, 0)]);
                    tpot.want([(0.5, 0)]);
                }
                None => slice.ttft.want([(0.5, 0)]),
            }
        }
    }

    /// What the later passes are for.
    pub(super) fn selections(&mut self) -> impl Iterator<Item = &mut Selection> {
        let slices = self.slices.iter_mut();
        slices.flat_map(|slice| [&mut slice.ttft].into_iter().chain(&mut slice.tpot))
    }

    /// After the last pass; with the clients' pulses.
    pub(super) fn finish(self, pulses: &[Vec<Pulse>]) -> Vec<Window> {
        let fared = fold(pulses, self.slices.len(), |at| self.index(at));
        let slice_s = self.slice / 1e9;
        let soak = self.soak.is_some();
        let windows = self.slices.into_iter().zip(fared).enumerate();
        windows
            .map(|(index, (slice, fared))| Window {
                start_s: slice_s * index as f64,
                scheduled: slice.scheduled,
                completed: slice.completed,
                unsent: slice.unsent,
                lateness_max_s: slice.latest,
                cpu_share: fared.cpu_share,
                loop_lag_max_s: fared.loop_lag_max_s,
                connections: fared.connections,
                output_tokens: slice.output_tokens.value().round() as u64,
                ttft_p50_s: slice.ttft.quantile(0.5, 0),
                ttft_p99_s: slice.ttft.quantile(0.99, 0).filter(|_| soak),
                tpot_p50_s: slice.tpot.and_then(|tpot| tpot.quantile(0.5, 0)),
                kv_usage: None,
                kv_blocks: None,
                preemptions: None,
                engine_memory_bytes: None,
                client_memory_bytes: fared.memory.filter(|_| soak).map(|bytes| bytes as f64),
            })
            .collect()
    }
}
