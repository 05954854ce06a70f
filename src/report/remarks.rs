//! What the figures of a stage can't show by their nature, in words.

use crate::summary::StageSummary;
use crate::unit::scale;

use super::span::Text;

/// What the figures of a stage can't show; empty where there is nothing.
pub(super) fn stage(stage: &StageSummary) -> Vec<Text> {
    blindness(stage).into_iter().collect()
}

/// A closed loop sends nothing while its users wait: one stall of the target touches one request of
/// each user, and every percentile that leaves out as many may not move at all.
///
/// Of 1,000 requests of 8 users, percentiles up to p99.1 can hide it.
fn blindness(stage: &StageSummary) -> Option<Text> {
    let users = u64::from(stage.users?);
    let requests = stage.pooled.scheduled;
    (requests > users).then(|| {
        // The largest q of which neither order statistic is among the slowest `users`.
        let spared = (requests - users - 1) as f64 / (requests - 1) as f64;
        Text::of("a closed loop waits while the target stalls: one stall, however long, touches at most ")
            .figure(scale::count(users))
            .words(" of these ")
            .figure(scale::count(requests))
            .words(" requests, so percentiles up to ")
            // Rounded down, for the sentence has to hold.
            .quoted(&format!("p{:.1}", (spared * 1000.0).floor() / 10.0))
            .words(" can hide it; an open loop shows it in every request that is due meanwhile")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::synthetic;

    fn said(stage: &StageSummary) -> Vec<String> {
        super::stage(stage).iter().map(Text::plain).collect()
    }

    #[test]
    fn a_closed_loop_says_what_it_can_hide() {
        let mut stage = synthetic::stage("steady");
        assert_eq!(
            said(&stage),
            [
                "a closed loop waits while the target stalls: one stall, however long, touches at most 8 of \
                 these 1,000 requests, so percentiles up to p99.1 can hide it; an open loop shows it in \
                 every request that is due meanwhile"
            ]
        );
        stage.pooled.scheduled = 8;
        assert!(said(&stage).is_empty(), "no request is spared");
        stage.users = None;
        assert!(said(&stage).is_empty(), "an open loop hides nothing");
    }
}
