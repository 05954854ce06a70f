//! What keeps more load from being carried, what could go wrong, and what to try next.

use super::words::{clause, count, load, number, share};
use crate::capacity::{
    Axis, Capacity, Known, KvBound, Step, StepClass, Sustained, SweepReading, Why,
};
use crate::lang::{Phrase, say};
use crate::report::span::Text;
use crate::spec::SloClause;

/// Requests that wait in the engine from which on a queue is what they wait in.
const QUEUE: f64 = 1.0;

/// What could go wrong, the bottleneck first.
pub(super) fn risks(capacity: &Capacity) -> Vec<Text> {
    let mut out: Vec<Text> = capacity.sweeps.iter().filter_map(bottleneck).collect();
    if let Known::Figure(kv) = &capacity.kv {
        out.extend(sequences(kv));
        out.extend(long_requests(kv, capacity));
    }
    if let Known::Figure(replicas) = &capacity.replicas
        && !replicas.after_loss.holds
    {
        out.push(Text::word(say::CAP_FAILURE));
    }
    for sweep in &capacity.sweeps {
        if let Known::Figure(knee) = &sweep.knee {
            out.push(Text::say(say::CAP_BURSTS, [load(sweep.axis, knee.load)]));
        }
    }
    out
}

/// The clause that the first step beyond the SLO misses most, with what the engine says of it.
fn bottleneck(sweep: &SweepReading) -> Option<Text> {
    let within = sweep.within_slo.figure()?;
    let beyond = sweep
        .steps
        .iter()
        .find(|step| step.load > within.load && step.figures.is_some())?;
    let figures = beyond.figures.as_ref()?;
    let (worst, met) = figures
        .clauses
        .iter()
        .min_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let of = [load(sweep.axis, beyond.load), clause(*worst), share(*met)];
    let text = Text::say(say::CAP_BOTTLENECK, of);
    Some(match cause(*worst, beyond) {
        Some(cause) => Text::say(say::CAP_CAUSED, [text, Text::word(cause)]),
        None => text,
    })
}

fn cause(worst: SloClause, step: &Step) -> Option<Phrase> {
    let preempted = step
        .figures
        .as_ref()
        .and_then(|figures| figures.preemptions)
        .is_some_and(|count| count > 0);
    let waits = step
        .evidence
        .waiting
        .is_some_and(|waiting| waiting >= QUEUE);
    match worst {
        _ if preempted => Some(say::CAP_CAUSE_KV),
        SloClause::Ttft | SloClause::Ttfa if waits => Some(say::CAP_CAUSE_QUEUE),
        SloClause::Ttft | SloClause::Ttfa => Some(say::CAP_CAUSE_PREFILL),
        SloClause::Tpot | SloClause::ItlMax => Some(say::CAP_CAUSE_DECODE),
        SloClause::E2e => None,
    }
}

/// More sequences than the cache holds, with what was seen of that.
pub(in crate::report) fn sequences(kv: &KvBound) -> Option<Text> {
    let most = kv.max_num_seqs.filter(|_| kv.is_exceeded())?;
    let of = [
        Text::value("max_num_seqs"),
        count(most),
        count(kv.sequences),
    ];
    let text = Text::say(say::CAP_MOST_SEQUENCES, of);
    Some(match kv.preemptions {
        Some(0) => Text::say(say::CAP_NO_PREEMPTION, [text]),
        Some(seen) => Text::say(say::CAP_PREEMPTIONS, [text, count(seen)]),
        None => Text::say(say::CAP_PREEMPTIONS_UNASKED, [text]),
    })
}

fn long_requests(kv: &KvBound, capacity: &Capacity) -> Option<Text> {
    let users = capacity.carries.figure()?.users;
    let longest = kv
        .longest_sequences
        .filter(|longest| (*longest as f64) < users)?;
    let of = [count(longest), Text::just(number(users))];
    Some(Text::say(say::CAP_LONG_REQUESTS, of))
}

/// What to try next.
pub(super) fn next(capacity: &Capacity) -> Vec<Text> {
    let with = |phrase, what: &str| Text::say(phrase, [Text::value(what)]);
    let mut out = Vec::new();
    if capacity.sweeps.is_empty() {
        let sweep = "{name: sweep, closed: {users: [1, 2, 4, 8, 16, 32, 64]}, duration: 60s}";
        out.push(with(say::CAP_ADD_SWEEP, sweep));
    }
    if capacity.slos.is_empty() {
        out.push(with(say::CAP_ADD_SLO, "slo: {ttft: 500ms, tpot: 40ms}"));
    }
    for sweep in &capacity.sweeps {
        let of = |text: Text| Text::say(say::CAP_SWEEP, [Text::value(&sweep.name), text]);
        if let Known::Unknown(Why::NotReached { load: last, .. }) = &sweep.knee {
            let beyond = [load(sweep.axis, *last)];
            out.push(of(Text::say(say::CAP_EXTEND, beyond)));
        }
        if let Known::Figure(knee) = &sweep.knee
            && knee.below.is_some_and(|below| knee.load > 1.2 * below)
        {
            out.push(of(with(say::CAP_REFINE, "refine: true")));
        }
        let cold = sweep.steps.iter().any(|step| step.class == StepClass::Cold);
        if cold {
            out.push(of(Text::word(say::CAP_WARM)));
        }
        if let Known::Figure(within) = &sweep.within_slo
            && sweep.axis == Axis::Users
            && let Sustained::NotTried { rate_rps } = &within.sustained
        {
            let stage =
                format!("{{name: sustained, open: {{rate: {rate_rps:.2}/s}}, duration: 180s}}");
            out.push(of(with(say::CAP_VERIFY, &stage)));
        }
    }
    if let Known::Figure(kv) = &capacity.kv
        && kv.is_exceeded()
    {
        out.push(with(say::CAP_LOWER_SEQUENCES, "max_num_seqs"));
    }
    out
}
