//! What a soak shows, in words.

use crate::lang::say;
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
    let engine = match &pause.engine {
        AcrossPause::RanOn => Text::word(say::SOAK_RAN_ON),
        AcrossPause::Anew { how } => Text::say(say::SOAK_ANEW, [Text::value(how)]),
        AcrossPause::Unknown { why } => Text::say(say::SOAK_UNKNOWN_RUN, [Text::value(why)]),
    };
    let of = [
        Text::just(scale::elapsed(pause.after_s)),
        Text::just(scale::count(pause.after_windows)),
        Text::just(scale::elapsed(pause.lasted_s)),
        engine,
    ];
    Text::say(say::SOAK_PAUSED, of)
}

/// A finding in one sentence.
pub(super) fn finding(found: &SoakFinding, view: &SoakView) -> Text {
    let what = match found.code {
        SoakCode::EngineLeak => say::SOAK_ENGINE_LEAK,
        SoakCode::Fragmentation => say::SOAK_FRAGMENTATION,
        SoakCode::Slowdown => say::SOAK_SLOWDOWN,
        SoakCode::TailDrift => say::SOAK_TAIL_DRIFT,
        SoakCode::ClientLeak => say::SOAK_CLIENT_LEAK,
    };
    let evidence = found
        .evidence
        .iter()
        .filter_map(|figure| moved(*figure, view));
    let of = [
        Text::value(found.code.name()),
        Text::word(what),
        Text::list(evidence),
    ];
    Text::say(say::SOAK_FOUND, of)
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
    let figures = [
        scale::change(*growth),
        scale::change(*low),
        scale::change(*high),
        scale::elapsed(view.window_s * view.windows as f64),
        scale::count(*batches),
    ];
    let of = [name(figure)].into_iter().chain(figures.map(Text::just));
    Some(Text::say(say::SOAK_MOVED, of))
}

fn name(figure: SoakFigure) -> Text {
    Text::word(match figure {
        SoakFigure::TtftP50 => say::SOAK_TTFT_P50,
        SoakFigure::TtftP99 => say::SOAK_TTFT_P99,
        SoakFigure::TpotP50 => say::SOAK_TPOT_P50,
        SoakFigure::OutputThroughput => say::SOAK_OUTPUT,
        SoakFigure::EngineMemory => say::SOAK_ENGINE_MEMORY,
        SoakFigure::KvUsage => say::SOAK_KV_USAGE,
        SoakFigure::KvBlocks => say::SOAK_KV_BLOCKS,
        SoakFigure::Preemptions => say::SOAK_PREEMPTIONS,
        SoakFigure::ClientMemory => say::SOAK_CLIENT_MEMORY,
    })
}

fn quiet(view: &SoakView) -> Text {
    let (mut seen, mut unseen) = (Vec::new(), Vec::new());
    for (figure, course) in &view.trends {
        match course {
            Course::Seen { moved, growth, .. } => seen.push(match moved {
                Moved::Level => name(*figure),
                // A figure that moved and is no finding: faster, or a cache that fills.
                Moved::Up | Moved::Down => {
                    let by = Text::just(scale::change(*growth));
                    Text::say(say::SOAK_BY, [name(*figure), by])
                }
            }),
            Course::Absent { .. } => unseen.push(name(*figure)),
        }
    }
    let of = [
        Text::just(scale::value(Unit::Proportion, view.tolerance)),
        Text::just(scale::count(view.windows)),
    ];
    let text = Text::say(say::SOAK_QUIET, of);
    let text = if seen.is_empty() {
        text
    } else {
        Text::say(say::SOAK_SEEN, [text, Text::list(seen)])
    };
    if unseen.is_empty() {
        text
    } else {
        Text::say(say::SOAK_UNSEEN, [text, Text::list(unseen)])
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
