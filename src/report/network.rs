//! What the way to the target takes, beside the figures that it is in.

use crate::lang::say;
use crate::stats::median;
use crate::summary::{Network, Run};
use crate::unit::scale::{self, Unit};

use super::span::Text;

/// Of one run.
pub(super) fn line(network: Network) -> Text {
    let [connect, round_trip] = scale::row(Unit::Seconds, [network.connect_s, network.rtt_s]);
    Text::say(say::NETWORK, [connect, round_trip].map(Text::just))
}

/// Of the sides of a comparison, the median of their runs; `None` where one was not measured.
pub(super) fn sides(baseline: &[Run], candidate: &[Run]) -> Option<Text> {
    let round_trip = |runs: &[Run]| {
        let each = runs.iter().filter_map(|run| Some(run.network?.rtt_s));
        median(each.collect())
    };
    let [base, head] = scale::row(
        Unit::Seconds,
        [round_trip(baseline)?, round_trip(candidate)?],
    );
    Some(Text::say(say::NETWORK_SIDES, [base, head].map(Text::just)))
}
