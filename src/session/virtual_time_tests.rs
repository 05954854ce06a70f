use super::*;
use crate::diag::Source;
use crate::metric::Metric;
use crate::session::measure::Place;
use crate::sim::{Machine, SimOptions};
use crate::spec;
use crate::summary::Side;

const STAGES: &str = "\
stages:
  - {name: open, open: {rate: 100/s, arrivals: poisson}, requests: 120, warmup: 10}
  - {name: closed, closed: {users: 4}, requests: 60, warmup: 10}
";

fn sitting(stages: &str) -> Result<VirtualSitting, VirtualError> {
    let text = format!(
        "\
infergate: 1
name: virtual
target: {{sim: demo, api: chat}}
workload:
  seed: 7
  output_length: pinned
  classes:
    - {{name: chat, weight: 1, input: {{uniform: [20, 40]}}, output: {{uniform: [8, 12]}}}}
{stages}gate:
  cells:
    - {{metric: error_ratio, at_most: 2%}}
"
    );
    let source = Source {
        path: "virtual.yaml".to_owned(),
        text,
    };
    let no_files = |_: spec::FileAsk<'_>| Err("none".to_owned());
    let parsed = spec::parse(&source, &|_| None, &no_files).unwrap();
    VirtualSitting::new(parsed.spec)
}

fn engine(machine: Machine, seed: u64) -> Engine {
    let mut options = SimOptions::named("demo").unwrap();
    (options.machine, options.seed) = (machine, seed);
    options.engine().unwrap()
}

fn name(number: u32) -> RunName {
    RunName {
        started: format!("2026-01-01T00:{:02}:00Z", number % 60),
        stamp: format!("{number:03}"),
        unique: format!("run-{number}"),
        place: Some(Place {
            pair: number / 2,
            side: Some(Side::Baseline),
        }),
    }
}

fn median_ttft(run: &Run) -> f64 {
    let ttft = &run.stages[0].pooled.distributions[&Metric::Ttft];
    ttft.quantiles[&Quantile::P50].value_s
}

#[test]
fn a_run_is_the_plans_own_and_the_same_again() {
    let sitting = sitting(STAGES).unwrap();
    let take = |seed| {
        let mut engine = engine(Machine::default(), seed);
        let start = Nanos::from_secs(3);
        sitting.run(&mut engine, "s", start, name(0))
    };
    let taken = take(1);
    assert_eq!(taken, take(1));
    assert_ne!(taken, take(2));
    let [open, closed] = &taken.run.stages[..] else {
        panic!("two stages");
    };
    for (stage, requests) in [(open, 120), (closed, 60)] {
        assert_eq!(stage.pooled.scheduled, requests);
        assert_eq!(
            stage.pooled.count(crate::sample::OutcomeKind::Completed),
            requests
        );
        assert_eq!(stage.invalid, []);
    }
    // 120 requests at 100/s; 60 answers in the window of the closed loop, by 4 users all the time.
    assert!((open.window_s - 1.2).abs() < 1e-9);
    let in_flight = closed.health.as_ref().unwrap().in_flight_mean;
    assert!((in_flight - 4.0).abs() < 1e-6, "{in_flight}");
    let answers = closed.pooled.rates.completed_rps * closed.window_s;
    assert!((55.9..60.1).contains(&answers), "{answers}");
    let lasted = taken.ended.since(Nanos::from_secs(3)).as_secs_f64();
    assert!(lasted > taken.run.elapsed_s, "{lasted}");
}

#[test]
fn what_comes_first_in_each_pair_takes_a_drift_out_of_the_difference() {
    let sitting = sitting(STAGES).unwrap();
    let machine = Machine {
        drift_per_min: 0.5,
        ..Machine::default()
    };
    // Every five seconds 3.4 % slower. Two engines, so that neither's queue knows of the other.
    let difference = |order: [usize; 8]| {
        let mut engines = [engine(machine, 1), engine(machine, 2)];
        let mut logs = [0.0; 2];
        for (slot, side) in (0..).zip(order) {
            let start = Nanos::from_secs(5 * u64::from(slot));
            let taken = sitting.run(&mut engines[side], "s", start, name(slot));
            logs[side] += median_ttft(&taken.run).ln() / 4.0;
        }
        logs[1] - logs[0]
    };
    let turns = difference([0, 1, 1, 0, 0, 1, 1, 0]);
    let blocks = difference([0, 0, 0, 0, 1, 1, 1, 1]);
    assert!(turns.abs() < 0.02, "{turns}");
    assert!(blocks > 0.10, "{blocks}");
}

#[test]
fn what_only_the_load_client_does_is_refused() {
    for (stage, what) in [
        (
            "{name: a, closed: {users: 2, think: 1s}, requests: 50, warmup: 1}",
            "think time",
        ),
        (
            "{name: a, closed: {users: 2}, duration: 5s, warmup: 1s}",
            "a closed loop by time",
        ),
    ] {
        let refused = sitting(&format!("stages:\n  - {stage}\n")).unwrap_err();
        let expected = VirtualError::Unknown {
            stage: "a".to_owned(),
            what,
        };
        assert_eq!(refused, expected);
    }
}
