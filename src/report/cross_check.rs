//! What client and engine both counted of a stage, in words.

use crate::summary::{BothCounts, BothTimes, CountOf, CrossCheck, TimeOf};
use crate::unit::scale::{self, Unit};

use super::span::Text;

/// Counts on which both agree, and the time that went by outside the engine; `None` where there is
/// neither.
pub(super) fn agreed(check: &CrossCheck) -> Option<Text> {
    let counts = check.counts.iter().filter(|both| !both.disagree());
    let counts = counts.map(|both| {
        Text::of(count(both.of))
            .words(" ")
            .figure(scale::count(both.client))
            .words(" by the client and ")
            .figure(scale::count(both.engine))
            .words(" by the engine")
    });
    let times = check.times.iter().filter(|both| !both.disagree());
    let times = times.map(|both| {
        let [outside, client] = scale::row(Unit::Seconds, [both.outside_s(), both.client_s]);
        Text::of("outside the engine ")
            .figure(outside)
            .words(" of ")
            .figure(client)
            .words(" mean ")
            .words(time(both.of))
    });
    let said: Vec<Text> = counts.chain(times).collect();
    (!said.is_empty())
        .then(|| Text::of("warm-up and drain included: ").then(Text::join(said, ", ")))
}

/// What they disagree on, with both figures.
pub(super) fn doubts(check: &CrossCheck) -> Vec<Text> {
    let counts = check.counts.iter().filter(|both| both.disagree());
    if check.is_shared() {
        let requests = counts.filter(|both| both.of == CountOf::Requests);
        return requests.map(|both| shared(*both)).collect();
    }
    let counts = counts.map(|both| apart(*both, check.inexact.as_deref()));
    let times = check.times.iter().filter(|both| both.disagree());
    counts.chain(times.map(|both| faster(*both))).collect()
}

fn apart(both: BothCounts, inexact: Option<&str>) -> Text {
    let text = Text::of(count(both.of))
        .words(": ")
        .figure(scale::count(both.client))
        .words(" by the client and ")
        .figure(scale::count(both.engine))
        .words(" by the engine's own count; ");
    match inexact {
        Some(why) => text.words("they need not be equal, for ").prose(why),
        None => text.words("somebody else uses the engine, or one of them counts otherwise"),
    }
}

fn shared(both: BothCounts) -> Text {
    Text::of("requests: ")
        .figure(scale::count(both.client))
        .words(" by the client and ")
        .figure(scale::count(both.engine))
        .words(" by the engine's own count; somebody else uses the engine, so neither tokens nor times can be held against its own")
}

fn faster(both: BothTimes) -> Text {
    let [client, engine] = scale::row(Unit::Seconds, [both.client_s, both.engine_s]);
    Text::of("mean ")
        .words(time(both.of))
        .words(" is ")
        .figure(client)
        .words(" by the client and ")
        .figure(engine)
        .words(" by the engine's clock, which can't be longer: one of them measures something else")
}

const fn count(of: CountOf) -> &'static str {
    match of {
        CountOf::OutputTokens => "output tokens",
        CountOf::InputTokens => "input tokens",
        CountOf::Requests => "requests",
    }
}

const fn time(of: TimeOf) -> &'static str {
    match of {
        TimeOf::Ttft => "TTFT",
        TimeOf::E2e => "E2E",
    }
}
