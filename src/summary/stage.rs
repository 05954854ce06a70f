//! Records of one stage to its summary, with what makes it invalid.

use super::aftermath::{self, Gathered};
use super::class::{Frame, Tally};
use super::health::ClientHealth;
use super::invalid::InvalidReason;
use super::load_state::Backlog;
use super::model::StageSummary;
use super::records::Records;
use super::settling::Settlings;
use super::tenants::TenantTally;
use super::windows::Windows;
use crate::metric::Quantile;
use crate::plan::Phase;
use crate::quality::AnswerSample;
use crate::sample::{OutcomeKind, RequestRecord, StageEnd, StageObservation};
use crate::spec::{Arrival, Class, OutputLength, SloClause, Stage};
use crate::stats::select::Selection;
use crate::unit::Nanos;

/// What a stage is summarised by, beside its records.
#[derive(Debug, Clone, Copy)]
pub struct StageContext<'a> {
    /// The stage.
    pub stage: &'a Stage,
    /// The workload's classes, as records number them.
    pub classes: &'a [Class],
    /// Quantiles to store.
    pub quantiles: &'a [Quantile],
    /// Largest difference of tokens between plan and observation, as a fraction.
    pub token_mismatch: f64,
}

/// Counters of the first pass, in all: 8 MiB where every selection meets eight powers of two.
const COUNTERS: u64 = 1 << 20;
/// Parts that later passes cut what is wanted into, in all: some 30 MiB.
const PARTS: usize = 1 << 19;

/// Summarises a stage, going through its records two to four times. They are all of the stage,
/// warm-up included, in any order: the summary does not depend on it.
///
/// # Errors
///
/// Those of the records.
pub fn summarise_stage<R: Records + ?Sized>(
    context: StageContext<'_>,
    records: &R,
    observation: &StageObservation,
) -> Result<StageSummary, R::Error> {
    let mut survey = Survey::new(context, observation);
    records.each(&mut |record| survey.see(record))?;
    survey.want();
    let mut is_second = true;
    while survey.start_pass() || is_second {
        records.each(&mut |record| survey.look(record, is_second))?;
        survey.selections().for_each(Selection::end_pass);
        if is_second {
            survey.tenants.want();
        }
        is_second = false;
    }
    Ok(survey.finish(observation))
}

/// All that is gathered from a stage's records.
struct Survey<'a> {
    context: StageContext<'a>,
    frame: Frame,
    pooled: Tally<'a>,
    /// Each class; none where there is only one.
    classes: Vec<Tally<'a>>,
    tenants: TenantTally<'a>,
    lateness: Selection,
    latest: f64,
    resent: u64,
    settlings: Settlings,
    backlog: Backlog,
    windows: Windows,
    gathered: Option<Gathered<'a>>,
}

impl<'a> Survey<'a> {
    fn new(context: StageContext<'a>, observation: &StageObservation) -> Self {
        let StageContext { stage, classes, .. } = context;
        let frame = Frame {
            start: observation.window_start,
            end: observation.window_end,
            from_schedule: stage.arrival.is_open(),
        };
        let apart = if classes.len() > 1 { classes.len() } else { 0 };
        let selections = (apart as u64 + 1) * Tally::SELECTIONS
            + Windows::count(frame, stage.soak) * (1 + u64::from(stage.soak.is_some()));
        let fineness = (COUNTERS / (8 * selections)).max(1).ilog2().clamp(4, 11);
        let tally = || Tally::new(classes, frame, fineness);
        Self {
            context,
            frame,
            pooled: tally(),
            classes: std::iter::repeat_with(tally).take(apart).collect(),
            tenants: TenantTally::new(classes, frame),
            lateness: Selection::new(fineness),
            latest: 0.0,
            resent: 0,
            settlings: Settlings::new(frame),
            backlog: Backlog::new(frame),
            windows: Windows::new(frame, stage.soak, fineness),
            gathered: Gathered::new(stage, classes, frame, &observation.events),
        }
    }

    /// A record in the first pass.
    fn see(&mut self, record: &RequestRecord) {
        self.pooled.see(record);
        if let Some(class) = self.classes.get_mut(record.class as usize) {
            class.see(record);
        }
        self.tenants.see(record);
        if let Some(late) = lateness(record) {
            self.lateness.add(late, 1);
            self.latest = self.latest.max(late);
        }
        self.resent += u64::from(record.phase == Phase::Measured && record.resent > 0);
        self.settlings.see(record);
        self.backlog.see(record);
        self.windows.see(record);
        if let Some(gathered) = &mut self.gathered {
            gathered.see(record);
        }
    }

    /// Ends the first pass.
    fn want(&mut self) {
        let wanted = self.context.quantiles;
        self.pooled.want(wanted);
        self.classes.iter_mut().for_each(|class| class.want(wanted));
        self.tenants.choose();
        self.lateness.want([(0.5, 0), (0.99, 0)]);
        self.backlog.want();
        self.windows.want();
    }

    fn selections(&mut self) -> impl Iterator<Item = &mut Selection> {
        let classes = self.classes.iter_mut().flat_map(Tally::selections);
        self.pooled
            .selections()
            .chain(classes)
            .chain(self.tenants.selections())
            .chain([&mut self.lateness])
            .chain(self.windows.selections())
    }

    /// Starts another pass; false where every quantile is known.
    fn start_pass(&mut self) -> bool {
        let open: usize = self.selections().map(|selection| selection.open()).sum();
        let fineness = (PARTS / open.max(1)).max(1).ilog2().clamp(4, 16);
        self.selections()
            .for_each(|selection| selection.start_pass(fineness));
        open > 0
    }

    /// The same record in a later pass.
    fn look(&mut self, record: &RequestRecord, is_second: bool) {
        self.pooled.look(record, is_second);
        if let Some(class) = self.classes.get_mut(record.class as usize) {
            class.look(record, is_second);
        }
        self.tenants.look(record);
        if let Some(late) = lateness(record) {
            self.lateness.add(late, 1);
        }
        if is_second {
            self.backlog.look(record);
        }
        self.windows.look(record);
    }

    /// After the last pass.
    fn finish(self, observation: &StageObservation) -> StageSummary {
        let StageContext {
            stage,
            classes,
            quantiles,
            ..
        } = self.context;
        // Under a rate that changes, latency and backlog change with it: that shows neither.
        let steady = stage.arrival.is_steady() && stage.events.is_empty();
        let from_schedule = self.frame.from_schedule;
        let (found, bursts) = self.gathered.map(Gathered::finish).unwrap_or_default();
        let lateness = |q| self.lateness.quantile(q, 0).unwrap_or(0.0);
        let mut summary = StageSummary {
            name: stage.name.clone(),
            from_schedule,
            users: match stage.arrival {
                Arrival::Closed { users, .. } => Some(users),
                Arrival::Open { .. } | Arrival::Trace(_) => None,
            },
            rate_rps: stage.mean_rate(),
            window_s: self.frame.seconds(),
            refined: false,
            invalid: Vec::new(),
            settling: steady.then(|| self.settlings.finish()).flatten(),
            load_state: (from_schedule && steady)
                .then(|| self.backlog.finish())
                .flatten(),
            stopped: match observation.end {
                StageEnd::Stopped(reason) => Some(reason),
                _ => None,
            },
            engine_queue: None,
            prefix_cache: None,
            engine: None,
            gpus: None,
            health: Some(ClientHealth {
                lateness_p50_s: lateness(0.5),
                lateness_p99_s: lateness(0.99),
                lateness_max_s: self.latest,
                cpu_share: observation.cpu_share,
                loop_lag_p99_s: observation.loop_lag_p99.map(Nanos::as_secs_f64),
                in_flight_mean: observation.in_flight_mean,
                in_flight_max: observation.in_flight_max,
                cap_hits: observation.cap_hits,
                resent: self.resent,
                connections: observation.connections,
                bytes: observation.bytes,
                backlog: observation.backlog,
            }),
            pooled: self.pooled.finish(quantiles),
            classes: classes
                .iter()
                .zip(self.classes)
                .map(|(class, tally)| (class.name.to_string(), tally.finish(quantiles)))
                .collect(),
            events: aftermath::events(&observation.events, self.frame, found),
            bursts,
            soak: None,
            tenants: self.tenants.finish(),
            windows: self.windows.finish(&observation.pulses),
        };
        // Each class has its own, and their histograms merge.
        if !summary.classes.is_empty() {
            if let Some(quality) = &mut summary.pooled.quality {
                quality.sample = AnswerSample::default();
            }
            for distribution in summary.pooled.distributions.values_mut() {
                distribution.hdr = None;
            }
        }
        summary.invalid = invalid(self.context, &summary, observation);
        summary
    }
}

/// How late a measured request left, in seconds.
pub(super) fn lateness(record: &RequestRecord) -> Option<f64> {
    let sent = record.sent.filter(|_| record.phase == Phase::Measured)?;
    Some(sent.since(record.scheduled).as_secs_f64())
}

/// What the client or the harness did wrong (metrics' validity rules): lateness p99 over
/// max(5 ms, 5 % of the tightest TTFT SLO); under 99 % sent while in flight was below its cap;
/// client CPU over 90 %; tokens off the plan.
fn invalid(
    context: StageContext<'_>,
    summary: &StageSummary,
    observation: &StageObservation,
) -> Vec<InvalidReason> {
    let mut reasons = Vec::new();
    if observation.end == StageEnd::Interrupted {
        reasons.push(InvalidReason::Interrupted);
    }
    reasons.extend(observation.events.iter().filter_map(|event| {
        Some(InvalidReason::Event {
            name: event.name.clone(),
            why: event.outcome.trouble()?.to_owned(),
        })
    }));
    let pooled = &summary.pooled;
    if pooled.scheduled == 0 {
        if reasons.is_empty() && observation.end == StageEnd::Complete {
            reasons.push(InvalidReason::NoRequests);
        }
        return reasons;
    }
    let tightest = context
        .classes
        .iter()
        .filter_map(|class| class.slo.get(&SloClause::Ttft))
        .min()
        .map_or(0.0, |slo| slo.as_secs_f64());
    let limit_s = (tightest * 0.05).max(0.005);
    let late = summary.health.as_ref().map(|health| health.lateness_p99_s);
    if let Some(p99_s) = late
        && summary.from_schedule
        && p99_s > limit_s
    {
        reasons.push(InvalidReason::Late { p99_s, limit_s });
    }
    // At the cap the target was too slow, which is a result and no fault of the client.
    let unsent = pooled.count(OutcomeKind::Unsent);
    let own_fault = unsent.saturating_sub(u64::from(observation.cap_hits));
    let ratio = 1.0 - own_fault as f64 / pooled.scheduled as f64;
    if ratio < 0.99 && observation.end == StageEnd::Complete {
        reasons.push(InvalidReason::SentShort { ratio });
    }
    if let Some(share) = observation.cpu_share
        && share > 0.9
    {
        reasons.push(InvalidReason::ClientCpu { share });
    }
    let off = |observed: u64, planned: u64| {
        if planned == 0 {
            0.0
        } else {
            observed as f64 / planned as f64 - 1.0
        }
    };
    let tokens = &pooled.tokens;
    let input = off(tokens.input_observed, tokens.input_planned);
    let (observed, planned) = pinned_output(context, summary);
    let output = off(observed, planned);
    // Counted events are only a lower bound of the tokens, so nothing can be concluded from them.
    let counted = tokens.output_source == Some(crate::sample::TokenSource::Usage);
    let limit = context.token_mismatch;
    // Words have one token or several, so the input of few requests strays by chance.
    let chance = 2.0 / (tokens.input_planned as f64).sqrt();
    if input.abs() > limit + chance || (counted && output.abs() > limit) {
        reasons.push(InvalidReason::TokensOffPlan {
            input,
            output,
            limit,
        });
    }
    reasons
}

/// Output tokens, observed and planned, of the classes that pin them.
fn pinned_output(context: StageContext<'_>, summary: &StageSummary) -> (u64, u64) {
    let pinned = |class: &&Class| class.output_length == OutputLength::Pinned;
    context
        .classes
        .iter()
        .filter(pinned)
        // A single class is not kept apart.
        .map(|class| {
            summary
                .classes
                .get(class.name.as_str())
                .unwrap_or(&summary.pooled)
        })
        .fold((0, 0), |(observed, planned), class| {
            (
                observed + class.tokens.output_observed,
                planned + class.tokens.output_planned,
            )
        })
}
