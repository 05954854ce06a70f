//! What serving costs, in words.

use super::reasons::why;
use super::words::{count, interval, share};
use crate::capacity::{Capacity, CostFigures, Estimate, Known, MONTH, Whose};
use crate::lang::say;
use crate::report::span::Text;
use crate::spec::Cost;
use crate::unit::scale;

/// What it costs, or why nobody knows.
pub(super) fn cost(capacity: &Capacity) -> Vec<Text> {
    let figures = match &capacity.cost {
        Known::Figure(figures) => figures,
        Known::Unknown(reason) => return vec![Text::say(say::CAP_NO_COST, [why(reason)])],
    };
    let price = &figures.price;
    let mut out = vec![per_token(figures)];
    if let Some(good) = &figures.good_request {
        let each = paid(good, price);
        let thousand = money(good.value * 1000.0, price);
        out.push(Text::say(say::CAP_GOOD, [each, thousand]));
    }
    if let Some(fleet) = figures.fleet {
        let text = Text::say(
            say::CAP_FLEET,
            [
                count(fleet.replicas),
                money(fleet.day, price),
                money(fleet.month, price),
                count(MONTH as u64),
            ],
        );
        out.push(match fleet.request {
            Some(each) => Text::say(say::CAP_FLEET_REQUEST, [text, money(each, price)]),
            None => text,
        });
    }
    for own in figures.shares.iter().chain(&figures.tenants) {
        let part = share(own.share);
        let text = match own.whose {
            Whose::Class => Text::say(say::CAP_SHARE, [Text::value(&own.of), part]),
            Whose::Tenant => Text::say(say::CAP_SHARE_TENANT, [Text::value(&own.of), part]),
            Whose::OtherTenants(tenants) => {
                Text::say(say::CAP_SHARE_TENANTS, [count(tenants), part])
            }
            Whose::NoTenant => Text::say(say::CAP_SHARE_NO_TENANT, [part]),
        };
        out.push(match own.day {
            Some(day) => Text::say(say::CAP_SHARE_DAY, [text, money(day, price)]),
            None => text,
        });
    }
    out.push(Text::word(say::CAP_LEFT_OUT));
    out
}

fn per_token(figures: &CostFigures) -> Text {
    let price = &figures.price;
    let gpus = Text::just(amount(figures.gpus));
    let hour = money(price.gpu_hour, price);
    let stage = Text::value(&figures.stage);
    let output = paid(&figures.million_output, price);
    let both = money(figures.million_tokens, price);
    match figures.million_input {
        Some(input) => {
            let input = money(input, price);
            Text::say(
                say::CAP_PER_TOKEN_INPUT,
                [gpus, hour, stage, output, input, both],
            )
        }
        None => Text::say(say::CAP_PER_TOKEN, [gpus, hour, stage, output, both]),
    }
}

/// A price with its interval.
pub(super) fn paid(price: &Estimate, of: &Cost) -> Text {
    let text = money(price.value, of);
    match price.interval {
        Some(bounds) => interval(text, amount(bounds.lower), amount(bounds.upper)),
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
