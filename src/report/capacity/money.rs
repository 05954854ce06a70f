//! What serving costs, in words.

use super::reasons::why;
use super::words::plural;
use crate::capacity::{Capacity, CostFigures, Estimate, Known, MONTH};
use crate::report::span::Text;
use crate::spec::Cost;
use crate::unit::scale::{self, Unit};

/// What it costs, or why nobody knows.
pub(super) fn cost(capacity: &Capacity) -> Vec<Text> {
    let figures = match &capacity.cost {
        Known::Figure(figures) => figures,
        Known::Unknown(reason) => return vec![Text::of("no cost: ").then(why(reason))],
    };
    let mut out = vec![per_token(figures)];
    if let Some(good) = &figures.good_request {
        let text = Text::of("a good request: ").then(paid(good, &figures.price));
        out.push(
            text.words(", a thousand: ")
                .then(money(good.value * 1000.0, &figures.price)),
        );
    }
    if let Some(fleet) = figures.fleet {
        let text = Text::just(scale::count(fleet.replicas))
            .words(plural(fleet.replicas, " replica", " replicas"))
            .words(" day and night: ")
            .then(money(fleet.day, &figures.price))
            .words(" a day, ")
            .then(money(fleet.month, &figures.price))
            .words(" in ")
            .figure(scale::count(MONTH as u64))
            .words(" days");
        out.push(match fleet.request {
            Some(each) => text
                .words("; a request of the declared traffic ")
                .then(money(each, &figures.price)),
            None => text,
        });
    }
    for share in &figures.shares {
        let text = Text::of("of the tokens ")
            .quoted(&share.of)
            .words(" has ")
            .figure(scale::value(Unit::Proportion, share.share));
        out.push(match share.day {
            Some(day) => text
                .words(", ")
                .then(money(day, &figures.price))
                .words(" a day"),
            None => text,
        });
    }
    out.push(Text::of(
        "GPUs alone: network, storage, gateway and people are left out",
    ));
    out
}

fn per_token(figures: &CostFigures) -> Text {
    let price = &figures.price;
    let text = Text::just(amount(figures.gpus))
        .words(" × ")
        .then(money(price.gpu_hour, price))
        .words(" an hour at ")
        .quoted(&figures.stage)
        .words(": a million output tokens ")
        .then(paid(&figures.million_output, price));
    let text = match figures.million_input {
        Some(input) => text
            .words(", a million input tokens ")
            .then(money(input, price)),
        None => text,
    };
    text.words(" (each as if it bore all of it), a million of both ")
        .then(money(figures.million_tokens, price))
}

/// A price with its interval.
pub(super) fn paid(price: &Estimate, of: &Cost) -> Text {
    let text = money(price.value, of);
    match price.interval {
        Some(bounds) => text
            .words(" [")
            .figure(amount(bounds.lower))
            .words(", ")
            .figure(amount(bounds.upper))
            .words("]"),
        None => text,
    }
}

/// An amount in the currency of the spec, where it names one.
pub(super) fn money(value: f64, of: &Cost) -> Text {
    let text = Text::just(amount(value));
    if of.currency.is_empty() {
        text
    } else {
        text.words(" ").figure(of.currency.clone())
    }
}

/// Amounts of a request are far below a cent, those of a fleet far above.
fn amount(value: f64) -> String {
    if value >= 1000.0 {
        scale::count(value.round() as u64)
    } else {
        scale::amount(value)
    }
}
