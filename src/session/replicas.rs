//! The replicas of a target: each is asked, and all are held to be the same.

use std::time::Duration;

use super::error::MeasureError;
use crate::access::Access;
use crate::probe::{MetricsSource, Observed, Origin, ProbeClient, ProbeError, drained, observe};
use crate::provenance::Observation;
use crate::sample::EngineQueue;
use crate::spec::{MetricsPlace, Spec};

/// One or several replicas.
#[derive(Debug)]
pub(super) struct Replicas {
    first: Replica,
    others: Vec<Replica>,
}

/// One of them.
#[derive(Debug)]
struct Replica {
    client: ProbeClient,
    metrics: MetricsSource,
}

impl Replicas {
    /// To ask the targets at these base URLs, of which there is one at least.
    pub(super) fn new(
        bases: &[String],
        metrics: &MetricsPlace,
        access: &Access,
    ) -> Result<Self, ProbeError> {
        let mut replicas = bases.iter().map(|base| {
            let client = ProbeClient::new(base, access)?;
            let metrics = MetricsSource::of(&client, metrics)?;
            Ok(Replica { client, metrics })
        });
        let first = replicas.next().unwrap_or_else(|| {
            Err(ProbeError::Client {
                base: String::new(),
                reason: "the target has no URL".to_owned(),
            })
        })?;
        let others = replicas.collect::<Result<_, _>>()?;
        Ok(Self { first, others })
    }

    /// The one that prompts are calibrated by.
    pub(super) const fn first(&self) -> &ProbeClient {
        &self.first.client
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
        let first = &self.first;
        let observed = observe(&first.client, &first.metrics, spec, origin).await?;
        for other in &self.others {
            let seen = observe(&other.client, &other.metrics, spec, origin).await?;
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
                        first: (first.client.base().to_owned(), ours.clone()),
                        other: (other.client.base().to_owned(), theirs.clone()),
                    });
                }
            }
        }
        Ok(observed)
    }

    /// All of them, in their order.
    pub(super) fn clients(&self) -> impl Iterator<Item = &ProbeClient> {
        let all = [&self.first].into_iter().chain(&self.others);
        all.map(|replica| &replica.client)
    }

    /// Where their metrics are.
    pub(super) fn metrics(&self) -> impl Iterator<Item = &MetricsSource> {
        let all = [&self.first].into_iter().chain(&self.others);
        all.map(|replica| &replica.metrics)
    }

    /// Waits until no replica holds a request, each at most so long; what is left is added up.
    pub(super) async fn drained(&self, at_most: Duration) -> EngineQueue {
        let mut held = None;
        for metrics in self.metrics() {
            let one = drained(metrics, at_most).await;
            held = Some(match held {
                Some(others) => sum(others, one),
                None => one,
            });
        }
        held.unwrap_or_else(|| EngineQueue::Unknown {
            why: "no replica was asked".to_owned(),
        })
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
}
