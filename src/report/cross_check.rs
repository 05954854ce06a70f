//! What client and engine both counted of a stage, in words.

use crate::lang::{Phrase, say};
use crate::summary::{BothCounts, BothTimes, CountOf, CrossCheck, TimeOf};
use crate::unit::scale::{self, Unit};

use super::span::Text;

/// Counts on which both agree, and the time that went by outside the engine; `None` where there is
/// neither.
pub(super) fn agreed(check: &CrossCheck) -> Option<Text> {
    let counts = check.counts.iter().filter(|both| !both.disagree());
    let counts = counts.map(|both| {
        Text::word(count(both.of))
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
            .then(Text::word(time(both.of)))
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
    let mut args = vec![
        Text::word(count(both.of)),
        Text::just(scale::count(both.client)),
        Text::just(scale::count(both.engine)),
    ];
    match inexact {
        Some(why) => {
            args.push(Text::default().prose(why));
            Text::say(say::COUNTS_INEXACT, args)
        }
        None => Text::say(say::COUNTS_APART, args),
    }
}

fn shared(both: BothCounts) -> Text {
    let counts = [both.client, both.engine].map(|n| Text::just(scale::count(n)));
    Text::say(say::COUNTS_SHARED, counts)
}

fn faster(both: BothTimes) -> Text {
    let [client, engine] = scale::row(Unit::Seconds, [both.client_s, both.engine_s]);
    let args = [
        Text::word(time(both.of)),
        Text::just(client),
        Text::just(engine),
    ];
    Text::say(say::FASTER_THAN_CLIENT, args)
}

const fn count(of: CountOf) -> Phrase {
    match of {
        CountOf::OutputTokens => say::OUTPUT_TOKENS,
        CountOf::InputTokens => say::INPUT_TOKENS,
        CountOf::Requests => say::REQUESTS,
    }
}

const fn time(of: TimeOf) -> Phrase {
    match of {
        TimeOf::Ttft => say::TTFT,
        TimeOf::E2e => say::E2E,
    }
}
