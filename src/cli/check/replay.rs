//! What a stage replays, in figures.

use serde::Serialize;

use crate::spec::{Account, Arrival, ReplayRow};
use crate::stats::quantile::quantile;
use crate::unit::scale;

/// A replayed trace in figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::cli) struct TraceSize {
    /// The path as the spec has it.
    pub file: String,
    /// SHA-256 of the file.
    pub digest: String,
    /// What became of its rows.
    pub rows: Account,
    /// Rows that are replayed.
    pub used: u32,
    /// How long they take, from the first on.
    pub span_s: f64,
    /// Requests per second on average.
    pub mean_rate_rps: f64,
    /// Input lengths.
    pub input_tokens: Lengths,
    /// Output lengths.
    pub output_tokens: Lengths,
    /// Share of input tokens that an unlimited prefix cache could save, from the trace's blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ideal_cached_ratio: Option<f64>,
}

/// Percentiles of lengths, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(in crate::cli) struct Lengths {
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

impl TraceSize {
    /// Of an arrival; `None` where it is no trace.
    pub(super) fn of(arrival: &Arrival) -> Option<Self> {
        let Arrival::Trace(replay) = arrival else {
            return None;
        };
        Some(Self {
            file: replay.file.clone(),
            digest: replay.digest.hex(),
            rows: replay.account,
            used: replay.requests(),
            span_s: replay.span.as_secs_f64(),
            mean_rate_rps: replay.mean_rate(),
            input_tokens: Lengths::of(&replay.rows, |row| row.input_tokens),
            output_tokens: Lengths::of(&replay.rows, |row| row.output_tokens),
            ideal_cached_ratio: replay.ideal_cached_share(),
        })
    }

    /// Some lines for people, to follow the stage's name.
    pub(super) fn describe(&self) -> String {
        let Self { rows, used, .. } = self;
        let count = |rows: u32| scale::count(rows.into());
        let left: Vec<String> = [
            (rows.bad, "unreadable"),
            (rows.empty, "without tokens"),
            (rows.outside, "outside the window"),
            (rows.thinned, "thinned out"),
            (rows.beyond_limit, "beyond the limit"),
        ]
        .into_iter()
        .filter(|(rows, _)| *rows > 0)
        .map(|(rows, why)| format!("{} {why}", count(rows)))
        .collect();
        let left = match left.as_slice() {
            [] => String::new(),
            left => format!(" ({})", left.join(", ")),
        };
        let clipped = match rows.clipped {
            0 => String::new(),
            clipped => format!(", {} cut to the model's length", count(clipped)),
        };
        let cached = self.ideal_cached_ratio.map_or(String::new(), |share| {
            format!(
                "  prefix blocks: {:.1} % of input tokens repeat the beginning of an earlier prompt\n",
                share * 100.0
            )
        });
        format!(
            "replays `{}`, {} {}\n  rows: {} of {}{left}{clipped}\n  pace: {} in {}, {:.3}/s on \
             average\n  input tokens: {}\n  output tokens: {}\n{cached}",
            self.file,
            rows.format,
            &self.digest[..12],
            count(*used),
            count(rows.read),
            count(*used),
            scale::elapsed(self.span_s),
            self.mean_rate_rps,
            self.input_tokens.describe(),
            self.output_tokens.describe(),
        )
    }
}

impl Lengths {
    fn of(rows: &[ReplayRow], length: impl Fn(&ReplayRow) -> u32) -> Self {
        let mut lengths: Vec<f64> = rows.iter().map(|row| f64::from(length(row))).collect();
        lengths.sort_unstable_by(f64::total_cmp);
        let at = |q| quantile(&lengths, q).unwrap_or(0.0);
        Self {
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max: at(1.0),
        }
    }

    fn describe(self) -> String {
        let tokens = |length: f64| scale::count(length.round() as u64);
        format!(
            "p50 {}, p95 {}, p99 {}, max {}",
            tokens(self.p50),
            tokens(self.p95),
            tokens(self.p99),
            tokens(self.max)
        )
    }
}
