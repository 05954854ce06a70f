//! What the figures of a stage can't show, by their nature or by the target's, in words.

use crate::spec::CacheRegime;
use crate::summary::StageSummary;
use crate::unit::scale::{self, Unit};

use super::span::Text;
use super::{cache, engines};

/// What the figures of a stage can't show; empty where there is nothing.
pub(super) fn stage(stage: &StageSummary, regime: CacheRegime) -> Vec<Text> {
    let found = stage.prefix_cache.as_ref();
    [blindness(stage), buffering(stage)]
        .into_iter()
        .flatten()
        .chain(
            found
                .into_iter()
                .flat_map(|found| cache::doubts(found, regime)),
        )
        .chain(stage.engine.iter().flat_map(engines::caveats))
        .collect()
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

/// A server, or a proxy before it, that holds a stream back until it is whole.
fn buffering(stage: &StageSummary) -> Option<Text> {
    let left = stage.held_back()?;
    Some(
        Text::of(
            "the target, or a proxy before it, holds streams back until they are whole: only ",
        )
        .figure(scale::value(Unit::Proportion, left))
        .words(
            " of E2E is left after the first token; TTFT and the times between tokens say nothing",
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::synthetic;
    use crate::metric::Metric;

    fn said(stage: &StageSummary) -> Vec<String> {
        super::stage(stage, CacheRegime::default())
            .iter()
            .map(Text::plain)
            .collect()
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

    #[test]
    fn a_stream_that_comes_whole_is_no_stream() {
        let mut stage = synthetic::stage("steady");
        stage.users = None;
        let set = |stage: &mut StageSummary, metric, mean_s| {
            let distributions = &mut stage.pooled.distributions;
            distributions.get_mut(&metric).unwrap().mean_s = Some(mean_s);
        };
        set(&mut stage, Metric::Ttft, 1.99);
        set(&mut stage, Metric::E2e, 2.0);
        assert!(said(&stage).is_empty(), "a long wait and a usual pace");
        set(&mut stage, Metric::Tpot, 0.0002);
        assert_eq!(
            said(&stage),
            [
                "the target, or a proxy before it, holds streams back until they are whole: only 0.500 % of \
                 E2E is left after the first token; TTFT and the times between tokens say nothing"
            ]
        );
        let tpot = stage.pooled.distributions.remove(&Metric::Tpot);
        assert_eq!(said(&stage).len(), 1, "each answer in one event");
        stage.pooled.tokens.output_observed = 1000;
        assert!(said(&stage).is_empty(), "answers of one token");
        stage.pooled.tokens.output_observed = 50_000;
        stage
            .pooled
            .distributions
            .extend(tpot.map(|tpot| (Metric::Tpot, tpot)));
        set(&mut stage, Metric::Ttft, 1.9);
        assert!(
            said(&stage).is_empty(),
            "a twentieth of the time is a stream"
        );
    }
}
