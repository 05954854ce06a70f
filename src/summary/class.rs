//! Records of one class, or of all, to their summary.

use std::collections::BTreeMap;

use super::distribution::Values;
use super::model::{Attainment, ClassSummary, ClauseCount};
use super::totals::{Rates, TokenTotals};
use crate::metric::{Metric, Quantile};
use crate::plan::Phase;
use crate::quality::CheckKind;
use crate::sample::{Outcome, RequestRecord, Timeline, TokenSource};
use crate::spec::{Class, OutputLength, SloClause};
use crate::stats::select::Selection;
use crate::stats::sum::ExactSum;
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
/// Where only the total is known, each event stands for its share of it; a whole answer's tokens
/// come with its end.
pub(super) fn tokens_at(record: &RequestRecord) -> impl Iterator<Item = (Nanos, f64)> + '_ {
    let total = f64::from(record.output_tokens.unwrap_or(record.events.len() as u32));
    let share = total / record.events.len().max(1) as f64;
    let counted = record.event_tokens.len() == record.events.len();
    let whole = record.done.filter(|_| record.events.is_empty());
    let events = record.events.iter().enumerate().map(move |(index, &at)| {
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
    });
    events.chain(whole.map(|at| (at, total)))
}

/// One class of a stage, or all, as its records come: in a first pass, and again in later ones for the
/// quantiles.
///
/// Warm-up included: requests count by their phase, tokens and completions by whether their instant lies
/// in the window.
pub(super) struct Tally<'a> {
    classes: &'a [Class],
    frame: Frame,
    /// How finely the first pass tells values apart.
    fineness: u32,
    summary: ClassSummary,
    clauses: BTreeMap<SloClause, ClauseCount>,
    values: BTreeMap<Metric, Values>,
    errors: FirstErrors,
    output_tokens: ExactSum,
    input_tokens: u64,
    completions: u64,
    /// Requests in the latency samples.
    answered: u64,
    /// Failed requests of which no length was planned.
    failed_unplanned: u64,
}

/// The error texts that came first by schedule: found in the first pass, counted in the second.
#[derive(Debug, Default)]
struct FirstErrors {
    /// When each was first met, by `scheduled` and number, and how often.
    texts: BTreeMap<String, ((Nanos, u32), u64)>,
}

impl FirstErrors {
    fn see(&mut self, record: &RequestRecord) {
        let Some(text) = &record.error else { return };
        let met = (record.scheduled, record.index);
        if let Some((first, _)) = self.texts.get_mut(text) {
            *first = (*first).min(met);
            return;
        }
        let last = self.texts.iter().max_by_key(|(_, (first, _))| *first);
        let last = last.map(|(text, (first, _))| (text.clone(), *first));
        match last {
            Some((_, first)) if self.texts.len() >= ERROR_TEXTS && first < met => return,
            Some((last, _)) if self.texts.len() >= ERROR_TEXTS => {
                self.texts.remove(&last);
            }
            _ => {}
        }
        self.texts.insert(text.clone(), (met, 0));
    }

    fn count(&mut self, record: &RequestRecord) {
        if let Some(text) = &record.error
            && let Some((_, count)) = self.texts.get_mut(text)
        {
            *count += 1;
        }
    }

    fn finish(self) -> BTreeMap<String, u64> {
        let counts = self.texts.into_iter();
        counts.map(|(text, (_, count))| (text, count)).collect()
    }
}

/// Whether a request completed within every clause of its class's SLO.
pub(super) fn is_good(record: &RequestRecord, classes: &[Class], from_schedule: bool) -> bool {
    let timeline = Timeline::new(record, from_schedule);
    let slo = &classes[record.class as usize].slo;
    record.outcome == Outcome::Completed
        && slo
            .iter()
            .all(|(&clause, &limit)| timeline.meets(clause, limit))
}

impl<'a> Tally<'a> {
    /// Metrics of which it has quantiles.
    pub(super) const SELECTIONS: u64 = 7;

    pub(super) fn new(classes: &'a [Class], frame: Frame, fineness: u32) -> Self {
        Self {
            classes,
            frame,
            fineness,
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
                    output_tps: None,
                    input_tps: None,
                },
                distributions: BTreeMap::new(),
                untold: BTreeMap::new(),
                quality: None,
                errors: BTreeMap::new(),
            },
            clauses: BTreeMap::new(),
            values: BTreeMap::new(),
            errors: FirstErrors::default(),
            output_tokens: ExactSum::default(),
            input_tokens: 0,
            completions: 0,
            answered: 0,
            failed_unplanned: 0,
        }
    }

    /// A record in the first pass.
    pub(super) fn see(&mut self, record: &RequestRecord) {
        self.flow(record);
        if record.phase == Phase::Measured {
            self.request(record);
        }
    }

    /// The same record in a later pass, which is the second or not.
    pub(super) fn look(&mut self, record: &RequestRecord, is_second: bool) {
        if record.phase == Phase::Measured {
            self.latencies(record);
            if is_second {
                self.errors.count(record);
            }
        }
    }

    /// Ends the first pass.
    pub(super) fn want(&mut self, wanted: &[Quantile]) {
        // Of a natural length, as many gaps as an answer has in the mean.
        for metric in [Metric::Itl, Metric::ChunkGap] {
            if let Some(gaps) = self.values.get_mut(&metric) {
                let mean = gaps.weight() / self.answered.max(1);
                gaps.fail(self.failed_unplanned * mean.max(1));
            }
        }
        self.values
            .values_mut()
            .for_each(|values| values.want(wanted));
    }

    /// What the later passes are for.
    pub(super) fn selections(&mut self) -> impl Iterator<Item = &mut Selection> {
        self.values.values_mut().map(Values::selection)
    }

    /// What passed through the window, whoever it belongs to.
    fn flow(&mut self, record: &RequestRecord) {
        for (at, tokens) in tokens_at(record) {
            if self.frame.contains(at) {
                self.output_tokens.add(tokens, 1);
            }
        }
        // A whole answer that says how long it is has been read from its first token to its last.
        let whole = record.done.filter(|_| record.output_tokens.is_some());
        let first = record.first_token().or(whole);
        if first.is_some_and(|at| self.frame.contains(at)) {
            let tokens = record.input_tokens.unwrap_or(record.planned_input_tokens);
            self.input_tokens += u64::from(tokens);
        }
        if record.outcome.ended_well() && record.done.is_some_and(|at| self.frame.contains(at)) {
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
        self.errors.see(record);
        self.goodness(record);
        self.tokens(record);
        self.answer(record);
        self.latencies(record);
        let timeline = Timeline::new(record, self.frame.from_schedule);
        self.answered += u64::from(timeline.e2e().is_ok());
        let class = &self.classes[record.class as usize];
        self.failed_unplanned += u64::from(
            record.outcome.kind().is_error() && class.output_length == OutputLength::Natural,
        );
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
            // What no plan said can't be off it.
            let planned = if self.classes[record.class as usize].plans_input() {
                record.planned_input_tokens
            } else {
                input
            };
            tokens.input_planned += u64::from(planned);
            tokens.input_observed += u64::from(input);
        }
        tokens.cached += u64::from(record.cached_tokens.unwrap_or(0));
        if let (true, Some(output)) = (record.outcome.ended_well(), record.output_tokens) {
            tokens.output_planned += u64::from(record.planned_output_tokens);
            tokens.output_observed += u64::from(output);
            let source = tokens.output_source.get_or_insert(TokenSource::Usage);
            *source = (*source).max(record.output_source);
        }
    }

    /// What the answer is worth, where there is one and its class asks.
    fn answer(&mut self, record: &RequestRecord) {
        let class = &self.classes[record.class as usize];
        if let (Some(asked), Some(answer)) = (&class.quality, &record.answer) {
            let mut kinds: Vec<CheckKind> = asked.kinds().collect();
            kinds.sort_unstable();
            kinds.dedup();
            let quality = self.summary.quality.get_or_insert_default();
            quality.take(record.index, &kinds, answer.entry());
        }
    }

    /// The values of a request, in every pass.
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
            match value {
                Ok(value) => self.of(metric).push(value),
                Err(_) if failed => self.of(metric).fail(1),
                Err(_) => {}
            }
        }
        // A failed request stands for the gaps that it was to have, where that is known.
        let class = &self.classes[record.class as usize];
        let lost = match class.output_length {
            OutputLength::Pinned if failed => {
                u64::from(record.planned_output_tokens.saturating_sub(1).max(1))
            }
            OutputLength::Pinned | OutputLength::Natural => 0,
        };
        let gaps = self.of(Metric::Itl);
        gaps.fail(lost);
        for gap in timeline.token_gaps() {
            gaps.push_weighted(gap.gap_s, u64::from(gap.tokens));
        }
        let gaps = self.of(Metric::ChunkGap);
        gaps.fail(lost);
        for gap in timeline.chunk_gaps() {
            gaps.push(gap);
        }
    }

    fn of(&mut self, metric: Metric) -> &mut Values {
        let values = self.values.entry(metric);
        values.or_insert_with(|| Values::new(metric, self.fineness))
    }

    /// After the last pass.
    pub(super) fn finish(self, wanted: &[Quantile]) -> ClassSummary {
        let mut summary = self.summary;
        let window = self.frame.seconds();
        let per_second = |count: f64| if window > 0.0 { count / window } else { 0.0 };
        summary.rates = Rates {
            offered_rps: per_second(summary.scheduled as f64),
            sent_rps: per_second(summary.sent as f64),
            completed_rps: per_second(self.completions as f64),
            goodput_rps: per_second(summary.good as f64),
            output_tps: Some(per_second(self.output_tokens.value())),
            input_tps: Some(per_second(self.input_tokens as f64)),
        };
        summary.attainment = (!self.clauses.is_empty()).then(|| Attainment {
            good: summary.good,
            of: summary.counted(),
            clauses: self.clauses,
        });
        summary.errors = self.errors.finish();
        summary.distributions = self
            .values
            .into_iter()
            .filter_map(|(metric, values)| Some((metric, values.finish(wanted)?)))
            .collect();
        summary
    }
}
