//! Accepted cells, and drift from a pinned release.

use super::*;
use crate::compare::Comparison;
use crate::lang::Said;
use crate::spec::Drift;

fn compared(data: &Pairs, gate: &Gate) -> Comparison {
    let sides = Sides {
        baseline: &data.baseline,
        candidate: &data.candidate,
        archive: &reference_archive(),
    };
    compare(&sides, gate, &UnderTest::NOTHING)
}

/// An accept of TTFT's p95 at so many times the baseline's value.
fn excuse(data: &Pairs, times: f64) -> Excuse {
    let plain = pairs(data, &gate(&GATES));
    let ttft = finding(&plain, "ttft.p95");
    Excuse {
        cell: ttft.cell.clone(),
        value: ttft.baseline.unwrap().value.unwrap() * times,
        until: "2027-02-28".to_owned(),
        file: "accepts/a.yaml".to_owned(),
        expired: false,
    }
}

fn accepting(data: &Pairs, excuse: Excuse) -> Judgement {
    let gate = gate(&GATES);
    judge_accepting(&compared(data, &gate), &gate, &[excuse])
}

#[test]
fn an_accepted_level_passes_and_says_so() {
    let data = shifted(Metric::Ttft, 0.25);
    assert_eq!(pairs(&data, &gate(&GATES)).exit, Exit::Regression);
    let got = accepting(&data, excuse(&data, 1.3));
    assert_eq!((got.verdict, got.exit), (Verdict::Pass, Exit::Pass));
    assert_eq!((got.headline.accepted, got.headline.passed), (1, 2));
    let ttft = finding(&got, "ttft.p95");
    assert_eq!(ttft.state, CellState::Accepted);
    assert_eq!(ttft.limit, Some(worse_by(0.1)), "its own limit is shown");
    assert!(
        matches!(&ttft.reason, Some(Reason::Accepted { file, .. }) if file == "accepts/a.yaml")
    );
}

#[test]
fn an_accept_excuses_no_further_than_its_value_and_the_tolerance() {
    // 1.3 × 1.1 is 43 % over the baseline.
    let within = shifted(Metric::Ttft, 1.38_f64.ln());
    let beyond = shifted(Metric::Ttft, 1.50_f64.ln());
    let state_of = |data: &Pairs| {
        let got = accepting(data, excuse(data, 1.3));
        (got.exit, finding(&got, "ttft.p95").clone())
    };
    assert_eq!(state_of(&within).0, Exit::Pass);
    let (exit, ttft) = state_of(&beyond);
    assert_eq!((exit, ttft.state), (Exit::Regression, CellState::Regressed));
    assert!(matches!(ttft.reason, Some(Reason::BeyondAccepted { .. })));
}

#[test]
fn an_accept_excuses_its_cell_alone_and_until_its_day() {
    let data = shifted(Metric::Tpot, 0.25);
    let got = accepting(&data, excuse(&data, 1.3));
    assert_eq!(got.exit, Exit::Regression, "another cell");
    assert_eq!(state(&got, "ttft.p95"), CellState::Ok);

    let data = shifted(Metric::Ttft, 0.25);
    let expired = Excuse {
        expired: true,
        ..excuse(&data, 1.3)
    };
    let got = accepting(&data, expired);
    assert_eq!(got.exit, Exit::Regression);
    let ttft = finding(&got, "ttft.p95");
    assert!(matches!(ttft.reason, Some(Reason::AcceptExpired { .. })));
}

#[test]
fn an_accept_that_is_not_needed_changes_nothing_and_is_named() {
    let data = Pairs::new(3);
    let got = accepting(&data, excuse(&data, 1.3));
    assert_eq!(state(&got, "ttft.p95"), CellState::Ok);
    assert_eq!(got.headline.accepted, 0);
    assert!(
        got.caveats.iter().any(|text| text.contains("can go")),
        "{:?}",
        got.caveats
    );
}

#[test]
fn an_accept_of_a_better_level_takes_nothing_away() {
    let data = Pairs::new(3);
    let got = accepting(&data, excuse(&data, 0.5));
    assert_eq!(state(&got, "ttft.p95"), CellState::Ok);
    let data = shifted(Metric::Ttft, 0.25);
    assert_eq!(accepting(&data, excuse(&data, 0.5)).exit, Exit::Regression);
}

#[test]
fn an_absolute_limit_is_accepted_too() {
    let data = shifted(Metric::Ttft, 0.25);
    let plain = pairs(&data, &gate(&GATES));
    let reading = finding(&plain, "ttft.p95")
        .candidate
        .unwrap()
        .value
        .unwrap();
    let gate = gate(&[("ttft.p95", Limit::AtMost(reading * 0.8))]);
    let comparison = compared(&data, &gate);
    assert_eq!(judge(&comparison, &gate).exit, Exit::Regression);
    let accepted = Excuse {
        value: reading,
        ..excuse(&data, 1.0)
    };
    let got = judge_accepting(&comparison, &gate, std::slice::from_ref(&accepted));
    assert_eq!(state(&got, "ttft.p95"), CellState::Accepted);
    let worse = Excuse {
        value: reading * 0.85,
        ..accepted
    };
    let got = judge_accepting(&comparison, &gate, &[worse]);
    assert_eq!(got.exit, Exit::Regression);
}

/// Sessions of two runs, each at so much of the first level, and a candidate of three runs.
fn history(levels: &[f64], candidate: f64) -> (Vec<Run>, Vec<Run>) {
    let session = |name: String, level: f64, minute: u32, runs: u32| {
        (0..runs).map(move |n| {
            let mut run = run(&name, minute + n);
            let jitter = 0.002 * f64::from(n % 2);
            set(&mut run, Metric::Ttft, level * (1.0 + jitter));
            run
        })
    };
    let stored = levels.iter().zip(0..).flat_map(|(level, n)| {
        let jitter = 1.0 + 0.004 * f64::from(n % 3);
        session(format!("s{n}"), level * jitter, 10 * n, 2)
    });
    let head = session("head".to_owned(), candidate, 900, 3);
    (stored.collect(), head.collect())
}

fn since(levels: &[f64], candidate: f64, drift: f64) -> Judgement {
    since_excusing(levels, candidate, drift, &[])
}

fn since_excusing(levels: &[f64], candidate: f64, drift: f64, excuses: &[Excuse]) -> Judgement {
    let gate = gate(&[("ttft.p95", worse_by(0.1))]);
    let (stored, head) = history(levels, candidate);
    let against = |baseline: &[Run]| {
        let sides = Sides {
            baseline,
            candidate: &head,
            archive: &[],
        };
        compare(&sides, &gate, &UnderTest::NOTHING)
    };
    let baseline = against(&stored[stored.len() - 20..]);
    let release = Release {
        label: "v1.2",
        comparison: &against(&stored[..2]),
        drift: Drift::try_new(drift).unwrap(),
    };
    let judged = judge_accepting(&baseline, &gate, excuses);
    judge_drift(judged, &baseline, release, &gate, excuses)
}

#[test]
fn many_small_losses_show_against_a_release() {
    // Each session is 1 % slower than the one before: none is 10 % over those before it.
    let levels: Vec<f64> = (0..20).map(|n| 0.2 * 1.01_f64.powi(n)).collect();
    let slow = 0.2 * 1.01_f64.powi(20);
    let got = since(&levels, slow, 0.15);
    let rows: Vec<(Option<&str>, CellState)> = got
        .findings
        .iter()
        .filter(|finding| finding.gated)
        .map(|finding| (finding.since.as_deref(), finding.state))
        .collect();
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(
        rows.contains(&(Some("v1.2"), CellState::Regressed)),
        "{rows:?}"
    );
    assert!(!rows.contains(&(None, CellState::Regressed)), "{rows:?}");
    assert_eq!(
        (got.verdict, got.exit),
        (Verdict::Regression, Exit::Regression)
    );
    assert_eq!(got.headline.gated, 2);
}

#[test]
fn a_level_that_stands_has_not_drifted() {
    let got = since(&[0.2; 12], 0.201, 0.15);
    assert_eq!(
        (got.verdict, got.exit),
        (Verdict::Pass, Exit::Pass),
        "{:?}",
        got.findings
    );
    assert_eq!(got.headline.passed, 2);
}

#[test]
fn an_accept_that_the_baseline_needs_can_not_go_because_the_release_does_not() {
    // 12.5 % over the baseline is beyond its 10 %, and within 15 % of the release.
    let accepted = Excuse {
        cell: "steady/ttft.p95".parse().unwrap(),
        value: 0.225,
        until: "2027-02-28".to_owned(),
        file: "an-accept.yaml".to_owned(),
        expired: false,
    };
    let got = since_excusing(&[0.2; 12], 0.225, 0.15, std::slice::from_ref(&accepted));
    let states: Vec<CellState> = got.findings.iter().map(|f| f.state).collect();
    assert!(states.contains(&CellState::Accepted), "{states:?}");
    assert!(states.contains(&CellState::Ok), "{states:?}");
    let can_go = |text: &Said| text.contains("can go");
    assert!(!got.caveats.iter().any(can_go), "{:?}", got.caveats);
    let needless = since_excusing(&[0.2; 12], 0.201, 0.15, &[accepted]);
    assert!(needless.caveats.iter().any(can_go));
}

#[test]
fn drift_is_advisory_where_too_few_sessions_tell_how_days_differ() {
    let gate = gate(&[("ttft.p95", worse_by(0.1))]);
    let (stored, head) = history(&[0.2; 3], 0.3);
    let against = |baseline: &[Run]| {
        let sides = Sides {
            baseline,
            candidate: &head,
            archive: &[],
        };
        compare(&sides, &gate, &UnderTest::NOTHING)
    };
    let baseline = against(&stored);
    let release = Release {
        label: "v1.2",
        comparison: &against(&stored[..2]),
        drift: Drift::try_new(0.15).unwrap(),
    };
    let got = judge_drift(judge(&baseline, &gate), &baseline, release, &gate, &[]);
    let drift = got.findings.iter().find(|f| f.since.is_some()).unwrap();
    assert_eq!(drift.state, CellState::Suspect);
    assert!(matches!(drift.reason, Some(Reason::Advisory { .. })));
    assert_eq!(got.exit, Exit::Undecided);
}
