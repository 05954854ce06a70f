//! What a step's load is, and what a chart shows, in words.

use super::words::share;
use crate::capacity::{Step, StepClass, SweepReading};
use crate::lang::say;
use crate::report::span::Text;
use crate::unit::scale::{self, Unit};

/// What a step's load is, and on what that rests.
pub(super) fn class(step: &Step) -> Text {
    let evidence = &step.evidence;
    let changed = |text: Text| match evidence.throughput_change {
        Some(change) => Text::say(say::CAP_THROUGHPUT, [text, ratio(change)]),
        None => text,
    };
    match step.class {
        StepClass::Unsaturated => changed(Text::word(say::CAP_UNSATURATED)),
        StepClass::Knee => {
            let text = changed(Text::word(say::CAP_FLAT));
            match evidence.ttft_change {
                Some(change) => Text::say(say::CAP_TTFT_CHANGED, [text, ratio(change)]),
                None => text,
            }
        }
        StepClass::Overloaded => {
            let text = Text::word(say::CAP_OVERLOADED);
            if evidence.failed > 0.05 {
                Text::say(say::CAP_FAILED, [text, share(evidence.failed)])
            } else if let (Some(growth), true) =
                (evidence.backlog_growth, evidence.overloaded_runs > 0)
            {
                Text::say(say::CAP_BACKLOG, [text, share(growth)])
            } else {
                changed(text)
            }
        }
        StepClass::Cold => {
            let text = Text::word(say::CAP_COLD);
            match evidence.slow_start {
                Some(start) => {
                    let [first, later] =
                        scale::row(Unit::Seconds, [start.first_s, start.later_s]).map(Text::just);
                    Text::say(say::CAP_COLD_TTFT, [text, first, later])
                }
                None => text,
            }
        }
        StepClass::Invalid => Text::word(say::CAP_CLIENT_FAULT),
    }
}

fn ratio(change: f64) -> Text {
    Text::just(scale::change(change))
}

/// What a chart shows.
pub(super) fn chart(sweep: &SweepReading, slo: bool, both: bool) -> Text {
    let what = if both {
        say::CAP_CHART_BOTH
    } else {
        say::CAP_CHART
    };
    let text = Text::say(what, [Text::value(&sweep.name)]);
    let text = if slo {
        Text::say(say::CAP_CHART_SLO, [text])
    } else {
        text
    };
    match sweep.knee.figure() {
        Some(_) => Text::say(say::CAP_CHART_KNEE, [text]),
        None => text,
    }
}
