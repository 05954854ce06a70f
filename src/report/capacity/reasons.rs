//! Why there is no figure, and what runs can't say, in words.

use super::words::number;
use crate::capacity::{Capacity, NoClaim, Why};
use crate::report::span::Text;
use crate::unit::scale::{self, Unit};

/// Why there is no figure.
pub(super) fn why(reason: &Why) -> Text {
    match reason {
        Why::NoSweep => Text::of("no sweep with two valid steps was run"),
        Why::NoSlo => Text::of("no class has an SLO, so nobody says what a good answer is"),
        Why::NeverWithin { load, attainment } => Text::of("at the smallest load, ")
            .figure(number(*load))
            .words(", only ")
            .figure(scale::value(Unit::Proportion, *attainment))
            .words(" of requests were good"),
        Why::NotReached { load, gain } => Text::of("the last step, to ")
            .figure(number(*load))
            .words(", still raised it by ")
            .figure(scale::value(Unit::Proportion, *gain))
            .words(", so it lies beyond the sweep"),
        Why::NothingGood => Text::of("no request was completed and good"),
        Why::NoPeak => Text::of("the spec declares no peak; add ").quoted("capacity: {peak: 50/s}"),
        Why::NoPrice => {
            Text::of("the spec has no price; add ").quoted("cost: {gpu_hour: 3.50, currency: USD}")
        }
        Why::NoGpus => Text::of("nobody knows how many GPUs there are; add ")
            .quoted("pins: {hardware: {count: 1}}"),
        Why::NoKv => Text::of("the engine reports no blocks, and no ")
            .quoted("--model-config")
            .words(" with its memory was given"),
        Why::NoLoad => Text::of("there is no load within the SLO to count by"),
        Why::NoTokens => Text::of("no tokens were counted"),
    }
}

/// What the runs can't say.
pub(super) fn no_claims(capacity: &Capacity) -> Vec<Text> {
    let each = capacity.no_claims.iter().map(|claim| {
        Text::of(match claim {
            NoClaim::Capacity => "how much more load the server would carry: there is no sweep",
            NoClaim::Slo => "what users would call good: there is no SLO",
            NoClaim::Limit => {
                "where the limit is: the largest load was still far below it, and throughput grew to the end"
            }
            NoClaim::Arrivals => {
                "whether users who don't wait for each other fare as well: no open loop bore the closed one out"
            }
            NoClaim::Hours => {
                "what happens over hours: no stage was long enough for leaks, fragmentation and drift"
            }
            NoClaim::Tenants => {
                "whether one tenant takes the place of others: requests had no tenants"
            }
            NoClaim::FirstToken => {
                "how long users wait for a first token: answers came whole, so this is throughput alone"
            }
            NoClaim::Scatter => {
                "how much runs differ: with fewer than three, 3 % between runs are assumed"
            }
            NoClaim::Balancing => "how a balancer deals out requests: one replica was measured",
        })
    });
    each.collect()
}
