//! `cells`: each line to the cells that it speaks about, with their limits.

use std::collections::BTreeSet;
use std::ops::Range;

use super::import::Imports;
use super::limit;
use super::quality;
use super::stages::Stages;
use super::support::{Place, Supported, implied};
use super::trade;
use super::wholes;
use super::workload::Classes;
use crate::diag::{Diagnostic, suggest};
use crate::metric::{Cell, CellMetric, CellMetricError, Kind, Metric, Quantile};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Shape};
use crate::spec::gate::GateCell;
use crate::spec::limit::Limit;
use crate::spec::model::Workload;
use crate::spec::node::Node;
use crate::spec::stage::Stage;
use crate::spec::values;

const SHAPE: Shape = Shape {
    known: &[
        "metric",
        "stages",
        "classes",
        "worse_by",
        "floor",
        "at_most",
        "at_least",
        "informational",
        "trade",
    ],
    later: &[],
    example: "{metric: ttft.p95, stages: [steady], worse_by: 10%}",
};

/// All lines; `None` where one of them is wrong.
pub(super) fn lower(
    node: &Node,
    classes: &Classes,
    (stages, imports): (&Stages, &Imports),
    out: &mut Diagnostics,
) -> Option<Vec<GateCell>> {
    let lines = values::items(node, "`cells`", SHAPE.example, out)?;
    let mut reader = Reader {
        classes,
        stages,
        imports,
        workload: classes.workload(),
        seen: BTreeSet::new(),
        out,
    };
    let mut cells = Vec::new();
    let mut all = true;
    for line in lines {
        match reader.line(line) {
            Some(more) => cells.extend(more),
            None => all = false,
        }
    }
    all.then_some(cells)
}

struct Reader<'r> {
    classes: &'r Classes,
    stages: &'r Stages,
    imports: &'r Imports,
    workload: Option<Workload>,
    /// Cells that have a limit already, and whether it is a relative one.
    seen: BTreeSet<(Cell, bool)>,
    out: &'r mut Diagnostics,
}

impl<'r> Reader<'r> {
    fn line(&mut self, node: &Node) -> Option<Vec<GateCell>> {
        let fields = Fields::open(node, "a cell", &SHAPE, self.out)?;
        let metric_node = fields.need("metric", "metric: ttft.p95", self.out);
        let metric = metric_node.and_then(|node| metric(node, self.out));
        let informational = fields.or("informational", false, self.out, |node, out| {
            values::boolean(node, "`informational`", "informational: true", out)
        });
        let limits = metric.and_then(|metric| limit::lower(&fields, metric, self.out));
        let trade = fields.optional("trade", self.out, |node, out| {
            trade::lower(node, metric?, limits.as_ref()?, self.stages, out)
        });
        let places = self.places(&fields, metric);
        let classes = self.class_list(&fields);
        let (metric, place) = (metric?, &metric_node?.span);
        let (places, classes) = (places?, classes?);
        let (limits, informational, trade) = (limits?, informational?, trade.ok()?);
        let limit_places: Vec<Range<usize>> = limits
            .iter()
            .map(|limit| {
                let value = fields.get(limit.key(), self.out);
                value.map_or(place, |node| &node.span).clone()
            })
            .collect();

        let mut supported = Supported {
            metric,
            workload: self.workload.as_ref(),
            informational,
            too_few: Vec::new(),
            open: Vec::new(),
            soak: Vec::new(),
        };
        let mut cells: Vec<Cell> = Vec::new();
        for candidate in &places {
            for class in &classes {
                if supported.take(candidate, class.as_deref()) {
                    cells.push(Cell {
                        stage: candidate.stage.map(|stage| name_of(stage, metric)),
                        class: class.clone(),
                        metric,
                    });
                }
            }
        }
        let refused = supported.explain(place, self.out);
        self.check_slo(metric, &classes, place);
        if metric.metric().is_quality() {
            let workload = self.workload.as_ref();
            let asked = (metric, classes.as_slice());
            quality::check_cell(&fields, asked, (workload, self.imports), place, self.out);
        }
        if cells.is_empty() && !refused && self.stages.complete() && self.workload.is_some() {
            self.out.error(
                "spec::no-stage",
                place,
                format!("no stage can carry `{metric}`"),
                "name its stages, or lengthen one: sweeps, ramps, bursts, stages with `gate: false` \
                 and stages with too few requests are left out unless they are named",
            );
            return None;
        }
        let cells: Vec<GateCell> = cells
            .iter()
            .flat_map(|cell| {
                let trade = trade.as_ref().map(|trade| trade.of(cell));
                limits
                    .iter()
                    .zip(&limit_places)
                    .map(move |(&limit, place)| GateCell {
                        cell: cell.clone(),
                        limit,
                        informational,
                        trade: trade
                            .clone()
                            .filter(|_| matches!(limit, Limit::WorseBy { .. })),
                        place: Some(place.clone()),
                    })
            })
            .collect();
        self.check_duplicates(&cells, place);
        Some(cells)
    }

    /// The stages of a line; `None` where one of them is unknown.
    fn places(
        &mut self,
        fields: &Fields<'_>,
        metric: Option<CellMetric>,
    ) -> Option<Vec<Place<'r>>> {
        let stages = self.stages;
        match metric.map(|metric| metric.metric().kind()) {
            Some(Kind::OfRun) => return wholes::of_run(fields, metric?, self.out),
            Some(Kind::OfSweep) => {
                return wholes::of_sweeps(fields, metric?, self.stages, self.out);
            }
            _ => {}
        }
        let Some(node) = fields.get("stages", self.out) else {
            if fields.has("stages") {
                return None;
            }
            if metric?.metric().kind() == Kind::Proportion {
                return Some(vec![Place {
                    stage: None,
                    named: false,
                }]);
            }
            return Some(implied(stages));
        };
        let mut places = Vec::new();
        let mut all = true;
        for item in values::one_or_many(node, "`stages`", self.out) {
            let Some(name) = values::text(item, "`stages`", "stages: [steady]", self.out) else {
                all = false;
                continue;
            };
            let mut known = false;
            for draft in stages.drafts() {
                let whole = draft.name.as_deref() == Some(name);
                // A step of a sweep that could not be read may well be right.
                let unread =
                    draft.steps.is_none() && name.split('@').next() == draft.name.as_deref();
                let before = places.len();
                let steps = draft.steps.iter().flatten();
                places.extend(
                    steps
                        .filter(|step| whole || step.name == name)
                        .map(|step| Place {
                            stage: Some(step),
                            named: true,
                        }),
                );
                known = whole || unread || places.len() > before;
                // A second stage of that name is a mistake of its own.
                if known {
                    break;
                }
            }
            if !known && stages.all_named() {
                let names: Vec<&str> = stages
                    .drafts()
                    .iter()
                    .flat_map(|draft| {
                        let steps = draft.steps.iter().flatten().map(|step| step.name.as_str());
                        let whole = draft
                            .name
                            .as_deref()
                            .filter(|_| draft.sweep || draft.steps.is_none());
                        whole.into_iter().chain(steps)
                    })
                    .collect();
                unknown("stage", item, name, &names, self.out);
                all = false;
            }
        }
        all.then_some(places)
    }

    /// The classes of a line, `None` among them pooling all.
    fn class_list(&mut self, fields: &Fields<'_>) -> Option<Vec<Option<String>>> {
        let Some(node) = fields.get("classes", self.out) else {
            return (!fields.has("classes")).then(|| vec![None]);
        };
        let names: Vec<&str> = self.classes.names().collect();
        if node.scalar().is_some_and(|scalar| scalar.text == "each") {
            return Some(names.iter().map(|name| Some((*name).to_owned())).collect());
        }
        let mut listed = Vec::new();
        let mut all = true;
        for item in values::one_or_many(node, "`classes`", self.out) {
            match values::text(item, "`classes`", "classes: [chat]", self.out) {
                Some(name) if names.contains(&name) || !self.classes.all_named() => {
                    listed.push(Some(name.to_owned()));
                }
                Some(name) => {
                    unknown("class", item, name, &names, self.out);
                    all = false;
                }
                None => all = false,
            }
        }
        all.then_some(listed)
    }

    /// Goodput and attainment speak about limits, so there must be some.
    fn check_slo(&mut self, metric: CellMetric, classes: &[Option<String>], place: &Range<usize>) {
        let of_good = [Metric::Goodput, Metric::MaxGoodput, Metric::Attainment];
        if !of_good.contains(&metric.metric()) {
            return;
        }
        let Some(workload) = &self.workload else {
            return;
        };
        for class in classes {
            let without = workload
                .classes
                .iter()
                .filter(|candidate| {
                    class
                        .as_deref()
                        .is_none_or(|class| candidate.name.as_str() == class)
                })
                .all(|class| class.slo.is_empty());
            if without {
                let who = match class {
                    Some(class) => format!("class `{class}` has none"),
                    None => "no class has one".to_owned(),
                };
                self.out.error(
                    "spec::needs-slo",
                    place,
                    format!("`{metric}` counts requests within their SLO, and {who}"),
                    "give the class one like `slo: {ttft: 500ms, e2e: 60s}`",
                );
            }
        }
    }

    fn check_duplicates(&mut self, cells: &[GateCell], place: &Range<usize>) {
        for cell in cells {
            if !self
                .seen
                .insert((cell.cell.clone(), cell.limit.is_relative()))
            {
                self.out.error(
                    "spec::duplicate-cell",
                    place,
                    format!(
                        "`{}` is limited by `{}` already",
                        cell.cell,
                        cell.limit.key()
                    ),
                    "keep one of the two lines",
                );
            }
        }
    }
}

/// What a cell calls a stage: its name, or that of the sweep that it is a step of.
fn name_of(stage: &Stage, metric: CellMetric) -> String {
    let sweep = stage
        .sweep()
        .filter(|_| metric.metric().kind() == Kind::OfSweep);
    sweep.unwrap_or(&stage.name).to_owned()
}

pub(super) fn metric(node: &Node, out: &mut Diagnostics) -> Option<CellMetric> {
    let text = values::text(node, "`metric`", "ttft.p95", out)?;
    let error = match text.parse::<CellMetric>() {
        Ok(metric) => return Some(metric),
        Err(error) => error,
    };
    let mut diagnostic =
        Diagnostic::error("spec::unknown-metric", error.to_string()).at(node.span.clone());
    let names = || Metric::ALL.into_iter().map(Metric::name);
    diagnostic = match error {
        CellMetricError::UnknownMetric { name } => {
            if let Some(near) = suggest(&name, names()) {
                diagnostic = diagnostic.label(format!("did you mean `{near}`?"));
            }
            diagnostic.help(format!("metrics are {}", fields::list(names())))
        }
        CellMetricError::UnknownStatistic { .. } | CellMetricError::NeedsStatistic { .. } => {
            let standard = Quantile::STANDARD.map(|quantile| quantile.to_string());
            diagnostic.help(format!(
                "usual statistics are {} and `mean`",
                fields::list(standard.iter().map(String::as_str))
            ))
        }
        CellMetricError::NeedsTask => {
            diagnostic.help("the name is one of those under `import` in the spec's `quality`")
        }
        CellMetricError::TakesNoStatistic { metric } => {
            diagnostic.help(format!("write `metric: {metric}`"))
        }
    };
    out.push(diagnostic);
    None
}

pub(super) fn unknown(what: &str, node: &Node, name: &str, names: &[&str], out: &mut Diagnostics) {
    let code = if what == "class" {
        "spec::unknown-class"
    } else {
        "spec::unknown-stage"
    };
    let mut diagnostic = Diagnostic::error(code, format!("there is no {what} {}", node.describe()))
        .at(node.span.clone());
    if let Some(near) = suggest(name, names.iter().copied()) {
        diagnostic = diagnostic.label(format!("did you mean `{near}`?"));
    }
    let plural = if what == "class" { "classes" } else { "stages" };
    out.push(diagnostic.help(format!(
        "{plural} are {}",
        fields::list(names.iter().copied())
    )));
}
