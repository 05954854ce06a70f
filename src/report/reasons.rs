//! Why a cell's state is what it is, where that is not the test alone.

use crate::metric::Metric;
use crate::unit::scale::{self, Unit};
use crate::verdict::Reason;

use super::span::Text;

/// Whether the state rests on the test all the same.
pub(super) const fn leaves_the_test(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::Inherited
            | Reason::Traded { .. }
            | Reason::TradeNotShown { .. }
            | Reason::BeyondAccepted { .. }
            | Reason::AcceptExpired { .. }
    )
}

/// A reason in words.
pub(super) fn words(metric: Metric, reason: &Reason) -> Text {
    match reason {
        Reason::CandidateFailed => {
            Text::of("the candidate's requests failed or were shed, the baseline's were not")
        }
        Reason::BothFailed => Text::of("too many requests failed on both sides"),
        Reason::Inherited => Text::of("inherited: the baseline breaks this limit as well"),
        Reason::ClientFault { what } => Text::of("the client was at fault: ").prose(what),
        Reason::Absent { why } => Text::of("no value: ").prose(why),
        Reason::FewSamples { n, needed } => Text::just(scale::count(*n))
            .words(" values a run, ")
            .figure(scale::count(*needed))
            .words(" are needed for this percentile"),
        Reason::FellToZero => Text::of("zero on every candidate run and not on the baseline"),
        Reason::WorkChanged => {
            Text::of("the sides did different work: tokens or completions differ")
        }
        Reason::BelowRoundTrip => {
            Text::of("shorter than a round trip to the target, so something before it answered")
        }
        Reason::OnThisRun => Text::of("judged on this run alone, without a baseline"),
        Reason::Advisory { what } => Text::of("advisory only: ").prose(what),
        Reason::Traded { trade, by } => Text::of("traded, ")
            .prose(trade)
            .words(": it is, by ")
            .figure(scale::change(*by)),
        Reason::TradeNotShown { trade, by } => {
            let text = Text::of("the trade does not hold, ").prose(trade);
            match by {
                Some(by) => text
                    .words(": that is not beyond doubt, estimate ")
                    .figure(scale::change(*by)),
                None => text.words(": nothing can be said of that cell"),
            }
        }
        Reason::Informational => Text::of("informational by the spec"),
        Reason::CandidateOverloaded { completed } => Text::of(
            "overloaded: the candidate completes only ",
        )
        .figure(scale::value(Unit::Proportion, *completed))
        .words(
            " of what it is sent and its backlog grows, the baseline keeps up; it lost capacity",
        ),
        Reason::BaselineOverloaded => Text::of(
            "overloaded: the baseline does not keep up with this load, the candidate does, so there is no change to measure; lower the rate",
        ),
        Reason::BothOverloaded => Text::of("both sides overloaded: lower the rate"),
        Reason::Accepted { value, until, file } => Text::of("accepted up to ")
            .figure(scale::value(metric.unit(), *value))
            .words(" and the tolerance beyond, until ")
            .figure(until.clone())
            .words(", see ")
            .quoted(file),
        Reason::BeyondAccepted { value, file } => Text::default()
            .quoted(file)
            .words(" accepts ")
            .figure(scale::value(metric.unit(), *value))
            .words(" and the tolerance beyond, and it is not shown to be within that"),
        Reason::AcceptExpired { until, file } => Text::of("the accept ")
            .quoted(file)
            .words(" expired on ")
            .figure(until.clone())
            .words(": promote sessions of the new level, fix it, or accept it anew"),
        Reason::NotSettled { cut, of } => Text::of("not settled: the first ")
            .figure(scale::count(*cut))
            .words(" of ")
            .figure(scale::count(*of))
            .words(" requests are still warm-up"),
    }
}
