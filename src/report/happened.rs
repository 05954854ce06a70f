//! What happened in a stage on purpose and what followed, in words.

use crate::summary::{Aftermath, Bursts, EventSummary, Recovery, StageSummary};
use crate::unit::scale::{self, Unit};

use super::span::Text;

/// A line or two an event, then one for all bursts; empty where nothing happened.
pub(super) fn lines(stage: &StageSummary) -> Vec<Text> {
    let events = stage.events.iter().flat_map(event);
    events.chain(stage.bursts.as_ref().map(bursts)).collect()
}

fn seconds(s: f64) -> String {
    scale::value(Unit::Seconds, s)
}

fn event(event: &EventSummary) -> Vec<Text> {
    let mut text = Text::value(&event.name)
        .words(" (")
        .quoted(&event.what)
        .words("), planned at ")
        .figure(seconds(event.planned_s));
    match event.began_s {
        Some(at) => text = text.words(", done at ").figure(seconds(at)),
        None => text = text.words(", never begun"),
    }
    if let Some(why) = event.outcome.trouble() {
        text = text.words(": failed, ").prose(why);
        if !event.output.is_empty() {
            text = text.words("; it said ").quoted(&event.output);
        }
        return vec![text];
    }
    match &event.aftermath {
        Some(after) => vec![text.words(": ").then(lost(after)), course(after)],
        None => vec![text],
    }
}

fn lost(after: &Aftermath) -> Text {
    if after.lost.is_empty() {
        return Text::of("no request was lost");
    }
    let kinds = after.lost.iter().map(|(kind, count)| {
        Text::just(scale::count(*count))
            .words(" ")
            .words(kind.label())
    });
    Text::just(scale::count(after.lost()))
        .words(" requests lost until the next event or the window's end (")
        .then(Text::join(kinds, ", "))
        .words(")")
}

fn course(after: &Aftermath) -> Text {
    let text = match &after.recovery {
        Recovery::Kept => Text::of("attainment stayed as before"),
        Recovery::After { s } => Text::of("attainment was back ")
            .figure(seconds(*s))
            .words(" after it"),
        Recovery::Never { why } => Text::default().prose(why),
        Recovery::Absent { why } => Text::of("recovery unknown: ").prose(why),
    };
    let text = match after.attainment_before {
        Some(before) => text
            .words(" (")
            .figure(scale::value(Unit::Proportion, before))
            .words(" before the first event)"),
        None => text,
    };
    let [before, meanwhile] = scale::row(
        Unit::RequestsPerSecond,
        [after.goodput_before_rps, after.goodput_while_rps],
    );
    let text = text
        .words("; goodput ")
        .figure(meanwhile)
        .words(" over the ")
        .figure(seconds(after.while_s))
        .words(" that it lasted, ")
        .figure(before)
        .words(" before");
    let text = match after.remaining() {
        Some(share) => text
            .words(", so ")
            .figure(scale::value(Unit::Proportion, share))
            .words(" remained"),
        None => text,
    };
    let text = text
        .words("; in flight ")
        .figure(scale::mean(after.in_flight_before))
        .words(" before, ")
        .figure(scale::count(after.in_flight_most))
        .words(" at most after");
    match &after.drained {
        Recovery::Kept => text.words(", no backlog"),
        Recovery::After { s } => text
            .words(", the backlog gone ")
            .figure(seconds(*s))
            .words(" after its end"),
        Recovery::Never { why } | Recovery::Absent { why } => text.words(", ").prose(why),
    }
}

fn bursts(bursts: &Bursts) -> Text {
    let text = Text::of("bursts: ")
        .figure(scale::count(bursts.bursts))
        .words(", in flight ")
        .figure(scale::mean(bursts.in_flight_before))
        .words(" before the first and ")
        .figure(scale::count(bursts.in_flight_most))
        .words(" at most; the backlog of ")
        .figure(scale::count(bursts.drained))
        .words(" was gone before the next burst or the window's end");
    match (bursts.drain_median_s, bursts.drain_max_s) {
        (Some(median), Some(longest)) => text
            .words(", ")
            .figure(seconds(median))
            .words(" after the burst's end at the median, ")
            .figure(seconds(longest))
            .words(" at the longest"),
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
