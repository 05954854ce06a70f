//! What is drawn for a request, each from its distribution.

use super::request::Prefix;
use super::seed::Draws;
use crate::spec::{Bucket, Cancel, Class, Length, PrefixSharing, Think};
use crate::unit::Nanos;

/// The lengths that go together, by weight; one alone takes no draw.
pub(super) fn bucket<'b>(draws: &mut Draws, buckets: &'b [Bucket]) -> &'b Bucket {
    match buckets {
        [bucket] => bucket,
        buckets => &buckets[pick(draws, buckets, |bucket| bucket.weight)],
    }
}

/// Whose a request is; no draw where nobody asks.
pub(super) fn tenant(draws: &mut Draws, class: &Class) -> Option<u32> {
    let tenants = class.tenants.as_ref()?;
    Some(tenants.at(draws.unit()))
}

/// How long a user thinks.
pub(super) fn think(draws: &mut Draws, think: Think) -> Nanos {
    let (unit, normal) = (draws.unit(), draws.normal());
    think.at(unit, normal)
}

pub(super) fn shared(draws: &mut Draws, sharing: PrefixSharing) -> Option<Prefix> {
    let (carries, group) = (draws.unit(), draws.below(u64::from(sharing.groups)));
    (carries < sharing.share).then_some(Prefix {
        group: group as u32,
        tokens: sharing.tokens,
    })
}

pub(super) fn given_up(draws: &mut Draws, cancel: Cancel) -> Option<Nanos> {
    (draws.unit() < cancel.share).then_some(cancel.after)
}

/// The index of one of these, by weight.
pub(super) fn pick<T>(draws: &mut Draws, among: &[T], weight: impl Fn(&T) -> f64) -> usize {
    let total: f64 = among.iter().map(&weight).sum();
    let mut rest = draws.unit() * total;
    for (index, one) in among.iter().enumerate() {
        rest -= weight(one);
        if rest < 0.0 {
            return index;
        }
    }
    among.len() - 1
}

pub(super) fn length(draws: &mut Draws, length: Length) -> u32 {
    match length {
        Length::Fixed(tokens) => tokens,
        Length::Uniform { low, high } => low + draws.below(u64::from(high - low) + 1) as u32,
        Length::Lognormal { p50, p95, max } => {
            // The 95th percentile of the standard normal.
            const Z95: f64 = 1.644_853_626_951_472_2;
            let sigma = libm::log(p95 / p50) / Z95;
            let tokens = p50 * libm::exp(sigma * draws.normal());
            // `as` saturates, so a far tail cannot wrap.
            (tokens.round() as u32).clamp(1, max)
        }
    }
}
