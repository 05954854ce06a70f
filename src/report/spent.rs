//! What runs took of the machine and what that costs, in a line.

use crate::lang::say;
use crate::summary::{GpuPart, GpuTime, Paid, Spent};
use crate::unit::scale;

use super::span::Text;

/// `Used: 30 min of measuring, 1.00 GPU hours, 3.50 USD (2 GPUs × 0.50 h × 3.50 USD)`.
pub(super) fn line(spent: &Spent) -> Text {
    let measured = Text::just(scale::elapsed(spent.measured_s));
    let mut text = Text::say(say::USED, [measured]);
    if let Some(hours) = spent.gpu_hours() {
        text = Text::say(say::USED_HOURS, [text, Text::just(scale::amount(hours))]);
    }
    match (&spent.money, &spent.gpus) {
        (Paid::NoPrice, _) | (Paid::Amount { .. }, GpuTime::Unknown { .. }) => text,
        (
            Paid::Amount {
                amount: sum,
                currency,
            },
            GpuTime::Parts(parts),
        ) => {
            let parts = Text::join(parts.iter().map(part), " + ");
            Text::say(say::USED_MONEY, [text, money(*sum, currency), parts])
        }
        (Paid::Unknown { why }, _) => {
            let text = Text::say(say::NO_COST, [text, Text::default().prose(why)]);
            Text::say(say::NO_COST_HOW, [text])
        }
    }
}

fn part(part: &GpuPart) -> Text {
    let hours = Text::just(scale::amount(part.hours));
    let gpus = Text::just(scale::count(part.gpus.into()));
    let text = Text::say(say::GPU_HOURS, [gpus, hours]);
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
