//! What a soak shows, in words.

use crate::sample::{AcrossPause, Pause};
use crate::summary::{Course, Moved, SoakCode, SoakFigure, SoakFinding, SoakView};
use crate::unit::scale::{self, Unit};

use super::span::Text;

/// A line a finding, each with its evidence; where there is none, one that says what was looked at. Then a
/// line a pause.
pub(super) fn lines(view: &SoakView) -> Vec<Text> {
    let findings = view.findings.iter().map(|found| finding(found, view));
    let quiet = view.findings.is_empty().then(|| quiet(view));
    findings
        .chain(quiet)
        .chain(view.pauses.iter().map(paused))
        .collect()
}

/// `cut off after 2 h (120 windows) and gone on with 31 min later: …`.
fn paused(pause: &Pause) -> Text {
    let text = Text::of("cut off after ")
        .figure(scale::elapsed(pause.after_s))
        .words(" (")
        .figure(scale::count(pause.after_windows))
        .words(" windows) and gone on with ")
        .figure(scale::elapsed(pause.lasted_s))
        .words(" later: windows on either side are not held against each other; ");
    match &pause.engine {
        AcrossPause::RanOn => text.words("the engine ran on"),
        AcrossPause::Anew { how } => text
            .words("the engine was started anew (")
            .quoted(how)
            .words("), so nothing that creeps is claimed across it"),
        AcrossPause::Unknown { why } => text
            .words("whether the engine ran on is unknown (")
            .quoted(why)
            .words("), so nothing that creeps is claimed across it"),
    }
}

/// A finding in one sentence.
pub(super) fn finding(found: &SoakFinding, view: &SoakView) -> Text {
    let what = match found.code {
        SoakCode::EngineLeak => "the engine's memory creeps up and does not level off",
        SoakCode::Fragmentation => "the same load gets slower while the KV cache has less room",
        SoakCode::Slowdown => "the same load gets slower, and the KV cache does not say why",
        SoakCode::TailDrift => "the slowest requests get slower, the usual ones don't",
        SoakCode::ClientLeak => {
            "the client's own memory creeps up, which is no fault of the engine"
        }
    };
    let evidence = found
        .evidence
        .iter()
        .filter_map(|figure| moved(*figure, view));
    Text::default()
        .quoted(found.code.name())
        .words(" ")
        .words(what)
        .words(": ")
        .then(Text::join(evidence, ", "))
}

/// `engine memory +41.20 % [+38.00 %, +44.10 %] over 8 h in 12 batches`.
fn moved(figure: SoakFigure, view: &SoakView) -> Option<Text> {
    let Some(Course::Seen {
        batches,
        growth,
        low,
        high,
        ..
    }) = view.trends.get(&figure)
    else {
        return None;
    };
    Some(
        Text::of(figure.label())
            .words(" ")
            .figure(scale::change(*growth))
            .words(" [")
            .figure(scale::change(*low))
            .words(", ")
            .figure(scale::change(*high))
            .words("] over ")
            .figure(scale::elapsed(view.window_s * view.windows as f64))
            .words(" in ")
            .figure(scale::count(*batches))
            .words(" batches"),
    )
}

fn quiet(view: &SoakView) -> Text {
    let (mut seen, mut unseen) = (Vec::new(), Vec::new());
    for (figure, course) in &view.trends {
        match course {
            Course::Seen { moved, growth, .. } => {
                let text = Text::of(figure.label());
                seen.push(match moved {
                    Moved::Level => text,
                    // A figure that moved and is no finding: faster, or a cache that fills.
                    Moved::Up | Moved::Down => {
                        text.words(" (").figure(scale::change(*growth)).words(")")
                    }
                });
            }
            Course::Absent { .. } => unseen.push(Text::of(figure.label())),
        }
    }
    let text = Text::of("nothing crept by more than ")
        .figure(scale::value(Unit::Proportion, view.tolerance))
        .words(" in ")
        .figure(scale::count(view.windows))
        .words(" windows");
    let text = if seen.is_empty() {
        text
    } else {
        text.words(": ").then(Text::join(seen, ", "))
    };
    if unseen.is_empty() {
        text
    } else {
        text.words("; unknown: ").then(Text::join(unseen, ", "))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn seen(growth: f64, moved: Moved) -> Course {
        Course::Seen {
            batches: 12,
            growth,
            low: growth - 0.02,
            high: growth + 0.02,
            late_growth: growth,
            p_rising: 0.0001,
            p_falling: 0.9999,
            moved,
        }
    }

    fn said(findings: Vec<SoakFinding>, pauses: Vec<Pause>) -> String {
        let view = SoakView {
            window_s: 60.0,
            windows: 480,
            tolerance: 0.05,
            trends: BTreeMap::from([
                (SoakFigure::EngineMemory, seen(0.41, Moved::Up)),
                (SoakFigure::KvBlocks, seen(-0.3, Moved::Down)),
                (SoakFigure::TtftP50, seen(0.01, Moved::Level)),
                (
                    SoakFigure::Preemptions,
                    Course::Absent {
                        why: "fewer than 8 windows have it".to_owned(),
                    },
                ),
            ]),
            pauses,
            findings,
        };
        let lines: Vec<String> = lines(&view).iter().map(Text::plain).collect();
        lines.join("\n")
    }

    #[test]
    fn a_finding_says_what_shows_it_and_silence_says_what_was_looked_at() {
        let finding = |code, evidence: &[SoakFigure]| SoakFinding {
            code,
            evidence: evidence.to_vec(),
        };
        let found = vec![
            finding(SoakCode::EngineLeak, &[SoakFigure::EngineMemory]),
            finding(
                SoakCode::Fragmentation,
                &[SoakFigure::KvBlocks, SoakFigure::TtftP50],
            ),
        ];
        let found = said(found, Vec::new());
        insta::assert_snapshot!(format!("{found}\n{}", said(Vec::new(), Vec::new())));
    }

    #[test]
    fn a_pause_says_how_long_it_was_and_what_is_not_claimed_across_it() {
        let pause = |engine| Pause {
            after_windows: 120,
            after_s: 7200.0,
            lasted_s: 1860.0,
            run: "x".to_owned(),
            engine,
        };
        let anew = AcrossPause::Anew {
            how: "its counters went back".to_owned(),
        };
        let why = "its metrics were not read".to_owned();
        let pauses = [AcrossPause::RanOn, anew, AcrossPause::Unknown { why }];
        insta::assert_snapshot!(said(Vec::new(), pauses.map(pause).to_vec()));
    }
}
