//! Findings of a checkup as lines: what is in the way first, what is as it should be last.

use crate::checkup::{Advice, Finding, Level};
use crate::unit::scale;

use super::model::Tone;
use super::span::Text;
use super::text::Line;

/// A line that counts them, then each: those in the way with why and what to do, then those to note, then
/// the rest.
pub(super) fn findings(all: &[Finding]) -> Vec<Line> {
    let mut sorted: Vec<&Finding> = all.iter().collect();
    sorted.sort_by_key(|finding| (rank(&finding.level), finding.topic));
    let mut lines = vec![headline(all)];
    lines.extend(sorted.into_iter().flat_map(told));
    lines
}

const fn rank(level: &Level) -> u8 {
    match level {
        Level::Trouble(_) => 0,
        Level::Note(_) => 1,
        Level::Ok => 2,
    }
}

fn headline(all: &[Finding]) -> Line {
    let count = |wanted| all.iter().filter(|f| rank(&f.level) == wanted).count() as u64;
    let (trouble, notes, good) = (count(0), count(1), count(2));
    let first = match trouble {
        0 => Text::of("Nothing is in the way of a run"),
        1 => Text::of("1 thing is in the way of a run"),
        n => Text::just(scale::count(n)).words(" things are in the way of a run"),
    };
    let text = first
        .words("; ")
        .figure(scale::count(notes))
        .words(" to note, ")
        .figure(scale::count(good))
        .words(" as it should be");
    let tone = if trouble == 0 { Tone::Good } else { Tone::Bad };
    Line {
        tone,
        text: text.plain(),
    }
}

fn told(finding: &Finding) -> Vec<Line> {
    let (tone, word, advice) = match &finding.level {
        Level::Trouble(advice) => (Tone::Bad, "trouble", Some(advice)),
        Level::Note(advice) => (Tone::Unsure, "note", Some(advice)),
        Level::Ok => (Tone::Faint, "ok", None),
    };
    let line = |tone, lead: &str, text: &str| Line {
        tone,
        text: format!("  {lead:<24}{}", Text::default().prose(text).plain()),
    };
    let lead = format!("{word:<8}  {}", finding.topic.label());
    let mut lines = vec![line(tone, &lead, &finding.seen)];
    if let Some(Advice { why, remedy }) = advice {
        lines.push(line(Tone::Neutral, "          why", why));
        lines.push(line(Tone::Neutral, "          do", remedy));
    }
    lines
}
