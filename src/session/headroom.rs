//! Measures the load client's headroom: short stages against the embedded engine, each with
//! everything on that a real run has, at loads that a search chooses.

use std::path::{Path, PathBuf};

use super::error::MeasureError;
use super::measure::{RunName, Sitting};
use super::target::{RunningTarget, TargetError};
use crate::access::Access;
use crate::diag::Source;
use crate::headroom::{Found, Headroom, Machine, OpenFiles, Pace, Reading, Search};
use crate::load::{CpuAllowance, Stop};
use crate::probe::{cpu_ticks, limits};
use crate::spec::{self, Spec};
use crate::unit::Nanos;

/// Why there is no headroom.
#[derive(Debug, thiserror::Error)]
pub enum HeadroomError {
    /// The embedded engine did not come up.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A trial could not be run.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// Stopped by a signal.
    #[error("interrupted before the headroom was known")]
    Interrupted,
}

/// How thoroughly to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Trials of each search at the most.
    pub trials: u32,
    /// The window of each.
    pub window: Nanos,
}

impl Effort {
    /// About 20 seconds.
    pub const USUAL: Self = Self {
        trials: 9,
        window: Nanos::from_millis(700),
    };
    /// About 8 seconds.
    pub const QUICK: Self = Self {
        trials: 5,
        window: Nanos::from_millis(400),
    };
}

/// Where the trials take place.
#[derive(Debug, Clone)]
pub struct Site {
    /// This binary, which has the engine in it.
    pub program: PathBuf,
    /// A folder for what the trials write, which this makes and removes.
    pub scratch: PathBuf,
    /// A text that no other site has, at least four characters.
    pub unique: String,
    /// When it is, RFC 3339.
    pub now: String,
}

/// A kind of load: its engine, what its loads count, and a stage of it.
struct Kind {
    engine: &'static str,
    pace: Pace,
    output: u32,
    unit: &'static str,
    stage: fn(load: f64, window: Nanos) -> String,
}

/// Requests by the clock, as many as are due; more than a thousand in flight are a backlog.
const REQUESTS: Kind = Kind {
    engine: "null",
    pace: Pace::AtOnce,
    output: 16,
    unit: "requests a second",
    stage: |load, window| {
        format!(
            "{{name: open, open: {{rate: {load}/s, arrivals: poisson}}, duration: {window}, \
             warmup: 200ms, in_flight: 1000, drain_timeout: 1s}}"
        )
    },
};

/// Users who always have one stream open each.
const STREAMS: Kind = Kind {
    engine: "paced",
    pace: Pace::Micros(10_000),
    output: 40,
    unit: "streams",
    stage: |load, window| {
        format!(
            "{{name: closed, closed: {{users: {load}, ramp: 200ms}}, duration: {window}, \
             warmup: 200ms, drain_timeout: 1s}}"
        )
    },
};

/// Measures this machine's headroom; `progress` hears of each trial before it starts.
pub async fn measure_headroom(
    site: &Site,
    effort: Effort,
    stop: &Stop,
    mut progress: impl FnMut(f64, &'static str),
) -> Result<Headroom, HeadroomError> {
    let limits = limits();
    let ticks = cpu_ticks();
    let files = limits.open_files.map_or(u64::MAX, OpenFiles::connections);
    let most_streams = files.min(8192) as f64;
    let _scratch = Scratch(&site.scratch);
    let search = Search::new(10.0, 250.0, 64_000.0, effort.trials);
    let requests = find(&REQUESTS, search, site, effort, stop, &mut progress).await?;
    let search = Search::new(1.0, 64.0, most_streams, effort.trials);
    let streams = find(&STREAMS, search, site, effort, stop, &mut progress).await?;
    let CpuAllowance { cores, quota } = CpuAllowance::of_process();
    Ok(Headroom {
        requests,
        streams,
        machine: Machine {
            cores,
            quota,
            stolen: ticks
                .zip(cpu_ticks())
                .and_then(|(before, after)| before.stolen_until(after)),
            release: !cfg!(debug_assertions),
            ..limits
        },
    })
}

async fn find(
    kind: &Kind,
    mut search: Search,
    site: &Site,
    effort: Effort,
    stop: &Stop,
    progress: &mut impl FnMut(f64, &'static str),
) -> Result<Found, HeadroomError> {
    let engine = RunningTarget::start_sim(&[kind.engine.to_owned()], &site.program).await?;
    let mut found = Found::default();
    let mut number = 0;
    while let Some(load) = search.next() {
        if stop.is_pressed() {
            return Err(HeadroomError::Interrupted);
        }
        let stage = (kind.stage)(load, effort.window);
        progress(load, kind.unit);
        let spec = trial(&engine.bases()[0], kind.output, &stage);
        let name = RunName {
            started: site.now.clone(),
            stamp: format!("{}-{number}", kind.engine),
            unique: site.unique.clone(),
            place: None,
        };
        let mut sitting = Sitting::new(
            spec,
            "doctor".to_owned(),
            site.scratch.clone(),
            Access::default(),
        );
        let measured = sitting
            .measure(&engine, name, true, |_| {}, stop.clone())
            .await?;
        let Some(stage) = measured.run.stages.first() else {
            return Err(HeadroomError::Interrupted);
        };
        let reading = Reading::new(load, kind.pace, stage);
        search.note(load, reading.fits());
        found.take(reading);
        number += 1;
    }
    engine.stop().await;
    Ok(found)
}

/// The spec of one trial.
fn trial(base: &str, output: u32, stage: &str) -> Spec {
    let text = format!(
        "\
infergate: 1
name: doctor
target: {{url: '{base}', api: chat}}
workload:
  seed: 1
  output_length: pinned
  classes:
    - {{name: short, weight: 1, input: 64, output: {output}}}
stages:
  - {stage}
gate:
  cells:
    - {{metric: error_ratio, at_most: 99%}}
"
    );
    let source = Source {
        path: "a trial".to_owned(),
        text,
    };
    match spec::parse(&source, &|_| None, &|_| Err("none".to_owned())) {
        Ok(parsed) => parsed.spec,
        Err(diagnostics) => unreachable!("the trial's spec is right: {diagnostics:?}"),
    }
}

/// A folder that goes away with this value.
pub(super) struct Scratch<'a>(pub(super) &'a Path);

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_load_that_a_search_may_choose_makes_a_valid_trial() {
        let requests = [10.0, 62.0, 250.0, 2828.0, 64_000.0];
        let streams = [1.0, 4.0, 64.0, 91.0, 8192.0];
        for (kind, loads) in [(&REQUESTS, requests), (&STREAMS, streams)] {
            for load in loads {
                for effort in [Effort::USUAL, Effort::QUICK] {
                    let stage = (kind.stage)(load, effort.window);
                    let spec = trial("http://127.0.0.1:1", kind.output, &stage);
                    assert_eq!(spec.stages.len(), 1, "{stage}");
                }
            }
        }
    }
}
