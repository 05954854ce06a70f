//! What requests share, sent once ahead of a stage, so that a warm prefix cache is warm.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::clock::Clock;
use super::dispatch::Dispatch;
use super::inbox::Inbox;
use super::job::StageJob;
use super::kitchen::Kitchen;
use super::level::Level;
use super::window::Window;
use crate::spec::CacheRegime;

/// Texts that are sent at a time: quick, and no overload.
const AT_A_TIME: usize = 4;

/// Sends each text that requests of the stage share, with an answer of one token, and waits for the
/// answers; does nothing but under a warm regime.
///
/// They are no requests of the stage and leave no records. One that fails warms nothing, which the
/// engine's hit ratio then shows.
pub async fn prime(job: StageJob<'_>) {
    if job.plan.cache() != CacheRegime::Warm {
        return;
    }
    let kitchen = Kitchen::new(job.plan, job.stage, job.prompter, job.client);
    let dispatch = Arc::new(Dispatch {
        stage: job.stage as u32,
        client: job.client.clone(),
        kitchen: kitchen.clone(),
        clock: Clock::start(),
        timeouts: job.timeouts.clone(),
        window: Arc::new(Window::new(None, None)),
        inbox: Inbox::default(),
        level: Level::default(),
    });
    let mut under_way = JoinSet::new();
    for (number, shared) in job.plan.shared(job.stage).into_iter().enumerate() {
        if under_way.len() >= AT_A_TIME {
            under_way.join_next().await;
        }
        let lane = job.client.lanes().of(number);
        let prepared = kitchen.prepare_shared(&shared);
        let flight = dispatch.depart(lane, prepared, dispatch.clock.now());
        let task = async move {
            flight.fly().await;
        };
        under_way.spawn_on(task, lane.runtime());
    }
    while under_way.join_next().await.is_some() {}
}
