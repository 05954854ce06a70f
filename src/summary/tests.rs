//! Stages summarised from records whose answers can be worked out by hand.

use super::*;
use crate::metric::{Metric, Quantile};
use crate::plan::Phase;
use crate::sample::{Outcome, OutcomeKind, RequestRecord, StageEnd, StageObservation, TokenSource};
use crate::spec::{
    Arrival, ArrivalProcess, Class, Extent, Length, OutputLength, RateProfile, Slo, SloClause,
    Stage, Warmup,
};
use crate::unit::{Nanos, Rps};

pub(super) fn class(slo: &[(SloClause, u64)]) -> Class {
    Class {
        slo: slo
            .iter()
            .map(|&(clause, ms)| (clause, Nanos::from_millis(ms)))
            .collect::<Slo>(),
        ..Class::new(
            "chat".parse().unwrap(),
            Length::Fixed(100),
            Length::Fixed(5),
        )
    }
}

pub(crate) fn stage() -> Stage {
    Stage {
        name: "steady".to_owned(),
        arrival: Arrival::Open {
            profile: RateProfile::Steady(Rps::try_new(1.0).unwrap()),
            process: ArrivalProcess::Constant,
        },
        extent: Extent::Duration(Nanos::from_secs(10)),
        warmup: Warmup {
            requests: 0,
            duration: Nanos::from_secs(10),
        },
        in_flight: 100,
        drain_timeout: Nanos::from_secs(1),
        stop_when: None,
        refine: None,
        soak: None,
        events: Vec::new(),
        labels: Vec::new(),
    }
}

pub(crate) fn observation() -> StageObservation {
    StageObservation {
        window_start: Nanos::from_secs(10),
        window_end: Nanos::from_secs(20),
        in_flight_mean: 1.0,
        in_flight_max: 2,
        cap_hits: 0,
        cpu_share: Some(0.1),
        loop_lag_p99: Some(Nanos::from_millis(1)),
        connections: Some(2),
        bytes: 1000,
        backlog: 0,
        end: StageEnd::Complete,
        pulses: Vec::new(),
        events: Vec::new(),
    }
}

/// Scheduled and sent at `at` ms, first token 100 ms later, five tokens 50 ms apart.
pub(super) fn request(index: u32, at: u64, outcome: Outcome) -> RequestRecord {
    let ok = outcome == Outcome::Completed;
    let events: Vec<Nanos> = (0..5)
        .map(|i| Nanos::from_millis(at + 100 + 50 * i))
        .filter(|_| ok)
        .collect();
    RequestRecord {
        stage: 0,
        index,
        class: 0,
        tenant: None,
        conversation: None,
        turn: None,
        phase: if at < 10_000 {
            Phase::Warmup
        } else {
            Phase::Measured
        },
        planned_input_tokens: 100,
        planned_output_tokens: 5,
        scheduled: Nanos::from_millis(at),
        sent: Some(Nanos::from_millis(at)),
        headers: None,
        first_answer: events.first().copied(),
        done: Some(Nanos::from_millis(at + 301)),
        events,
        event_tokens: Vec::new(),
        output_tokens: ok.then_some(5),
        output_source: TokenSource::Usage,
        input_tokens: ok.then_some(100),
        cached_tokens: None,
        finish: None,
        resent: 0,
        bytes: 100,
        outcome,
        error: (!ok).then(|| "boom".to_owned()),
        answer: None,
        heard: None,
    }
}

fn summarise(
    classes: &[Class],
    records: &[RequestRecord],
    observation: &StageObservation,
) -> StageSummary {
    let context = StageContext {
        stage: &stage(),
        classes,
        quantiles: &Quantile::STANDARD,
        token_mismatch: 0.05,
    };
    let Ok(summary) = summarise_stage(context, records, observation);
    summary
}

fn ten_good() -> Vec<RequestRecord> {
    (0..10)
        .map(|i| request(i, 10_000 + 1000 * u64::from(i), Outcome::Completed))
        .collect()
}

#[test]
fn a_calm_stage_has_the_numbers_that_it_was_given() {
    let classes = [class(&[(SloClause::Ttft, 100), (SloClause::Tpot, 40)])];
    let mut records = ten_good();
    // A warm-up request whose last three tokens fall into the window.
    records.push(request(0, 9_850, Outcome::Completed));
    let summary = summarise(&classes, &records, &observation());
    assert_eq!(summary.invalid, []);
    let pooled = &summary.pooled;
    assert_eq!(
        (pooled.scheduled, pooled.sent, pooled.errors()),
        (10, 10, 0)
    );
    assert_eq!(pooled.count(OutcomeKind::Completed), 10);
    let ttft = &pooled.distributions[&Metric::Ttft];
    assert_eq!(ttft.n, 10);
    assert!((ttft.quantiles[&Quantile::P99].value_s - 0.1).abs() < 1e-9);
    let tpot = &pooled.distributions[&Metric::Tpot];
    assert!((tpot.mean_s.unwrap() - 0.05).abs() < 1e-9);
    assert_eq!(pooled.distributions[&Metric::Itl].n, 40);
    let attainment = pooled.attainment.as_ref().unwrap();
    assert_eq!(
        attainment.clauses[&SloClause::Ttft],
        ClauseCount { met: 10, of: 10 }
    );
    assert_eq!(
        attainment.clauses[&SloClause::Tpot],
        ClauseCount { met: 0, of: 10 }
    );
    assert_eq!((attainment.good, attainment.of), (0, 10));
    assert!((pooled.rates.offered_rps - 1.0).abs() < 1e-9);
    // 10 requests × 5 tokens, plus 4 of the warm-up's: at 10.000, .050, .100 and .150 s.
    assert!(
        (pooled.rates.output_tps.unwrap() - 5.4).abs() < 1e-9,
        "{}",
        pooled.rates.output_tps.unwrap()
    );
    assert!((pooled.rates.completed_rps - 1.1).abs() < 1e-9);
    assert_eq!(summary.windows.len(), 10);
    assert_eq!(summary.windows[0].output_tokens, 9);
    assert_eq!(summary.windows[3].scheduled, 1);
    assert!(summary.classes.is_empty(), "one class is the pool");
}

#[test]
fn what_the_target_did_counts_and_does_not_invalidate() {
    let classes = [class(&[(SloClause::Ttft, 500)])];
    let mut records = ten_good();
    for (index, outcome) in [
        (1, Outcome::HttpError { status: 500 }),
        (2, Outcome::Rejected { status: 429 }),
        (3, Outcome::Unsent),
    ] {
        records[index] = request(index as u32, 10_000 + 1000 * index as u64, outcome);
    }
    records[3].sent = None;
    let capped = StageObservation {
        cap_hits: 1,
        ..observation()
    };
    let summary = summarise(&classes, &records, &capped);
    assert_eq!(summary.invalid, [], "the cap is the target's fault");
    assert_eq!(summary.pooled.errors(), 3);
    assert_eq!(summary.pooled.good, 7);
    assert_eq!(summary.pooled.distributions[&Metric::Ttft].failed, 3);
    assert_eq!(summary.pooled.errors["boom"], 3);
    let summary = summarise(&classes, &records, &observation());
    assert!(
        matches!(summary.invalid[..], [InvalidReason::SentShort { .. }]),
        "unsent below the cap is the client's fault"
    );
}

#[test]
fn a_late_or_busy_client_invalidates() {
    let classes = [class(&[(SloClause::Ttft, 500)])];
    let mut records = ten_good();
    for record in &mut records {
        record.sent = Some(record.scheduled + Nanos::from_millis(30));
    }
    let busy = StageObservation {
        cpu_share: Some(0.95),
        ..observation()
    };
    let summary = summarise(&classes, &records, &busy);
    assert!(matches!(
        summary.invalid[..],
        [InvalidReason::Late { .. }, InvalidReason::ClientCpu { .. }]
    ));
}

#[test]
fn tokens_off_the_plan_invalidate_unless_they_are_only_events() {
    let classes = [class(&[])];
    let mut records = ten_good();
    for record in &mut records {
        record.output_tokens = Some(4);
    }
    let summary = summarise(&classes, &records, &observation());
    assert!(matches!(
        summary.invalid[..],
        [InvalidReason::TokensOffPlan { .. }]
    ));
    for record in &mut records {
        record.output_source = TokenSource::Events;
    }
    assert_eq!(summarise(&classes, &records, &observation()).invalid, []);
}

#[test]
fn an_empty_window_is_never_valid() {
    let summary = summarise(&[class(&[])], &[], &observation());
    assert_eq!(summary.invalid, [InvalidReason::NoRequests]);
    let interrupted = StageObservation {
        end: StageEnd::Interrupted,
        ..observation()
    };
    assert_eq!(
        summarise(&[class(&[])], &[], &interrupted).invalid,
        [InvalidReason::Interrupted]
    );
}

#[test]
fn classes_are_summarised_apart_and_together() {
    let mut slow = class(&[(SloClause::Ttft, 50)]);
    slow.name = "slow".parse().unwrap();
    let classes = [class(&[(SloClause::Ttft, 100)]), slow];
    let mut records = ten_good();
    for record in &mut records[..4] {
        record.class = 1;
    }
    let summary = summarise(&classes, &records, &observation());
    assert_eq!(summary.classes["chat"].good, 6);
    assert_eq!(summary.classes["slow"].good, 0);
    let attainment = summary.pooled.attainment.unwrap();
    assert_eq!(
        attainment.clauses[&SloClause::Ttft],
        ClauseCount { met: 6, of: 10 }
    );
}

#[test]
fn natural_lengths_are_held_against_no_plan() {
    let (pinned, natural) = (class(&[]), free());
    let mut records = ten_good();
    for record in &mut records {
        record.planned_output_tokens = 1024;
    }
    records.push(request(10, 19_500, Outcome::StreamError));
    records[10].planned_output_tokens = 1024;
    let off = |reasons: &[InvalidReason]| {
        reasons
            .iter()
            .any(|reason| matches!(reason, InvalidReason::TokensOffPlan { .. }))
    };
    let summary = summarise(std::slice::from_ref(&natural), &records, &observation());
    assert!(!off(&summary.invalid), "{:?}", summary.invalid);
    // Four gaps an answer, and so many for the one that failed.
    let gaps = &summary.pooled.distributions[&Metric::Itl];
    assert_eq!((gaps.n, gaps.failed), (40, 4));
    let summary = summarise(std::slice::from_ref(&pinned), &records, &observation());
    assert!(off(&summary.invalid));
    assert_eq!(summary.pooled.distributions[&Metric::Itl].failed, 1023);

    // Beside a pinned class, that one's tokens still count.
    for record in &mut records[..5] {
        record.class = 1;
    }
    let both = [pinned, natural];
    assert!(off(&summarise(&both, &records, &observation()).invalid));
    for record in &mut records[5..] {
        record.planned_output_tokens = 5;
    }
    assert!(!off(&summarise(&both, &records, &observation()).invalid));
}

pub(super) fn free() -> Class {
    Class {
        name: "free".parse().unwrap(),
        output_length: OutputLength::Natural,
        ..class(&[])
    }
}

#[test]
fn a_soak_is_kept_in_minutes() {
    let soak = Stage {
        soak: Some(crate::spec::Soak::USUAL),
        ..stage()
    };
    let classes = [class(&[])];
    let context = StageContext {
        stage: &soak,
        classes: &classes,
        quantiles: &Quantile::STANDARD,
        token_mismatch: 0.05,
    };
    let observation = StageObservation {
        window_end: Nanos::from_secs(10 + 150),
        ..observation()
    };
    let mut records: Vec<RequestRecord> = (0..15)
        .map(|i| request(i, 10_000 + 10_000 * u64::from(i), Outcome::Completed))
        .collect();
    records[7].sent = Some(records[7].scheduled + Nanos::from_millis(30));
    (records[14].sent, records[14].outcome) = (None, Outcome::Unsent);
    let Ok(summary) = summarise_stage(context, &records[..], &observation);
    let minutes: Vec<(f64, u64)> = summary
        .windows
        .iter()
        .map(|window| (window.start_s, window.scheduled))
        .collect();
    assert_eq!(minutes, [(0.0, 6), (60.0, 6), (120.0, 3)]);
    let client: Vec<(f64, u64)> = summary
        .windows
        .iter()
        .map(|window| (window.lateness_max_s, window.unsent))
        .collect();
    assert_eq!(client, [(0.0, 0), (0.03, 0), (0.0, 1)]);
}

#[test]
fn a_changing_rate_is_no_sign_of_overload_or_of_a_short_warmup() {
    let steady = stage();
    let mut ramp = stage();
    ramp.arrival = Arrival::Open {
        profile: RateProfile::Ramp {
            from: Rps::try_new(1.0).unwrap(),
            to: Rps::try_new(20.0).unwrap(),
            steps: None,
        },
        process: ArrivalProcess::Constant,
    };
    let records: Vec<RequestRecord> = (0..100)
        .map(|i| request(i, 10_000 + 100 * u64::from(i), Outcome::Completed))
        .collect();
    let classes = [class(&[])];
    let judged = |stage: &Stage| {
        let context = StageContext {
            stage,
            classes: &classes,
            quantiles: &Quantile::STANDARD,
            token_mismatch: 0.05,
        };
        let Ok(summary) = summarise_stage(context, &records[..], &observation());
        (summary.settling.is_some(), summary.load_state.is_some())
    };
    assert_eq!(judged(&steady), (true, true));
    assert_eq!(judged(&ramp), (false, false));
}
