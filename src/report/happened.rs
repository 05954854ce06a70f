//! What happened in a stage on purpose and what followed, in words.

use crate::lang::say;
use crate::summary::{Aftermath, Bursts, EventSummary, Recovery, StageSummary};
use crate::unit::scale::{self, Unit};

use super::outcomes;
use super::span::Text;

/// A line or two an event, then one for all bursts; empty where nothing happened.
pub(super) fn lines(stage: &StageSummary) -> Vec<Text> {
    let events = stage.events.iter().flat_map(event);
    events.chain(stage.bursts.as_ref().map(bursts)).collect()
}

fn seconds(s: f64) -> Text {
    Text::just(scale::value(Unit::Seconds, s))
}

fn event(event: &EventSummary) -> Vec<Text> {
    let own = [
        Text::value(&event.name),
        Text::value(&event.what),
        seconds(event.planned_s),
    ];
    let text = match event.began_s {
        Some(at) => Text::say(say::EVENT_DONE, own.into_iter().chain([seconds(at)])),
        None => Text::say(say::EVENT_NEVER, own),
    };
    if let Some(why) = event.outcome.trouble() {
        let failed = Text::say(say::EVENT_DID_FAIL, [text, Text::default().prose(why)]);
        return vec![if event.output.is_empty() {
            failed
        } else {
            Text::say(say::EVENT_SAID, [failed, Text::value(&event.output)])
        }];
    }
    match &event.aftermath {
        Some(after) => vec![
            Text::say(say::EVENT_FOLLOWED, [text, lost(after)]),
            course(after),
        ],
        None => vec![text],
    }
}

fn lost(after: &Aftermath) -> Text {
    if after.lost.is_empty() {
        return Text::word(say::NOTHING_LOST);
    }
    let kinds = after.lost.iter().map(|(kind, count)| {
        let of = [Text::just(scale::count(*count)), outcomes::ending(*kind)];
        Text::say(say::COUNTED, of)
    });
    let all = Text::just(scale::count(after.lost()));
    Text::say(say::LOST, [all, Text::list(kinds)])
}

fn course(after: &Aftermath) -> Text {
    let text = match &after.recovery {
        Recovery::Kept => Text::word(say::ATTAINMENT_KEPT),
        Recovery::After { s } => Text::say(say::ATTAINMENT_BACK, [seconds(*s)]),
        Recovery::Never { why } => Text::default().prose(why),
        Recovery::Absent { why } => Text::say(say::RECOVERY_UNKNOWN, [Text::default().prose(why)]),
    };
    let recovered = match after.attainment_before {
        Some(before) => Text::say(say::BEFORE_FIRST, [text, share(before)]),
        None => text,
    };
    let [before, meanwhile] = scale::row(
        Unit::RequestsPerSecond,
        [after.goodput_before_rps, after.goodput_while_rps],
    )
    .map(Text::just);
    let text = Text::say(
        say::GOODPUT_WHILE,
        [meanwhile, seconds(after.while_s), before],
    );
    let goodput = match after.remaining() {
        Some(left) => Text::say(say::REMAINED, [text, share(left)]),
        None => text,
    };
    let flight = Text::say(
        say::FLIGHT_AFTER,
        [
            Text::just(scale::mean(after.in_flight_before)),
            Text::just(scale::count(after.in_flight_most)),
        ],
    );
    let flight = match &after.drained {
        Recovery::Kept => Text::say(say::NO_BACKLOG, [flight]),
        Recovery::After { s } => Text::say(say::BACKLOG_GONE, [flight, seconds(*s)]),
        Recovery::Never { why } | Recovery::Absent { why } => {
            Text::say(say::BACKLOG_UNKNOWN, [flight, Text::default().prose(why)])
        }
    };
    Text::clauses([recovered, goodput, flight])
}

fn share(share: f64) -> Text {
    Text::just(scale::value(Unit::Proportion, share))
}

fn bursts(bursts: &Bursts) -> Text {
    let text = Text::say(
        say::BURSTS,
        [
            Text::just(scale::count(bursts.bursts)),
            Text::just(scale::mean(bursts.in_flight_before)),
            Text::just(scale::count(bursts.in_flight_most)),
            Text::just(scale::count(bursts.drained)),
        ],
    );
    match (bursts.drain_median_s, bursts.drain_max_s) {
        (Some(median), Some(longest)) => Text::say(
            say::BURSTS_DRAINED,
            [text, seconds(median), seconds(longest)],
        ),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::compare::synthetic;
    use crate::sample::{EventOutcome, OutcomeKind};

    fn killed() -> EventSummary {
        EventSummary {
            name: "kill".to_owned(),
            what: "kill replica 2 for 20s".to_owned(),
            planned_s: 60.0,
            began_s: Some(60.002),
            took_s: Some(0.004),
            outcome: EventOutcome::Done,
            output: String::new(),
            aftermath: Some(Aftermath {
                lost: BTreeMap::from([
                    (OutcomeKind::ConnectError, 71),
                    (OutcomeKind::StreamError, 4),
                ]),
                attainment_before: Some(0.995),
                recovery: Recovery::After { s: 21.3 },
                while_s: 20.0,
                goodput_before_rps: 8.0,
                goodput_while_rps: 3.9,
                in_flight_before: 3.2,
                in_flight_most: 12,
                drained: Recovery::Kept,
            }),
        }
    }

    fn said(stage: &StageSummary) -> Vec<String> {
        lines(stage).iter().map(Text::plain).collect()
    }

    #[test]
    fn an_event_says_what_was_lost_and_when_it_was_over() {
        let mut stage = synthetic::stage("failover");
        assert!(said(&stage).is_empty());
        let mut failed = killed();
        failed.outcome = EventOutcome::Failed {
            why: "it ended with exit status: 1".to_owned(),
        };
        failed.output = "no such container".to_owned();
        stage.events = vec![killed(), failed];
        stage.bursts = Some(Bursts {
            bursts: 3,
            drained: 2,
            in_flight_before: 2.0,
            in_flight_most: 40,
            drain_median_s: Some(1.25),
            drain_max_s: Some(1.5),
        });
        insta::assert_snapshot!(said(&stage).join("\n"));
    }
}
