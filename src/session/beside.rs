//! What is looked at beside the load of a stage: the engine's own metrics, and its GPUs.

use super::clock::LookClock;
use super::gpus::GpuWatch;
use super::replicas::Replicas;
use super::watch::Watch;
use crate::load::{LoadEvent, Stop};
use crate::probe::Origin;
use crate::sample::StageObservation;
use crate::summary::{
    CacheUsage, ClientCounts, EngineView, GpuView, StageSummary, cache_tokens, engine_view,
    engine_windows,
};

/// Looks that go on while a stage runs. They end when this is dropped.
#[derive(Debug)]
pub(super) struct Beside {
    clock: LookClock,
    engine: Option<Watch>,
    gpus: Result<GpuWatch, Option<String>>,
}

impl Beside {
    /// Begins to look, and returns when each was looked at once; `None` where it was stopped before.
    pub(super) async fn start(
        replicas: &Replicas,
        origin: &Origin,
        mut stop: Stop,
    ) -> Option<Self> {
        let clock = LookClock::start();
        let looks = async {
            tokio::join!(
                Watch::start(replicas.metrics().cloned().collect(), clock),
                GpuWatch::start(origin, replicas.first(), clock),
            )
        };
        let (engine, gpus) = tokio::select! {
            looks = looks => looks,
            () = stop.pressed() => return None,
        };
        Some(Self {
            clock,
            engine,
            gpus,
        })
    }

    /// Takes note of what the stage tells.
    pub(super) fn hear(&mut self, event: &LoadEvent) {
        self.clock.hear(event);
        if let Some(engine) = &mut self.engine {
            engine.hear(event);
        }
    }

    /// Ends the looks, and puts what they saw into the stage's summary, of a soak window by window. `shared` is the share of its
    /// prompts that a prefix cache could find.
    pub(super) async fn finish(
        self,
        observation: &StageObservation,
        (usage, counts, shared): (CacheUsage, ClientCounts, Option<f64>),
        soak: bool,
        mut stop: Stop,
        summary: &mut StageSummary,
    ) {
        let window = self.clock.window(observation);
        let looks = async {
            tokio::join!(
                async {
                    match self.engine {
                        Some(engine) => Ok(engine.finish().await),
                        None => Err("no thread to read metrics could be had"),
                    }
                },
                async {
                    match self.gpus {
                        Ok(gpus) => Some(gpus.finish(window).await),
                        Err(why) => why.map(|why| GpuView::Unknown { why }),
                    }
                }
            )
        };
        let (scrapes, gpus) = tokio::select! {
            looks = looks => looks,
            () = stop.pressed() => (Err("interrupted"), None),
        };
        summary.gpus = gpus;
        match scrapes {
            Ok(scrapes) => {
                summary.prefix_cache = Some(usage.beside(cache_tokens(&scrapes), shared));
                if soak {
                    let (opened, length_s) = (window.start, summary.window_s);
                    engine_windows(&scrapes, opened, length_s, &mut summary.windows);
                }
                let view = engine_view(&scrapes, window);
                summary.engine = Some(view.beside(counts.against(&scrapes)));
            }
            Err(why) => {
                let why = why.to_owned();
                summary.engine = Some(EngineView::Unknown { why });
            }
        }
    }
}

/// Says why nothing is known of a stage but what its client saw.
pub(super) fn unseen(summary: &mut StageSummary, why: &str) {
    let why = why.to_owned();
    summary.engine = Some(EngineView::Unknown { why: why.clone() });
    summary.gpus = Some(GpuView::Unknown { why });
}

/// Says why nothing is known of a stage of a run that several clients share.
pub(super) fn of_shards(summary: &mut StageSummary) {
    unseen(
        summary,
        "several clients share the run, and its engine and GPUs work for all of them",
    );
}
