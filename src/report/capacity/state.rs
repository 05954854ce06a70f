//! What a step's load is, and what a chart shows, in words.

use crate::capacity::{Step, StepClass, SweepReading};
use crate::report::span::Text;
use crate::unit::scale::{self, Unit};

/// What a step's load is, and on what that rests.
pub(super) fn class(step: &Step) -> Text {
    let evidence = &step.evidence;
    let changed = |text: Text| match evidence.throughput_change {
        Some(change) => text.words(", throughput ").figure(scale::change(change)),
        None => text,
    };
    match step.class {
        StepClass::Unsaturated => changed(Text::of("unsaturated")),
        StepClass::Knee => {
            let text = changed(Text::of("flat"));
            match evidence.ttft_change {
                Some(change) => text.words(", TTFT ").figure(scale::change(change)),
                None => text,
            }
        }
        StepClass::Overloaded => {
            let text = Text::of("overloaded");
            if evidence.failed > 0.05 {
                text.words(", ")
                    .figure(scale::value(Unit::Proportion, evidence.failed))
                    .words(" failed")
            } else if let (Some(growth), true) =
                (evidence.backlog_growth, evidence.overloaded_runs > 0)
            {
                text.words(", backlog grows by ")
                    .figure(scale::value(Unit::Proportion, growth))
                    .words(" of what comes")
            } else {
                changed(text)
            }
        }
        StepClass::Cold => {
            let text = Text::of("cold: measure again after a longer warm-up");
            match evidence.slow_start {
                Some(start) => {
                    let [first, later] = scale::row(Unit::Seconds, [start.first_s, start.later_s]);
                    text.words(", TTFT ")
                        .figure(first)
                        .words(" at first, ")
                        .figure(later)
                        .words(" later")
                }
                None => text,
            }
        }
        StepClass::Invalid => Text::of("invalid by the client's fault"),
    }
}

/// What a chart shows.
pub(super) fn chart(sweep: &SweepReading, slo: bool, both: bool) -> Text {
    let text = Text::of("TTFT p95 over the load of ").quoted(&sweep.name);
    let text = text.words(if both {
        ": grey before, red after"
    } else {
        ": red"
    });
    let text = if slo {
        text.words(", the SLO green")
    } else {
        text
    };
    match sweep.knee.figure() {
        Some(_) => text.words(", a bar at the knee"),
        None => text,
    }
}
