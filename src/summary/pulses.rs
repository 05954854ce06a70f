//! Pulses of the clients to how they fared in each slice of the window.

use crate::sample::Pulse;
use crate::unit::Nanos;

/// How the client fared in a slice; of several clients, the one that fared worst.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Fared {
    /// CPU time as a share of the cores that it may use.
    pub(super) cpu_share: Option<f64>,
    /// How late its event loop woke at most, in seconds.
    pub(super) loop_lag_max_s: Option<f64>,
    /// Connections opened, of all clients together; `None` where nothing was seen of the slice.
    pub(super) connections: Option<u64>,
    /// Bytes in memory, of the largest client.
    pub(super) memory: Option<u64>,
}

/// Folds each client's pulses into slices. A pulse is of the slice that its middle lies in, by `slice`;
/// `None` where that is outside.
pub(super) fn fold(
    clients: &[Vec<Pulse>],
    slices: usize,
    slice: impl Fn(Nanos) -> Option<usize>,
) -> Vec<Fared> {
    let mut all = vec![Fared::default(); slices];
    for pulses in clients {
        let mut own: Vec<Option<Pulse>> = vec![None; slices];
        for &pulse in pulses {
            if let Some(whole) = slice(pulse.middle()).and_then(|at| own.get_mut(at)) {
                *whole = Some(whole.map_or(pulse, |before| before.joined(pulse)));
            }
        }
        for (fared, pulse) in all.iter_mut().zip(own) {
            if let Some(pulse) = pulse {
                fared.worsen(pulse);
            }
        }
    }
    all
}

impl Fared {
    fn worsen(&mut self, pulse: Pulse) {
        let lag = pulse.loop_lag_max.map(Nanos::as_secs_f64);
        self.cpu_share = worse(self.cpu_share, pulse.cpu_share);
        self.loop_lag_max_s = worse(self.loop_lag_max_s, lag);
        self.memory = self.memory.max(pulse.memory);
        self.connections = Some(self.connections.unwrap_or(0) + pulse.connections);
    }
}

fn worse(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pulse(start_ms: u64, end_ms: u64, cpu: f64, lag_ms: u64, connections: u64) -> Pulse {
        Pulse {
            start: Nanos::from_millis(start_ms),
            end: Nanos::from_millis(end_ms),
            cpu_share: Some(cpu),
            loop_lag_max: Some(Nanos::from_millis(lag_ms)),
            connections,
            memory: None,
        }
    }

    /// Slices of two seconds, from 10 s.
    fn slice(at: Nanos) -> Option<usize> {
        let since = at.get().checked_sub(10_000_000_000)?;
        Some((since / 2_000_000_000) as usize).filter(|&at| at < 3)
    }

    #[test]
    fn a_slice_has_the_pulses_whose_middle_lies_in_it() {
        let pulses = vec![
            pulse(9_000, 10_000, 0.9, 99, 50),
            pulse(10_000, 11_000, 0.2, 4, 3),
            pulse(11_000, 12_900, 0.4, 2, 1),
            pulse(12_900, 13_900, 0.6, 1, 2),
        ];
        let fared = fold(&[pulses], 3, slice);
        assert_eq!(fared[0].loop_lag_max_s, Some(0.004));
        assert_eq!(fared[0].connections, Some(4));
        // (0.2 × 1.0 + 0.4 × 1.9) / 2.9.
        assert!((fared[0].cpu_share.unwrap() - 0.96 / 2.9).abs() < 1e-12);
        assert_eq!(fared[1].connections, Some(2));
        assert_eq!(fared[2], Fared::default(), "nothing was seen of it");
    }

    #[test]
    fn of_several_clients_the_worst_counts_and_connections_add_up() {
        let one = vec![pulse(10_000, 12_000, 0.7, 2, 3)];
        let mut other = pulse(10_100, 11_900, 0.3, 8, 5);
        let both = |other| fold(&[one.clone(), vec![other]], 1, slice)[0];
        let expected = Fared {
            cpu_share: Some(0.7),
            loop_lag_max_s: Some(0.008),
            connections: Some(8),
            memory: None,
        };
        assert_eq!(both(other), expected);
        (other.cpu_share, other.loop_lag_max) = (None, None);
        assert_eq!(both(other).loop_lag_max_s, Some(0.002));
    }
}
