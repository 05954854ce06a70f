//! What keeps more load from being carried, what could go wrong, and what to try next.

use super::words::{clause, load, number};
use crate::capacity::{
    Axis, Capacity, Known, KvBound, Step, StepClass, Sustained, SweepReading, Why,
};
use crate::report::span::Text;
use crate::spec::SloClause;
use crate::unit::scale::{self, Unit};

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
        out.push(Text::of(
            "failure: the peak is not carried when one replica is lost",
        ));
    }
    for sweep in &capacity.sweeps {
        if let Known::Figure(knee) = &sweep.knee {
            out.push(
                Text::of("bursts: over ")
                    .then(load(sweep.axis, knee.load))
                    .words(" requests only wait longer"),
            );
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
    let text = Text::of("bottleneck: at ")
        .then(load(sweep.axis, beyond.load))
        .words(" requests miss ")
        .words(clause(*worst))
        .words(" first, ")
        .figure(scale::value(Unit::Proportion, *met))
        .words(" meet it");
    Some(text.words(cause(*worst, beyond)))
}

fn cause(worst: SloClause, step: &Step) -> &'static str {
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
        _ if preempted => ": the KV cache is full and requests are computed again",
        SloClause::Ttft | SloClause::Ttfa if waits => ": they wait in the engine's queue",
        SloClause::Ttft | SloClause::Ttfa => ": prefill or the queue before it",
        SloClause::Tpot | SloClause::ItlMax => ": decode shares its steps among too many",
        SloClause::E2e => "",
    }
}

/// More sequences than the cache holds, with what was seen of that.
pub(in crate::report) fn sequences(kv: &KvBound) -> Option<Text> {
    let most = kv.max_num_seqs.filter(|_| kv.is_exceeded())?;
    let text = Text::of("KV cache: ")
        .quoted("max_num_seqs")
        .words(" is ")
        .figure(scale::count(most))
        .words(", and ")
        .figure(scale::count(kv.sequences))
        .words(" requests of this workload fit");
    Some(match kv.preemptions {
        Some(0) => text.words("; no preemption was seen"),
        Some(count) => text
            .words("; ")
            .figure(scale::count(count))
            .words(" preemptions were seen"),
        None => text.words("; the engine was not asked for preemptions"),
    })
}

fn long_requests(kv: &KvBound, capacity: &Capacity) -> Option<Text> {
    let users = capacity.carries.figure()?.users;
    let longest = kv
        .longest_sequences
        .filter(|longest| (*longest as f64) < users)?;
    Some(
        Text::of("long requests: of the longest only ")
            .figure(scale::count(longest))
            .words(" fit at once, of ")
            .figure(number(users))
            .words(" users"),
    )
}

/// What to try next.
pub(super) fn next(capacity: &Capacity) -> Vec<Text> {
    let mut out = Vec::new();
    if capacity.sweeps.is_empty() {
        out.push(
            Text::of("add a sweep, such as ")
                .quoted("{name: sweep, closed: {users: [1, 2, 4, 8, 16, 32, 64]}, duration: 60s}"),
        );
    }
    if capacity.slos.is_empty() {
        out.push(
            Text::of("say what a good answer is: ")
                .quoted("slo: {ttft: 500ms, tpot: 40ms}")
                .words(" in each class"),
        );
    }
    for sweep in &capacity.sweeps {
        let name = || Text::value(&sweep.name).words(": ");
        if let Known::Unknown(Why::NotReached { load: last, .. }) = &sweep.knee {
            out.push(
                name()
                    .words("extend it beyond ")
                    .then(load(sweep.axis, *last)),
            );
        }
        if let Known::Figure(knee) = &sweep.knee
            && knee.below.is_some_and(|below| knee.load > 1.2 * below)
        {
            out.push(
                name()
                    .words("measure between its steps at the knee: ")
                    .quoted("refine: true"),
            );
        }
        let cold = sweep.steps.iter().any(|step| step.class == StepClass::Cold);
        if cold {
            out.push(name().words("measure again after a longer warm-up"));
        }
        if let Known::Figure(within) = &sweep.within_slo
            && sweep.axis == Axis::Users
            && let Sustained::NotTried { rate_rps } = &within.sustained
        {
            out.push(name().words("verify it by an open loop: ").quoted(&format!(
                "{{name: sustained, open: {{rate: {rate_rps:.2}/s}}, duration: 180s}}"
            )));
        }
    }
    if let Known::Figure(kv) = &capacity.kv
        && kv.is_exceeded()
    {
        out.push(
            Text::of("lower ")
                .quoted("max_num_seqs")
                .words(" to what fits, or give the cache more memory or fewer bits"),
        );
    }
    out
}
