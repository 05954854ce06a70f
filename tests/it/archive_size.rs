//! How large an archive grows: runs of the product's example, its traffic on the embedded engine's model.

use std::path::Path;

use infergate::archive::{load_run, save_run};
use infergate::diag::{Source, Style, render};
use infergate::session::{RunName, VirtualSitting};
use infergate::sim::SimOptions;
use infergate::spec;
use infergate::summary::Run;
use infergate::unit::Nanos;

/// The example of the design: three kinds of load in eight stages, two classes. Virtual time knows no closed
/// loop by time, so the sweep has as many requests as its 45 s would hold.
const EXAMPLE: &str = "\
infergate: 1
name: chat-8b
target: {sim: h100-8b, api: chat}
under_test: [engine.version]    # what may differ between baseline and candidate
request: {temperature: 0}
workload:
  seed: 42
  output_length: pinned
  classes:
    - name: chat
      weight: 8
      input: {lognormal: {p50: 1400, p95: 3500}}
      output: {lognormal: {p50: 250, p95: 800}}
      prefix: {tokens: 512, groups: 8, share: 0.6}
      slo: {ttft: 500ms, tpot: 40ms, e2e: 60s}
    - name: summarize
      weight: 2
      input: {uniform: [6000, 12000]}
      output: {uniform: [300, 800]}
      slo: {ttft: 4s, e2e: 90s}
stages:
  - {name: single, closed: {users: 1}, requests: 60, warmup: 10}
  - {name: sweep, closed: {users: [2, 4, 8, 16, 32, 64]}, requests: 400, warmup: 15}
  - {name: steady, open: {rate: 8/s, arrivals: poisson}, duration: 180s, warmup: 30s, in_flight: 1000}
gate:
  cells:
    - {metric: ttft.p95, stages: [steady], worse_by: 15%, floor: 10ms}
    - {metric: ttft.p99, stages: [steady], classes: [chat], at_most: 1s}
    - {metric: tpot.p95, stages: [steady], worse_by: 10%, floor: 1ms}
    - {metric: e2e.p95, stages: [steady], worse_by: 10%}
    - {metric: error_ratio, stages: [steady], at_most: 0.5%}
cost: {gpu_hour: 3.50, currency: USD}
";

/// Largest run file, in bytes; measured are 132,500.
const RUN: u64 = 150_000;
/// Ten runs a day for a year.
const RUNS: u64 = 3_650;
/// Largest archive of so many, in bytes; measured are 483 MB.
const ARCHIVE: u64 = 500_000_000;

fn example() -> VirtualSitting {
    let source = Source {
        path: "spec.yaml".to_owned(),
        text: EXAMPLE.to_owned(),
    };
    let parsed = spec::parse(&source, &|_| None, &|_| Err("there is none".to_owned()))
        .unwrap_or_else(|mistakes| panic!("{}", render(&mistakes, &source, Style::Plain)));
    VirtualSitting::new(parsed.spec).unwrap()
}

/// What virtual time leaves out, from a run that was measured: pins, network, what the engine says; and how the
/// client fared in each slice, in numbers of the length that real ones have.
fn dressed(mut run: Run, measured: &Run) -> Run {
    run.pins.clone_from(&measured.pins);
    run.network.clone_from(&measured.network);
    for stage in &mut run.stages {
        stage.engine.clone_from(&measured.stages[0].engine);
        stage
            .prefix_cache
            .clone_from(&measured.stages[0].prefix_cache);
        stage
            .engine_queue
            .clone_from(&measured.stages[0].engine_queue);
        stage.health.clone_from(&measured.stages[0].health);
        for (slice, window) in (1_u32..).zip(&mut stage.windows) {
            window.cpu_share = Some(1.0 / f64::from(slice + 17));
            window.loop_lag_max_s = Some(f64::from(slice * 7_919) * 1e-9);
            window.connections = Some(u64::from(slice % 3));
            window.lateness_max_s = f64::from(slice * 6_967) * 1e-9;
        }
    }
    run
}

#[test]
fn a_run_of_the_example_and_a_year_of_them_grow_no_larger() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/archive/before-digests/small/cpu-infergate-sim-a1a2b95a/runs");
    let measured = load_run(&fixtures.join("20261130T085753335Z-c515f26d388d-4d19.json")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let sitting = example();
    let mut options = SimOptions::named("h100-8b").unwrap();
    let sizes: Vec<u64> = (0..2)
        .map(|seed| {
            options.seed = seed;
            let mut engine = options.engine().unwrap();
            let name = RunName {
                started: "2026-11-30T08:57:53.335Z".to_owned(),
                stamp: "20261130T085753335Z-c515f26d388d".to_owned(),
                unique: format!("{seed:04x}"),
                place: None,
            };
            let session = "chat-8b-20261130T085753328Z-a8a9";
            let run = sitting
                .run(&mut engine, session, Nanos::from_secs(3), name)
                .run;
            let path = save_run(folder.path(), &dressed(run, &measured)).unwrap();
            assert_eq!(load_run(&path).unwrap().stages.len(), 8);
            path.metadata().unwrap().len()
        })
        .collect();
    let mean = sizes.iter().sum::<u64>() / sizes.len() as u64;
    println!(
        "run files of the example: {sizes:?} bytes; {RUNS} of them: {:.0} MB",
        (mean * RUNS) as f64 / 1e6
    );
    assert!(sizes.iter().all(|size| *size < RUN), "{sizes:?}");
    assert!(mean * RUNS < ARCHIVE, "{sizes:?}");
}
