//! The rates of each model for people and for machines.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use crate::rehearsal::{Archive, Estimate, Expected, Model, Rates, Setting, reference};
use crate::stats::moderated::Evidence;
use crate::unit::{Share, scale};

/// Difference of a share from the reference that is more than chance.
const SHARE_BOUND: f64 = 0.012;
/// Difference of the mean number of pairs that is more than chance.
const PAIRS_BOUND: f64 = 0.10;
/// Repetitions from which on the bounds hold.
const FIRM: u64 = 20_000;

/// One model's rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    model: Model,
    rates: Rates,
    expected: Option<Expected>,
}

/// Found by ours, and by the reference where it knows the model.
struct Pair {
    found: f64,
    expected: Option<f64>,
}

impl Pair {
    /// How far apart; 0 where the reference doesn't know the model.
    fn apart(&self) -> f64 {
        self.expected
            .map_or(0.0, |expected| (self.found - expected).abs())
    }

    fn text(&self, digits: usize) -> String {
        let found = format!("{:.digits$}", self.found);
        match self.expected {
            Some(expected) => format!("{found} ({expected:.digits$})"),
            None => found,
        }
    }
}

impl Row {
    pub(super) fn new(model: Model, rates: Rates) -> Self {
        let expected = reference()
            .find(|(known, _)| *known == model)
            .map(|(_, expected)| expected);
        Self {
            model,
            rates,
            expected,
        }
    }

    fn shares(&self) -> [Pair; 5] {
        let pair = |found: Estimate, expected: fn(&Expected) -> f64| Pair {
            found: found.value,
            expected: self.expected.as_ref().map(expected),
        };
        let rates = &self.rates;
        [
            pair(rates.gate_regression(), |it| it.gate_regression),
            pair(rates.gate_pass(), |it| it.gate_pass),
            pair(rates.gate_undecided(), |it| it.gate_undecided),
            pair(rates.report_fail(), |it| it.report_fail),
            pair(rates.report_pass(), |it| it.report_pass),
        ]
    }

    fn pairs(&self) -> Pair {
        Pair {
            found: self.rates.repeats(),
            expected: self.expected.map(|expected| expected.repeats),
        }
    }

    /// The largest difference of a share from the reference.
    fn off(&self) -> f64 {
        self.shares().iter().map(Pair::apart).fold(0.0, f64::max)
    }

    /// Whether the reference's rates are missed by more than chance.
    pub(super) fn is_off(&self) -> bool {
        self.rates.repetitions() >= FIRM
            && (self.off() > SHARE_BOUND || self.pairs().apart() > PAIRS_BOUND)
    }
}

/// All rows as a table for each kind of evidence, and how far they are off the reference.
pub(super) fn text(rows: &[Row]) -> String {
    let mut text = String::new();
    for part in rows.chunk_by(|a, b| a.model.evidence == b.model.evidence) {
        let evidence = match part[0].model.evidence {
            Evidence::BeyondZero => "worse than no change, its estimate over the tolerance",
            Evidence::BeyondTolerance => "worse than the tolerance itself",
        };
        let _ = writeln!(
            text,
            "a regression has to be {evidence}\n\n{}\n",
            table(part)
        );
    }
    if let Some(row) = rows.first() {
        let _ = writeln!(text, "{}", about(&row.model));
        let half = 0.98 / (row.rates.repetitions() as f64).sqrt();
        let _ = writeln!(
            text,
            "{} comparisons a row: each share is known to ±{half:.4} or better (95 %)",
            scale::count(row.rates.repetitions()),
        );
    }
    let known: Vec<&Row> = rows.iter().filter(|row| row.expected.is_some()).collect();
    if !known.is_empty() {
        let off = known.iter().map(|row| row.off()).fold(0.0, f64::max);
        let pairs = known
            .iter()
            .map(|row| row.pairs().apart())
            .fold(0.0, f64::max);
        let missed = rows.iter().filter(|row| row.is_off()).count();
        let judgement = match missed {
            0 => String::new(),
            missed => format!(
                "; more than chance ({SHARE_BOUND} and {PAIRS_BOUND:.2}) in {missed} rows: \
                 this build doesn't decide as it should"
            ),
        };
        let _ = writeln!(
            text,
            "in brackets the reference, from 20,000: off by {off:.4} and {pairs:.2} pairs at most{judgement}",
        );
    }
    text
}

fn about(model: &Model) -> String {
    let percent = |share: f64| Share::Percent(share).to_string();
    let archive = match model.archive {
        Some(Archive { sessions, runs }) => {
            format!("archive of {sessions} sessions of {runs} runs")
        }
        None => "assumed noise".to_owned(),
    };
    let order = match model.setting {
        Setting::Alternating => "in turn",
        Setting::Blocked => "one side after the other",
        Setting::Stored { .. } => "against stored sessions",
    };
    let drift = if model.machine.drift > 0.0 {
        format!(
            ", {} slower with each run",
            percent(model.machine.drift.exp_m1())
        )
    } else {
        String::new()
    };
    format!(
        "{} gates of {}, the first with the effect; {} to {} pairs {order}{drift}; {archive}",
        model.gates,
        percent(model.tolerance),
        model.fewest,
        model.most,
    )
}

fn table(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "run SD",
        "outliers",
        "effect",
        "regresses",
        "passes",
        "undecided",
        "report fails",
        "report passes",
        "pairs",
    ]);
    for row in rows {
        let Model {
            machine, effect, ..
        } = row.model;
        let mut cells = vec![
            Share::Percent(machine.run_sd).to_string(),
            Share::Percent(machine.outliers).to_string(),
            format!("{effect} tol"),
        ];
        cells.extend(row.shares().iter().map(|pair| pair.text(4)));
        cells.push(row.pairs().text(2));
        table.add_row(cells);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((u16::from(index > 0), 1));
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub(super) struct RowsFile {
    /// Always `infergate.model/1`.
    format: &'static str,
    seed: u64,
    rows: Vec<RowEntry>,
}

#[derive(Debug, Serialize)]
struct RowEntry {
    gates: usize,
    tolerance_ratio: f64,
    run_sd: f64,
    outliers_ratio: f64,
    drift: f64,
    effect: f64,
    evidence: &'static str,
    order: &'static str,
    min_pairs: u32,
    max_pairs: u32,
    archive: Option<ArchiveEntry>,
    repetitions: u64,
    gate_regression: ShareEntry,
    gate_pass: ShareEntry,
    gate_undecided: ShareEntry,
    report_fail: ShareEntry,
    report_pass: ShareEntry,
    pairs: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<ExpectedEntry>,
}

#[derive(Debug, Serialize)]
struct ArchiveEntry {
    sessions: u32,
    runs: u32,
}

#[derive(Debug, Serialize)]
struct ShareEntry {
    ratio: f64,
    lower_ratio: f64,
    upper_ratio: f64,
}

#[derive(Debug, Serialize)]
struct ExpectedEntry {
    gate_regression_ratio: f64,
    gate_pass_ratio: f64,
    gate_undecided_ratio: f64,
    report_fail_ratio: f64,
    report_pass_ratio: f64,
    pairs: f64,
}

impl RowsFile {
    pub(super) fn new(rows: &[Row], seed: u64) -> Self {
        Self {
            format: "infergate.model/1",
            seed,
            rows: rows.iter().map(RowEntry::new).collect(),
        }
    }
}

impl RowEntry {
    fn new(row: &Row) -> Self {
        let Row {
            model,
            rates,
            expected,
        } = row;
        Self {
            gates: model.gates.get(),
            tolerance_ratio: model.tolerance,
            run_sd: model.machine.run_sd,
            outliers_ratio: model.machine.outliers,
            drift: model.machine.drift,
            effect: model.effect,
            evidence: match model.evidence {
                Evidence::BeyondZero => "beyond-zero",
                Evidence::BeyondTolerance => "beyond-tolerance",
            },
            order: match model.setting {
                Setting::Alternating => "alternating",
                Setting::Blocked => "blocked",
                Setting::Stored { .. } => "stored",
            },
            min_pairs: model.fewest,
            max_pairs: model.most,
            archive: model
                .archive
                .map(|Archive { sessions, runs }| ArchiveEntry { sessions, runs }),
            repetitions: rates.repetitions(),
            gate_regression: ShareEntry::new(rates.gate_regression()),
            gate_pass: ShareEntry::new(rates.gate_pass()),
            gate_undecided: ShareEntry::new(rates.gate_undecided()),
            report_fail: ShareEntry::new(rates.report_fail()),
            report_pass: ShareEntry::new(rates.report_pass()),
            pairs: rates.repeats(),
            expected: expected.map(|it| ExpectedEntry {
                gate_regression_ratio: it.gate_regression,
                gate_pass_ratio: it.gate_pass,
                gate_undecided_ratio: it.gate_undecided,
                report_fail_ratio: it.report_fail,
                report_pass_ratio: it.report_pass,
                pairs: it.repeats,
            }),
        }
    }
}

impl ShareEntry {
    fn new(share: Estimate) -> Self {
        Self {
            ratio: share.value,
            lower_ratio: share.interval.lower,
            upper_ratio: share.interval.upper,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rehearsal::rates;

    fn rows() -> Vec<Row> {
        let (known, _) = reference().nth(17).unwrap();
        [known, Model { most: 5, ..known }]
            .into_iter()
            .map(|model| Row::new(model, rates(&model, 0..200, 2024)))
            .collect()
    }

    #[test]
    fn a_table_reads_well() {
        insta::assert_snapshot!("rates", text(&rows()));
        insta::assert_json_snapshot!("rates_json", RowsFile::new(&rows(), 2024));
    }

    #[test]
    fn what_misses_the_reference_is_off_but_only_with_enough_repetitions() {
        let (model, _) = reference().last().unwrap();
        let other = Model {
            effect: 0.0,
            ..model
        };
        let few = Row::new(model, rates(&other, 0..100, 1));
        assert!(few.off() > SHARE_BOUND && !few.is_off());
        let mut counts = rates(&other, 0..100, 1);
        for _ in 0..8 {
            let again = counts;
            counts.add(&again);
        }
        assert!(Row::new(model, counts).is_off(), "{}", counts.repetitions());
        assert!(
            !Row::new(
                Model {
                    gates: std::num::NonZeroUsize::MIN,
                    ..model
                },
                counts
            )
            .is_off()
        );
    }
}
