//! What things are called: metrics, directions, states, reasons, designs, in plain words.

use crate::lang::{Phrase, say};
use crate::metric::{Cell, Kind, Metric, Statistic};
use crate::spec::Limit;
use crate::summary::InvalidReason;
use crate::unit::scale::{self, Unit};
use crate::verdict::{CellState, Change, Design, Evidence, Finding, Reason};

use super::reasons;
use super::span::Text;

/// A metric as people say it.
pub(super) fn metric(metric: Metric) -> Text {
    Text::word(name(metric))
}

/// What a metric is called.
pub(super) const fn name(metric: Metric) -> Phrase {
    match metric {
        Metric::Ttft => say::TTFT,
        Metric::Ttfa => say::TTFA,
        Metric::Tpot => say::TPOT,
        Metric::Itl => say::ITL,
        Metric::ChunkGap => say::CHUNK_GAP,
        Metric::MaxStall => say::MAX_STALL,
        Metric::E2e => say::E2E,
        Metric::Goodput => say::GOODPUT,
        Metric::MaxGoodput => say::MAX_GOODPUT,
        Metric::Attainment => say::ATTAINMENT,
        Metric::RequestThroughput => say::REQUEST_THROUGHPUT,
        Metric::OutputThroughput => say::OUTPUT_THROUGHPUT,
        Metric::InputThroughput => say::INPUT_THROUGHPUT,
        Metric::TotalThroughput => say::TOTAL_THROUGHPUT,
        Metric::TokensPerJoule => say::TOKENS_PER_JOULE,
        Metric::JoulesPerGood => say::JOULES_PER_GOOD,
        Metric::ErrorRatio => say::ERROR_RATIO,
        Metric::TruncatedRatio => say::TRUNCATED_RATIO,
        Metric::ColdReady => say::COLD_READY,
        Metric::ColdFirstRequest => say::COLD_FIRST,
        Metric::ColdWarmRequest => say::COLD_WARM,
        Metric::RecoveryTime => say::RECOVERY_TIME,
        Metric::DrainTime => say::DRAIN_TIME,
        Metric::LostToEvents => say::LOST_TO_EVENTS,
        Metric::QualityValidJson => say::VALID_JSON,
        Metric::QualityRegex => say::REGEX_MATCH,
        Metric::QualityExact => say::EXACT_MATCH,
        Metric::QualityAgreement => say::AGREEMENT,
        Metric::QualityImported => say::IMPORTED_SCORE,
    }
}

/// What became of a cell, as a word.
pub(super) fn state(state: CellState) -> Text {
    Text::word(match state {
        CellState::Regressed => say::REGRESSED,
        CellState::Invalid => say::INVALID,
        CellState::Missing => say::MISSING,
        CellState::Incomparable => say::INCOMPARABLE,
        CellState::Suspect => say::SUSPECT,
        CellState::Implausible => say::IMPLAUSIBLE,
        CellState::Inconclusive => say::INCONCLUSIVE,
        CellState::NotResolvable => say::NOT_RESOLVABLE,
        CellState::NotFinished => say::NOT_FINISHED,
        CellState::New => say::NEW,
        CellState::Accepted => say::ACCEPTED,
        CellState::Improved => say::IMPROVED,
        CellState::Ok => say::OK,
    })
}

/// A limit as it was meant.
pub(super) fn limit(limit: Limit, metric: Metric) -> Text {
    let (size, floor) = limit.describe(metric).figures();
    let size = Text::just(size);
    match (limit, floor) {
        (Limit::WorseBy { .. }, Some(floor)) => {
            Text::say(say::WORSE_BY_AND, [size, Text::just(floor)])
        }
        (Limit::WorseBy { .. } | Limit::WorseByPoints(_), _) => Text::say(say::WORSE_BY, [size]),
        (Limit::AtMost(_), _) => Text::say(say::AT_MOST, [size]),
        (Limit::AtLeast(_), _) => Text::say(say::AT_LEAST, [size]),
    }
}

/// `TTFT p95 of chat in steady`, with the names quoted.
pub(super) fn cell(cell: &Cell) -> Text {
    let mut text = metric(cell.metric.metric());
    match cell.metric.statistic() {
        Statistic::Quantile(q) => text = text.words(" ").figure(q.to_string()),
        Statistic::Mean => text = Text::say(say::MEAN_OF, [text]),
        Statistic::Value => {}
        Statistic::Task(name) => text = text.words(" ").figure(name.to_string()),
    }
    if let Some(class) = &cell.class {
        text = Text::say(say::OF_CLASS, [text, Text::value(class)]);
    }
    match &cell.stage {
        Some(stage) => Text::say(say::CELL_IN, [text, Text::value(stage)]),
        None => Text::say(say::CELL_OVER_ALL, [text]),
    }
}

/// Which way a change goes, as a word; `no change` where it prints as zero.
fn direction(metric: Metric, change: Change) -> Phrase {
    if (estimate(change) * 1e4).round() == 0.0 {
        return say::NO_CHANGE;
    }
    let [up, down] = match (metric.kind(), change) {
        (Kind::Distribution | Kind::OfRun | Kind::OfEvents, _) => [say::SLOWER, say::FASTER],
        (Kind::Proportion, _) | (_, Change::Points { .. }) => [say::HIGHER, say::LOWER],
        (Kind::Rate | Kind::OfSweep | Kind::Energy, Change::Ratio { .. }) => [say::MORE, say::LESS],
    };
    if estimate(change) > 0.0 { up } else { down }
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
    let way = Text::word(direction(metric, change));
    Text::just(signed(change, estimate(change)))
        .words(" ")
        .then(interval(change))
        .words(" ")
        .then(if is_attainment(metric, change) {
            Text::say(say::OF_ATTAINMENT, [way])
        } else {
            way
        })
}

/// `31.2 % slower [+27.9 %, +34.6 %]`, to follow "is".
fn change_said(metric: Metric, change: Change) -> Text {
    let size = signed(change, estimate(change))
        .trim_start_matches(['+', '−'])
        .to_owned();
    let way = direction(metric, change);
    let text = if way == say::NO_CHANGE {
        Text::say(say::UNCHANGED, [interval(change)])
    } else {
        let parts = [Text::just(size), Text::word(way), interval(change)];
        Text::say(say::CHANGED, parts)
    };
    if is_attainment(metric, change) {
        Text::say(say::IN_ATTAINMENT, [text])
    } else {
        text
    }
}

/// One finding as a sentence: `TTFT p95 in steady is 31.2 % slower [+27.9 %, +34.6 %], limit:
/// worse by 15 % and 10 ms`.
pub(super) fn sentence(finding: &Finding) -> Text {
    let metric = finding.cell.metric.metric();
    let absolute = finding.limit.is_some_and(|limit| !limit.is_relative());
    let cell = cell(&finding.cell);
    let candidate = finding.candidate.map(|reading| reading.value);
    let mut text = match (finding.state, &finding.reason, finding.change, candidate) {
        (CellState::Missing, _, _, _) => Text::say(say::IS_MISSING, [cell]),
        (CellState::Invalid, _, _, _) => Text::say(say::NOT_MEASURED, [cell]),
        (CellState::Incomparable, _, _, _) => Text::say(say::NOT_COMPARED, [cell]),
        (_, Some(Reason::FellToZero), _, _) => Text::say(say::FELL, [cell]),
        (_, _, _, Some(None)) => Text::say(say::INFINITE, [cell]),
        (_, _, _, Some(Some(value))) if absolute => {
            let value = Text::just(scale::value(metric.unit(), value));
            Text::say(say::IS_VALUE, [cell, value])
        }
        (_, _, Some(change), _) => Text::say(say::IS, [cell, change_said(metric, change)]),
        (_, _, None, _) => Text::say(say::IS_STATE, [cell, state(finding.state)]),
    };
    if let Some(release) = &finding.since {
        text = Text::say(say::SINCE, [text, Text::value(release)]);
    }
    match finding.limit {
        Some(limit) => Text::say(say::WITH_LIMIT, [text, self::limit(limit, metric)]),
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
        CellState::Suspect if finding.limit.is_none() => Some(say::WORTH_A_LOOK),
        // Nothing was asked of it, so nothing is open.
        CellState::Inconclusive if finding.limit.is_none() => None,
        CellState::Suspect => Some(say::WORSE_BY_ESTIMATE),
        CellState::Implausible => Some(say::TOO_GOOD),
        CellState::Inconclusive
            if matches!(
                finding.reason,
                Some(Reason::NotSettled { .. } | Reason::BaselineOverloaded)
            ) =>
        {
            None
        }
        CellState::Inconclusive => Some(say::CANNOT_TELL),
        CellState::NotResolvable => Some(say::LIMIT_TOO_FINE),
        CellState::NotFinished => Some(say::STOPPED_AT_FIRST),
        CellState::New => Some(say::NOT_IN_BASELINE),
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
    let parts: Vec<Text> = reason.into_iter().chain(state.map(Text::word)).collect();
    (!parts.is_empty()).then(|| Text::clauses(parts))
}

/// What a regression that a test found rests on.
fn proof(finding: &Finding) -> Phrase {
    let relative = finding.limit.is_none_or(Limit::is_relative);
    match finding.evidence {
        _ if !relative => say::BREAKS_LIMIT,
        Some(evidence) if evidence.beyond_tolerance => say::BEYOND_TOLERANCE,
        _ => say::BEYOND_ZERO,
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
        (Some(Change::Ratio { .. }) | None, _) => scale::change(smallest),
    };
    Some(Text::just(size.trim_start_matches('+')))
}

/// `3 pairs`: the repeats behind a finding.
pub(super) fn repeats_of(evidence: Evidence, design: &Design) -> Text {
    let repeats = match design {
        Design::Interleaved { .. } => say::PAIRS,
        Design::Stored { .. } => say::CANDIDATE_RUNS,
        Design::SameRun | Design::Unpaired { .. } => say::RUNS,
    };
    Text::say(repeats, [count(evidence.repeats)])
}

fn count(n: u32) -> Text {
    Text::just(scale::count(n.into()))
}

/// How the runs were taken, as a sentence.
pub(super) fn design(design: &Design) -> Text {
    let looks = |looks: &[u32]| Text::list(looks.iter().map(|n| count(*n)));
    match design {
        Design::Interleaved { pairs, looks: at } => {
            let phrase = if at.len() == 1 {
                say::INTERLEAVED
            } else {
                say::INTERLEAVED_STOPPING
            };
            Text::say(phrase, [count(*pairs), looks(at)])
        }
        Design::Stored {
            sessions,
            runs,
            looks: at,
        } => Text::say(say::STORED, [count(*runs), count(*sessions), looks(at)]),
        Design::SameRun => Text::word(say::ONE_RUN),
        Design::Unpaired {
            baseline: 0,
            candidate,
        } => Text::say(say::NO_BASE, [count(*candidate)]),
        Design::Unpaired {
            baseline,
            candidate,
        } => Text::say(say::UNPAIRED, [count(*baseline), count(*candidate)]),
    }
}

/// What the client did wrong and what to do about it.
pub(super) fn invalid(reason: &InvalidReason) -> Text {
    let seconds = |s: f64| Text::just(scale::value(Unit::Seconds, s));
    let share = |s: f64| Text::just(scale::value(Unit::Proportion, s));
    match reason {
        InvalidReason::Late { p99_s, limit_s } => {
            Text::say(say::LATE, [seconds(*p99_s), seconds(*limit_s)])
        }
        InvalidReason::SentShort { ratio } => Text::say(say::SENT_SHORT, [share(*ratio)]),
        InvalidReason::ClientCpu { share: used } => Text::say(say::CLIENT_CPU, [share(*used)]),
        InvalidReason::TokensOffPlan {
            input,
            output,
            limit,
        } => Text::say(
            say::TOKENS_OFF,
            [
                Text::just(scale::change(*input)),
                Text::just(scale::change(*output)),
                share(*limit),
                Text::value("ignore_eos"),
            ],
        ),
        InvalidReason::NoRequests => Text::word(say::NO_REQUESTS),
        InvalidReason::Interrupted => Text::word(say::INTERRUPTED),
        InvalidReason::Shard { index, reason } => {
            Text::say(say::SHARD, [Text::just(index.to_string()), invalid(reason)])
        }
        InvalidReason::Event { name, why } => {
            let why = Text::default().prose(why);
            Text::say(say::EVENT_FAILED, [Text::value(name), why])
        }
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
