//! What things are called: metrics, directions, states, reasons, designs, in plain words.

use crate::metric::{Cell, Kind, Metric, Statistic};
use crate::spec::Limit;
use crate::summary::InvalidReason;
use crate::unit::scale::{self, Unit};
use crate::verdict::{CellState, Change, Design, Evidence, Finding, Reason};

use super::reasons;
use super::span::Text;

/// A metric as people say it.
pub(super) const fn metric(metric: Metric) -> &'static str {
    match metric {
        Metric::Ttft => "TTFT",
        Metric::Ttfa => "TTFA",
        Metric::Tpot => "TPOT",
        Metric::Itl => "ITL",
        Metric::ChunkGap => "chunk gap",
        Metric::MaxStall => "max stall",
        Metric::E2e => "E2E",
        Metric::Goodput => "goodput",
        Metric::Attainment => "attainment",
        Metric::RequestThroughput => "request throughput",
        Metric::OutputThroughput => "output throughput",
        Metric::InputThroughput => "input throughput",
        Metric::TotalThroughput => "total throughput",
        Metric::TokensPerJoule => "tokens per joule",
        Metric::JoulesPerGood => "energy per good request",
        Metric::ErrorRatio => "error ratio",
        Metric::TruncatedRatio => "truncated ratio",
        Metric::ColdReady => "start to ready",
        Metric::ColdFirstRequest => "first request",
        Metric::ColdWarmRequest => "first warm request",
        Metric::QualityValidJson => "valid JSON",
        Metric::QualityRegex => "pattern match",
        Metric::QualityExact => "exact match",
        Metric::QualityAgreement => "agreement with the baseline",
        Metric::QualityImported => "imported score",
    }
}

/// `TTFT p95 of chat in steady`, with the names quoted.
pub(super) fn cell(cell: &Cell) -> Text {
    let mut text = Text::of(metric(cell.metric.metric()));
    match cell.metric.statistic() {
        Statistic::Quantile(q) => text = text.words(" ").figure(q.to_string()),
        Statistic::Mean => text = text.words(" mean"),
        Statistic::Value => {}
        Statistic::Task(name) => text = text.words(" ").figure(name.to_string()),
    }
    if let Some(class) = &cell.class {
        text = text.words(" of ").quoted(class);
    }
    match &cell.stage {
        Some(stage) => text.words(" in ").quoted(stage),
        None => text.words(" over all stages"),
    }
}

/// Which way a change goes, as a word; `no change` where it prints as zero.
fn direction(metric: Metric, change: Change) -> &'static str {
    if (estimate(change) * 1e4).round() == 0.0 {
        return "no change";
    }
    let up = estimate(change) > 0.0;
    match (metric.kind(), change) {
        (Kind::Distribution | Kind::OfRun, _) if up => "slower",
        (Kind::Distribution | Kind::OfRun, _) => "faster",
        (Kind::Rate | Kind::Energy, Change::Ratio { .. }) if up => "more",
        (Kind::Rate | Kind::Energy, Change::Ratio { .. }) => "less",
        (Kind::Rate | Kind::Energy, Change::Points { .. }) | (Kind::Proportion, _) if up => {
            "higher"
        }
        (Kind::Rate | Kind::Energy, Change::Points { .. }) | (Kind::Proportion, _) => "lower",
    }
}

/// Goodput near full attainment is judged in points of attainment, which has to be said.
fn is_attainment(metric: Metric, change: Change) -> bool {
    metric == Metric::Goodput && matches!(change, Change::Points { .. })
}

/// The best estimate of a change.
const fn estimate(change: Change) -> f64 {
    match change {
        Change::Ratio { estimate, .. } | Change::Points { estimate, .. } => estimate,
    }
}

/// `+31.2 %` or `−1.23 pp`.
fn signed(change: Change, value: f64) -> String {
    match change {
        Change::Ratio { .. } => scale::change(value),
        Change::Points { .. } => scale::points(value),
    }
}

/// `[+27.9 %, +34.6 %]`.
fn interval(change: Change) -> Text {
    let (Change::Ratio { low, high, .. } | Change::Points { low, high, .. }) = change;
    Text::of("[")
        .figure(signed(change, low))
        .words(", ")
        .figure(signed(change, high))
        .words("]")
}

/// `+31.2 % [+27.9 %, +34.6 %] slower`.
pub(super) fn change(metric: Metric, change: Change) -> Text {
    let text = Text::just(signed(change, estimate(change)))
        .words(" ")
        .then(interval(change))
        .words(" ")
        .words(direction(metric, change));
    if is_attainment(metric, change) {
        text.words(" attainment")
    } else {
        text
    }
}

/// `31.2 % slower [+27.9 %, +34.6 %]`, to follow "is".
fn change_said(metric: Metric, change: Change) -> Text {
    let size = signed(change, estimate(change))
        .trim_start_matches(['+', '−'])
        .to_owned();
    let text = match direction(metric, change) {
        "no change" => Text::of("unchanged "),
        word => Text::just(size).words(" ").words(word).words(" "),
    };
    let text = text.then(interval(change));
    if is_attainment(metric, change) {
        text.words(" in attainment")
    } else {
        text
    }
}

/// One finding as a sentence: `TTFT p95 in steady is 31.2 % slower [+27.9 %, +34.6 %], limit:
/// worse by 15 % and 10 ms`.
pub(super) fn sentence(finding: &Finding) -> Text {
    let metric = finding.cell.metric.metric();
    let absolute = finding.limit.is_some_and(|limit| !limit.is_relative());
    let mut text = cell(&finding.cell);
    let candidate = finding.candidate.map(|reading| reading.value);
    text = match (finding.state, &finding.reason, finding.change, candidate) {
        (CellState::Missing, _, _, _) => text.words(" is missing"),
        (CellState::Invalid, _, _, _) => text.words(" could not be measured"),
        (CellState::Incomparable, _, _, _) => text.words(" was not compared"),
        (_, Some(Reason::FellToZero), _, _) => text.words(" fell to zero"),
        (_, _, _, Some(None)) => {
            text.words(" is ∞: too many requests failed for it to have a value")
        }
        (_, _, _, Some(Some(value))) if absolute => text
            .words(" is ")
            .figure(scale::value(metric.unit(), value)),
        (_, _, Some(change), _) => text.words(" is ").then(change_said(metric, change)),
        (_, _, None, _) => text.words(" is ").words(finding.state.label()),
    };
    if let Some(release) = &finding.since {
        text = text.words(" since ").quoted(release);
    }
    match finding.limit {
        Some(limit) => text
            .words(", limit: ")
            .figure(limit.describe(metric).to_string()),
        None => text,
    }
    .capitalised()
}

/// Why a finding's state is what it is, where a table of numbers does not say.
pub(super) fn why(finding: &Finding) -> Option<Text> {
    let metric = finding.cell.metric.metric();
    let reason = finding
        .reason
        .as_ref()
        .map(|reason| reasons::words(metric, reason));
    let state = match finding.state {
        CellState::Suspect if finding.limit.is_none() => {
            Some("worth a look: worse than chance explains (one such call in ten is false)")
        }
        // Nothing was asked of it, so nothing is open.
        CellState::Inconclusive if finding.limit.is_none() => None,
        CellState::Suspect => Some("worse than its limit by estimate, not yet beyond doubt"),
        CellState::Implausible => Some("too good to be believed unseen: look at what ran"),
        CellState::Inconclusive
            if matches!(
                finding.reason,
                Some(Reason::NotSettled { .. } | Reason::BaselineOverloaded)
            ) =>
        {
            None
        }
        CellState::Inconclusive => Some("within its limit or beyond it: these repeats cannot tell"),
        CellState::NotResolvable => {
            Some("the limit is finer than these repeats can resolve on this machine")
        }
        CellState::NotFinished => Some("sampling stopped at the first regression"),
        CellState::New => Some("not in the baseline"),
        CellState::Regressed if finding.reason.as_ref().is_none_or(reasons::leaves_the_test) => {
            Some(proof(finding))
        }
        CellState::Regressed
        | CellState::Invalid
        | CellState::Missing
        | CellState::Incomparable
        | CellState::Accepted
        | CellState::Improved
        | CellState::Ok => None,
    };
    let parts: Vec<Text> = reason.into_iter().chain(state.map(Text::of)).collect();
    (!parts.is_empty()).then(|| Text::join(parts, "; "))
}

/// What a regression that a test found rests on.
fn proof(finding: &Finding) -> &'static str {
    let relative = finding.limit.is_none_or(Limit::is_relative);
    match finding.evidence {
        _ if !relative => "breaks its limit beyond doubt",
        Some(evidence) if evidence.beyond_tolerance => {
            "worse than the baseline beyond doubt, and by more than your tolerance at 95 %"
        }
        _ => "worse than the baseline beyond doubt, and the best estimate is over your tolerance",
    }
}

/// The smallest change that an undecided cell's repeats can show, as `6.30 %`.
pub(super) fn resolvable(finding: &Finding) -> Option<Text> {
    match finding.state {
        CellState::Suspect | CellState::Inconclusive | CellState::NotResolvable => {}
        CellState::Regressed
        | CellState::Invalid
        | CellState::Missing
        | CellState::Incomparable
        | CellState::Implausible
        | CellState::NotFinished
        | CellState::New
        | CellState::Accepted
        | CellState::Improved
        | CellState::Ok => return None,
    }
    let smallest = finding.evidence?.resolvable?;
    let size = match (finding.change, finding.cell.metric.metric().kind()) {
        (Some(Change::Points { .. }), _) | (None, Kind::Proportion) => scale::points(smallest),
        (Some(Change::Ratio { .. }), _)
        | (None, Kind::Distribution | Kind::OfRun | Kind::Rate | Kind::Energy) => {
            scale::change(smallest)
        }
    };
    Some(Text::just(size.trim_start_matches('+')))
}

/// `3 pairs`: the repeats behind a finding.
pub(super) fn repeats_of(evidence: Evidence, design: &Design) -> Text {
    let (one, many) = match design {
        Design::Interleaved { .. } => (" pair", " pairs"),
        Design::Stored { .. } => (" candidate run", " candidate runs"),
        Design::SameRun | Design::Unpaired { .. } => (" run", " runs"),
    };
    Text::just(scale::count(evidence.repeats.into())).words(if evidence.repeats == 1 {
        one
    } else {
        many
    })
}

/// How the runs were taken, as a sentence.
pub(super) fn design(design: &Design) -> Text {
    let counted = |n: u32, one: &'static str, many: &'static str| {
        Text::just(scale::count(n.into())).words(if n == 1 { one } else { many })
    };
    let looks = |looks: &[u32]| {
        Text::join(
            looks.iter().map(|n| Text::just(scale::count((*n).into()))),
            ", ",
        )
    };
    match design {
        Design::Interleaved { pairs, looks: at } => counted(*pairs, " interleaved pair", " interleaved pairs")
            .words(" of runs in one session, looked at after ")
            .then(looks(at))
            .words(if at.len() == 1 { " pairs" } else { " pairs, stopping once all is decided" }),
        Design::Stored {
            sessions,
            runs,
            looks: at,
        } => counted(*runs, " candidate run", " candidate runs")
            .words(" against ")
            .then(counted(*sessions, " stored session", " stored sessions"))
            .words(", looked at after ")
            .then(looks(at))
            .words(" candidate runs"),
        Design::SameRun => Text::of("one run on both sides, so there is no change to see"),
        Design::Unpaired {
            baseline: 0,
            candidate,
        } => counted(*candidate, " candidate run", " candidate runs").words(", no baseline"),
        Design::Unpaired {
            baseline,
            candidate,
        } => counted(*baseline, " baseline run", " baseline runs")
            .words(" and ")
            .then(counted(*candidate, " candidate run", " candidate runs"))
            .words(", neither interleaved nor stored sessions: drift of the machine cannot be told from a change"),
    }
}

/// What the client did wrong and what to do about it.
pub(super) fn invalid(reason: &InvalidReason) -> Text {
    let seconds = |s: f64| scale::value(Unit::Seconds, s);
    let share = |s: f64| scale::value(Unit::Proportion, s);
    match reason {
        InvalidReason::Late { p99_s, limit_s } => Text::of("requests left late: p99 ")
            .figure(seconds(*p99_s))
            .words(", allowed ")
            .figure(seconds(*limit_s))
            .words("; give the client more cores or keep other work off its machine"),
        InvalidReason::SentShort { ratio } => Text::of("only ")
            .figure(share(*ratio))
            .words(" of the offered requests were sent though the in-flight cap was not reached, 99 % are needed; lower the rate or use a faster client machine"),
        InvalidReason::ClientCpu { share: used } => Text::of("the client used ")
            .figure(share(*used))
            .words(" of its CPU, 90 % is allowed; give it more cores or lower the rate"),
        InvalidReason::TokensOffPlan {
            input,
            output,
            limit,
        } => Text::of("tokens are off the plan by ")
            .figure(scale::change(*input))
            .words(" (input) and ")
            .figure(scale::change(*output))
            .words(" (output), ")
            .figure(share(*limit))
            .words(" is allowed; check that the model and tokenizer are the pinned ones and that the engine honours ")
            .quoted("ignore_eos"),
        InvalidReason::NoRequests => {
            Text::of("the window held not one request; lengthen the stage or raise its rate")
        }
        InvalidReason::Interrupted => {
            Text::of("the run was interrupted before the window ended; run it again")
        }
        InvalidReason::Event { name, why } => Text::of("the event ")
            .quoted(name)
            .words(" did not happen: ")
            .prose(why)
            .words("; the stage is not what the spec asks for"),
        InvalidReason::Shard { index, reason } => Text::of("shard ")
            .figure(index.to_string())
            .words(": ")
            .then(invalid(reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goodput_in_points_is_said_to_be_attainment() {
        let points = Change::Points {
            estimate: -0.031,
            low: -0.04,
            high: -0.022,
        };
        assert_eq!(
            change(Metric::Goodput, points).plain(),
            "−3.10 pp [−4.00 pp, −2.20 pp] lower attainment"
        );
        assert_eq!(
            change_said(Metric::Goodput, points).plain(),
            "3.10 pp lower [−4.00 pp, −2.20 pp] in attainment"
        );
    }

    #[test]
    fn a_change_that_prints_as_zero_has_no_direction() {
        let none = Change::Ratio {
            estimate: 0.000_01,
            low: -0.01,
            high: 0.01,
        };
        assert_eq!(
            change(Metric::Ttft, none).plain(),
            "0.00 % [−1.00 %, +1.00 %] no change"
        );
    }
}
