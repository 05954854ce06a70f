//! Causes in words, each with the figures that show it.

use crate::diagnosis::{Cause, Diagnosis, Evidence, Lack, Signal};
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
        cause: Text::of(sentence(diagnosis.cause, diagnosis.worse)),
        evidence: Text::join(evidence.chain(lacks), "; "),
    }
}

/// What happened, by which way the stage went.
const fn sentence(cause: Cause, worse: bool) -> &'static str {
    match (cause, worse) {
        (Cause::OutputLength, _) => "answers have another length: other work, not another speed",
        (Cause::Tokenization, _) => {
            "the same prompts are another number of tokens (tokenizer or chat template): other work, not another speed"
        }
        (Cause::Truncation, _) => "the share of answers that are cut at their limit changed",
        (Cause::Throttling, true) => "the GPU's clocks were held back",
        (Cause::Throttling, false) => "the GPU's clocks were held back less",
        (Cause::Client, _) => "the client was the bottleneck, not the target",
        (Cause::PrefixCache, true) => "the prefix cache found less",
        (Cause::PrefixCache, false) => "the prefix cache found more",
        (Cause::Speculation, true) => "fewer drafted tokens were taken (speculative decoding)",
        (Cause::Speculation, false) => "more drafted tokens were taken (speculative decoding)",
        (Cause::KvPressure, true) => "the KV cache was too small for the load",
        (Cause::KvPressure, false) => "the KV cache was under less pressure",
        (Cause::Uniform, _) => {
            "everything moved by about the same factor: look at machine, clocks and power before any code"
        }
        (Cause::Prefill, true) => "prompts take longer (prefill)",
        (Cause::Prefill, false) => "prompts take less time (prefill)",
        (Cause::Decode, true) => "tokens take longer, all of them (decode)",
        (Cause::Decode, false) => "tokens take less time, all of them (decode)",
        (Cause::Queueing, true) => "requests wait longer until they are scheduled (queueing)",
        (Cause::Queueing, false) => "requests wait less until they are scheduled (queueing)",
        (Cause::Interference, true) => {
            "some gaps between tokens are longer, most are not: tokens wait while prompts are computed (interference)"
        }
        (Cause::Interference, false) => {
            "the long gaps between tokens are shorter, the others are not: prompts hold tokens up less (interference)"
        }
        (Cause::Outside, true) => "the time is lost outside the engine: network, gateway or proxy",
        (Cause::Outside, false) => "the time is won outside the engine: network, gateway or proxy",
        (Cause::BeforeFirstToken, _) => {
            "the time before the first token moved and the pace of tokens did not: queue, prompt or the way there, and \
             nothing that was measured tells which"
        }
        (Cause::Unclear, _) => "nothing that was measured tells why",
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
    Text::of(label(evidence.signal))
        .words(" ")
        .figure(baseline)
        .words(" → ")
        .figure(candidate)
        .words(", ")
        .figure(change(evidence.change))
        .words(" [")
        .figure(change(evidence.low))
        .words(", ")
        .figure(change(evidence.high))
        .words("]")
}

fn lack(lack: &Lack) -> Text {
    match lack {
        Lack::Engine { why } => Text::of("the engine's metrics are unknown: ").prose(why),
        Lack::EngineTimes => {
            Text::of("the engine's metrics don't show the times of queue and prompt")
        }
        Lack::Gpu { why } => Text::of("no GPU was seen: ").prose(why),
    }
}

const fn label(signal: Signal) -> &'static str {
    match signal {
        Signal::Ttft => "mean TTFT",
        Signal::ItlMedian => "ITL p50",
        Signal::ItlTail => "ITL p95",
        Signal::EngineTtft => "TTFT by the engine",
        Signal::Outside => "TTFT outside the engine",
        Signal::Queue => "queue time",
        Signal::Prefill => "prefill time",
        Signal::Waiting => "waiting requests",
        Signal::RunningMax => "most requests at once",
        Signal::KvUsage => "KV cache in use at most",
        Signal::Preemptions => "preemptions a request",
        Signal::PrefixHits => "prompt tokens found in the prefix cache",
        Signal::Acceptance => "drafted tokens taken",
        Signal::OutputTokens => "tokens an answer",
        Signal::InputTokens => "prompt tokens by planned ones",
        Signal::Truncated => "answers cut",
        Signal::SmClock => "SM clock",
        Signal::Throttled => "time with clocks held back",
        Signal::Temperature => "temperature",
        Signal::Power => "power",
        Signal::ClientCpu => "CPU of the client",
        Signal::Lateness => "lateness p99 of the client",
        Signal::LoopLag => "loop lag p99 of the client",
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
