//! Two layers side by side → their view model, and that as text and Markdown.

use serde::Serialize;

use super::engine::{self, Template};
use super::lines::{Line, Page, table};
use super::model::Tone;
use super::parts::{across, part, signed, unsure};
use super::span::Text;
use super::words;
use crate::lang::Lang;
use crate::layers::{Figure, Gap, LayerRuns, Layers, StageLayers};
use crate::metric::{CellMetric, Statistic};
use crate::unit::scale::{self, Unit};

/// Two layers, ready to print.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayersModel {
    /// What was measured.
    pub headline: Text,
    /// Where each layer is, and its runs.
    pub facts: Vec<Text>,
    /// The stages, in order.
    pub stages: Vec<StageGaps>,
    /// What the stages show together.
    pub across: Vec<Text>,
    /// How to read it.
    pub method: Vec<Text>,
}

/// One stage of both layers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StageGaps {
    /// Its name.
    pub name: Text,
    /// Its load.
    pub load: Text,
    /// What the gap looks like.
    pub parts: Vec<Text>,
    /// What keeps that from being sure.
    pub unsure: Vec<Text>,
    /// The figures.
    pub rows: Vec<GapRow>,
}

/// One metric of both layers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GapRow {
    /// The metric and its statistic.
    pub metric: Text,
    /// The engine's value.
    pub engine: Text,
    /// The front's.
    pub front: Text,
    /// Front minus engine, with its interval where there is one.
    pub gap: Text,
    /// The same as a share of the engine's value.
    pub relative: Text,
}

/// The view model. The same layers give the same model.
pub fn build(layers: &Layers) -> LayersModel {
    LayersModel {
        headline: Text::of("Engine and front of ")
            .quoted(&layers.name)
            .words(" side by side: ")
            .figure(scale::count(layers.pairs.into()))
            .words(if layers.pairs == 1 {
                " pair of runs"
            } else {
                " pairs of runs, taken in turn"
            }),
        facts: vec![
            place("Engine (layer ", "engine", &layers.engine),
            place("Front (layer ", "end-to-end", &layers.front),
        ],
        stages: layers.stages.iter().map(stage).collect(),
        across: layers.across.iter().map(across).collect(),
        method: vec![Text::of(
            "gap: front minus engine, mean of the pairs; intervals by Student's t over the pairs' \
             differences, from 3 pairs on; latencies are those of requests that succeeded",
        )],
    }
}

/// For a job summary.
pub fn markdown(model: &LayersModel) -> String {
    engine::render(Template::Layers, Lang::En, model)
}

/// For a terminal.
pub fn text(model: &LayersModel) -> Vec<Line> {
    let mut out = Page::default();
    out.line(Tone::Neutral, model.headline.plain());
    for text in &model.facts {
        out.item(Tone::Faint, text);
    }
    for stage in &model.stages {
        out.gap();
        out.line(
            Tone::Neutral,
            format!("{}: {}", stage.name.plain(), stage.load.plain()),
        );
        for text in &stage.parts {
            out.item(Tone::Neutral, text);
        }
        for text in &stage.unsure {
            out.line(Tone::Unsure, format!("  not sure: {}", text.plain()));
        }
        if stage.rows.is_empty() {
            continue;
        }
        out.gap();
        let mut table = table(
            ["metric", "engine", "front", "gap [95 %]", "of the engine's"],
            &[1, 2, 4],
        );
        for row in &stage.rows {
            table.add_row(
                [
                    &row.metric,
                    &row.engine,
                    &row.front,
                    &row.gap,
                    &row.relative,
                ]
                .map(Text::plain),
            );
        }
        out.table(&table, |_| Tone::Neutral);
    }
    out.gap();
    for text in &model.across {
        out.item(Tone::Neutral, text);
    }
    for text in &model.method {
        out.item(Tone::Faint, text);
    }
    out.lines
}

fn place(words: &'static str, layer: &str, runs: &LayerRuns) -> Text {
    let text = Text::of(words)
        .quoted(layer)
        .words(") at ")
        .quoted(&runs.target);
    let text = match &runs.model {
        Some(model) => text.words(", model ").quoted(model),
        None => text,
    };
    let text = match runs.network {
        Some(network) => {
            let [connect, rtt] = scale::row(Unit::Seconds, [network.connect_s, network.rtt_s]);
            text.words(", connect ")
                .figure(connect)
                .words(", round trip ")
                .figure(rtt)
        }
        None => text,
    };
    let ids = runs.runs.iter().map(|id| Text::value(id));
    text.words(", runs ").then(Text::join(ids, ", "))
}

fn stage(stage: &StageLayers) -> StageGaps {
    let load = match (stage.rate_rps, stage.users) {
        (Some(rate), _) => {
            Text::of("open loop at ").figure(scale::value(Unit::RequestsPerSecond, rate))
        }
        (None, Some(users)) => Text::of("closed loop, users: ").figure(scale::count(users.into())),
        (None, None) => Text::of("load"),
    };
    StageGaps {
        name: Text::value(&stage.name),
        load,
        parts: stage.parts.iter().map(part).collect(),
        unsure: stage.unsure.iter().map(unsure).collect(),
        rows: stage.figures.iter().map(row).collect(),
    }
}

fn row(figure: &Figure) -> GapRow {
    let unit = figure.metric.metric().unit();
    let [engine, front] = scale::row(
        unit,
        [figure.engine, figure.front].map(Option::unwrap_or_default),
    );
    let shown = |value: Option<f64>, text: String| match value {
        Some(_) => Text::just(text),
        None => Text::of("–"),
    };
    let relative = figure.gap.as_ref().and_then(Gap::relative);
    GapRow {
        metric: name(figure.metric),
        engine: shown(figure.engine, engine),
        front: shown(figure.front, front),
        gap: figure.gap.map_or(Text::of("–"), |gap| signed(unit, gap)),
        relative: relative.map_or(Text::of("–"), |share| Text::just(scale::change(share))),
    }
}

fn name(metric: CellMetric) -> Text {
    let text = words::metric(metric.metric());
    match metric.statistic() {
        Statistic::Quantile(q) => text.words(" ").figure(q.to_string()),
        Statistic::Mean => text.words(" mean"),
        Statistic::Value => text,
        Statistic::Task(task) => text.words(" ").quoted(task.as_str()),
    }
}
