//! What `doctor` prints.

use crate::checkup::{CHECKUP_FORMAT, Checkup, Finding, Topic};
use crate::headroom::tests::{headroom, reading};
use crate::headroom::{Demand, Found, Headroom, Strain, judge};
use crate::report::doctor::doctor;
use crate::report::text::plain;

fn demand(stage: &str, peak_rps: Option<f64>, users: Option<u32>, connections: u32) -> Demand {
    Demand {
        stage: stage.to_owned(),
        peak_rps,
        events_per_s: peak_rps.map(|rate| 128.0 * rate),
        users,
        connections,
    }
}

fn checkup(headroom: Headroom, demands: &[Demand]) -> Checkup {
    Checkup {
        format: CHECKUP_FORMAT.to_owned(),
        stages: judge(&headroom, demands),
        headroom,
        spec: (!demands.is_empty()).then(|| "chat-8b".to_owned()),
        findings: Vec::new(),
    }
}

#[test]
fn a_machine_alone() {
    insta::assert_snapshot!(plain(&doctor(&checkup(headroom(), &[]))));
}

#[test]
fn stages_that_fit_closely_or_not() {
    let demands = [
        demand("steady", Some(40.0), None, 400),
        demand("brisk", Some(700.0), None, 500),
        demand("peak", Some(9000.0), None, 4000),
        demand("users", None, Some(200), 200),
    ];
    insta::assert_snapshot!(plain(&doctor(&checkup(headroom(), &demands))));
}

#[test]
fn a_machine_that_keeps_up_with_nothing() {
    let mut headroom = headroom();
    let late = Strain::Late {
        p99_s: 0.4,
        limit_s: 0.005,
    };
    headroom.requests = Found {
        best: None,
        broke: Some(reading(16.0, 0.0, Some(late))),
        least: None,
    };
    headroom.streams.broke = None;
    headroom.machine.load_average = Some(9.25);
    headroom.machine.release = false;
    let mut checkup = checkup(headroom, &[demand("steady", Some(1.0), None, 8)]);
    checkup.findings = vec![
        Finding::ok(Topic::Endpoint, "`http://gpu-1:8000` answers"),
        Finding::note(
            Topic::Metrics,
            "`http://gpu-1:8000` shows none: /metrics answers 404",
            "reports then lack the engine's own side",
            "switch them on",
        ),
        Finding::trouble(
            Topic::Requests,
            "1 of 4 requests failed (stream error: \u{1b}[2J)",
            "failed requests are what a gate counts",
            "see the engine's log",
        ),
    ];
    let found = plain(&doctor(&checkup));
    assert!(!found.contains('\u{1b}'), "{found}");
    insta::assert_snapshot!(plain(&doctor(&checkup)));
}
