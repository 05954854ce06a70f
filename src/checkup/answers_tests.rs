use super::super::finding::tests::shown;
use super::*;
use crate::compare::synthetic;
use crate::metric::Metric;
use crate::plan::{CalibrationSource, PromptCalibration};
use crate::sample::record::tests::record;
use crate::sample::{FinishReason, TokenSource};
use crate::unit::Nanos;

/// An answer of 8 tokens in 8 events, of 8 that were asked for.
fn answer(index: u32) -> RequestRecord {
    RequestRecord {
        index,
        planned_input_tokens: 100,
        input_tokens: Some(101),
        planned_output_tokens: 8,
        output_tokens: Some(8),
        events: (1..=8).map(|i| Nanos::from_millis(100 * i)).collect(),
        finish: Some(FinishReason::Length),
        ..record(Outcome::Completed)
    }
}

fn trial(change: impl Fn(&mut RequestRecord)) -> Trial {
    let records = (0..4).map(|index| {
        let mut record = answer(index);
        if index == 0 {
            record.phase = Phase::Warmup;
        }
        change(&mut record);
        record
    });
    let mut stage = synthetic::stage("trial");
    stage.health.as_mut().unwrap().connections = Some(1);
    Trial {
        records: records.collect(),
        servers: 1,
        stage,
        calibration: PromptCalibration {
            source: CalibrationSource::Usage,
            ..PromptCalibration::ASSUMED
        },
        pinned: true,
        streamed: true,
        lost: None,
    }
}

/// What is not as it should be.
fn wrong(trial: &Trial) -> String {
    let found = answers(trial, 0.05);
    let wrong: Vec<Finding> = found
        .into_iter()
        .filter(|finding| finding.level != super::super::finding::Level::Ok)
        .collect();
    shown(&wrong)
}

#[test]
fn good_answers_are_told_in_a_line_each() {
    insta::assert_snapshot!(shown(&answers(&trial(|_| {}), 0.05)));
}

#[test]
fn each_fault_is_named_with_what_to_do() {
    let mut said = Vec::new();
    let mut say = |what: &str, trial: &Trial| said.push(format!("# {what}\n{}", wrong(trial)));
    say("one event each", &trial(|record| record.events.truncate(1)));
    let mut held = trial(|_| {});
    for (metric, mean_s) in [(Metric::Ttft, 1.999), (Metric::Tpot, 0.0001)] {
        let distributions = &mut held.stage.pooled.distributions;
        distributions.get_mut(&metric).unwrap().mean_s = Some(mean_s);
    }
    say("held back", &held);
    say(
        "no usage",
        &trial(|record| {
            record.output_source = TokenSource::Events;
            record.input_tokens = None;
        }),
    );
    say(
        "two tokens an event",
        &trial(|record| record.events.truncate(4)),
    );
    say(
        "more events than tokens",
        &trial(|record| record.output_tokens = Some(6)),
    );
    let mut natural = trial(|record| record.output_tokens = Some(3));
    natural.pinned = false;
    natural
        .records
        .iter_mut()
        .for_each(|record| record.events.truncate(3));
    say("natural and short is fine", &natural);
    say(
        "longer than asked",
        &trial(|record| {
            record.output_tokens = Some(9);
            record.events.push(Nanos::from_millis(900));
        }),
    );
    say(
        "ended early",
        &trial(|record| {
            record.output_tokens = Some(3);
            record.events.truncate(3);
            record.finish = Some(FinishReason::Stop);
        }),
    );
    say(
        "longer prompts",
        &trial(|record| record.input_tokens = Some(150)),
    );
    let mut closed = trial(|_| {});
    closed.stage.health.as_mut().unwrap().connections = Some(4);
    say("connections closed", &closed);
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn an_event_that_tells_its_tokens_is_as_good_as_several() {
    let counted = trial(|record| {
        record.events.truncate(4);
        record.event_tokens = vec![2, 4, 6, 8];
    });
    assert_eq!(wrong(&counted), "");
}

#[test]
fn requests_that_fail_are_counted_with_what_to_do_about_each_kind() {
    let outcomes = [
        Outcome::HttpError { status: 401 },
        Outcome::HttpError { status: 404 },
        Outcome::HttpError { status: 400 },
        Outcome::HttpError { status: 500 },
        Outcome::Rejected { status: 503 },
        Outcome::ConnectError,
        Outcome::StreamError,
        Outcome::Empty,
    ];
    let said = outcomes.map(|outcome| {
        let failed = trial(|record| {
            if record.index > 1 {
                record.outcome = outcome;
                record.error = Some("its words".to_owned());
            }
        });
        let found = answers(&failed, 0.05);
        assert!(found[0].is_trouble());
        shown(&found[..1])
    });
    insta::assert_snapshot!(said.join("\n"));
    let mut lost = trial(|_| {});
    lost.lost = Some("connection refused".to_owned());
    assert!(wrong(&lost).starts_with("TROUBLE requests: the target was lost"));
}

#[test]
fn where_nothing_was_answered_nothing_else_is_said() {
    let failed = trial(|record| record.outcome = Outcome::ConnectError);
    assert_eq!(answers(&failed, 0.05).len(), 1);
}
