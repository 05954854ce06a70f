//! Whether one stage fits into a machine's headroom, in words.

use crate::headroom::{Aspect, Check, Fit, Machine};
use crate::unit::scale::{self, Unit};

use super::model::Tone;
use super::span::Text;

/// Room to spare from which on nothing has to be said.
const AMPLE: f64 = 1.5;

/// That the stage fits, by its scarcest aspect; or each aspect of which there is too little.
pub(super) fn stage(stage: &Fit, machine: &Machine) -> Vec<(Tone, Text)> {
    let name = Text::value(&stage.demand.stage);
    let Some(scarcest) = stage.scarcest() else {
        return vec![(Tone::Unsure, name.words(": nothing of it is bounded here"))];
    };
    if stage.fits {
        let tight = scarcest.factor() < AMPLE;
        let text = name
            .words(if scarcest.at_least {
                ": fits at least × "
            } else {
                ": fits × "
            })
            .figure(times(scarcest.factor()))
            .words("; ")
            .then(asks(scarcest))
            .words(if tight { ", so it is close" } else { "" });
        return vec![(if tight { Tone::Unsure } else { Tone::Good }, text)];
    }
    let short = stage.checks.iter().filter(|check| check.factor() < 1.0);
    short
        .map(|check| {
            let text = name
                .clone()
                .words(": does not fit: ")
                .then(asks(check))
                .words("; ")
                .then(remedy(check, machine));
            (Tone::Bad, text)
        })
        .collect()
}

/// `asks for 9,000 req/s at its peak, this machine has 4,000 req/s`.
fn asks(check: &Check) -> Text {
    let (asked, has) = (check.asked, check.headroom);
    let (text, has) = match check.aspect {
        Aspect::Rate => (
            Text::of("it asks for ")
                .figure(rate(asked))
                .words(" at its peak"),
            rate(has),
        ),
        Aspect::Events => (Text::of("it asks for ").figure(tokens(asked)), tokens(has)),
        Aspect::Streams => (
            Text::of("it asks for ")
                .figure(whole(asked))
                .words(" streams"),
            whole(has),
        ),
        Aspect::OpenFiles => (
            Text::of("it may open ")
                .figure(whole(asked))
                .words(" connections"),
            whole(has),
        ),
        Aspect::Ports => (
            Text::of("it may need ")
                .figure(whole(asked))
                .words(" local ports"),
            whole(has),
        ),
    };
    text.words(", there is room for ").figure(has)
}

fn remedy(check: &Check, machine: &Machine) -> Text {
    match check.aspect {
        Aspect::Rate | Aspect::Events | Aspect::Streams if check.headroom <= 0.0 => {
            Text::of("find out what keeps this machine busy, then ask again")
        }
        Aspect::Rate | Aspect::Events | Aspect::Streams => {
            let machines = (check.asked / check.headroom).ceil();
            Text::of("lower the load, give the client more cores, or drive it from ")
                .figure(whole(machines))
                .words(" machines like this")
        }
        Aspect::OpenFiles => {
            let short = (check.asked - check.headroom) as u64;
            let soft = machine.open_files.map_or(0, |files| files.soft);
            Text::of("raise the limit: ").command(&format!("ulimit -n {}", soft + short))
        }
        Aspect::Ports => Text::of(
            "widen the system's range of local ports (`net.ipv4.ip_local_port_range`), or lower `in_flight`",
        ),
    }
}

/// `8.0` below ten, whole above.
fn times(factor: f64) -> String {
    if factor < 10.0 {
        scale::mean(factor)
    } else {
        whole(factor.min(1e9))
    }
}

pub(super) fn rate(per_second: f64) -> String {
    if per_second < 100.0 {
        return scale::value(Unit::RequestsPerSecond, per_second);
    }
    format!("{} req/s", whole(per_second))
}

pub(super) fn tokens(per_second: f64) -> String {
    format!("{} tok/s", whole(per_second))
}

pub(super) fn whole(value: f64) -> String {
    scale::count(value.round() as u64)
}
