//! The parts of a gap between two layers in words, each with its figures.

use super::outcomes;
use super::span::Text;
use super::words;
use crate::layers::{Across, Bounds, Gap, Part, Tally, Unsure};
use crate::metric::Metric;
use crate::unit::scale::{self, Unit};

/// `+40.10 ms [+39.80 ms, +40.40 ms]`, all at one scale.
pub(super) fn signed(unit: Unit, gap: Gap) -> Text {
    let Bounds { low, high } = gap.interval.unwrap_or(Bounds {
        low: gap.difference,
        high: gap.difference,
    });
    let values = [gap.difference, low, high];
    let texts = match unit {
        Unit::Proportion => values.map(scale::points),
        Unit::Seconds
        | Unit::RequestsPerSecond
        | Unit::TokensPerSecond
        | Unit::TokensPerJoule
        | Unit::Joules => {
            let sizes = scale::row(unit, values.map(f64::abs));
            let mut signs = values.into_iter().map(|value| sign(value));
            sizes.map(|size| format!("{}{size}", signs.next().unwrap_or_default()))
        }
    };
    let [difference, low, high] = texts;
    let text = Text::just(difference);
    match gap.interval {
        Some(_) => text
            .words(" [")
            .figure(low)
            .words(", ")
            .figure(high)
            .words("]"),
        None => text,
    }
}

const fn sign(value: f64) -> &'static str {
    if value < 0.0 {
        "−"
    } else if value > 0.0 {
        "+"
    } else {
        ""
    }
}

fn seconds(gap: Gap) -> Text {
    signed(Unit::Seconds, gap)
}

fn time(seconds: f64) -> String {
    scale::value(Unit::Seconds, seconds)
}

/// ` (TTFT p50 20.00 ms → 60.10 ms)`.
fn from_to(what: Text, gap: Gap) -> Text {
    let [engine, front] = scale::row(Unit::Seconds, [gap.engine, gap.front]);
    Text::of(" (")
        .then(what)
        .words(" p50 ")
        .figure(engine)
        .words(" → ")
        .figure(front)
        .words(")")
}

/// One part of a gap.
pub(super) fn part(part: &Part) -> Text {
    match *part {
        Part::PerRequest { by, gap } => {
            let what = words::metric(by);
            let text = Text::of("per request: ")
                .then(seconds(gap))
                .then(from_to(what, gap));
            if gap.difference > 0.0 {
                text.words(", about the same for all requests of this load: the way there and back, checks, a steady wait")
            } else {
                text.words(", so the front answers sooner than the engine")
            }
        }
        Part::Tail { middle, tail } => Text::of("tail: the first token comes ")
            .then(seconds(tail))
            .words(" later at p95 and ")
            .then(seconds(middle))
            .words(" at p50: no constant; some requests wait in the front"),
        Part::NothingPerRequest { by, gap } => Text::of("per request: nothing that counts, ")
            .then(seconds(gap))
            .then(from_to(words::metric(by), gap)),
        Part::PerToken {
            gap,
            tokens,
            answer,
        } => Text::of("per token: ")
            .then(seconds(gap))
            .words(" for each of ")
            .figure(scale::mean(tokens))
            .words(" tokens after the first, ")
            .then(seconds(answer))
            .words(" an answer")
            .then(from_to(words::metric(Metric::Tpot), gap)),
        Part::NothingPerToken { gap } => Text::of("per token: nothing that counts, ")
            .then(seconds(gap))
            .then(from_to(words::metric(Metric::Tpot), gap)),
        Part::Buffered {
            engine_s,
            front_s,
            first,
        } => Text::of("buffering: the front holds answers back until they are whole, or nearly: from first to last token ")
            .figure(time(engine_s))
            .words(" at the engine and ")
            .figure(time(front_s))
            .words(" at the front, the first one ")
            .then(seconds(first))
            .words(" later"),
        Part::Clumped {
            tokens,
            engine_s,
            front_s,
        } => Text::of("clumps: tokens come about ")
            .figure(scale::count(tokens as u64))
            .words(" at a time: the usual gap is ")
            .figure(time(engine_s))
            .words(" at the engine; at the front most are near 0 and the long ones ")
            .figure(time(front_s))
            .words(" (ITL p99)"),
        Part::Merged { engine, front } => Text::of("events: the front puts them together, ")
            .figure(scale::mean(engine))
            .words(" an answer at the engine and ")
            .figure(scale::mean(front))
            .words(" at the front, so times between tokens are coarser there"),
        Part::Failures {
            kind,
            engine,
            front,
        } => Text::of("failures: ")
            .words(kind.label())
            .words(" ")
            .then(tally(front))
            .words(" at the front, ")
            .then(tally(engine))
            .words(" at the engine"),
        Part::Connections { engine, front } => {
            let [engine, front] = [engine, front].map(|each| format!("{each:.2}"));
            Text::of("connections: ")
                .figure(front)
                .words(" opened a request at the front, ")
                .figure(engine)
                .words(" at the engine: the front keeps none, and setting one up is part of each first token's gap")
        }
    }
}

fn tally(tally: Tally) -> Text {
    outcomes::share(tally.requests, tally.of)
}

/// What keeps an attribution from being sure.
pub(super) fn unsure(why: &Unsure) -> Text {
    match *why {
        Unsure::Invalid { pairs } => Text::of("the client spoilt the stage in pairs of runs that are left out, ")
            .figure(scale::count(pairs.into()))
            .words(" of them"),
        Unsure::FewPairs { pairs } => Text::of("pairs of runs: ")
            .figure(scale::count(pairs.into()))
            .words("; what runs differ by anyway is known from 3 on, so small gaps mean nothing: take ")
            .command("--repeats 3"),
        Unsure::NoTokens => Text::of(
            "answers have no token instants, so what comes before the first token and what between tokens is not told apart",
        ),
        Unsure::LessLoad {
            engine_rps,
            front_rps,
        } => {
            let [engine, front] = scale::row(Unit::RequestsPerSecond, [engine_rps, front_rps]);
            Text::of("this closed loop completes ")
                .figure(front)
                .words(" through the front and ")
                .figure(engine)
                .words(" at the engine, which has less to do then: an open loop loads both alike")
        }
    }
}

/// What stages of different load show.
pub(super) fn across(found: &Across) -> Text {
    let gaps = |text: Text, from: &str, to: &str, low: Gap, high: Gap| {
        text.then(seconds(low))
            .words(" in ")
            .quoted(from)
            .words(", ")
            .then(seconds(high))
            .words(" in ")
            .quoted(to)
    };
    match found {
        Across::Queueing {
            from,
            to,
            low,
            high,
        } => {
            let text = Text::of("queueing: the gap of TTFT p50 grows with the load, ");
            gaps(text, from, to, *low, *high).words(": requests wait in the front")
        }
        Across::Steady {
            from,
            to,
            low,
            high,
        } => {
            let text =
                Text::of("queueing: none seen, the gap of TTFT p50 does not grow with the load: ");
            gaps(text, from, to, *low, *high)
        }
        Across::OneLoad => {
            Text::of("queueing: one load can't show whether the gap grows with it; a sweep over ")
                .command("users")
                .words(" or ")
                .command("rate")
                .words(" does")
        }
    }
}
