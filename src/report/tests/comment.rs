//! Reports that fit: what goes, in which order, and what never does.

use crate::lang::{Lang, say};
use crate::report::json::ReportFile;
use crate::report::{Comment, Sides, comment};
use crate::spec::Limit;
use crate::summary::Run;
use crate::verdict::{CellState, Finding, Judgement, Reason, Verdict};

use super::fixture::{finding, healthy, judgement, regression, runs, seen};

fn file(title: &str, judgement: &Judgement, baseline: &[Run], candidate: &[Run]) -> ReportFile {
    let sides = Sides {
        title,
        baseline,
        candidate,
        reproduce: &["infergate compare infergate-out/chat-8b".to_owned()],
        places: &[],
    };
    ReportFile::new(judgement, &sides)
}

pub(super) fn of_runs(title: &str, judgement: &Judgement) -> ReportFile {
    let (baseline, candidate) = (runs("b", "0.11.0", 1.0), runs("c", "0.12.0", 1.31));
    file(title, judgement, &baseline, &candidate)
}

/// 60 steps of 10 cells, 40 of them regressed.
fn six_hundred() -> ReportFile {
    let users: Vec<String> = (1..=60).map(|users| users.to_string()).collect();
    let users: Vec<&str> = users.iter().map(String::as_str).collect();
    of_runs("chat-8b", &many_cells(&users, 40))
}

fn units(comment: &Comment) -> usize {
    comment.text.encode_utf16().count()
}

#[test]
fn six_hundred_cells_fit_with_every_failing_row() {
    let report = six_hundred();
    let whole = comment(std::slice::from_ref(&report), usize::MAX, Lang::En);
    assert_eq!(
        whole.text,
        crate::report::markdown::report(&report.model(), Lang::En)
    );
    assert!(units(&whole) > 65_000 && whole.left_out.is_empty());
    let fitting = comment(&[report], 65_000, Lang::En);
    assert!(units(&fitting) <= 65_000);
    assert_eq!(fitting.rows_left_out, 0);
    assert_eq!(fitting.text.matches("**regressed**").count(), 40);
    assert!(fitting.text.contains("Left out to fit: equal pins"));
    insta::assert_snapshot!("six_hundred_cells.md", fitting.text);
}

#[test]
fn whatever_the_limit_the_text_keeps_it_and_counts_what_is_missing() {
    let users = ["1", "2", "4", "8", "16", "32"];
    let many = || of_runs("chat-8b", &many_cells(&users, 4));
    let one = [many()];
    let two = [many(), of_runs("chat-8b-int4", &regression())];
    for reports in [&one[..], &two] {
        let urgent = comment(reports, usize::MAX, Lang::En).text;
        let urgent =
            urgent.matches("**regressed**").count() + urgent.matches("**suspect**").count();
        // One regressed cell of `regression` is not gated.
        let urgent = if reports.len() == 2 {
            urgent - 1
        } else {
            urgent
        };
        for limit in (0..200).step_by(23).chain((200..12_000).step_by(797)) {
            let fitting = comment(reports, limit, Lang::En);
            assert!(units(&fitting) <= limit, "{limit}");
            let shown = fitting.text.matches("**regressed**").count()
                + fitting.text.matches("**suspect**").count();
            assert!(shown + fitting.rows_left_out >= urgent, "{limit}: {shown}");
            assert!(
                fitting.rows_left_out == 0
                    || fitting.text.contains("more, which do not fit here")
                    || fitting.left_out == [say::EVERYTHING],
                "{limit}: {}",
                fitting.text
            );
        }
    }
    let tight = comment(&[six_hundred()], 5000, Lang::En);
    assert!(tight.rows_left_out > 0);
    insta::assert_snapshot!("tight.md", tight.text);
}

#[test]
fn several_specs_are_one_comment_with_all_failing_cells_first() {
    let mut undecided = healthy();
    undecided[2] = finding("ttft.p95", CellState::Suspect, 0.3, 0.17);
    undecided.sort_by_key(|f| f.state);
    let mut undecided = judgement(Verdict::Undecided, undecided);
    undecided.policy = Some("`undecided: pass`".into());
    undecided.exit = crate::exit::Exit::Pass;
    let mut invalid = healthy();
    invalid[0].state = CellState::Invalid;
    invalid[0].reason = Some(Reason::ClientFault {
        what: "late".to_owned(),
    });
    invalid[1].limit = Some(Limit::AtMost(0.005));
    let invalid = judgement(Verdict::Invalid, invalid);
    let reports = [
        of_runs("chat-8b", &judgement(Verdict::Pass, healthy())),
        of_runs("chat-8b-int4", &undecided),
        of_runs("chat-8b-fp8", &regression()),
        of_runs("chat-70b", &invalid),
    ];
    let text = comment(&reports, 65_000, Lang::En).text;
    insta::assert_snapshot!("several_specs.md", text);
    assert_eq!(crate::report::suite::exit(&reports).code(), 1);
    assert_eq!(crate::report::suite::exit(&[]).code(), 0);
    // The order of the files does not matter where exit codes differ.
    let mut turned = reports.clone();
    turned.reverse();
    assert_eq!(
        comment(&turned[1..3], 65_000, Lang::En),
        comment(&reports[1..3], 65_000, Lang::En)
    );
}

/// Ten cells a step of a sweep, of which two are gated; of the last steps one has regressed.
pub(super) fn many_cells(users: &[&str], regressed: usize) -> Judgement {
    let steps = users.len();
    let mut findings = Vec::new();
    for (step, users) in users.iter().enumerate() {
        for (i, metric) in [
            "goodput",
            "attainment",
            "ttft.p50",
            "ttft.p95",
            "ttft.p99",
            "tpot.p50",
            "tpot.p95",
            "itl.p99",
            "e2e.p95",
            "output_throughput",
        ]
        .into_iter()
        .enumerate()
        {
            let mut finding = finding(metric, CellState::Ok, 0.9, 0.001);
            finding.cell.stage = Some(format!("sweep@{users}"));
            finding.gated = i % 5 == 0 && step > 1;
            findings.push(finding);
        }
        if step + regressed >= steps {
            let start = findings.len() - 10;
            let cell = findings[start].cell.clone();
            findings[start] = Finding {
                cell,
                ..finding("goodput", CellState::Regressed, 0.9, -0.4)
            };
        }
    }
    findings.sort_by_key(|f| f.state);
    judgement(Verdict::Regression, findings)
}

/// Names and pins that somebody else wrote, all that is known of attacks in one of them, and one that is long.
#[test]
fn hostile_names_stay_names_in_a_comment() {
    let all = super::hostile::HOSTILE.join(" ");
    let long = "x".repeat(10_000);
    let side = |version: &str, model: &str| {
        let mut runs = runs("c", version, 1.31);
        for run in &mut runs {
            let pins = [("model.name", model), ("engine.version", version)];
            for (path, value) in pins {
                run.pins.insert(path.parse().unwrap(), seen(value));
            }
        }
        runs
    };
    let (baseline, candidate) = (side(&all, &long), side("``` fence", "a|b"));
    let report = file(&all, &regression(), &baseline, &candidate);
    for lang in Lang::ALL {
        let text = comment(std::slice::from_ref(&report), 65_000, lang).text;
        assert!(!text.contains("<!--") && !text.contains("##["));
        assert!(
            text.lines()
                .all(|line| !line.trim_start().starts_with("::"))
        );
        if lang == Lang::En {
            insta::assert_snapshot!("hostile.md", text);
        }
    }
}
