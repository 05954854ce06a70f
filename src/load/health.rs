//! Whether the client itself kept up: how late its event loop wakes.

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
    /// Microseconds each: 100 a second are 1.4 MB an hour for each lane.
    all: Vec<u32>,
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
        let mut lags = self.lags.lock().unwrap_or_else(PoisonError::into_inner);
        nearest_rank(&mut lags.all, 0.99).map(nanos)
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
            lags.all.push(micros);
            lags.largest = lags.largest.max(Some(micros));
        }
    }
}

fn nanos(micros: u32) -> Nanos {
    Nanos::new(u64::from(micros) * 1000)
}

/// The smallest value that at least a share `q` of the values does not exceed; sorts them.
fn nearest_rank(values: &mut [u32], q: f64) -> Option<u32> {
    values.sort_unstable();
    let rank = (q * values.len() as f64).ceil() as usize;
    values.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_is_one_of_the_values() {
        let mut values: Vec<u32> = (1..=200).rev().collect();
        assert_eq!(nearest_rank(&mut values, 0.99), Some(198));
        assert_eq!(nearest_rank(&mut [7], 0.99), Some(7));
        assert_eq!(nearest_rank(&mut [], 0.99), None);
    }
}
