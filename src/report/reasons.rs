//! Why a cell's state is what it is, where that is not the test alone.

use crate::lang::say;
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
    let count = |n: u64| Text::just(scale::count(n));
    let value = |value: f64| Text::just(scale::value(metric.unit(), value));
    match reason {
        Reason::CandidateFailed => Text::word(say::CANDIDATE_FAILED),
        Reason::BothFailed => Text::word(say::BOTH_FAILED),
        Reason::Inherited => Text::word(say::INHERITED),
        Reason::ClientFault { what } => Text::say(say::CLIENT_FAULT, [Text::default().prose(what)]),
        Reason::Absent { why } => Text::say(say::NO_VALUE, [Text::said(why)]),
        Reason::FewSamples { n, needed } => Text::say(say::FEW_VALUES, [count(*n), count(*needed)]),
        Reason::FellToZero => Text::word(say::ZERO_ON_CANDIDATE),
        Reason::WorkChanged => Text::word(say::WORK_CHANGED),
        Reason::BelowRoundTrip => Text::word(say::BELOW_ROUND_TRIP),
        Reason::OnThisRun => Text::word(say::ON_THIS_RUN),
        Reason::Advisory { what } => Text::say(say::ADVISORY, [Text::said(what)]),
        Reason::Traded { trade, by } => {
            let by = Text::just(scale::change(*by));
            Text::say(say::TRADED, [Text::said(trade), by])
        }
        Reason::TradeNotShown { trade, by } => match by {
            Some(by) => {
                let by = Text::just(scale::change(*by));
                Text::say(say::TRADE_NOT_SHOWN, [Text::said(trade), by])
            }
            None => Text::say(say::TRADE_UNKNOWN, [Text::said(trade)]),
        },
        Reason::Informational => Text::word(say::INFORMATIONAL),
        Reason::CandidateOverloaded { completed } => {
            let share = Text::just(scale::value(Unit::Proportion, *completed));
            Text::say(say::CANDIDATE_OVERLOADED, [share])
        }
        Reason::BaselineOverloaded => Text::word(say::BASELINE_OVERLOADED),
        Reason::BothOverloaded => Text::word(say::BOTH_OVERLOADED),
        Reason::Accepted {
            value: accepted,
            until,
            file,
        } => {
            let args = [
                value(*accepted),
                Text::just(until.clone()),
                Text::value(file),
            ];
            Text::say(say::ACCEPTED_UP_TO, args)
        }
        Reason::BeyondAccepted {
            value: accepted,
            file,
        } => Text::say(say::BEYOND_ACCEPTED, [Text::value(file), value(*accepted)]),
        Reason::AcceptExpired { until, file } => {
            let args = [Text::value(file), Text::just(until.clone())];
            Text::say(say::ACCEPT_EXPIRED, args)
        }
        Reason::NotSettled { cut, of } => Text::say(say::NOT_SETTLED, [count(*cut), count(*of)]),
    }
}
