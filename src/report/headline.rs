//! The first lines: the verdict as a word with its counts, and the worst finding as a sentence.

use crate::exit::Exit;
use crate::unit::scale;
use crate::verdict::{Design, Headline, Judgement, NoRelease, Reason, UniformShift, Verdict};

use super::cells::{Group, group, listed};
use super::span::Text;
use super::{past, words};

/// The first line: verdict, name, counts.
pub(super) fn headline(judgement: &Judgement, title: &str) -> Text {
    let counts = judgement.headline;
    let text = Text::of(verdict(judgement.verdict))
        .words(" in ")
        .quoted(title)
        .words(": ");
    if judgement.design == Design::SameRun {
        return text.words("both sides are the same run, so nothing was judged");
    }
    if judgement.unjudged.is_some() && judgement.findings.is_empty() {
        return text.words("nothing was judged");
    }
    let comparable = !judgement.pins.iter().any(|pin| pin.blocks);
    if !comparable && counts.regressed == 0 {
        return text
            .words("the sides are not comparable, so none of the ")
            .figure(scale::count(counts.gated.into()))
            .words(" gated cells was judged");
    }
    if no_baseline(judgement) && counts.unmeasured > 0 {
        return text.words("there is no baseline, so ").then(count_phrase(
            counts,
            [" was not judged", " were not judged"],
        ));
    }
    let text = text.then(count_phrase(
        counts,
        [" was not measured", " were not measured"],
    ));
    match NoRelease::of(judgement) {
        Some(_) => text.words("; none could be held against a release, as the gate asks"),
        None => text,
    }
}

/// A verdict as a word.
pub(super) const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "Pass",
        Verdict::Regression => "Regression",
        Verdict::Undecided => "Undecided",
        Verdict::Invalid => "Invalid",
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
pub(super) fn count_phrase(counts: Headline, unmeasured_words: [&'static str; 2]) -> Text {
    let Headline {
        gated,
        regressed,
        passed,
        improved,
        accepted,
        undecided,
        unmeasured,
    } = counts;
    let better = |text: Text| match improved {
        0 => text,
        n => text
            .words(" (")
            .figure(scale::count(n.into()))
            .words(" better)"),
    };
    if gated == 0 {
        return Text::of("no gated cell could be counted");
    }
    let parts: [(u32, &str, &str); 5] = [
        (
            regressed,
            " is beyond its limit",
            " are beyond their limits",
        ),
        (unmeasured, unmeasured_words[0], unmeasured_words[1]),
        (undecided, " is undecided", " are undecided"),
        (
            accepted,
            " is worse and accepted for now",
            " are worse and accepted for now",
        ),
        (passed, " is within its limit", " are within their limits"),
    ];
    let mut out = Vec::new();
    for (n, one, many) in parts {
        if n == 0 {
            continue;
        }
        let mut part = Text::just(scale::count(n.into()));
        if n == gated && n > 1 {
            part = Text::of("all ").then(part).words(" gated cells");
        } else if out.is_empty() {
            part = part
                .words(" of ")
                .figure(scale::count(gated.into()))
                .words(if gated == 1 {
                    " gated cell"
                } else {
                    " gated cells"
                });
        }
        out.push(part.words(if n == 1 { one } else { many }));
    }
    better(Text::join(out, ", "))
}

/// All cells moved alike, which points at the machine.
fn uniform(shift: UniformShift, design: &Design) -> Text {
    let text = Text::of("All ")
        .figure(scale::count(shift.cells.into()))
        .words(" latencies and rates moved alike, by ")
        .figure(scale::change(shift.low))
        .words(" to ")
        .figure(scale::change(shift.high))
        .words(" of their time: a machine, clock or power limit does that, one code path seldom");
    match design {
        Design::Interleaved { .. } => {
            text.words(" (both sides took turns, so look for what differs between them: another GPU, clock or host)")
        }
        Design::Stored { .. } | Design::SameRun | Design::Unpaired { .. } => {
            text.words(" (the baseline was measured at another time: let both sides take turns with ")
                .quoted("infergate ab")
                .words(")")
        }
    }
}

/// What was accepted and is therefore not held against the candidate, and what no longer is.
fn accepts(judgement: &Judgement) -> Vec<Text> {
    let gated = judgement.findings.iter().filter(|finding| finding.gated);
    let said = gated.filter_map(|finding| {
        let (word, until, file) = match finding.reason.as_ref()? {
            Reason::Accepted { until, file, .. } => (" is accepted until ", until, file),
            Reason::AcceptExpired { until, file } => (" was accepted until ", until, file),
            _ => return None,
        };
        let text = Text::value(&finding.cell.to_string())
            .words(word)
            .figure(until.clone())
            .words(", see ")
            .quoted(file);
        Some(match finding.reason {
            Some(Reason::AcceptExpired { .. }) => {
                text.words(": that has expired and excuses nothing")
            }
            _ => text,
        })
    });
    said.collect()
}

/// What a policy made of the verdict.
pub(super) fn policy(exit: Exit, policy: Option<&str>) -> Option<Text> {
    let policy = policy?;
    Some(
        Text::of("Exit ")
            .figure(exit.code().to_string())
            .words(" by the spec's policy: ")
            .prose(policy),
    )
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
    lead.extend(policy(judgement.exit, judgement.policy.as_deref()));
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
        lead.push(Text::of("Not counted, for want of samples or history: ").then(listed(demoted)));
    }
    lead
}
