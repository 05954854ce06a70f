//! What the figures owe the reader: a stall shows where it can be seen, and is announced where it
//! can't; a client that could not keep up calls its own run invalid.

use infergate::archive::RecordReader;
use infergate::plan::Phase;
use infergate::unit::Nanos;
use serde_json::Value;

use crate::support::{Project, SMALL, entries, json};

/// Freezes for 2 s once, some way into the window: calibration and warm-up take fewer requests.
const FREEZES: &str = "test --freeze-after 80 --freeze-for 2s";

fn stage(project: &Project) -> Value {
    json(&project.runs()[0])["stages"][0].clone()
}

fn e2e(stage: &Value) -> &Value {
    &stage["pooled"]["distributions"]["e2e"]
}

fn p99(stage: &Value) -> f64 {
    e2e(stage)["quantiles"]["p99"]["value_s"].as_f64().unwrap()
}

#[test]
fn an_open_loop_shows_a_stall_in_full() {
    let spec = SMALL
        .replace("SIM", FREEZES)
        .replace("requests: 60", "requests: 200")
        .replace(
            "closed: {users: 2}",
            "open: {rate: 100/s, arrivals: constant}",
        );
    let project = Project::with_spec(&spec);
    // The requests that are due in the stall are all sent, and wait.
    let ran = project.run(&["run", "spec.yaml"]);
    let stage = stage(&project);
    assert_eq!(stage["pooled"]["outcomes"]["completed"], 200, "{}", ran.out);
    let p99 = p99(&stage);
    assert!(p99 > 1.9, "a stall of 2 s is {p99} s at p99");
    let slow = |quantile: &str| e2e(&stage)["quantiles"][quantile]["value_s"].as_f64();
    // Half of the requests were due within it.
    assert!(slow("p50").unwrap() > 0.1, "{:?}", slow("p50"));
    assert!(!ran.out.contains("a closed loop waits"), "{}", ran.out);
    // Meanwhile the client was well, window by window; what waits needs connections of its own.
    let windows = &stage["windows"];
    let seen = |field: &str| {
        windows[field]
            .as_array()
            .is_some_and(|all| all.iter().any(Value::is_f64))
    };
    assert!(seen("loop_lag_max_s"), "{windows:?}");
    assert_eq!(seen("cpu_share"), cfg!(target_os = "linux"));
    let connections = windows["connections"].as_array().unwrap();
    let opened: u64 = connections.iter().filter_map(Value::as_u64).sum();
    let all = stage["health"]["connections"].as_u64().unwrap();
    assert!(0 < opened && opened <= all, "{opened} of {all}");
}

#[test]
fn a_closed_loop_hides_a_stall_and_says_that_it_can() {
    let spec = SMALL
        .replace("SIM", FREEZES)
        .replace("requests: 60", "requests: 400");
    let project = Project::with_spec(&spec);
    project
        .run(&["run", "spec.yaml"])
        .shows("one stall, however long, touches at most 2 of these 400 requests")
        .shows("percentiles up to p99.4 can hide it");
    let stage = stage(&project);
    let (p99, most) = (p99(&stage), e2e(&stage)["max_s"].as_f64().unwrap());
    assert!(most > 1.9, "the longest took {most} s");
    assert!(p99 < most / 2.0, "two of 400 reach no p99: {p99} s");
    let path = project.runs()[0].display().to_string();
    let report = project.run(&["report", &path]);
    report.exits(0).shows("- Note: a closed loop waits");
}

#[test]
fn a_client_that_cannot_keep_up_calls_its_run_invalid() {
    // Long prompts at a rate that no machine writes them at: 200 of 100 kB within 2 ms.
    let spec = SMALL
        .replace("SIM", "'null'")
        .replace("input: 40", "input: 20000")
        .replace("requests: 60, warmup: 4", "requests: 200, warmup: 0")
        .replace(
            "closed: {users: 2}",
            "open: {rate: 100000/s, arrivals: constant}, in_flight: 1000",
        );
    let project = Project::with_spec(&spec);
    let ran = project
        .run(&["run", "spec.yaml"])
        .exits(4)
        .shows("Invalid run of small: 1 stage of 1 can be neither baseline nor pass")
        .shows("invalid: ");
    let stage = stage(&project);
    let reasons = stage["invalid"].as_array().unwrap();
    let late = reasons.iter().find_map(|reason| reason.get("late"));
    let late = late.unwrap_or_else(|| panic!("{reasons:?}\n{}", ran.out));
    assert!(late["p99_s"].as_f64() > late["limit_s"].as_f64(), "{late}");
    // Nothing of it is the target's fault: all were sent, and all came back.
    assert_eq!(stage["health"]["cap_hits"], 0);
    assert_eq!(stage["pooled"]["outcomes"]["completed"], 200);
    // A run that spoilt itself is no baseline.
    let session = project.sessions()[0].display().to_string();
    let promoted = project.run(&["baseline", "promote", &session, "--reason", "x"]);
    assert_ne!(promoted.code, Some(0), "{}", promoted.out);
}

/// Largest distance between values and a distribution, times √n: above 1.63 in one of a hundred
/// samples (Kolmogorov and Smirnov).
fn distance(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len() as f64;
    let far = values.iter().zip(0..).map(|(&value, rank)| {
        let (p, rank) = (cdf(value), f64::from(rank));
        (p - rank / n).max((rank + 1.0) / n - p)
    });
    far.fold(0.0, f64::max) * n.sqrt()
}

#[test]
fn records_hold_the_arrivals_that_the_spec_asks_for() {
    for (process, gap_cdf) in [
        ("constant", None),
        ("poisson", Some(|gap: f64| 1.0 - (-1000.0 * gap).exp())),
    ] {
        let spec = SMALL
            .replace("SIM", "'null'")
            .replace("requests: 60", "requests: 800")
            .replace(
                "closed: {users: 2}",
                &format!("open: {{rate: 1000/s, arrivals: {process}}}"),
            );
        let project = Project::with_spec(&spec);
        // Whether this machine keeps up is no matter here.
        project.run(&["run", "spec.yaml"]);
        let records = entries(&project.sessions()[0].join("records"));
        let records = RecordReader::open(&records[0]).unwrap().map(Result::unwrap);
        let measured: Vec<_> = records
            .filter(|record| record.phase == Phase::Measured)
            .collect();
        assert!(
            measured
                .iter()
                .all(|r| r.sent.is_none_or(|sent| sent >= r.scheduled))
        );
        let mut due: Vec<Nanos> = measured.iter().map(|record| record.scheduled).collect();
        due.sort_unstable();
        assert_eq!(due.len(), 800);
        let gaps: Vec<f64> = due
            .windows(2)
            .map(|pair| pair[1].since(pair[0]).as_secs_f64())
            .collect();
        match gap_cdf {
            None => assert!(gaps.iter().all(|gap| (gap - 0.001).abs() < 1e-8)),
            Some(cdf) => {
                let d = distance(gaps, cdf);
                assert!(d < 1.63, "{process}: {d}");
            }
        }
    }
}
