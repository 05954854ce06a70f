//! What runs took of the machine and what that costs, in a line.

use crate::summary::{GpuPart, GpuTime, Paid, Spent};
use crate::unit::scale;

use super::span::Text;

/// `Used: 30 min of measuring, 1.00 GPU hours, 3.50 USD (2 GPUs × 0.50 h × 3.50 USD)`.
pub(super) fn line(spent: &Spent) -> Text {
    let mut text = Text::of("Used: ")
        .figure(scale::elapsed(spent.measured_s))
        .words(" of measuring");
    if let Some(hours) = spent.gpu_hours() {
        text = text
            .words(", ")
            .figure(scale::amount(hours))
            .words(" GPU hours");
    }
    match (&spent.money, &spent.gpus) {
        (Paid::NoPrice, _) | (Paid::Amount { .. }, GpuTime::Unknown { .. }) => text,
        (
            Paid::Amount {
                amount: sum,
                currency,
            },
            GpuTime::Parts(parts),
        ) => text
            .words(", ")
            .then(money(*sum, currency))
            .words(" (")
            .then(Text::join(parts.iter().map(part), " + "))
            .words(")"),
        (Paid::Unknown { why }, _) => text.words("; no cost, for ").prose(why).prose(
            ": a run has a cost where its spec has both `cost` and `pins: {hardware: {count: 1}}`",
        ),
    }
}

fn part(part: &GpuPart) -> Text {
    let text = Text::just(scale::count(part.gpus.into()))
        .words(if part.gpus == 1 {
            " GPU × "
        } else {
            " GPUs × "
        })
        .figure(scale::amount(part.hours))
        .words(" h");
    match &part.price {
        Some(price) => text
            .words(" × ")
            .then(money(price.gpu_hour, &price.currency)),
        None => text,
    }
}

fn money(sum: f64, currency: &str) -> Text {
    let text = Text::just(scale::amount(sum));
    if currency.is_empty() {
        text
    } else {
        text.words(" ").quoted(currency)
    }
}
