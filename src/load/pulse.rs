//! The client's pulse in a stage's window: its CPU, event loop and connections, second by second.

use super::cpu;
use crate::sample::Pulse;
use crate::unit::Nanos;

/// How long a pulse is at first.
const EVERY: Nanos = Nanos::from_secs(1);

/// Most pulses of a stage, an hour at a second each; then neighbours become one.
const MOST: usize = 4096;

/// What is read of the client at one instant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    /// When.
    pub(super) at: Nanos,
    /// CPU time of the process so far; `None` where the system does not say.
    pub(super) cpu: Option<Nanos>,
    /// Bytes of the process in memory; `None` where the system does not say.
    pub(super) memory: Option<u64>,
    /// Connections opened so far.
    pub(super) opened: u64,
}

/// Readings to pulses, in bounded memory.
#[derive(Debug)]
pub(super) struct PulseMeter {
    /// Cores that the client may use.
    cores: f64,
    every: Nanos,
    most: usize,
    /// The first reading and the latest.
    ends: Option<(Reading, Reading)>,
    pulses: Vec<Pulse>,
}

impl PulseMeter {
    /// A meter that has not begun.
    pub(super) fn new() -> Self {
        Self::keeping(MOST, cpu::cores())
    }

    const fn keeping(most: usize, cores: f64) -> Self {
        Self {
            cores,
            every: EVERY,
            most,
            ends: None,
            pulses: Vec::new(),
        }
    }

    /// When the next reading is due; `None` before the first.
    pub(super) fn due(&self) -> Option<Nanos> {
        self.ends.map(|(_, last)| last.at + self.every)
    }

    /// A reading: the first begins the window, each other one ends a pulse, in which the event loop
    /// woke so late at most, and gives it.
    pub(super) fn read(&mut self, now: Reading, loop_lag_max: Option<Nanos>) -> Option<Pulse> {
        let Some((first, last)) = self.ends else {
            self.ends = Some((now, now));
            return None;
        };
        self.ends = Some((first, now));
        if now.at <= last.at {
            return None;
        }
        let length = now.at.since(last.at).as_secs_f64() * self.cores;
        let pulse = Pulse {
            start: last.at,
            end: now.at,
            cpu_share: used(last, now).map(|used| used / length),
            loop_lag_max,
            connections: now.opened.saturating_sub(last.opened),
            memory: now.memory,
        };
        self.pulses.push(pulse);
        if self.pulses.len() >= self.most {
            self.pulses = self.pulses.chunks(2).filter_map(joined).collect();
            self.every = self.every + self.every;
        }
        Some(pulse)
    }

    /// CPU time over a window of so many seconds, as a share of the cores that the client may use.
    pub(super) fn cpu_share(&self, window_s: f64) -> Option<f64> {
        let (first, last) = self.ends.filter(|_| window_s > 0.0)?;
        used(first, last).map(|used| used / (window_s * self.cores))
    }

    /// All pulses, in order.
    pub(super) fn finish(self) -> Vec<Pulse> {
        self.pulses
    }
}

/// CPU seconds between two readings.
fn used(from: Reading, to: Reading) -> Option<f64> {
    Some(to.cpu?.since(from.cpu?).as_secs_f64())
}

/// Neighbours as one.
fn joined(pulses: &[Pulse]) -> Option<Pulse> {
    pulses.iter().copied().reduce(Pulse::joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(second: u64, cpu_ms: u64, opened: u64) -> Reading {
        Reading {
            at: Nanos::from_secs(second),
            cpu: Some(Nanos::from_millis(cpu_ms)),
            memory: Some(opened),
            opened,
        }
    }

    #[test]
    fn a_pulse_is_what_changed_between_two_readings() {
        let mut meter = PulseMeter::keeping(100, 2.0);
        assert_eq!((meter.due(), meter.cpu_share(1.0)), (None, None));
        meter.read(reading(10, 500, 7), None);
        assert_eq!(meter.due(), Some(Nanos::from_secs(11)));
        meter.read(reading(11, 1500, 9), Some(Nanos::from_millis(3)));
        // The window ends where a pulse has just ended.
        meter.read(reading(11, 1500, 9), None);
        assert_eq!(meter.cpu_share(1.0), Some(0.5));
        let expected = Pulse {
            start: Nanos::from_secs(10),
            end: Nanos::from_secs(11),
            cpu_share: Some(0.5),
            loop_lag_max: Some(Nanos::from_millis(3)),
            connections: 2,
            memory: Some(9),
        };
        assert_eq!(meter.finish(), [expected]);
    }

    #[test]
    fn a_long_stage_keeps_longer_pulses() {
        let mut meter = PulseMeter::keeping(8, 1.0);
        meter.read(reading(0, 0, 0), None);
        let (mut second, mut readings) = (0, 0);
        while second < 1000 {
            let due = meter.due().unwrap();
            second = due.get() / 1_000_000_000;
            meter.read(reading(second, second * 250, second), Some(due));
            readings += 1;
        }
        assert!(readings < 60, "{readings}");
        let pulses = meter.finish();
        assert!((4..8).contains(&pulses.len()), "{}", pulses.len());
        assert_eq!(pulses[0].start, Nanos::ZERO);
        assert!(pulses.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(pulses.last().unwrap().end, Nanos::from_secs(second));
        let connections: u64 = pulses.iter().map(|pulse| pulse.connections).sum();
        assert_eq!(connections, second);
        for pulse in pulses {
            assert_eq!(
                pulse.loop_lag_max,
                Some(pulse.end),
                "the later, and larger, of the lags"
            );
            assert!((pulse.cpu_share.unwrap() - 0.25).abs() < 1e-9);
        }
    }
}
