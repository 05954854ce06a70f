//! What is looked at beside the load of a stage: the engine's own metrics, and its GPUs.

use super::clock::LookClock;
use super::gpus::GpuWatch;
use super::replicas::Replicas;
use super::watch::Watch;
use crate::load::{LoadEvent, Stop};
use crate::probe::Origin;
use crate::sample::{EngineTrack, StageObservation, WindowLook};
use crate::summary::{
    CacheUsage, ClientCounts, EngineView, GpuView, ReplicaScrapes, ScrapedWindow, StageSummary,
    Window, cache_tokens, engine_view, engine_windows,
};
use crate::unit::Nanos;

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

    /// What tells the engine from one that was started anew; empty where it was not read.
    pub(super) fn engines(&self) -> Vec<EngineTrack> {
        let tracks = |all: &[ReplicaScrapes]| -> Option<Vec<EngineTrack>> {
            all.iter().map(ReplicaScrapes::track).collect()
        };
        let engine = self.engine.as_ref();
        engine
            .and_then(|engine| engine.peek(tracks))
            .unwrap_or_default()
    }

    /// What the metrics say of so many windows of this length, from `from` of the stage's clock on.
    pub(super) fn windows(&self, from: Nanos, length: Nanos, count: usize) -> Vec<WindowLook> {
        let length_s = length.as_secs_f64();
        let window = |index: usize| Window {
            start_s: length_s * index as f64,
            ..Window::default()
        };
        let mut windows: Vec<Window> = (0..count).map(window).collect();
        if let Some(engine) = &self.engine {
            let opened = self.clock.origin() + from;
            let whole_s = length_s * count as f64;
            engine.peek(|all| engine_windows(all, opened, whole_s, &mut windows));
        }
        windows.iter().map(Window::look).collect()
    }

    /// Ends the looks, and puts what they saw into the stage's summary, of a soak window by window after
    /// those that are `kept` from before it was cut off. `shared` is the share of its prompts that a prefix
    /// cache could find.
    pub(super) async fn finish(
        self,
        observation: &StageObservation,
        (usage, counts, shared): (CacheUsage, ClientCounts, Option<f64>),
        kept: Option<&[WindowLook]>,
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
                let mut view = engine_view(&scrapes, window).beside(counts.against(&scrapes));
                if let Some(kept) = kept {
                    let before = kept.len().min(summary.windows.len());
                    let (before, after) = summary.windows.split_at_mut(before);
                    before
                        .iter_mut()
                        .zip(kept)
                        .for_each(|(window, look)| window.take(*look));
                    engine_windows(&scrapes, window.start, length_of(window), after);
                    if !kept.is_empty() {
                        view.caution(format!(
                            "the stage was cut off and went on: these figures are of the last {:.0} s",
                            length_of(window)
                        ));
                    }
                }
                summary.engine = Some(view);
            }
            Err(why) => {
                let why = why.to_owned();
                summary.engine = Some(EngineView::Unknown { why });
            }
        }
    }
}

fn length_of(window: ScrapedWindow) -> f64 {
    window.end.since(window.start).as_secs_f64()
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
