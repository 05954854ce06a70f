//! How the client of a stage fared, in words.

use crate::summary::ClientHealth;
use crate::unit::scale::{self, Unit};

use super::span::Text;

/// The line of a client that is known.
pub(super) fn of(health: Option<&ClientHealth>) -> Text {
    health.map_or_else(|| Text::of("not told: another tool was the client"), line)
}

/// One line: lateness, CPU, requests in flight, and what went wrong where something did.
fn line(health: &ClientHealth) -> Text {
    let seconds = |s: f64| scale::value(Unit::Seconds, s);
    let mut text = Text::of("requests left ")
        .figure(seconds(health.lateness_p50_s))
        .words(" late at the median, ")
        .figure(seconds(health.lateness_p99_s))
        .words(" at p99");
    if let Some(share) = health.cpu_share {
        text = text
            .words("; ")
            .figure(scale::value(Unit::Proportion, share))
            .words(" of its CPU");
    }
    text = text
        .words("; in flight ")
        .figure(scale::mean(health.in_flight_mean))
        .words(" on average, ")
        .figure(scale::count(health.in_flight_max.into()))
        .words(" at most");
    if health.cap_hits > 0 {
        text = text
            .words("; due while the in-flight cap was reached: ")
            .figure(scale::count(health.cap_hits.into()));
    }
    if health.resent > 0 {
        text = text
            .words("; sent again because a kept connection closed: ")
            .figure(scale::count(health.resent));
    }
    if health.backlog > 0 {
        text = text
            .words("; still in flight when the drain ended: ")
            .figure(scale::count(health.backlog.into()));
    }
    text
}
