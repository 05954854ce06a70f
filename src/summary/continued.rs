//! A stage that was cut off and went on, as one.

use super::records::Records;
use crate::plan::Phase;
use crate::sample::{Move, Outcome, Pulse, SoakMark, StageObservation};
use crate::unit::Nanos;

/// Where a stage that goes on stands on the clock of the whole: its window opens where the last whole window
/// before it ended.
pub fn goes_on(mark: &SoakMark, opened: Nanos) -> Move {
    Move {
        from: opened,
        to: mark.until(),
    }
}

/// What was seen of the whole of a stage: of its kept windows by the mark, of the later part by itself.
/// `records` are those of the whole, on its clock.
///
/// Counts and requests in flight are the records' own; what only the process that is gone knew (how late its
/// event loop woke in all) is that of the later part.
pub fn continued<R: Records + ?Sized>(
    mark: &SoakMark,
    later: StageObservation,
    records: &R,
) -> Result<StageObservation, R::Error> {
    let there = goes_on(mark, later.window_start);
    let (start, end) = (mark.window_start, there.of(later.window_end));
    let (mut in_flight, mut cap_hits, mut bytes) = (0_u128, 0_u32, 0_u64);
    records.each(&mut |record| {
        if let Some(sent) = record.sent {
            let done = record.done.unwrap_or(end);
            in_flight += u128::from(done.min(end).since(sent.max(start)).get());
        }
        let unsent = record.outcome == Outcome::Unsent && record.phase == Phase::Measured;
        cap_hits += u32::from(unsent);
        bytes += record.bytes;
    })?;
    let window = end.since(start);
    let of_later = later.pulses.into_iter().next().unwrap_or_default();
    let of_later = of_later.into_iter().map(|pulse| there.pulse(pulse));
    let pulses: Vec<Pulse> = mark.pulses.iter().copied().chain(of_later).collect();
    let whole = pulses.iter().copied().reduce(Pulse::joined);
    Ok(StageObservation {
        window_start: start,
        window_end: end,
        in_flight_mean: if window > Nanos::ZERO {
            in_flight as f64 / window.get() as f64
        } else {
            0.0
        },
        in_flight_max: later.in_flight_max.max(mark.in_flight_max),
        cap_hits,
        cpu_share: whole.and_then(|pulse| pulse.cpu_share),
        connections: whole.map(|pulse| pulse.connections),
        bytes,
        pulses: vec![pulses],
        ..later
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::RequestRecord;
    use crate::sample::record::tests::record;
    use crate::summary::tests::observation;

    fn pulse(start: u64, cpu: f64, connections: u64) -> Pulse {
        Pulse {
            start: Nanos::from_secs(start),
            end: Nanos::from_secs(start + 60),
            cpu_share: Some(cpu),
            loop_lag_max: None,
            connections,
            memory: Some(start),
        }
    }

    #[test]
    fn both_parts_are_one_window() {
        let secs = Nanos::from_secs;
        let mark = SoakMark {
            stage: 0,
            window_start: secs(10),
            window: secs(60),
            windows: 2,
            records: 0,
            at_s: 0.0,
            in_flight_max: 9,
            pulses: vec![pulse(10, 0.1, 4), pulse(70, 0.3, 0)],
            looks: Vec::new(),
            engines: Vec::new(),
            pauses: Vec::new(),
        };
        let later = StageObservation {
            window_start: secs(5),
            window_end: secs(65),
            in_flight_max: 3,
            pulses: vec![vec![pulse(5, 0.5, 2)]],
            ..observation()
        };
        let flight = |from: u64, to: u64| RequestRecord {
            scheduled: secs(from),
            sent: Some(secs(from)),
            done: Some(secs(to)),
            bytes: 100,
            ..record(Outcome::Completed)
        };
        let unsent = RequestRecord {
            sent: None,
            done: None,
            bytes: 0,
            ..record(Outcome::Unsent)
        };
        let records = [flight(0, 20), flight(100, 140), flight(150, 250), unsent];
        let Ok(whole) = continued(&mark, later, &records[..]);
        assert_eq!(
            (whole.window_start, whole.window_end),
            (secs(10), secs(190))
        );
        // 10 s, 40 s and 40 s of three minutes.
        assert!((whole.in_flight_mean - 90.0 / 180.0).abs() < 1e-9);
        assert_eq!(whole.in_flight_max, 9);
        assert_eq!((whole.cap_hits, whole.bytes), (1, 300));
        let starts: Vec<Nanos> = whole.pulses[0].iter().map(|pulse| pulse.start).collect();
        assert_eq!(starts, [10, 70, 130].map(secs));
        assert!((whole.cpu_share.unwrap() - 0.3).abs() < 1e-9);
        assert_eq!(whole.connections, Some(6));
    }
}
