//! Latency and throughput over the steps of a sweep, both sides: a chart that GitHub draws, and a table.

use std::fmt::Write as _;

use serde::Serialize;

use crate::lang::{Lang, say};
use crate::metric::Metric;
use crate::summary::Side;
use crate::unit::scale::{self, Unit};

use super::facts::{Facts, StepFigures, sweeps};
use super::span::Text;
use super::words;

/// Fewest steps that a chart is worth.
const STEPS: usize = 3;
/// A limit is drawn where it is at most so many times the highest value.
const TALLEST: f64 = 4.0;
/// Latencies that are drawn; the page draws E2E too.
const DRAWN: [Metric; 2] = [Metric::Ttft, Metric::Tpot];

/// One latency over the steps of one sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SweepView {
    /// What is drawn.
    pub title: Text,
    /// The chart, of both sides.
    pub chart: Chart,
    /// What the SLO is, and whether it is in the chart; `None` where there is none.
    pub slo: Option<Text>,
    /// Its points.
    pub rows: Vec<SweepRow>,
}

/// A chart in Mermaid's language, of nothing but figures and words of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chart {
    mermaid: String,
}

impl Chart {
    /// Of a text of nothing but figures and words of ours.
    pub(super) const fn of(mermaid: String) -> Self {
        Self { mermaid }
    }
}

/// One step of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SweepRow {
    /// The step.
    pub step: Text,
    /// The baseline's latency at its throughput.
    pub baseline: Text,
    /// The candidate's.
    pub candidate: Text,
}

/// A step as both sides measured it.
type Both<'a> = (&'a StepFigures, &'a StepFigures);

/// Of every sweep with at least three steps that both sides have.
pub(super) fn views(facts: &Facts) -> Vec<SweepView> {
    let mut out = Vec::new();
    for sweep in sweeps(facts.steps.iter()) {
        let of = |side| {
            let own = facts.steps.iter();
            own.filter(move |step| step.side == side)
        };
        let both: Vec<Both<'_>> = of(Side::Candidate)
            .filter(|step| step.sweep() == sweep)
            .filter_map(|head| Some((of(Side::Baseline).find(|s| s.stage == head.stage)?, head)))
            .collect();
        let slo = |metric| facts.slo.get(&metric).map_or(&[][..], Vec::as_slice);
        let views = DRAWN.map(|metric| view(&sweep, metric, slo(metric), &both));
        out.extend(views.into_iter().flatten());
    }
    out
}

fn view(sweep: &str, metric: Metric, slo: &[f64], both: &[Both<'_>]) -> Option<SweepView> {
    let measured = |(base, head): &&Both<'_>| {
        base.p95_s.contains_key(&metric) && head.p95_s.contains_key(&metric)
    };
    let both: Vec<&Both<'_>> = both.iter().filter(measured).collect();
    if both.len() < STEPS {
        return None;
    }
    let title = Text::say(say::OVER_STEPS, [words::metric(metric), Text::value(sweep)]);
    let rows = both.iter().map(|(base, head)| SweepRow {
        step: Text::value(&head.stage),
        baseline: point(base, metric),
        candidate: point(head, metric),
    });
    let (chart, shown) = chart(metric, slo, &both)?;
    let told = (!slo.is_empty()).then(|| {
        let limits = slo
            .iter()
            .map(|s| Text::just(scale::value(metric.unit(), *s)));
        let what = if shown { say::SLO_LINE } else { say::SLO_ABOVE };
        Text::say(what, [Text::list(limits)])
    });
    Some(SweepView {
        title,
        rows: rows.collect(),
        chart,
        slo: told,
    })
}

/// `393.6 ms at 7.96 req/s`.
fn point(step: &StepFigures, metric: Metric) -> Text {
    let latency = match p95(step, metric) {
        Some(value) => scale::value(metric.unit(), value),
        None => "∞".to_owned(),
    };
    let rate = scale::value(Unit::RequestsPerSecond, step.completed_rps);
    Text::say(say::AT_RATE, [latency, rate].map(Text::just))
}

fn p95(step: &StepFigures, metric: Metric) -> Option<f64> {
    let value = *step.p95_s.get(&metric)?;
    value.filter(|value| value.is_finite() && *value >= 0.0)
}

/// Grey is the baseline, red the candidate; a line ends at the first step whose p95 is infinite, since the
/// language has no gaps. `None` where a side has no line.
fn chart(metric: Metric, slo: &[f64], both: &[&Both<'_>]) -> Option<(Chart, bool)> {
    let line = |of: fn(&Both<'_>, Metric) -> Option<f64>| -> Vec<f64> {
        let values = both.iter().map(|step| of(step, metric));
        values.map_while(|value| value).collect()
    };
    let sides = [
        line(|(base, _), metric| p95(base, metric)),
        line(|(_, head), metric| p95(head, metric)),
    ];
    if sides.iter().any(Vec::is_empty) {
        return None;
    }
    let measured = sides.iter().flatten().copied().fold(0.0, f64::max);
    // A limit far above would press the lines flat.
    let slo = if slo.iter().all(|limit| *limit <= TALLEST * measured) {
        slo
    } else {
        &[]
    };
    let highest = slo.iter().copied().fold(measured, f64::max);
    let (factor, unit) = if highest < 10.0 {
        (1e3, "ms")
    } else {
        (1.0, "s")
    };
    let numbers = |values: &[f64]| {
        let each = values.iter().map(|value| format!("{:.3}", value * factor));
        each.collect::<Vec<_>>().join(", ")
    };
    // A step's name is somebody's text; its number is one.
    let steps = both.iter().enumerate().map(|(i, (_, head))| {
        let load = head.stage.rsplit_once('@').map_or("", |(_, load)| load);
        let number: Option<f64> = load.parse().ok().filter(|load: &f64| load.is_finite());
        number.map_or_else(
            || format!("\"step {}\"", i + 1),
            |load| format!("\"{load}\""),
        )
    });
    let steps: Vec<String> = steps.collect();
    let amber = ", #bf8700".repeat(slo.len());
    let mut out = format!(
        "%%{{init: {{\"themeVariables\": {{\"xyChart\": {{\"plotColorPalette\": \"#8c959f, #cf222e{amber}\"}}}}}}}}%%\nxychart-beta\n",
    );
    let name = words::name(metric).text(Lang::En);
    let _ = writeln!(out, "  x-axis \"step of the sweep\" [{}]", steps.join(", "));
    let _ = writeln!(
        out,
        "  y-axis \"{name} p95 ({unit})\" 0 --> {:.3}",
        (highest * factor * 1.1).max(0.001)
    );
    for side in &sides {
        let _ = writeln!(out, "  line [{}]", numbers(side));
    }
    for limit in slo {
        let level = vec![*limit; both.len()];
        let _ = writeln!(out, "  line [{}]", numbers(&level));
    }
    Some((Chart { mermaid: out }, !slo.is_empty()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn step(stage: &str, side: Side, p95: Option<f64>) -> StepFigures {
        StepFigures {
            stage: stage.to_owned(),
            side,
            completed_rps: 8.0,
            output_tps: 2400.0,
            p95_s: BTreeMap::from([(Metric::Ttft, p95)]),
        }
    }

    fn facts(stages: [&str; 4], head: [Option<f64>; 4]) -> Facts {
        let base = stages.map(|stage| step(stage, Side::Baseline, Some(0.3)));
        let head = stages.into_iter().zip(head);
        let head = head.map(|(stage, p95)| step(stage, Side::Candidate, p95));
        Facts {
            steps: base.into_iter().chain(head).collect(),
            ..Facts::default()
        }
    }

    #[test]
    fn both_sides_are_lines_over_the_steps() {
        let sweep = ["sweep@2", "sweep@4", "sweep@8", "sweep@16"];
        let views = views(&facts(sweep, [Some(0.31), Some(0.42), Some(0.8), None]));
        assert_eq!(views.len(), 1);
        insta::assert_snapshot!(views[0].chart.mermaid);
        assert_eq!(views[0].rows[3].candidate.plain(), "∞ at 8.00 req/s");
        assert_eq!(super::views(&Facts::default()), []);
    }

    #[test]
    fn the_slo_is_a_line_where_it_leaves_room_for_the_others() {
        let sweep = ["sweep@2", "sweep@4", "sweep@8", "sweep@16"];
        let mut facts = facts(sweep, [Some(0.31), Some(0.42), Some(0.8), None]);
        facts.slo = BTreeMap::from([(Metric::Ttft, vec![1.0])]);
        let near = &views(&facts)[0];
        assert!(near.chart.mermaid.contains("#cf222e, #bf8700\""));
        assert!(
            near.chart
                .mermaid
                .contains("  line [1000.000, 1000.000, 1000.000, 1000.000]\n")
        );
        assert_eq!(
            near.slo.as_ref().unwrap().plain(),
            "The amber line is the SLO, 1000 ms"
        );
        facts.slo = BTreeMap::from([(Metric::Ttft, vec![10.0])]);
        let far = &views(&facts)[0];
        assert_eq!(far.chart.mermaid.matches("  line").count(), 2);
        assert_eq!(
            far.slo.as_ref().unwrap().plain(),
            "The SLO is far above the chart: 10.00 s"
        );
    }

    #[test]
    fn names_never_reach_the_language() {
        let hostile = ["a@1", "a@x\"]\nclick", "a@inf", "a@2"];
        let views = views(&facts(hostile, [Some(0.3); 4]));
        let chart = &views[0].chart.mermaid;
        assert!(
            chart.contains("[\"1\", \"step 2\", \"step 3\", \"2\"]"),
            "{chart}"
        );
        assert!(!chart.contains("click"));
    }
}
