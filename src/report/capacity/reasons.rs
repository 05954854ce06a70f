//! Why there is no figure, and what runs can't say, in words.

use super::words::{number, share};
use crate::capacity::{Capacity, NoClaim, Why};
use crate::lang::say;
use crate::report::span::Text;

/// Why there is no figure.
pub(super) fn why(reason: &Why) -> Text {
    let add = |phrase, what: &str| Text::say(phrase, [Text::value(what)]);
    match reason {
        Why::NoSweep => Text::word(say::CAP_WHY_NO_SWEEP),
        Why::NoSlo => Text::word(say::CAP_WHY_NO_SLO),
        Why::NeverWithin { load, attainment } => Text::say(
            say::CAP_WHY_NEVER,
            [Text::just(number(*load)), share(*attainment)],
        ),
        Why::NotReached { load, gain } => Text::say(
            say::CAP_WHY_NOT_REACHED,
            [Text::just(number(*load)), share(*gain)],
        ),
        Why::NothingGood => Text::word(say::CAP_WHY_NOTHING_GOOD),
        Why::NoPeak => add(say::CAP_WHY_NO_PEAK, "capacity: {peak: 50/s}"),
        Why::NoPrice => add(
            say::CAP_WHY_NO_PRICE,
            "cost: {gpu_hour: 3.50, currency: USD}",
        ),
        Why::NoGpus => add(say::CAP_WHY_NO_GPUS, "pins: {hardware: {count: 1}}"),
        Why::NoKv => add(say::CAP_WHY_NO_KV, "--model-config"),
        Why::NoLoad => Text::word(say::CAP_WHY_NO_LOAD),
        Why::NoTokens => Text::word(say::CAP_WHY_NO_TOKENS),
    }
}

/// What the runs can't say.
pub(super) fn no_claims(capacity: &Capacity) -> Vec<Text> {
    let each = capacity.no_claims.iter().map(|claim| {
        Text::word(match claim {
            NoClaim::Capacity => say::CAP_CANT_CAPACITY,
            NoClaim::Slo => say::CAP_CANT_SLO,
            NoClaim::Limit => say::CAP_CANT_LIMIT,
            NoClaim::Arrivals => say::CAP_CANT_ARRIVALS,
            NoClaim::Waves => say::CAP_CANT_WAVES,
            NoClaim::Hours => say::CAP_CANT_HOURS,
            NoClaim::Tenants => say::CAP_CANT_TENANTS,
            NoClaim::FirstToken => say::CAP_CANT_FIRST_TOKEN,
            NoClaim::Scatter => say::CAP_CANT_SCATTER,
            NoClaim::Balancing => say::CAP_CANT_BALANCING,
        })
    });
    each.collect()
}
