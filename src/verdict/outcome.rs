//! From findings to the headline, the exit code and what to do next.

use super::finding::Context;
use super::model::{
    Advice, Change, Design, Finding, Headline, Judgement, NextLook, Reason, Verdict,
};
use super::screen::Screened;
use super::shift::uniform_shift;
use super::state::CellState;
use crate::compare::{Arrangement, Mismatch};
use crate::exit::Exit;
use crate::lang::{Phrase, Said, of_judged};
use crate::metric::Kind;
use crate::spec::{Gate, Limit, Policy};

/// Puts the judgement together.
pub(super) fn judgement(
    context: &Context<'_>,
    gate: &Gate,
    mut findings: Vec<Finding>,
    next: NextLook,
    screened: &Screened,
) -> Judgement {
    // Stable: within a state the cells keep their order.
    findings.sort_by_key(|finding| (!finding.gated, finding.state));
    let headline = headline(&findings);
    let verdict = verdict(&findings);
    let (exit, policy) = exit(&findings, gate);
    Judgement {
        verdict,
        exit,
        policy,
        headline,
        design: design(context, screened),
        proof: gate.evidence,
        noise_ratio: context.replay.variance_ratio.map(f64::sqrt),
        shift: uniform_shift(context.comparison, &findings),
        base: None,
        levels: Vec::new(),
        diagnoses: Vec::new(),
        pins: context.comparison.pins.clone(),
        caveats: caveats(context, screened),
        advice: advice(context, &findings, next),
        findings,
        next,
        unjudged: None,
    }
}

fn headline(findings: &[Finding]) -> Headline {
    let mut headline = Headline::default();
    for finding in findings.iter().filter(|finding| finding.gated) {
        headline.gated += 1;
        match finding.state {
            CellState::Regressed => headline.regressed += 1,
            CellState::Ok => headline.passed += 1,
            CellState::Accepted => headline.accepted += 1,
            CellState::Improved => {
                headline.passed += 1;
                headline.improved += 1;
            }
            CellState::Suspect
            | CellState::Implausible
            | CellState::Inconclusive
            | CellState::NotResolvable
            | CellState::NotFinished => headline.undecided += 1,
            CellState::Invalid | CellState::Missing | CellState::Incomparable | CellState::New => {
                headline.unmeasured += 1;
            }
        }
    }
    headline
}

/// How one gated cell ends without any policy.
///
/// A cell that turned out not to be resolvable is named, but counts only where its estimate is at
/// or over its limit.
fn ending(finding: &Finding) -> Exit {
    match finding.state {
        CellState::Regressed => Exit::Regression,
        CellState::Invalid | CellState::Missing => Exit::Invalid,
        CellState::NotResolvable if !breaks_by_estimate(finding) => Exit::Pass,
        CellState::Incomparable
        | CellState::New
        | CellState::Suspect
        | CellState::Implausible
        | CellState::Inconclusive
        | CellState::NotFinished
        | CellState::NotResolvable => Exit::Undecided,
        CellState::Ok | CellState::Improved | CellState::Accepted => Exit::Pass,
    }
}

/// Whether the best estimate is at or over the limit, or there is none.
fn breaks_by_estimate(finding: &Finding) -> bool {
    let metric = finding.cell.metric.metric();
    let sign = metric.direction().sign();
    let value = finding.candidate.and_then(|reading| reading.value);
    match (finding.limit, finding.change, value) {
        (Some(Limit::AtMost(limit)), _, Some(value)) => value > limit,
        (Some(Limit::AtLeast(limit)), _, Some(value)) => value < limit,
        (
            Some(Limit::WorseBy { ratio, floor }),
            Some(Change::Ratio { estimate, .. }),
            Some(value),
        ) => {
            let base = value / (1.0 + estimate);
            sign * estimate >= ratio.max(floor.unwrap_or(0.0) / base)
        }
        (Some(Limit::WorseBy { ratio, .. }), Some(Change::Points { estimate, .. }), _) => {
            sign * estimate >= ratio
        }
        (Some(Limit::WorseByPoints(points)), Some(Change::Points { estimate, .. }), _) => {
            sign * estimate >= points
        }
        _ => true,
    }
}

/// Whether every gated cell, or every one that is compared with the baseline, was demoted: then
/// nothing is left that could have shown a change.
fn none_left(findings: &[Finding]) -> bool {
    let gated = || findings.iter().filter(|finding| finding.gated);
    let mut relative = gated()
        .filter(|finding| finding.limit.is_some_and(Limit::is_relative))
        .peekable();
    let demoted = |finding: &Finding| finding.state == CellState::NotResolvable;
    if relative.peek().is_some() {
        relative.all(demoted)
    } else {
        gated().all(demoted)
    }
}

fn verdict(findings: &[Finding]) -> Verdict {
    let start = if none_left(findings) {
        Exit::Undecided
    } else {
        Exit::Pass
    };
    let worst = findings
        .iter()
        .filter(|finding| finding.gated)
        .map(ending)
        .fold(start, Exit::worst);
    match worst {
        Exit::Pass => Verdict::Pass,
        Exit::Regression => Verdict::Regression,
        Exit::Invalid => Verdict::Invalid,
        Exit::Undecided | Exit::Usage => Verdict::Undecided,
    }
}

/// The exit code after the spec's policies, and what they changed.
fn exit(findings: &[Finding], gate: &Gate) -> (Exit, Option<Said>) {
    let mut changed: Vec<String> = Vec::new();
    let mut apply = |policy: Policy, name: &str| -> Exit {
        let (exit, word) = match policy {
            Policy::Undecided => return Exit::Undecided,
            Policy::Pass => (Exit::Pass, "pass"),
            Policy::Fail => (Exit::Regression, "fail"),
        };
        let text = format!("`{name}: {word}`");
        if !changed.contains(&text) {
            changed.push(text);
        }
        exit
    };
    let mut worst = if none_left(findings) {
        apply(gate.undecided, "undecided")
    } else {
        Exit::Pass
    };
    for finding in findings.iter().filter(|finding| finding.gated) {
        let exit = match (ending(finding), finding.state) {
            (Exit::Undecided, CellState::Incomparable) => apply(gate.incomparable, "incomparable"),
            (Exit::Undecided, CellState::New) => apply(gate.no_baseline, "no_baseline"),
            (Exit::Undecided, _) => apply(gate.undecided, "undecided"),
            (exit, _) => exit,
        };
        worst = worst.worst(exit);
    }
    let said = || Said::new(of_judged::POLICY, [changed.join(", ")]);
    (worst, (!changed.is_empty()).then(said))
}

fn design(context: &Context<'_>, screened: &Screened) -> Design {
    let looks = || {
        context
            .design
            .looks()
            .iter()
            .map(|look| look.repeats)
            .collect()
    };
    let runs = |side: fn(&crate::compare::ComparedCell) -> usize| {
        let cells = context.comparison.cells.iter();
        cells.map(side).max().unwrap_or(0) as u32
    };
    match context.comparison.arrangement {
        Arrangement::Interleaved => Design::Interleaved {
            pairs: screened.kept.len() as u32,
            looks: looks(),
        },
        Arrangement::Stored => Design::Stored {
            sessions: context.comparison.sessions,
            runs: screened.kept.len() as u32,
            looks: looks(),
        },
        Arrangement::SameRun => Design::SameRun,
        Arrangement::Unpaired => Design::Unpaired {
            baseline: runs(|cell| cell.baseline.len()),
            candidate: runs(|cell| cell.candidate.len()),
        },
    }
}

fn caveats(context: &Context<'_>, screened: &Screened) -> Vec<Said> {
    let comparison = context.comparison;
    let mut caveats: Vec<Said> = comparison.mismatches.iter().map(Mismatch::said).collect();
    caveats.extend(comparison.caveats.iter().cloned());
    let dropped = screened.taken - screened.kept.len();
    if dropped > 0 {
        let counts = [dropped, screened.taken].map(|n| n.to_string());
        caveats.push(Said::new(of_judged::REPEATS_LEFT_OUT, counts));
    }
    let relative = |cell: &crate::compare::ComparedCell| cell.limit.is_some_and(Limit::is_relative);
    if comparison.sessions == 0
        && comparison.arrangement != Arrangement::SameRun
        && comparison
            .cells
            .iter()
            .any(|cell| cell.gated && relative(cell))
    {
        caveats.push(Said::plain(of_judged::ASSUMED_NOISE));
    }
    if context.replay.noisy {
        caveats.push(Said::plain(if comparison.sessions == 0 {
            of_judged::NOISIER_THAN_ASSUMED
        } else {
            of_judged::NOISIER_THAN_ARCHIVE
        }));
    }
    let work: Vec<Said> = comparison
        .cells
        .iter()
        .filter(|cell| cell.gated)
        .filter_map(|cell| {
            Some((
                cell.cell.stage.as_deref().unwrap_or("*"),
                cell.work_changed.as_ref()?,
            ))
        })
        .map(|(stage, what)| Said::new(of_judged::OTHER_WORK, [stage.to_owned(), what.clone()]))
        .collect();
    for text in work {
        if !caveats.contains(&text) {
            caveats.push(text);
        }
    }
    caveats
}

fn advice(context: &Context<'_>, findings: &[Finding], next: NextLook) -> Vec<Advice> {
    let any = |state: CellState| {
        findings
            .iter()
            .any(|finding| finding.gated && finding.state == state)
    };
    let not_settled =
        |finding: &&Finding| matches!(finding.reason, Some(Reason::NotSettled { .. }));
    let overloaded = findings
        .iter()
        .any(|finding| finding.gated && finding.reason == Some(Reason::BothOverloaded));
    let undecided = |finding: &&Finding| {
        finding.gated && matches!(finding.state, CellState::Suspect | CellState::Inconclusive)
    };
    let advisory = |finding: &Finding| matches!(finding.reason, Some(Reason::Advisory { .. }));
    let sessions = context.comparison.arrangement == Arrangement::Stored
        && findings.iter().filter(undecided).any(advisory);
    let open = findings.iter().filter(undecided).any(|finding| {
        !(not_settled(&finding) || sessions && advisory(finding))
            && finding.reason != Some(Reason::BaselineOverloaded)
    });
    let told = |text: Said| Advice {
        text,
        command: None,
    };
    let plain = |phrase: Phrase| told(Said::plain(phrase));
    let mut advice = Vec::new();
    if any(CellState::Incomparable) {
        advice.push(plain(of_judged::MEASURE_ALIKE));
    }
    if context.comparison.arrangement == Arrangement::Unpaired
        && (any(CellState::Suspect) || any(CellState::Inconclusive))
    {
        advice.push(Advice {
            text: Said::plain(of_judged::TAKE_TURNS),
            command: Some("infergate ab SPEC --baseline-url A --candidate-url B".to_owned()),
        });
    }
    if sessions {
        advice.push(Advice {
            text: Said::plain(of_judged::MORE_SESSIONS),
            command: Some("infergate baseline promote SESSION --reason TEXT".to_owned()),
        });
    }
    if let NextLook::Repeats(repeats) = next {
        let repeats = [repeats.to_string()];
        advice.push(told(Said::new(of_judged::NEXT_LOOK, repeats)));
    } else if open {
        advice.push(plain(of_judged::RAISE_REPEATS));
    }
    if let Some(finding) = findings.iter().filter(|f| f.gated).find(not_settled) {
        let stage = finding.cell.stage.as_deref().unwrap_or("*");
        let stage = [stage.to_owned()];
        advice.push(told(Said::new(of_judged::LENGTHEN_WARMUP, stage)));
    }
    if overloaded {
        advice.push(plain(of_judged::LOWER_RATE));
    }
    advice.extend(findings.iter().filter_map(not_resolvable).map(told));
    if any(CellState::Implausible) {
        advice.push(plain(of_judged::CHECK_WORK));
    }
    if any(CellState::Invalid) || any(CellState::Missing) {
        advice.push(plain(of_judged::FIX_UNMEASURED));
    }
    advice
}

/// What a gated cell that can't be resolved would need.
fn not_resolvable(finding: &Finding) -> Option<Said> {
    if !finding.gated || finding.state != CellState::NotResolvable {
        return None;
    }
    let cell = &finding.cell;
    if let Some(Reason::FewSamples { n, needed }) = finding.reason {
        let args = [cell.to_string(), n.to_string(), needed.to_string()];
        return Some(Said::new(of_judged::NEEDS_VALUES, args));
    }
    let smallest = finding.evidence?.resolvable? * 100.0;
    let unit = match (finding.limit, cell.metric.metric().kind()) {
        (Some(Limit::WorseByPoints(_)), _) | (_, Kind::Proportion) => "pp",
        _ => "%",
    };
    let args = [cell.to_string(), format!("{smallest:.1}"), unit.to_owned()];
    Some(Said::new(of_judged::TOO_FINE, args))
}
