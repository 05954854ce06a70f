//! Requests that another tool saw, as records: then a summary is made of them as of ours.

use std::convert::Infallible;

use super::found::{FoundRequest, FoundStage};
use crate::metric::{Metric, Quantile};
use crate::plan::Phase;
use crate::sample::{RequestRecord, StageEnd, StageObservation, TokenSource};
use crate::spec::Spec;
use crate::summary::{Records, StageContext, StageSummary, summarise_stage};
use crate::unit::Nanos;

/// Quantiles that are stored of an imported run.
const QUANTILES: [Quantile; 4] = Quantile::STANDARD;

/// Its requests as records, made anew in each pass: they are many, and their instants are packed.
struct Each<'a> {
    found: &'a FoundStage,
    stage: u32,
    /// When the first one was sent; `None` where one does not tell.
    zero_s: Option<f64>,
}

impl Records for Each<'_> {
    type Error = Infallible;

    fn each(&self, see: &mut dyn FnMut(&RequestRecord)) -> Result<(), Infallible> {
        for (index, request) in (0..).zip(&self.found.each) {
            let start = self.zero_s.zip(request.start_s);
            let start = start.map_or(0.0, |(zero, start)| start - zero);
            see(&record(request, self.stage, index, start));
        }
        Ok(())
    }
}

/// The summary of a stage of which each request is known, by the stage and classes of this spec.
pub(super) fn summarise(found: &FoundStage, index: usize, spec: &Spec) -> Option<StageSummary> {
    let stage = spec.stages.get(index)?;
    let timed = found.each.iter().all(|request| request.start_s.is_some());
    let starts = found.each.iter().filter_map(|request| request.start_s);
    let records = Each {
        found,
        stage: index as u32,
        zero_s: starts.reduce(f64::min).filter(|_| timed),
    };
    let mut end = Nanos::ZERO;
    let Ok::<_, Infallible>(()) = records.each(&mut |record| {
        let last = record.done.or(record.last_token()).or(record.sent);
        end = end.max(last.unwrap_or(Nanos::ZERO));
    });
    let told = found.duration_s.and_then(Nanos::try_from_secs_f64);
    // An instant past the last one, so that it counts.
    let end = told.unwrap_or(Nanos::ZERO).max(end + Nanos::new(1));
    let observation = StageObservation {
        window_start: Nanos::ZERO,
        window_end: end,
        in_flight_mean: 0.0,
        in_flight_max: 0,
        cap_hits: 0,
        cpu_share: None,
        loop_lag_p99: None,
        connections: None,
        bytes: 0,
        backlog: 0,
        end: StageEnd::Complete,
        pulses: Vec::new(),
        events: Vec::new(),
    };
    let context = StageContext {
        stage,
        classes: &spec.workload.classes,
        quantiles: &QUANTILES,
        token_mismatch: spec.gate.token_mismatch,
    };
    let Ok::<_, Infallible>(mut summary) = summarise_stage(context, &records, &observation);
    // Tools count from the send, whatever the load.
    summary.from_schedule = false;
    // What nobody knows of the load is not what its description assumes.
    summary.users = found.users;
    summary.rate_rps = found.rate_rps;
    summary.health = None;
    if !timed {
        summary.settling = None;
        summary.load_state = None;
        summary.windows.clear();
    }
    if !timed && told.is_none() {
        no_window(&mut summary);
    }
    untold(found, &mut summary);
    Some(summary)
}

fn record(request: &FoundRequest, stage: u32, index: u32, start_s: f64) -> RequestRecord {
    let at = |seconds: f64| Nanos::try_from_secs_f64(start_s + seconds);
    let sent = at(0.0).unwrap_or(Nanos::ZERO);
    let first = request.ttft_s.and_then(at);
    let last = request.e2e_s.and_then(at);
    let mut events: Vec<Nanos> = first.into_iter().collect();
    match (&request.gaps_s, request.ttft_s) {
        (Some(gaps), Some(ttft)) => {
            let mut elapsed = ttft;
            for gap in gaps {
                elapsed += f64::from(gap.max(0.0));
                events.extend(at(elapsed));
            }
        }
        _ => events.extend(last.filter(|last| first.is_some_and(|first| first < *last))),
    }
    let output = request.output.filter(|_| request.outcome.ended_well());
    RequestRecord {
        stage,
        index,
        class: 0,
        tenant: None,
        conversation: None,
        turn: None,
        phase: Phase::Measured,
        planned_input_tokens: 0,
        planned_output_tokens: 0,
        scheduled: sent,
        sent: Some(sent),
        headers: None,
        first_answer: None,
        done: last.or(events.last().copied()).or(Some(sent)),
        events,
        event_tokens: Vec::new(),
        output_tokens: output,
        output_source: TokenSource::Usage,
        input_tokens: request.input.filter(|_| request.outcome.ended_well()),
        cached_tokens: None,
        finish: None,
        resent: 0,
        bytes: 0,
        outcome: request.outcome,
        error: request.error.clone(),
        answer: None,
        heard: None,
    }
}

/// Takes out what is by the second, where neither instants nor a duration say how long the stage took.
fn no_window(summary: &mut StageSummary) {
    summary.window_s = 0.0;
    let pooled = &mut summary.pooled;
    let rates = &mut pooled.rates;
    for rate in [
        &mut rates.offered_rps,
        &mut rates.sent_rps,
        &mut rates.completed_rps,
        &mut rates.goodput_rps,
    ] {
        *rate = 0.0;
    }
    (rates.output_tps, rates.input_tps) = (None, None);
    for metric in [
        Metric::RequestThroughput,
        Metric::OutputThroughput,
        Metric::InputThroughput,
        Metric::TotalThroughput,
        Metric::Goodput,
    ] {
        let why = "the file does not say how long its run took";
        pooled.untold.insert(metric, why.to_owned());
    }
}

/// Takes out what follows from instants that the tool did not keep.
fn untold(found: &FoundStage, summary: &mut StageSummary) {
    let good = || found.each.iter().filter(|each| each.outcome.ended_well());
    let pooled = &mut summary.pooled;
    let mut leave_out = |metrics: &[Metric], why: &str| {
        for metric in metrics {
            pooled.distributions.remove(metric);
            pooled.untold.insert(*metric, why.to_owned());
        }
    };
    if good().any(|each| each.gaps_s.is_none()) {
        leave_out(
            &[Metric::Itl, Metric::ChunkGap, Metric::MaxStall],
            "the file has no instant of each token",
        );
    }
    if good().next().is_some() && good().all(|each| each.output.is_none()) {
        leave_out(
            &[
                Metric::Tpot,
                Metric::OutputThroughput,
                Metric::TotalThroughput,
            ],
            "the file has no output tokens of each request",
        );
        pooled.rates.output_tps = None;
    }
    if good().next().is_some() && good().all(|each| each.input.is_none()) {
        pooled.untold.insert(
            Metric::InputThroughput,
            "the file has no input tokens of each request".to_owned(),
        );
        pooled.rates.input_tps = None;
    }
    pooled.untold.insert(
        Metric::TruncatedRatio,
        "the file does not say why answers ended".to_owned(),
    );
}
