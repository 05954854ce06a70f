//! Whether the client itself kept up: how late its event loop wakes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinHandle;
use tokio::time::sleep_until;

use super::clock::Clock;
use super::lane::Lanes;
use super::window::Window;
use crate::unit::Nanos;

/// How often the event loop is probed.
const EVERY: Nanos = Nanos::from_millis(10);

/// The runtime's timers round up to whole milliseconds, and so does its wait for them: so much
/// late is on time.
const GRANULARITY: Nanos = Nanos::from_millis(2);

/// Probes how late the lanes wake from timers, within the window.
#[derive(Debug)]
pub(super) struct LoopLag {
    lags: Arc<Mutex<Lags>>,
    probes: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Lags {
    /// How often each was met, in microseconds to twelve binary digits: below 50,000 of them, in 1 MB, where
    /// all of a night on 16 lanes would be 280 MB.
    counts: BTreeMap<u32, u64>,
    /// The largest since it was last asked for.
    largest: Option<u32>,
}

impl LoopLag {
    /// Starts to probe; ends when dropped.
    pub(super) fn start(lanes: &Lanes, clock: Clock, window: &Arc<Window>) -> Self {
        let lags = Arc::new(Mutex::new(Lags::default()));
        let probe = || probe(clock, Arc::clone(window), Arc::clone(&lags));
        let probes = lanes.all().iter().map(|lane| lane.runtime().spawn(probe()));
        Self {
            probes: probes.collect(),
            lags,
        }
    }

    /// The 99th percentile (nearest rank) so far; `None` before the first probe in the window.
    pub(super) fn p99(&self) -> Option<Nanos> {
        let lags = self.lags.lock().unwrap_or_else(PoisonError::into_inner);
        nearest_rank(&lags.counts, 0.99).map(nanos)
    }

    /// The largest since the last call; `None` without a probe in the window since.
    pub(super) fn take_largest(&self) -> Option<Nanos> {
        let mut lags = self.lags.lock().unwrap_or_else(PoisonError::into_inner);
        lags.largest.take().map(nanos)
    }
}

impl Drop for LoopLag {
    fn drop(&mut self) {
        self.probes.iter().for_each(JoinHandle::abort);
    }
}

async fn probe(clock: Clock, window: Arc<Window>, lags: Arc<Mutex<Lags>>) {
    loop {
        let due = clock.now() + EVERY;
        sleep_until(clock.timer(due)).await;
        let lag = clock.now().since(due + GRANULARITY);
        if window.bounds().contains(due) {
            let micros = u32::try_from(lag.get() / 1000).unwrap_or(u32::MAX);
            let mut lags = lags.lock().unwrap_or_else(PoisonError::into_inner);
            *lags.counts.entry(rounded(micros)).or_default() += 1;
            lags.largest = lags.largest.max(Some(micros));
        }
    }
}

fn nanos(micros: u32) -> Nanos {
    Nanos::new(u64::from(micros) * 1000)
}

/// A number to twelve binary digits, rounded down: exact below 4096, else at most 0.05 % less.
fn rounded(micros: u32) -> u32 {
    let surplus = (32 - micros.leading_zeros()).saturating_sub(12);
    micros >> surplus << surplus
}

/// The smallest value that at least a share `q` of the values does not exceed, of how often each is there.
fn nearest_rank(counts: &BTreeMap<u32, u64>, q: f64) -> Option<u32> {
    let all: u64 = counts.values().sum();
    let rank = ((q * all as f64).ceil() as u64).max(1);
    let mut below = 0;
    let mut values = counts.iter();
    let found = values.find(|(_, count)| {
        below += *count;
        below >= rank
    });
    found.map(|(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_is_one_of_the_values() {
        let of = |values: &[u32]| {
            let mut counts = BTreeMap::new();
            for value in values {
                *counts.entry(*value).or_default() += 1;
            }
            nearest_rank(&counts, 0.99)
        };
        let values: Vec<u32> = (1..=200).rev().collect();
        assert_eq!(of(&values), Some(198));
        assert_eq!(of(&[7, 7]), Some(7));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn lags_of_a_night_are_few_values() {
        assert_eq!([0, 1, 4095].map(rounded), [0, 1, 4095]);
        assert_eq!(rounded(4097), 4096);
        assert_eq!(rounded(u32::MAX), 0xfff0_0000);
        let values: std::collections::BTreeSet<u32> = (0..32)
            .flat_map(|bit| (0..4096_u32).map(move |low| rounded(low << bit.min(20))))
            .collect();
        assert!(values.len() < 50_000, "{}", values.len());
    }
}
