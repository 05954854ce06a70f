//! The report of a comparison, in every situation that it has words for.

use crate::exit::Exit;
use crate::lang::Lang;
use crate::metric::Cell;
use crate::report::json::{ReportFile, ReportFileError};
use crate::report::{Sides, build, markdown, text};
use crate::spec::{Limit, Policy};
use crate::summary::{InvalidReason, Run};
use crate::verdict::{
    CellState, Design, Finding, Judgement, PinDifference, Reading, Reason, Ruling, Verdict,
};

use super::comment::many_cells;
use super::fixture::{
    advice, error_ratio, evidence, finding, healthy, judgement, regression, runs, version_pin,
};

/// Renders a judgement in every format and compares each with its snapshot.
fn check(name: &str, judgement: &Judgement, baseline: &[Run], candidate: &[Run]) {
    let reproduce = ["infergate compare infergate-out/chat-8b".to_owned()];
    let sides = Sides {
        title: "chat-8b",
        baseline,
        candidate,
        reproduce: &reproduce,
        places: &[],
    };
    let model = build(judgement, &sides);
    let page = markdown::report(&model, Lang::En);
    assert_complete(&page, judgement);
    insta::assert_snapshot!(format!("{name}.md"), page);
    insta::assert_snapshot!(
        format!("{name}.txt"),
        text::plain(&text::report(&model, Lang::En))
    );
    let file = ReportFile::new(judgement, &sides);
    let read = ReportFile::parse(&file.render()).unwrap();
    assert_eq!(read, file);
    assert_eq!(read.model(), model, "the file renders as the runs do");
    assert_eq!(&file.judgement(), judgement);
}

/// No finding is left out, and no change comes without its interval.
fn assert_complete(page: &str, judgement: &Judgement) {
    for finding in &judgement.findings {
        let row = format!("| `{}` |", finding.cell);
        let state = format!("**{}** |", finding.state.label());
        assert!(
            page.lines()
                .any(|line| line.starts_with(&row) && line.ends_with(&state)),
            "{row} {state}"
        );
    }
    let words: Vec<&str> = page.split_whitespace().collect();
    for three in words.windows(3) {
        if three[0].starts_with(['+', '−']) && matches!(three[1], "%" | "pp") {
            assert!(three[2].starts_with('['), "{three:?}");
        }
    }
}

#[test]
fn pass() {
    check(
        "pass",
        &judgement(Verdict::Pass, healthy()),
        &runs("b", "0.11.0", 1.0),
        &runs("c", "0.12.0", 1.0),
    );
}

#[test]
fn the_report_file() {
    let (baseline, candidate) = (runs("b", "0.11.0", 1.0), runs("c", "0.12.0", 1.31));
    let sides = Sides {
        title: "chat-8b",
        baseline: &baseline,
        candidate: &candidate,
        reproduce: &[],
        places: &[],
    };
    let mut judgement = regression();
    judgement.findings.truncate(2);
    let json = ReportFile::new(&judgement, &sides).render();
    insta::assert_snapshot!("report.json", json);
    let newer = json.replace("infergate.report/1", "infergate.report/2");
    assert!(matches!(
        ReportFile::parse(&newer),
        Err(ReportFileError::OtherFormat { .. })
    ));
    assert!(matches!(
        ReportFile::parse("{}"),
        Err(ReportFileError::Malformed(_))
    ));
}

#[test]
fn a_regression() {
    check(
        "regression",
        &regression(),
        &runs("b", "0.11.0", 1.0),
        &runs("c", "0.12.0", 1.31),
    );
}

#[test]
fn undecided() {
    let mut findings = healthy();
    findings[2] = finding("ttft.p95", CellState::Suspect, 0.3, 0.17);
    findings[4] = finding("e2e.p95", CellState::Inconclusive, 8.5, 0.052);
    findings[4].evidence = Some(evidence(0.11));
    findings[0].state = CellState::NotResolvable;
    findings.push(Finding {
        gated: false,
        evidence: None,
        reason: Some(Reason::FewSamples {
            n: 640,
            needed: 1000,
        }),
        ..finding("ttft.p99", CellState::Inconclusive, 0.48, 0.09)
    });
    findings.sort_by_key(|f| f.state);
    let mut judgement = judgement(Verdict::Undecided, findings);
    judgement.advice = vec![advice(
        "Take 3 more pairs, which reach the last look",
        Some("infergate ab chat-8b --resume infergate-out"),
    )];
    check(
        "undecided",
        &judgement,
        &runs("b", "0.11.0", 1.0),
        &runs("c", "0.12.0", 1.1),
    );
}

#[test]
fn invalid() {
    let mut findings = healthy();
    for finding in &mut findings[2..4] {
        finding.state = CellState::Invalid;
        finding.reason = Some(Reason::ClientFault {
            what: "requests left late in 2 of 3 candidate runs".to_owned(),
        });
        finding.candidate = None;
        finding.change = None;
        finding.evidence = None;
    }
    findings[4].state = CellState::Missing;
    findings[4].candidate = None;
    findings[4].change = None;
    findings[4].reason = Some(Reason::Absent {
        why: "the stage `steady` streamed no tokens".into(),
    });
    findings.sort_by_key(|f| f.state);
    let mut candidate = runs("c", "0.12.0", 1.0);
    candidate[1].stages[0].invalid = vec![
        InvalidReason::Late {
            p99_s: 0.041,
            limit_s: 0.025,
        },
        InvalidReason::ClientCpu { share: 0.97 },
    ];
    let mut judgement = judgement(Verdict::Invalid, findings);
    judgement.advice = vec![advice(
        "Give the client a machine of its own and run again",
        None,
    )];
    check("invalid", &judgement, &runs("b", "0.11.0", 1.0), &candidate);
}

#[test]
fn incomparable_pins() {
    let mut findings = healthy();
    for finding in &mut findings {
        finding.state = CellState::Incomparable;
        finding.change = None;
        finding.evidence = None;
    }
    let mut judgement = judgement(Verdict::Undecided, findings);
    judgement.pins = vec![
        PinDifference {
            pin: "hardware.gpu".parse().unwrap(),
            baseline: Some("NVIDIA H100 80GB HBM3".to_owned()),
            candidate: Some("NVIDIA H200".to_owned()),
            under_test: false,
            blocks: true,
        },
        PinDifference {
            pin: "precision.kv_cache".parse().unwrap(),
            baseline: None,
            candidate: Some("fp8".to_owned()),
            under_test: false,
            blocks: true,
        },
        version_pin(),
    ];
    check(
        "incomparable",
        &judgement,
        &runs("b", "0.11.0", 1.0),
        &runs("c", "0.12.0", 1.0),
    );
}

#[test]
fn assumed_noise_and_a_policy_that_passes() {
    let mut findings = healthy();
    for finding in &mut findings {
        finding.state = CellState::NotResolvable;
        finding.evidence = Some(evidence(0.087));
    }
    let mut judgement = judgement(Verdict::Undecided, findings);
    judgement.exit = Exit::Pass;
    judgement.policy = Some("`gate.undecided: pass` lets an undecided gate through".into());
    judgement.design = Design::Unpaired {
        baseline: 3,
        candidate: 3,
    };
    judgement.pins = Vec::new();
    judgement.caveats =
        vec!["There is no archive of this environment, so noise of 3 % a run is assumed".into()];
    judgement.advice = vec![advice(
        "Measure the noise once",
        Some("infergate calibrate chat-8b --sessions 4"),
    )];
    check(
        "assumed_noise",
        &judgement,
        &runs("b", "0.11.0", 1.0),
        &runs("c", "0.11.0", 1.0),
    );
}

/// Of a candidate alone.
fn alone() -> Judgement {
    let mut findings = healthy();
    for finding in &mut findings {
        finding.baseline = None;
        finding.change = None;
        finding.evidence = None;
        finding.state = CellState::Missing;
        finding.reason = Some(Reason::Absent {
            why: "there is no baseline of this environment".into(),
        });
    }
    findings[1].state = CellState::Ok;
    findings[1].reason = Some(Reason::OnThisRun);
    findings.sort_by_key(|f| f.state);
    let mut judgement = judgement(Verdict::Undecided, findings);
    judgement.design = Design::Unpaired {
        baseline: 0,
        candidate: 3,
    };
    judgement.pins = Vec::new();
    judgement.caveats = Vec::new();
    judgement.advice = vec![advice(
        "Make these runs the baseline",
        Some("infergate baseline promote infergate-out --reason WHY"),
    )];
    judgement
}

#[test]
fn no_baseline() {
    check("no_baseline", &alone(), &[], &runs("c", "0.12.0", 1.0));
}

#[test]
fn first_run() {
    let ruling = |policy| Ruling {
        policy,
        name: "no_baseline",
    };
    let why = "no baseline for `chat-8b` in `baselines`; promote a session first";
    let open = alone().without_ground(why.to_owned(), ruling(Policy::Undecided));
    assert_eq!(open.exit, Exit::Undecided);
    check("first_run", &open, &[], &runs("c", "0.12.0", 1.0));
    let mut judged = alone();
    judged.exit = Exit::Pass; // as the gate judges by the same policy
    let passed = judged.without_ground(why.to_owned(), ruling(Policy::Pass));
    assert_eq!(passed.exit, Exit::Pass);
    check(
        "first_run_by_policy",
        &passed,
        &[],
        &runs("c", "0.12.0", 1.0),
    );
    let nothing = Judgement::of_nothing(4, why.to_owned(), (Exit::Undecided, None));
    check("nothing_measured", &nothing, &[], &[]);
}

#[test]
fn the_same_run_twice() {
    let mut judgement = judgement(Verdict::Undecided, Vec::new());
    judgement.design = Design::SameRun;
    judgement.pins = Vec::new();
    judgement.caveats = Vec::new();
    let one = &runs("b", "0.11.0", 1.0)[..1];
    check("same_run", &judgement, one, one);
}

#[test]
fn an_absolute_limit_that_the_baseline_breaks_too() {
    let mut findings = healthy();
    findings[1] = error_ratio(CellState::Regressed, 0.012, 0.013);
    findings[1].reason = Some(Reason::Inherited);
    findings[3] = Finding {
        cell: Cell {
            class: Some("chat".to_owned()),
            ..findings[2].cell.clone()
        },
        limit: Some(Limit::AtMost(1.0)),
        candidate: Some(Reading {
            value: None,
            n: 4100,
        }),
        change: None,
        reason: Some(Reason::CandidateFailed),
        state: CellState::Regressed,
        ..findings[2].clone()
    };
    findings.sort_by_key(|f| f.state);
    let mut judgement = judgement(Verdict::Regression, findings);
    judgement.pins.push(PinDifference {
        pin: "engine.args".parse().unwrap(),
        baseline: Some("--max-num-seqs 256".to_owned()),
        candidate: Some("--max-num-seqs 512".to_owned()),
        under_test: true,
        blocks: false,
    });
    judgement.pins.push(PinDifference {
        pin: "hardware.driver".parse().unwrap(),
        baseline: Some("570.86".to_owned()),
        candidate: None,
        under_test: false,
        blocks: false,
    });
    check(
        "inherited",
        &judgement,
        &runs("b", "0.11.0", 1.0),
        &runs("c", "0.12.0", 1.0),
    );
}

#[test]
fn sixty_cells() {
    let users = ["1", "2", "4", "8", "16", "32"];
    check("sixty_cells", &many_cells(&users, 1), &[], &[]);
}

#[test]
fn figures_of_an_untrusted_job_are_said_to_be_before_all() {
    let lead = |trusted: bool| {
        let mut candidate = runs("c", "0.12.0", 1.0);
        for run in &mut candidate {
            run.untrusted = !trusted;
        }
        let baseline = runs("b", "0.11.0", 1.0);
        let sides = Sides {
            title: "chat-8b",
            baseline: &baseline,
            candidate: &candidate,
            reproduce: &[],
            places: &[],
        };
        let page = markdown::report(
            &build(&judgement(Verdict::Pass, healthy()), &sides),
            Lang::En,
        );
        page.lines().nth(2).unwrap_or_default().to_owned()
    };
    assert!(lead(false).starts_with("Figures come from a job that is not trusted"));
    assert!(!lead(true).contains("not trusted"));
}
