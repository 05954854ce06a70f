//! Records of one class, or of all, to their summary.

use std::collections::BTreeMap;

use super::distribution::Values;
use super::model::{Attainment, ClassSummary, ClauseCount, Rates, TokenTotals};
use crate::metric::{Metric, Quantile};
use crate::plan::Phase;
use crate::sample::{Outcome, RequestRecord, Timeline, TokenSource};
use crate::spec::{Class, OutputLength, SloClause};
use crate::unit::Nanos;

/// Error texts that are kept of a class.
const ERROR_TEXTS: usize = 5;

/// The measured window of a stage.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) start: Nanos,
    pub(super) end: Nanos,
    pub(super) from_schedule: bool,
}

impl Frame {
    pub(super) fn seconds(self) -> f64 {
        self.end.since(self.start).as_secs_f64()
    }

    pub(super) fn contains(self, at: Nanos) -> bool {
        self.start <= at && at < self.end
    }
}

/// Tokens of a record that arrived in the window, event by event.
///
/// Where only the total is known, each event stands for its share of it.
pub(super) fn tokens_at(record: &RequestRecord) -> impl Iterator<Item = (Nanos, f64)> + '_ {
    let total = f64::from(record.output_tokens.unwrap_or(record.events.len() as u32));
    let share = total / record.events.len().max(1) as f64;
    let counted = record.event_tokens.len() == record.events.len();
    record.events.iter().enumerate().map(move |(index, &at)| {
        let tokens = if counted {
            let before = if index == 0 {
                0
            } else {
                record.event_tokens[index - 1]
            };
            f64::from(record.event_tokens[index].saturating_sub(before))
        } else {
            share
        };
        (at, tokens)
    })
}

/// Summarises the given records of a stage, warm-up included: requests count by their phase,
/// tokens and completions by whether their instant lies in the window.
pub(super) fn summarise<'a>(
    records: impl Iterator<Item = &'a RequestRecord>,
    classes: &[Class],
    frame: Frame,
    wanted: &[Quantile],
) -> ClassSummary {
    let mut tally = Tally::new(classes, frame);
    for record in records {
        tally.flow(record);
        if record.phase == Phase::Measured {
            tally.request(record);
        }
    }
    tally.finish(wanted)
}

struct Tally<'a> {
    classes: &'a [Class],
    frame: Frame,
    summary: ClassSummary,
    clauses: BTreeMap<SloClause, ClauseCount>,
    values: BTreeMap<Metric, Values>,
    output_tokens: f64,
    input_tokens: f64,
    completions: u64,
    /// Requests in the latency samples.
    answered: u64,
    /// Failed requests of which no length was planned.
    failed_unplanned: u64,
}

impl<'a> Tally<'a> {
    fn new(classes: &'a [Class], frame: Frame) -> Self {
        Self {
            classes,
            frame,
            summary: ClassSummary {
                scheduled: 0,
                sent: 0,
                outcomes: BTreeMap::new(),
                finish: BTreeMap::new(),
                good: 0,
                attainment: None,
                tokens: TokenTotals {
                    input_planned: 0,
                    input_observed: 0,
                    output_planned: 0,
                    output_observed: 0,
                    cached: 0,
                    output_source: None,
                },
                rates: Rates {
                    offered_rps: 0.0,
                    sent_rps: 0.0,
                    completed_rps: 0.0,
                    goodput_rps: 0.0,
                    output_tps: 0.0,
                    input_tps: 0.0,
                },
                distributions: BTreeMap::new(),
                errors: BTreeMap::new(),
            },
            clauses: BTreeMap::new(),
            values: BTreeMap::new(),
            output_tokens: 0.0,
            input_tokens: 0.0,
            completions: 0,
            answered: 0,
            failed_unplanned: 0,
        }
    }

    /// What passed through the window, whoever it belongs to.
    fn flow(&mut self, record: &RequestRecord) {
        self.output_tokens += tokens_at(record)
            .filter(|(at, _)| self.frame.contains(*at))
            .map(|(_, tokens)| tokens)
            .sum::<f64>();
        if record
            .first_token()
            .is_some_and(|at| self.frame.contains(at))
        {
            let tokens = record.input_tokens.unwrap_or(record.planned_input_tokens);
            self.input_tokens += f64::from(tokens);
        }
        if record.outcome == Outcome::Completed
            && record.done.is_some_and(|at| self.frame.contains(at))
        {
            self.completions += 1;
        }
    }

    /// A request of the window.
    fn request(&mut self, record: &RequestRecord) {
        let summary = &mut self.summary;
        summary.scheduled += 1;
        summary.sent += u64::from(record.sent.is_some());
        *summary.outcomes.entry(record.outcome.kind()).or_default() += 1;
        if let Some(finish) = record.finish {
            *summary.finish.entry(finish).or_default() += 1;
        }
        if let Some(error) = &record.error
            && (summary.errors.contains_key(error) || summary.errors.len() < ERROR_TEXTS)
        {
            *summary.errors.entry(error.clone()).or_default() += 1;
        }
        self.goodness(record);
        self.tokens(record);
        self.latencies(record);
    }

    fn goodness(&mut self, record: &RequestRecord) {
        if record.outcome == Outcome::Cancelled {
            return;
        }
        let timeline = Timeline::new(record, self.frame.from_schedule);
        let mut good = record.outcome == Outcome::Completed;
        for (&clause, &limit) in &self.classes[record.class as usize].slo {
            let met = timeline.meets(clause, limit);
            let count = self
                .clauses
                .entry(clause)
                .or_insert(ClauseCount { met: 0, of: 0 });
            count.of += 1;
            count.met += u64::from(met);
            good &= met;
        }
        self.summary.good += u64::from(good);
    }

    fn tokens(&mut self, record: &RequestRecord) {
        let tokens = &mut self.summary.tokens;
        if let Some(input) = record.input_tokens {
            tokens.input_planned += u64::from(record.planned_input_tokens);
            tokens.input_observed += u64::from(input);
        }
        tokens.cached += u64::from(record.cached_tokens.unwrap_or(0));
        if let (Outcome::Completed, Some(output)) = (record.outcome, record.output_tokens) {
            tokens.output_planned += u64::from(record.planned_output_tokens);
            tokens.output_observed += u64::from(output);
            let source = tokens.output_source.get_or_insert(TokenSource::Usage);
            *source = (*source).max(record.output_source);
        }
    }

    fn latencies(&mut self, record: &RequestRecord) {
        let timeline = Timeline::new(record, self.frame.from_schedule);
        let failed = record.outcome.kind().is_error();
        for (metric, value) in [
            (Metric::Ttft, timeline.ttft()),
            (Metric::Ttfa, timeline.ttfa()),
            (Metric::Tpot, timeline.tpot()),
            (Metric::MaxStall, timeline.max_stall()),
            (Metric::E2e, timeline.e2e()),
        ] {
            let values = self.values.entry(metric).or_default();
            match value {
                Ok(value) => values.push(value),
                Err(_) if failed => values.fail(1),
                Err(_) => {}
            }
        }
        self.answered += u64::from(timeline.e2e().is_ok());
        // A failed request stands for the gaps that it was to have, where that is known.
        let class = &self.classes[record.class as usize];
        let lost = match class.output_length {
            OutputLength::Pinned => {
                u64::from(record.planned_output_tokens.saturating_sub(1).max(1))
            }
            OutputLength::Natural => {
                self.failed_unplanned += u64::from(failed);
                0
            }
        };
        let gaps = self.values.entry(Metric::Itl).or_default();
        for gap in timeline.token_gaps() {
            gaps.push_weighted(gap.gap_s, u64::from(gap.tokens));
        }
        if failed {
            gaps.fail(lost);
        }
        let gaps = self.values.entry(Metric::ChunkGap).or_default();
        for gap in timeline.chunk_gaps() {
            gaps.push(gap);
        }
        if failed {
            gaps.fail(lost);
        }
    }

    fn finish(mut self, wanted: &[Quantile]) -> ClassSummary {
        // Of a natural length, as many gaps as an answer has in the mean.
        for metric in [Metric::Itl, Metric::ChunkGap] {
            if let Some(gaps) = self.values.get_mut(&metric) {
                let mean = gaps.weight() / self.answered.max(1);
                gaps.fail(self.failed_unplanned * mean.max(1));
            }
        }
        let mut summary = self.summary;
        let window = self.frame.seconds();
        let per_second = |count: f64| if window > 0.0 { count / window } else { 0.0 };
        summary.rates = Rates {
            offered_rps: per_second(summary.scheduled as f64),
            sent_rps: per_second(summary.sent as f64),
            completed_rps: per_second(self.completions as f64),
            goodput_rps: per_second(summary.good as f64),
            output_tps: per_second(self.output_tokens),
            input_tps: per_second(self.input_tokens),
        };
        summary.attainment = (!self.clauses.is_empty()).then(|| Attainment {
            good: summary.good,
            of: summary.counted(),
            clauses: self.clauses,
        });
        summary.distributions = self
            .values
            .into_iter()
            .filter_map(|(metric, values)| Some((metric, values.finish(metric, wanted)?)))
            .collect();
        summary
    }
}
