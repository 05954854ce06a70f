//! Causes in words, each with the figures that show it.

use crate::diagnosis::{Cause, Diagnosis, Evidence, Lack, Signal};
use crate::lang::{Phrase, say};
use crate::unit::scale::{self, Unit};

use super::model::WhyRow;
use super::span::Text;

/// The causes, in the order in which they were found.
pub(super) fn rows(diagnoses: &[Diagnosis]) -> Vec<WhyRow> {
    diagnoses.iter().map(row).collect()
}

fn row(diagnosis: &Diagnosis) -> WhyRow {
    let evidence = diagnosis.evidence.iter().map(evidence);
    let lacks = diagnosis.lacks.iter().map(lack);
    WhyRow {
        stage: Text::value(&diagnosis.stage),
        cause: Text::word(sentence(diagnosis.cause, diagnosis.worse)),
        evidence: Text::clauses(evidence.chain(lacks)),
    }
}

/// What happened, by which way the stage went.
const fn sentence(cause: Cause, worse: bool) -> Phrase {
    match (cause, worse) {
        (Cause::OutputLength, _) => say::CAUSE_OUTPUT_LENGTH,
        (Cause::Tokenization, _) => say::CAUSE_TOKENIZATION,
        (Cause::Truncation, _) => say::CAUSE_TRUNCATION,
        (Cause::Throttling, true) => say::CAUSE_THROTTLING,
        (Cause::Throttling, false) => say::CAUSE_THROTTLING_LESS,
        (Cause::Client, _) => say::CAUSE_CLIENT,
        (Cause::PrefixCache, true) => say::CAUSE_CACHE_LESS,
        (Cause::PrefixCache, false) => say::CAUSE_CACHE_MORE,
        (Cause::Speculation, true) => say::CAUSE_DRAFTS_FEWER,
        (Cause::Speculation, false) => say::CAUSE_DRAFTS_MORE,
        (Cause::KvPressure, true) => say::CAUSE_KV,
        (Cause::KvPressure, false) => say::CAUSE_KV_LESS,
        (Cause::Uniform, _) => say::CAUSE_UNIFORM,
        (Cause::Prefill, true) => say::CAUSE_PREFILL,
        (Cause::Prefill, false) => say::CAUSE_PREFILL_LESS,
        (Cause::Decode, true) => say::CAUSE_DECODE,
        (Cause::Decode, false) => say::CAUSE_DECODE_LESS,
        (Cause::Queueing, true) => say::CAUSE_QUEUE,
        (Cause::Queueing, false) => say::CAUSE_QUEUE_LESS,
        (Cause::Interference, true) => say::CAUSE_INTERFERENCE,
        (Cause::Interference, false) => say::CAUSE_INTERFERENCE_LESS,
        (Cause::Outside, true) => say::CAUSE_OUTSIDE,
        (Cause::Outside, false) => say::CAUSE_OUTSIDE_LESS,
        (Cause::BeforeFirstToken, _) => say::CAUSE_BEFORE_FIRST,
        (Cause::Unclear, _) => say::CAUSE_UNCLEAR,
    }
}

/// `prefill 4.20 ms → 5.20 ms, +23.1 % [+19.0 %, +27.3 %]`.
fn evidence(evidence: &Evidence) -> Text {
    let [baseline, candidate] = figures(evidence.signal, evidence.baseline, evidence.candidate);
    let change = if evidence.points {
        scale::points
    } else {
        scale::change
    };
    let moved = Text::just(change(evidence.change))
        .words(" [")
        .figure(change(evidence.low))
        .words(", ")
        .figure(change(evidence.high))
        .words("]");
    let signal = Text::word(label(evidence.signal));
    let args = [signal, Text::just(baseline), Text::just(candidate), moved];
    Text::say(say::EVIDENCE, args)
}

fn lack(lack: &Lack) -> Text {
    match lack {
        Lack::Engine { why } => Text::say(say::LACK_ENGINE, [Text::default().prose(why)]),
        Lack::EngineTimes => Text::word(say::LACK_TIMES),
        Lack::Gpu { why } => Text::say(say::LACK_GPU, [Text::default().prose(why)]),
    }
}

const fn label(signal: Signal) -> Phrase {
    match signal {
        Signal::Ttft => say::SIGNAL_TTFT,
        Signal::ItlMedian => say::SIGNAL_ITL_P50,
        Signal::ItlTail => say::SIGNAL_ITL_P95,
        Signal::EngineTtft => say::SIGNAL_ENGINE_TTFT,
        Signal::Outside => say::SIGNAL_OUTSIDE,
        Signal::Queue => say::SIGNAL_QUEUE,
        Signal::Prefill => say::SIGNAL_PREFILL,
        Signal::Waiting => say::SIGNAL_WAITING,
        Signal::RunningMax => say::SIGNAL_RUNNING,
        Signal::KvUsage => say::SIGNAL_KV,
        Signal::Preemptions => say::SIGNAL_PREEMPTIONS,
        Signal::PrefixHits => say::SIGNAL_PREFIX,
        Signal::Acceptance => say::SIGNAL_DRAFTS,
        Signal::OutputTokens => say::SIGNAL_OUTPUT,
        Signal::InputTokens => say::SIGNAL_INPUT,
        Signal::Truncated => say::SIGNAL_CUT,
        Signal::SmClock => say::SIGNAL_CLOCK,
        Signal::Throttled => say::SIGNAL_THROTTLED,
        Signal::Temperature => say::SIGNAL_TEMPERATURE,
        Signal::Power => say::SIGNAL_POWER,
        Signal::ClientCpu => say::SIGNAL_CLIENT_CPU,
        Signal::Lateness => say::SIGNAL_LATENESS,
        Signal::LoopLag => say::SIGNAL_LAG,
    }
}

fn figures(signal: Signal, baseline: f64, candidate: f64) -> [String; 2] {
    let values = [baseline, candidate];
    let plain = |suffix: &str| values.map(|value| format!("{value:.1}{suffix}"));
    match signal {
        Signal::Ttft
        | Signal::ItlMedian
        | Signal::ItlTail
        | Signal::EngineTtft
        | Signal::Outside
        | Signal::Queue
        | Signal::Prefill
        | Signal::Lateness
        | Signal::LoopLag => scale::row(Unit::Seconds, values),
        Signal::KvUsage
        | Signal::PrefixHits
        | Signal::Acceptance
        | Signal::Truncated
        | Signal::Throttled
        | Signal::ClientCpu => scale::row(Unit::Proportion, values),
        Signal::Preemptions | Signal::InputTokens => values.map(|value| format!("{value:.3}")),
        Signal::Waiting | Signal::RunningMax | Signal::OutputTokens => plain(""),
        Signal::SmClock => values.map(|value| format!("{value:.0} MHz")),
        Signal::Temperature => plain(" °C"),
        Signal::Power => values.map(|value| format!("{value:.0} W")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cause with these signals, each a quarter more.
    fn cause(cause: Cause, worse: bool, signals: &[Signal]) -> Diagnosis {
        let evidence = |signal: &Signal| Evidence {
            signal: *signal,
            baseline: 0.04,
            candidate: 0.05,
            change: 0.25,
            low: 0.2,
            high: 0.3,
            points: matches!(signal, Signal::PrefixHits | Signal::Throttled),
        };
        Diagnosis {
            stage: "steady".to_owned(),
            cause,
            worse,
            evidence: signals.iter().map(evidence).collect(),
            lacks: Vec::new(),
        }
    }

    #[test]
    fn causes_are_sentences_with_figures() {
        let signals = [Signal::Prefill, Signal::Preemptions, Signal::PrefixHits];
        let machine = [Signal::SmClock, Signal::Temperature, Signal::Power];
        let mut unclear = cause(Cause::Unclear, true, &[Signal::Ttft]);
        let hostile = "@octocat **404** <b>".to_owned();
        unclear.lacks = vec![
            Lack::Engine { why: hostile },
            Lack::EngineTimes,
            Lack::Gpu {
                why: "no `nvidia-smi`".to_owned(),
            },
        ];
        let told = [
            cause(Cause::Prefill, true, &signals),
            cause(Cause::Throttling, true, &machine),
            cause(Cause::PrefixCache, false, &[Signal::PrefixHits]),
            cause(Cause::Queueing, true, &[Signal::Queue, Signal::RunningMax]),
            unclear,
        ];
        let lines = rows(&told).into_iter().map(|row| {
            let WhyRow {
                stage,
                cause,
                evidence,
            } = row;
            let line = [stage.plain(), cause.plain(), evidence.plain()];
            line.join(" | ")
        });
        insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn every_figure_is_one() {
        for signal in Signal::ALL {
            for text in figures(signal, 0.0, 1234.5) {
                assert!(super::super::escape::is_figure(&text), "{signal:?}: {text}");
            }
        }
    }
}
