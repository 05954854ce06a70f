//! The verdict as OpenMetrics text 1.0: exit code, counts, and both sides of every cell.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::metric::{Kind, Metric};
use crate::unit::scale::Unit;
use crate::verdict::{Change, Finding, Reading};

use super::export::cells::statistic;
use super::export::openmetrics::{family, name, unstamped};
use super::json::ReportFile;

/// Labels of a sample.
type Labels = Vec<(&'static str, String)>;

/// Families of the verdict, then one a metric with both sides of each cell, then changes with their
/// intervals and states; `# EOF` at the end. A reading of failures is `+Inf`; what has no value is left
/// out, and its state says why.
pub fn openmetrics(reports: &[ReportFile]) -> String {
    let mut out = String::new();
    let mut whole = |name: &str, help: &str, of: &dyn Fn(&ReportFile) -> Vec<(Labels, String)>| {
        family(&mut out, name, "gauge", "", help);
        for report in reports {
            for (more, value) in of(report) {
                let mut labels = vec![("spec", report.spec.name.clone())];
                labels.extend(more);
                let _ = writeln!(out, "{}", unstamped(name, &labels, &value));
            }
        }
    };
    whole(
        "infergate_exit_code",
        "How the gate ended: 0 pass, 1 regression, 3 cannot decide, 4 invalid.",
        &|report| vec![(Vec::new(), report.exit_code.to_string())],
    );
    whole(
        "infergate_gated_cells",
        "Gated cells by what became of them.",
        &|report| {
            let counts = report.headline;
            let each = [
                ("regressed", counts.regressed),
                ("unmeasured", counts.unmeasured),
                ("undecided", counts.undecided),
                ("accepted", counts.accepted),
                ("within", counts.passed),
            ];
            let row = |(state, n): (&str, u32)| (vec![("state", state.to_owned())], n.to_string());
            each.into_iter().map(row).collect()
        },
    );
    let mut findings: Vec<(&ReportFile, &Finding)> = Vec::new();
    for report in reports {
        findings.extend(report.findings.iter().map(|finding| (report, finding)));
    }
    for metric in Metric::ALL {
        readings(&mut out, metric, &findings);
    }
    changes(&mut out, &findings);
    states(&mut out, &findings);
    out.push_str("# EOF\n");
    out
}

/// Both sides of the cells of one metric; a cell under two limits once.
fn readings(out: &mut String, metric: Metric, findings: &[(&ReportFile, &Finding)]) {
    let mut lines: Vec<String> = Vec::new();
    let mut told = BTreeSet::new();
    let name = name(metric);
    let of_metric = findings
        .iter()
        .filter(|(_, f)| f.cell.metric.metric() == metric);
    for (report, finding) in of_metric {
        // A pinned release is another baseline; its rows have their change and state below.
        let sides = [
            (
                "baseline",
                finding.baseline.filter(|_| finding.since.is_none()),
            ),
            ("candidate", finding.candidate),
        ];
        for (side, reading) in sides {
            let Some(value) = reading.and_then(|reading| number(reading, metric)) else {
                continue;
            };
            let mut labels = of_cell(report, finding, false);
            labels.push(("side", side.to_owned()));
            let line = unstamped(&name, &labels, &value);
            if told.insert(labels) {
                lines.push(line);
            }
        }
    }
    if !lines.is_empty() {
        family(
            out,
            &name,
            "gauge",
            metric.unit().word(),
            metric.definition(),
        );
        for line in lines {
            let _ = writeln!(out, "{line}");
        }
    }
}

fn number(reading: Reading, metric: Metric) -> Option<String> {
    match reading.value {
        Some(value) if value.is_finite() => Some(value.to_string()),
        Some(_) => None,
        None => (metric.kind() == Kind::Distribution).then(|| "+Inf".to_owned()),
    }
}

fn changes(out: &mut String, findings: &[(&ReportFile, &Finding)]) {
    let name = "infergate_change_ratio";
    let help = "Candidate by baseline, minus one; of proportions their difference. With its 95 % interval.";
    family(out, name, "gauge", Unit::Proportion.word(), help);
    for (report, finding) in findings {
        let Some(
            Change::Ratio {
                estimate,
                low,
                high,
            }
            | Change::Points {
                estimate,
                low,
                high,
            },
        ) = finding.change
        else {
            continue;
        };
        for (of, value) in [("estimate", estimate), ("low", low), ("high", high)] {
            let mut labels = of_cell(report, finding, true);
            labels.push(("of", of.to_owned()));
            if value.is_finite() {
                let _ = writeln!(out, "{}", unstamped(name, &labels, &value.to_string()));
            }
        }
    }
}

fn states(out: &mut String, findings: &[(&ReportFile, &Finding)]) {
    let name = "infergate_cell_broken";
    let help = "1 where a cell is beyond its limit, 0 where it is shown to be within; the label says its state.";
    family(out, name, "gauge", "", help);
    for (report, finding) in findings {
        let value = match finding.state.is_within() {
            Some(false) => "1",
            Some(true) => "0",
            None => "NaN",
        };
        let mut labels = of_cell(report, finding, true);
        labels.push(("gated", finding.gated.to_string()));
        labels.push(("state", finding.state.label().to_owned()));
        let _ = writeln!(out, "{}", unstamped(name, &labels, value));
    }
}

/// What a sample is of; with its limit where a cell may have two.
fn of_cell(report: &ReportFile, finding: &Finding, with_limit: bool) -> Labels {
    let mut labels = vec![
        ("spec", report.spec.name.clone()),
        ("stage", finding.cell.stage.clone().unwrap_or_default()),
        ("class", finding.cell.class.clone().unwrap_or_default()),
    ];
    if with_limit {
        labels.push(("metric", finding.cell.metric.metric().name().to_owned()));
    }
    labels.push(("statistic", statistic(&finding.cell)));
    if with_limit {
        let limit = finding.limit.map_or("", |limit| limit.key());
        labels.push(("limit", limit.to_owned()));
        labels.push(("since", finding.since.clone().unwrap_or_default()));
    }
    labels
}
