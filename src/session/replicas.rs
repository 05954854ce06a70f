//! The replicas of a target: each is asked, and all are held to be the same.

use std::time::Duration;

use super::error::MeasureError;
use crate::access::Access;
use crate::probe::{Observed, Origin, ProbeClient, ProbeError, cache_counters, drained, observe};
use crate::provenance::Observation;
use crate::sample::{CacheTokens, EngineCache, EngineQueue};
use crate::spec::Spec;

/// One or several replicas.
#[derive(Debug)]
pub(super) struct Replicas {
    first: ProbeClient,
    others: Vec<ProbeClient>,
}

impl Replicas {
    /// To ask the targets at these base URLs, of which there is one at least.
    pub(super) fn new(bases: &[String], access: &Access) -> Result<Self, ProbeError> {
        let mut clients = bases.iter().map(|base| ProbeClient::new(base, access));
        let first = clients.next().unwrap_or_else(|| {
            Err(ProbeError::Client {
                base: String::new(),
                reason: "the target has no URL".to_owned(),
            })
        })?;
        Ok(Self {
            first,
            others: clients.collect::<Result<_, _>>()?,
        })
    }

    /// The one that prompts are calibrated by.
    pub(super) const fn first(&self) -> &ProbeClient {
        &self.first
    }

    /// What the target is.
    ///
    /// # Errors
    ///
    /// A replica that does not answer, or that is not what the first one is: its requests would be
    /// figures of something else.
    pub(super) async fn observe(
        &self,
        spec: &Spec,
        origin: &Origin,
    ) -> Result<Observed, MeasureError> {
        let observed = observe(&self.first, spec, origin).await?;
        for other in &self.others {
            let seen = observe(other, spec, origin).await?;
            for (path, pin) in &observed.pins {
                let theirs = seen.pins.get(path).map(|pin| &pin.observed);
                if let (
                    Observation::Seen { value: ours, .. },
                    Some(Observation::Seen { value: theirs, .. }),
                ) = (&pin.observed, theirs)
                    && ours != theirs
                {
                    return Err(MeasureError::ReplicasDiffer {
                        pin: *path,
                        first: (self.first.base().to_owned(), ours.clone()),
                        other: (other.base().to_owned(), theirs.clone()),
                    });
                }
            }
        }
        Ok(observed)
    }

    /// Waits until no replica holds a request, each at most so long; what is left is added up.
    pub(super) async fn drained(&self, at_most: Duration) -> EngineQueue {
        let mut held = drained(&self.first, at_most).await;
        for other in &self.others {
            held = sum(held, drained(other, at_most).await);
        }
        held
    }

    /// What the prefix cache of each has counted since it started, or why that is not known.
    pub(super) async fn cache_counters(&self) -> CacheCounters {
        let mut all = vec![cache_counters(&self.first).await];
        for other in &self.others {
            all.push(cache_counters(other).await);
        }
        CacheCounters(all)
    }
}

/// Counters of each replica's prefix cache at an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CacheCounters(Vec<Result<CacheTokens, String>>);

impl CacheCounters {
    /// Of replicas that nobody asked.
    pub(super) fn unknown(why: &str) -> Self {
        Self(vec![Err(why.to_owned())])
    }

    /// What all replicas have counted since; unknown where one does not say, or began anew.
    pub(super) fn since(self, before: Self) -> EngineCache {
        let counted = before.0.into_iter().zip(self.0).map(|(before, after)| {
            let restarted = || "its counters went back: it was started anew".to_owned();
            after?.since(before?).ok_or_else(restarted)
        });
        let sum = counted.reduce(|sum, one| Ok(sum?.plus(one?)));
        match sum.unwrap_or_else(|| Err("no replica was asked".to_owned())) {
            Ok(tokens) => EngineCache::Tokens(tokens),
            Err(why) => EngineCache::Unknown { why },
        }
    }
}

/// What two replicas hold; unknown where either is.
fn sum(one: EngineQueue, other: EngineQueue) -> EngineQueue {
    match (one, other) {
        (unknown @ EngineQueue::Unknown { .. }, _) | (_, unknown @ EngineQueue::Unknown { .. }) => {
            unknown
        }
        (EngineQueue::Empty, held) | (held, EngineQueue::Empty) => held,
        (
            EngineQueue::Backlog { running, waiting },
            EngineQueue::Backlog {
                running: others_running,
                waiting: others_waiting,
            },
        ) => EngineQueue::Backlog {
            running: running + others_running,
            waiting: waiting + others_waiting,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backlogs_add_up() {
        let backlog = |running, waiting| EngineQueue::Backlog { running, waiting };
        let unknown = EngineQueue::Unknown {
            why: "x".to_owned(),
        };
        assert_eq!(sum(backlog(1, 2), backlog(3, 0)), backlog(4, 2));
        assert_eq!(sum(EngineQueue::Empty, backlog(3, 0)), backlog(3, 0));
        assert_eq!(sum(backlog(1, 2), unknown.clone()), unknown);
        assert_eq!(
            sum(EngineQueue::Empty, EngineQueue::Empty),
            EngineQueue::Empty
        );
    }
    #[test]
    fn what_replicas_counted_adds_up() {
        let at = |counts: &[(u64, u64)]| {
            let tokens = |&(hits, queries): &(u64, u64)| Ok(CacheTokens { hits, queries });
            CacheCounters(counts.iter().map(tokens).collect())
        };
        let why = |cache| match cache {
            EngineCache::Tokens(tokens) => panic!("{tokens:?}"),
            EngineCache::Unknown { why } => why,
        };
        let (before, after) = (at(&[(10, 20), (0, 0)]), at(&[(40, 90), (13, 30)]));
        let (hits, queries) = (43, 100);
        assert_eq!(
            after.clone().since(before.clone()),
            EngineCache::Tokens(CacheTokens { hits, queries })
        );
        // The sums alone would not show it.
        let restarted = at(&[(2, 5), (900, 900)]);
        assert!(why(restarted.since(before.clone())).contains("anew"));
        let mut silent = after;
        silent.0[1] = Err("/metrics answers 404".to_owned());
        assert_eq!(why(silent.since(before.clone())), "/metrics answers 404");
        let unasked = CacheCounters::unknown("interrupted");
        assert_eq!(why(unasked.since(before)), "interrupted");
    }
}
