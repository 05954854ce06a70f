//! Two layers of one service side by side: the engine, and what users reach, the front before it.
//!
//! [`gap`] takes the differences, `attribution` says what they look like: a constant for each
//! request, a price for each token, answers held back, failures of the front's own. Nothing is judged.

mod attribution;
pub mod gap;
pub mod part;

use serde::Serialize;

use crate::metric::{CellMetric, Metric, Quantile};
use crate::spec::Layer;
use crate::summary::{Network, Run, RunEnd, StageSummary};

pub use gap::{Bounds, Gap, Pair};
pub use part::{Across, Part, Tally, Unsure};

/// Format tag of the file: name and major version.
pub const LAYERS_FORMAT: &str = "infergate.layers/1";

/// Both layers of one session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Layers {
    /// [`LAYERS_FORMAT`].
    pub format: &'static str,
    /// The spec's name.
    pub name: String,
    /// The engine's side.
    pub engine: LayerRuns,
    /// The front's side.
    pub front: LayerRuns,
    /// Pairs of whole runs that the figures come from.
    pub pairs: u32,
    /// The stages, in order.
    pub stages: Vec<StageLayers>,
    /// What the stages show together.
    pub across: Vec<Across>,
}

/// The runs of one layer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerRuns {
    /// Where it was.
    pub target: String,
    /// The model that it names, where it names one.
    pub model: Option<String>,
    /// What the way there took before the first run; `None` where nobody measured it.
    pub network: Option<Network>,
    /// Ids of its runs.
    pub runs: Vec<String>,
}

/// One stage on both layers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageLayers {
    /// Its name.
    pub name: String,
    /// Users of a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// Mean rate of an open loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_rps: Option<f64>,
    /// Pairs in which neither layer's stage is invalid.
    pub pairs: u32,
    /// What was measured on both layers, by metric.
    pub figures: Vec<Figure>,
    /// What the gap looks like.
    pub parts: Vec<Part>,
    /// Why that can't be said, or not surely.
    pub unsure: Vec<Unsure>,
}

/// One metric on both layers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// The metric and its statistic, of requests that succeeded.
    #[serde(serialize_with = "as_text")]
    pub metric: CellMetric,
    /// The engine's value; `None` where a layer has none, as of TPOT where answers come whole.
    pub engine: Option<f64>,
    /// The front's.
    pub front: Option<f64>,
    /// What lies between; only where every pair has both.
    pub gap: Option<Gap>,
}

fn as_text<S: serde::Serializer>(metric: &CellMetric, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(metric)
}

/// What a run measured, by its pin; `None` where it does not say.
pub fn layer(run: &Run) -> Option<Layer> {
    let pin = run.pins.iter().find(|(path, _)| path.as_str() == "layer")?;
    let value = pin.1.value()?;
    Layer::ALL.into_iter().find(|layer| layer.name() == value)
}

/// Puts the runs of both layers side by side; `None` where there are not both. Runs of one pair were
/// taken one after the other; a run without a pair, or whose pair has no other, is left out.
pub fn side_by_side(runs: &[Run]) -> Option<Layers> {
    let of = |wanted: Layer| -> Vec<&Run> {
        let layer = runs.iter().filter(|run| layer(run) == Some(wanted));
        layer
            .filter(|run| run.pair.is_some() && run.side.is_none())
            .collect()
    };
    let (engine, front) = (of(Layer::Engine), of(Layer::EndToEnd));
    let (first, other) = (*engine.first()?, *front.first()?);
    let whole = |run: &&&Run| run.end == RunEnd::Complete;
    let pairs: Vec<RunPair<'_>> = engine
        .iter()
        .filter(whole)
        .filter_map(|engine| {
            let mut others = front.iter().filter(whole);
            let front = others.find(|front| front.pair == engine.pair)?;
            Some(RunPair { engine, front })
        })
        .collect();
    let mut names: Vec<&str> = Vec::new();
    for stage in pairs.iter().flat_map(|pair| &pair.engine.stages) {
        if !names.contains(&stage.name.as_str()) {
            names.push(&stage.name);
        }
    }
    let stages: Vec<StageLayers> = names
        .into_iter()
        .filter_map(|name| stage_layers(name, &pairs))
        .collect();
    Some(Layers {
        format: LAYERS_FORMAT,
        name: first.spec.name.clone(),
        engine: layer_runs(first, &engine),
        front: layer_runs(other, &front),
        pairs: pairs.len() as u32,
        across: attribution::across(&stages),
        stages,
    })
}

struct RunPair<'a> {
    engine: &'a Run,
    front: &'a Run,
}

fn layer_runs(first: &Run, runs: &[&Run]) -> LayerRuns {
    let named = |path: &str| {
        let mut pins = first.pins.iter();
        let pin = pins.find(|(pin, _)| pin.as_str() == path)?;
        pin.1.value().map(str::to_owned)
    };
    LayerRuns {
        target: first.client.target.clone(),
        model: named("model.name"),
        network: first.network,
        runs: runs.iter().map(|run| run.id.clone()).collect(),
    }
}

/// A stage as both layers ran it in one pair.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StagePair<'a> {
    pub(crate) engine: &'a StageSummary,
    pub(crate) front: &'a StageSummary,
}

impl StagePair<'_> {
    /// A figure of both, where both have it.
    pub(crate) fn figure(&self, metric: CellMetric) -> Option<Pair> {
        Some(Pair {
            engine: gap::figure(self.engine, metric)?,
            front: gap::figure(self.front, metric)?,
        })
    }
}

fn stage_layers(name: &str, runs: &[RunPair<'_>]) -> Option<StageLayers> {
    fn of<'a>(run: &'a Run, name: &str) -> Option<&'a StageSummary> {
        run.stages.iter().find(|stage| stage.name == name)
    }
    let all: Vec<StagePair<'_>> = runs
        .iter()
        .filter_map(|pair| {
            Some(StagePair {
                engine: of(pair.engine, name)?,
                front: of(pair.front, name)?,
            })
        })
        .collect();
    let first = all.first()?.engine;
    let valid =
        |pair: &&StagePair<'_>| pair.engine.invalid.is_empty() && pair.front.invalid.is_empty();
    let pairs: Vec<StagePair<'_>> = all.iter().filter(valid).copied().collect();
    let figures = shown()
        .into_iter()
        .filter_map(|metric| {
            let side = |values: Vec<Option<f64>>| -> Option<f64> {
                let all: Option<Vec<f64>> = values.into_iter().collect();
                crate::stats::mean(&all?)
            };
            let engine = side(
                pairs
                    .iter()
                    .map(|p| gap::figure(p.engine, metric))
                    .collect(),
            );
            let front = side(pairs.iter().map(|p| gap::figure(p.front, metric)).collect());
            (engine.is_some() || front.is_some()).then(|| Figure {
                metric,
                engine,
                front,
                gap: gap::over(&pairs, metric),
            })
        })
        .collect();
    let mut stage = StageLayers {
        name: name.to_owned(),
        users: first.users,
        rate_rps: first.rate_rps,
        pairs: pairs.len() as u32,
        figures,
        parts: attribution::parts(&pairs),
        unsure: attribution::doubts(&pairs),
    };
    if pairs.len() < all.len() {
        stage.unsure.insert(
            0,
            Unsure::Invalid {
                pairs: (all.len() - pairs.len()) as u32,
            },
        );
    }
    Some(stage)
}

/// What is shown of both layers, in order.
fn shown() -> Vec<CellMetric> {
    const LATENCIES: [(Metric, &[Quantile]); 6] = [
        (Metric::Ttft, &[Quantile::P50, Quantile::P95, Quantile::P99]),
        (Metric::Tpot, &[Quantile::P50, Quantile::P95, Quantile::P99]),
        (Metric::Itl, &[Quantile::P50, Quantile::P95, Quantile::P99]),
        (Metric::ChunkGap, &[Quantile::P50, Quantile::P99]),
        (Metric::MaxStall, &[Quantile::P50]),
        (Metric::E2e, &[Quantile::P50, Quantile::P95, Quantile::P99]),
    ];
    const VALUES: [Metric; 3] = [
        Metric::RequestThroughput,
        Metric::OutputThroughput,
        Metric::ErrorRatio,
    ];
    let latencies = LATENCIES.iter().flat_map(|(metric, quantiles)| {
        quantiles
            .iter()
            .filter_map(|quantile| CellMetric::quantile(*metric, *quantile))
    });
    latencies
        .chain(VALUES.into_iter().filter_map(CellMetric::value))
        .collect()
}

#[cfg(test)]
pub(crate) mod tests;
