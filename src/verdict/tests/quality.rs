//! Cells of quality: paired by request, held against the baseline's own agreement, or imported.

use super::*;
use crate::quality::{AnswerQuality, CheckKind, Entry, Fingerprint, Score};

/// Answers of a run: 200 requests, of which some fail, with their texts.
fn answers(run: &mut Run, fails: impl Fn(u32) -> bool, text: impl Fn(u32) -> String) {
    let mut quality = AnswerQuality::default();
    for number in 0..200 {
        let failed = fails(number).then_some(CheckKind::Regex);
        let entry = Entry {
            failed: failed.into_iter().collect(),
            print: Some(Fingerprint::of(&text(number))),
        };
        quality.take(number, &[CheckKind::Regex], entry);
    }
    run.stages[0].pooled.quality = Some(quality);
}

fn asked(metric: &str, limit: Limit) -> Gate {
    fixed(5, &[(metric, limit)])
}

const fn points(points: f64) -> Limit {
    Limit::WorseByPoints(points)
}

#[test]
fn requests_that_fail_on_one_side_alone_convict_where_the_shares_would_not() {
    // Half of the prompts fail everywhere, two points more on the candidate: by the shares' own
    // scatter (3.5 points a run) nothing, by the four requests a run that differ much.
    let mut runs = Pairs::new(5);
    for run in &mut runs.baseline {
        answers(run, |n| n % 2 == 0, |_| String::new());
    }
    for run in &mut runs.candidate {
        answers(run, |n| n % 2 == 0 || n % 66 == 1, |_| String::new());
    }
    let judged = pairs(&runs, &asked("quality.regex", points(0.01)));
    let found = finding(&judged, "quality.regex");
    assert_eq!(found.state, CellState::Regressed, "{found:#?}");
    assert_eq!(found.baseline.unwrap().value, Some(0.5));
    assert!(
        matches!(found.change, Some(Change::Points { estimate, .. }) if (estimate + 0.02).abs() < 1e-9)
    );

    // The same shares of requests that have nothing to do with each other: nothing can be told.
    for (i, run) in runs.candidate.iter_mut().enumerate() {
        let shift = 2 * i as u32 + 1;
        answers(
            run,
            |n| (n + shift).is_multiple_of(2) || n % 66 == 1,
            |_| String::new(),
        );
    }
    let judged = pairs(&runs, &asked("quality.regex", points(0.01)));
    assert_ne!(state(&judged, "quality.regex"), CellState::Regressed);
    assert_ne!(state(&judged, "quality.regex"), CellState::Ok);
}

/// An engine that answers a tenth of the prompts otherwise in each of its runs.
fn unsteady(pairs: &mut Pairs, more: impl Fn(u32) -> bool) {
    let text = |n: u32, run: usize, more: bool| {
        let other = (7 * n + 3 * run as u32).is_multiple_of(10);
        match (more, other) {
            (true, _) => format!("the answer to {n} begins alike and ends otherwise"),
            (false, true) => format!("the answer to {n} in run {run}"),
            (false, false) => format!("the answer to {n} begins alike and ends so"),
        }
    };
    for (i, run) in pairs.baseline.iter_mut().enumerate() {
        answers(run, |_| false, |n| text(n, 2 * i, false));
    }
    for (i, run) in pairs.candidate.iter_mut().enumerate() {
        answers(run, |_| false, |n| text(n, 2 * i + 1, more(n)));
    }
}

#[test]
fn agreement_is_held_against_that_of_the_baseline_with_itself() {
    let mut runs = Pairs::new(5);
    unsteady(&mut runs, |_| false);
    let judged = pairs(&runs, &asked("quality.agreement", points(0.2)));
    let found = finding(&judged, "quality.agreement");
    assert_eq!(found.state, CellState::Ok, "{found:#?}");
    // Two runs that each answer another tenth otherwise agree on four fifths.
    for side in [found.baseline, found.candidate] {
        let value = side.unwrap().value.unwrap();
        assert!((0.75..=0.9).contains(&value), "{value}");
    }
    // An absolute limit asks the candidate alone, and says that the baseline would break it too.
    let judged = pairs(&runs, &asked("quality.agreement", Limit::AtLeast(0.98)));
    let found = finding(&judged, "quality.agreement");
    assert_eq!(found.state, CellState::Regressed);
    assert_eq!(found.reason, Some(Reason::Inherited));

    unsteady(&mut runs, |n| n % 2 == 0);
    let judged = pairs(&runs, &asked("quality.agreement", points(0.2)));
    let found = finding(&judged, "quality.agreement");
    assert_eq!(found.state, CellState::Regressed, "{found:#?}");
    let alike = found.alike.unwrap();
    assert_eq!(alike.compared, 1000);
    assert!(alike.differing > 500, "{alike:?}");
    // `the answer to 100 begins alike and ends ` has 38 to 40 characters.
    assert_eq!(alike.until, Some(32));
}

#[test]
fn one_run_of_the_baseline_has_nothing_to_agree_with() {
    let mut runs = Pairs::new(1);
    unsteady(&mut runs, |_| false);
    let judged = pairs(&runs, &asked("quality.agreement", points(0.2)));
    assert_eq!(state(&judged, "quality.agreement"), CellState::Missing);
    assert_ne!(judged.exit, Exit::Pass);
}

#[test]
fn prompts_of_another_calibration_are_not_the_same_prompts() {
    let mut runs = Pairs::new(5);
    unsteady(&mut runs, |_| false);
    for run in &mut runs.candidate {
        run.prompt_calibration.tokens_per_word += 0.1;
    }
    let judged = pairs(&runs, &asked("quality.agreement", points(0.2)));
    let found = finding(&judged, "quality.agreement");
    assert_eq!(found.state, CellState::Missing);
    let why = format!("{:?}", found.reason);
    assert!(why.contains("another calibration"), "{why}");
}

#[test]
fn imported_scores_are_tested_by_their_own_errors() {
    let score = |value, standard_error| Score {
        value,
        standard_error,
        samples: Some(1319),
        file: crate::ident::Digest::of(b"results"),
    };
    let judged = |head: Score, limit: Limit| {
        let mut runs = Pairs::new(5);
        let name = "gsm8k".parse().unwrap();
        for run in &mut runs.baseline {
            run.imported.insert(name, score(0.75, 0.012));
        }
        for run in &mut runs.candidate {
            run.imported.insert(name, head.clone());
        }
        pairs(&runs, &asked("quality.imported.gsm8k", limit))
    };
    let same = judged(score(0.72, 0.0125), points(0.06));
    let found = finding(&same, "quality.imported.gsm8k");
    let evidence = found.evidence.unwrap();
    // z = 0.03 / √(0.012² + 0.0125²) = 1.7313 on either side.
    assert!(
        (evidence.p_regression - 0.041_70).abs() < 1e-4,
        "{evidence:?}"
    );
    assert!((evidence.p_pass - 0.041_70).abs() < 1e-4, "{evidence:?}");
    assert_eq!(found.state, CellState::Ok);
    assert_eq!(found.candidate.unwrap().value, Some(0.72));

    let worse = judged(score(0.66, 0.013), points(0.06));
    assert_eq!(
        state(&worse, "quality.imported.gsm8k"),
        CellState::Regressed
    );
    // 2.9 · √2 · 1.2 points are the least that such errors resolve.
    let fine = judged(score(0.75, 0.012), points(0.02));
    assert_eq!(
        state(&fine, "quality.imported.gsm8k"),
        CellState::NotResolvable
    );
    let under = judged(score(0.66, 0.013), Limit::AtLeast(0.7));
    assert_eq!(
        state(&under, "quality.imported.gsm8k"),
        CellState::Regressed
    );
    let over = judged(score(0.75, 0.012), Limit::AtLeast(0.7));
    assert_eq!(state(&over, "quality.imported.gsm8k"), CellState::Ok);
}
