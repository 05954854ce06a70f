//! The first lines: the verdict as a word with its counts, and the worst finding as a sentence.

use crate::exit::Exit;
use crate::lang::{Phrase, Said, say};
use crate::unit::scale;
use crate::verdict::{Design, Headline, Judgement, NoRelease, Reason, UniformShift, Verdict};

use super::cells::{Group, group, listed};
use super::span::Text;
use super::{past, words};

/// The first line: verdict, name, counts.
pub(super) fn headline(judgement: &Judgement, title: &str) -> Text {
    let counts = judgement.headline;
    let told = |what: Text| {
        let verdict = Text::word(verdict(judgement.verdict));
        Text::say(say::IN_SPEC, [verdict, Text::value(title), what])
    };
    if judgement.design == Design::SameRun {
        return told(Text::word(say::SAME_SIDES));
    }
    if judgement.unjudged.is_some() && judgement.findings.is_empty() {
        return told(Text::word(say::NOTHING_JUDGED));
    }
    let comparable = !judgement.pins.iter().any(|pin| pin.blocks);
    if !comparable && counts.regressed == 0 {
        let gated = Text::just(scale::count(counts.gated.into()));
        return told(Text::say(say::SIDES_INCOMPARABLE, [gated]));
    }
    if no_baseline(judgement) && counts.unmeasured > 0 {
        let counted = count_phrase(counts, say::NOT_JUDGED);
        return told(Text::say(say::NO_BASELINE_SO, [counted]));
    }
    let text = told(count_phrase(counts, say::UNMEASURED));
    match NoRelease::of(judgement) {
        Some(_) => Text::say(say::NO_RELEASE, [text]),
        None => text,
    }
}

/// A verdict as a word.
pub(super) const fn verdict(verdict: Verdict) -> Phrase {
    match verdict {
        Verdict::Pass => say::PASS,
        Verdict::Regression => say::REGRESSION,
        Verdict::Undecided => say::UNDECIDED,
        Verdict::Invalid => say::INVALID_MEASUREMENT,
    }
}

/// Whether the candidate stands alone.
pub(super) fn no_baseline(judgement: &Judgement) -> bool {
    matches!(
        judgement.design,
        Design::Unpaired {
            baseline: 0,
            candidate: 1..
        }
    )
}

/// `2 of 7 gated cells are beyond their limits, 1 is undecided, 4 are within`.
pub(super) fn count_phrase(counts: Headline, unmeasured_said: Phrase) -> Text {
    let Headline {
        gated,
        regressed,
        passed,
        improved,
        accepted,
        undecided,
        unmeasured,
    } = counts;
    if gated == 0 {
        return Text::word(say::NOTHING_COUNTED);
    }
    let count = |n: u32| Text::just(scale::count(n.into()));
    let parts = [
        (regressed, say::BEYOND),
        (unmeasured, unmeasured_said),
        (undecided, say::OPEN),
        (accepted, say::EXCUSED),
        (passed, say::WITHIN),
    ];
    let mut out = Vec::new();
    for (n, what) in parts.into_iter().filter(|(n, _)| *n > 0) {
        let cells = if n == gated && n > 1 {
            Text::say(say::ALL_GATED, [count(n)])
        } else if out.is_empty() {
            Text::say(say::OF_GATED, [count(n), count(gated)])
        } else {
            Text::say(say::SOME, [count(n)])
        };
        out.push(Text::say(what, [cells, count(n)]));
    }
    let text = Text::commas(out);
    match improved {
        0 => text,
        n => Text::say(say::BETTER, [text, count(n)]),
    }
}

/// All cells moved alike, which points at the machine.
fn uniform(shift: UniformShift, design: &Design) -> Text {
    let mut args = vec![
        Text::just(scale::count(shift.cells.into())),
        Text::just(scale::change(shift.low)),
        Text::just(scale::change(shift.high)),
    ];
    match design {
        Design::Interleaved { .. } => Text::say(say::UNIFORM_PAIRS, args),
        Design::Stored { .. } | Design::SameRun | Design::Unpaired { .. } => {
            args.push(Text::value("infergate ab"));
            Text::say(say::UNIFORM_STORED, args)
        }
    }
}

/// What was accepted and is therefore not held against the candidate, and what no longer is.
fn accepts(judgement: &Judgement) -> Vec<Text> {
    let gated = judgement.findings.iter().filter(|finding| finding.gated);
    let said = gated.filter_map(|finding| {
        let (what, until, file) = match finding.reason.as_ref()? {
            Reason::Accepted { until, file, .. } => (say::ACCEPTED_UNTIL, until, file),
            Reason::AcceptExpired { until, file } => (say::ACCEPTED_ONCE, until, file),
            _ => return None,
        };
        let cell = Text::value(&finding.cell.to_string());
        let args = [cell, Text::just(until.clone()), Text::value(file)];
        Some(Text::say(what, args))
    });
    said.collect()
}

/// What a policy made of the verdict.
pub(super) fn policy(exit: Exit, policy: Option<&Said>) -> Option<Text> {
    let code = Text::just(exit.code().to_string());
    Some(Text::say(say::EXIT_BY_POLICY, [code, Text::said(policy?)]))
}

/// The sentences below the headline: the worst finding, what a policy made of it, what was not
/// counted.
pub(super) fn lead(judgement: &Judgement) -> Vec<Text> {
    let why = judgement.unjudged.as_deref();
    let mut lead: Vec<Text> = why
        .map(|why| Text::default().prose(why))
        .into_iter()
        .collect();
    let first = |wanted: Group| {
        judgement
            .findings
            .iter()
            .find(|f| f.gated && group(f.state) == wanted)
    };
    let worst = match judgement.verdict {
        Verdict::Pass => None,
        Verdict::Regression => first(Group::Broken),
        Verdict::Invalid => first(Group::Unmeasured),
        Verdict::Undecided => {
            first(Group::Undecided).filter(|_| !judgement.pins.iter().any(|pin| pin.blocks))
        }
    };
    if let Some(finding) = worst {
        // Why is said below the cell's row, once.
        lead.push(words::sentence(finding));
    }
    lead.extend(past::sentences(&judgement.levels));
    if let Some(shift) = judgement.shift {
        lead.push(uniform(shift, &judgement.design));
    }
    lead.extend(policy(judgement.exit, judgement.policy.as_ref()));
    lead.extend(accepts(judgement));
    let demoted: Vec<Text> = judgement
        .findings
        .iter()
        .filter(|f| {
            !f.gated
                && f.limit.is_some()
                && matches!(
                    f.reason,
                    Some(Reason::FewSamples { .. } | Reason::Advisory { .. })
                )
        })
        .map(|f| Text::value(&f.cell.to_string()))
        .collect();
    if !demoted.is_empty() {
        lead.push(Text::say(say::NOT_COUNTED, [listed(demoted)]));
    }
    lead
}
