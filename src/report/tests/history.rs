//! The archive over time as people read it.

use crate::compare::synthetic;
use crate::history::tests::{kept, noise, session, standing};
use crate::history::{Acceptance, History, Standing, assemble};
use crate::metric::Metric;
use crate::report::history::{Page, cell, csv as table, overview};
use crate::report::text::{Line, plain};
use crate::summary::Run;

const PAGE: Page = Page {
    width: 120,
    ascii: false,
    all: false,
    superseded: false,
};

/// A step of 20 % on the 12th day that was accepted, one of 6 % on the 22nd, an anchor, a void
/// session, one for noise, and one in which the target failed.
pub(in crate::report) fn history() -> History {
    let runs: Vec<Vec<Run>> = (0..32)
        .map(|day| {
            let y = [0.0, 0.18, 0.24][[12, 22, 99].iter().filter(|at| **at <= day).count()];
            let mut runs = session(
                day,
                &[y + noise(day), y + noise(day + 50), y + noise(day + 9)],
            );
            for run in &mut runs {
                synthetic::set(run, Metric::E2e, 2.0 * noise(day).exp());
            }
            runs
        })
        .collect();
    let mut runs = runs;
    synthetic::set(&mut runs[27][1], Metric::Ttft, f64::INFINITY);
    let sessions = runs.iter().enumerate().map(|(i, runs)| {
        let mut session = standing(runs);
        session.commit = Some(
            format!("{i:02x}{}", "c0ffee".repeat(7))
                .chars()
                .take(40)
                .collect(),
        );
        match i {
            4 => session.anchor = Some("v1.0".to_owned()),
            12 => session.epoch = Some("vLLM 0.12 is slower and was taken".to_owned()),
            17 => {
                let reason = "the GPU was shared".to_owned();
                session.standing = Standing::Void { reason };
            }
            25 => session.standing = Standing::Noise,
            _ => {}
        }
        session
    });
    let mut environment = kept(sessions.collect());
    environment.accepts.push(Acceptance {
        made: "2026-03-13".to_owned(),
        cells: vec!["steady/ttft.p95".to_owned()],
        reason: "vLLM 0.12 is slower and was taken".to_owned(),
        expires: "2026-06-01".parse().ok(),
    });
    let gated = ["ttft.p95", "e2e.p95", "error_ratio"].map(synthetic::cell);
    assemble("demo", &[environment], &gated, "2026-04-06T12:00:00Z")
}

fn widest(lines: &[Line]) -> usize {
    let widths = lines.iter().map(|line| line.text.chars().count());
    widths.max().unwrap_or(0)
}

#[test]
fn the_overview_reads_well() {
    insta::assert_snapshot!("history_overview", plain(&overview(&history(), PAGE)));
}

#[test]
fn one_cell_is_a_line_a_session() {
    let text = plain(&cell(&history(), "steady/ttft.p95", PAGE));
    insta::assert_snapshot!("history_cell", text);
}

#[test]
fn narrow_and_plain_terminals_are_fitted() {
    let page = Page {
        width: 80,
        ascii: true,
        ..PAGE
    };
    let lines = overview(&history(), page);
    assert!(
        lines.iter().all(|line| line.text.is_ascii()),
        "{}",
        plain(&lines)
    );
    let wide = widest(&overview(&history(), PAGE));
    assert!(wide <= 120, "{wide}");
    let all = overview(&history(), Page { all: true, ..PAGE });
    assert!(all.len() > lines.len());
}

#[test]
fn the_table_has_a_line_for_each_run_and_cell() {
    let history = history();
    let text = table(std::slice::from_ref(&history));
    let track = &history.tracks[0];
    let runs: usize = track
        .series
        .iter()
        .flat_map(|series| &series.points)
        .map(|point| point.runs.len())
        .sum();
    let mut reader = csv_reader(&text);
    let header = reader.headers().unwrap().clone();
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), runs);
    let of = |row: &csv::StringRecord, name: &str| -> String {
        let at = header.iter().position(|column| column == name).unwrap();
        row[at].to_owned()
    };
    let first = rows
        .iter()
        .find(|row| of(row, "cell") == "steady/ttft.p95" && of(row, "session") == "day-012")
        .unwrap();
    assert_eq!(of(first, "unit"), "seconds");
    assert_eq!(of(first, "standing"), "stands");
    let value: f64 = of(first, "value").parse().unwrap();
    let expected = 0.2 * (0.18 + noise(12)).exp();
    assert!((value - expected).abs() < 1e-12, "{value}");
    assert!(of(first, "level_change").parse::<f64>().unwrap() > 0.15);
    let failed = rows
        .iter()
        .find(|row| of(row, "cell") == "steady/ttft.p95" && of(row, "session") == "day-027")
        .unwrap();
    assert_eq!(of(failed, "session_value"), "inf");
    assert_eq!(of(failed, "counts"), "false");
}

fn csv_reader(text: &str) -> csv::Reader<&[u8]> {
    csv::Reader::from_reader(text.as_bytes())
}
