//! Shards of one run to that run: what must agree, and what becomes of what each client saw.

use super::invalid::InvalidReason;
use super::model::{Run, RunEnd, StageSummary};
use super::shard::MergedShard;
use crate::sample::{StageEnd, StageObservation};

/// Why runs are not the shards of one run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// A run that is no shard.
    #[error("run `{run}` is no shard; `merge` takes what `run --shard` has left")]
    NotAShard {
        /// Its id.
        run: String,
    },
    /// Two runs of one shard.
    #[error("shard {index} is there twice: `{first}` and `{other}`; leave one out")]
    Twice {
        /// Which, from 1.
        index: u32,
        /// A run's id.
        first: String,
        /// Another's.
        other: String,
    },
    /// Shards that are not there.
    #[error("shards {missing:?} of {count} are missing; name the run files of all {count}")]
    Missing {
        /// Which, from 1.
        missing: Vec<u32>,
        /// Of how many.
        count: u32,
    },
    /// Runs of different plans: not shards of one run.
    #[error("`{first}` and `{other}` are no shards of one run: they differ in their {what}")]
    Strangers {
        /// What differs.
        what: &'static str,
        /// A run's id.
        first: String,
        /// Another's.
        other: String,
    },
    /// Shards that did not begin together.
    #[error(
        "the clock of shard `{ahead}` was at least {offset} s ahead of that of `{behind}`, so they did not begin together; set the clocks (NTP) and run all of them again"
    )]
    Clocks {
        /// Seconds.
        offset: String,
        /// A run's id.
        ahead: String,
        /// Another's.
        behind: String,
    },
    /// Shards of one run that did not measure the same thing.
    #[error(
        "shards `{first}` and `{other}` did not measure the same: they differ in {what}; run all of them again"
    )]
    Apart {
        /// What differs.
        what: String,
        /// A run's id.
        first: String,
        /// Another's.
        other: String,
    },
}

/// Seconds that are beyond doubt an offset between two clocks.
const OFFSET: f64 = 0.25;

/// Checks that these are all shards of one run, and puts them into order.
pub fn same_run(mut shards: Vec<Run>) -> Result<Vec<Run>, MergeError> {
    if let Some(run) = shards.iter().find(|run| run.shard.is_none()) {
        return Err(MergeError::NotAShard {
            run: run.id.clone(),
        });
    }
    let index = |run: &Run| run.shard.as_ref().map_or(0, |shard| shard.index);
    let count = |run: &Run| run.shard.as_ref().map_or(0, |shard| shard.count);
    let start = |run: &Run| run.shard.as_ref().map(|shard| shard.start_at.clone());
    shards.sort_by_key(index);
    for pair in shards.windows(2) {
        let [first, other] = pair else { continue };
        let strangers = [
            ("specs", first.spec != other.spec),
            ("plans", first.trace_digest != other.trace_digest),
            ("salts", first.salt != other.salt),
            ("starts", start(first) != start(other)),
            ("numbers of shards", count(first) != count(other)),
            ("targets", first.client.target != other.client.target),
            (
                "versions of infergate",
                first.client.version != other.client.version,
            ),
        ];
        let names = || (first.id.clone(), other.id.clone());
        if let Some((what, _)) = strangers.into_iter().find(|(_, differ)| *differ) {
            let (first, other) = names();
            return Err(MergeError::Strangers { what, first, other });
        }
        if index(first) == index(other) {
            let index = index(first);
            let (first, other) = names();
            return Err(MergeError::Twice {
                index,
                first,
                other,
            });
        }
        if let Some(what) = apart(first, other) {
            let (first, other) = names();
            return Err(MergeError::Apart { what, first, other });
        }
    }
    if let Some(error) = clocks(&shards) {
        return Err(error);
    }
    let all = shards.first().map_or(0, count).min(1000);
    let missing: Vec<u32> = (1..=all)
        .filter(|wanted| !shards.iter().any(|run| index(run) == *wanted))
        .collect();
    if missing.is_empty() && !shards.is_empty() {
        Ok(shards)
    } else {
        Err(MergeError::Missing {
            missing,
            count: all,
        })
    }
}

/// Two shards whose clocks cannot have shown the same time, by the one that both asked.
fn clocks(shards: &[Run]) -> Option<MergeError> {
    let each = || {
        let stamped = shards
            .iter()
            .filter_map(|run| Some((run, run.shard.as_ref()?.clock?)));
        stamped.collect::<Vec<_>>()
    };
    let ahead = each()
        .into_iter()
        .max_by(|a, b| a.1.least_s.total_cmp(&b.1.least_s))?;
    let behind = each()
        .into_iter()
        .min_by(|a, b| a.1.most_s.total_cmp(&b.1.most_s))?;
    let offset = ahead.1.least_s - behind.1.most_s;
    (offset > OFFSET).then(|| MergeError::Clocks {
        offset: format!("{offset:.1}"),
        ahead: ahead.0.id.clone(),
        behind: behind.0.id.clone(),
    })
}

/// What two shards of one run saw differently of the target, where that may not be.
fn apart(first: &Run, other: &Run) -> Option<String> {
    if first.prompt_calibration != other.prompt_calibration {
        return Some(
            "how many tokens the target makes of a word (`prompt_calibration`)".to_owned(),
        );
    }
    let paths = first.pins.keys().chain(other.pins.keys());
    // A client that runs beside the target sees that machine, and others don't.
    let of_target =
        paths.filter(|path| !["host", "hardware", "network", "client"].contains(&path.group()));
    let mut differing = of_target.filter(|path| {
        let value = |run: &Run| {
            run.pins
                .get(*path)
                .and_then(|pin| pin.value().map(str::to_owned))
        };
        value(first) != value(other)
    });
    if let Some(path) = differing.next() {
        return Some(format!("the pin `{path}`"));
    }
    let windows = |run: &Run| -> Vec<_> {
        let observations = run.shard.iter().flat_map(|shard| &shard.observations);
        observations
            .map(|seen| (seen.window_start, seen.window_end))
            .collect()
    };
    let complete = first.end == RunEnd::Complete && other.end == RunEnd::Complete;
    (complete && windows(first) != windows(other)).then(|| "the windows of their stages".to_owned())
}

/// What all clients together saw of a stage; `in_flight_mean` is that of all their records.
///
/// The window is what all of them measured. Counts are summed; so is the most in flight, which is
/// therefore an upper bound, for the shards' peaks need not fall together. CPU share and loop lag are
/// those of the client that fared worst, and so they are in each slice of the window.
pub fn merge_observations(
    shards: &[&StageObservation],
    in_flight_mean: f64,
) -> Option<StageObservation> {
    let (first, others) = shards.split_first()?;
    let start = others.iter().map(|seen| seen.window_start).max();
    let window_start = start.map_or(first.window_start, |start| start.max(first.window_start));
    let end = others.iter().map(|seen| seen.window_end).min();
    let window_end = end.map_or(first.window_end, |end| end.min(first.window_end));
    let worst = |of: fn(&StageObservation) -> Option<f64>| {
        shards
            .iter()
            .filter_map(|seen| of(seen))
            .max_by(f64::total_cmp)
    };
    let sum = |of: fn(&StageObservation) -> u32| -> u32 {
        shards
            .iter()
            .fold(0, |sum, seen| sum.saturating_add(of(seen)))
    };
    let ended = shards.iter().map(|seen| &seen.end);
    Some(StageObservation {
        window_start,
        window_end: window_end.max(window_start),
        in_flight_mean,
        in_flight_max: sum(|seen| seen.in_flight_max),
        cap_hits: sum(|seen| seen.cap_hits),
        cpu_share: worst(|seen| seen.cpu_share),
        loop_lag_p99: shards.iter().filter_map(|seen| seen.loop_lag_p99).max(),
        connections: shards.iter().map(|seen| seen.connections).sum(),
        bytes: shards.iter().map(|seen| seen.bytes).sum(),
        backlog: sum(|seen| seen.backlog),
        end: ended
            .max_by_key(|end| match end {
                StageEnd::Complete => 0,
                StageEnd::Stopped(_) => 1,
                StageEnd::Interrupted => 2,
                StageEnd::TargetLost { .. } => 3,
            })
            .cloned()
            .unwrap_or(StageEnd::Complete),
        // Each stays apart, for their pieces of the window differ.
        pulses: shards
            .iter()
            .flat_map(|seen| seen.pulses.iter().cloned())
            .collect(),
        // Shards take no part in events.
        events: Vec::new(),
    })
}

/// The run of these shards, in order, by the summaries of their records together. What one client did
/// wrong makes the stage invalid for all.
pub fn merge_runs(shards: &[Run], id: String, mut stages: Vec<StageSummary>) -> Option<Run> {
    let first = shards.first()?;
    for (at, stage) in stages.iter_mut().enumerate() {
        for (run, index) in shards.iter().zip(1..) {
            for reason in run.stages.get(at).iter().flat_map(|stage| &stage.invalid) {
                let reason = Box::new(reason.clone());
                stage.invalid.push(InvalidReason::Shard { index, reason });
            }
        }
    }
    let end = shards
        .iter()
        .map(|run| &run.end)
        .max_by_key(|end| match end {
            RunEnd::Complete => 0,
            RunEnd::Interrupted => 1,
            RunEnd::TargetLost { .. } => 2,
        });
    let elapsed = shards
        .iter()
        .map(|run| run.elapsed_s)
        .max_by(f64::total_cmp);
    Some(Run {
        id,
        elapsed_s: elapsed?,
        end: end?.clone(),
        stages,
        shard: None,
        merged: shards
            .iter()
            .zip(1..)
            .map(|(run, index)| MergedShard {
                index,
                id: run.id.clone(),
                client: run.client.clone(),
                clock: run.shard.as_ref().and_then(|shard| shard.clock),
                health: run
                    .stages
                    .iter()
                    .filter_map(|stage| stage.health.clone())
                    .collect(),
            })
            .collect(),
        ..first.clone()
    })
}
