//! The part of a trace that a stage replays.

use serde::Serialize;

use super::{Row, Trace};
use crate::unit::Nanos;

/// A replayed stretch lasts at least so long, for a trace whose rows all have one instant.
const SHORTEST: Nanos = Nanos::from_secs(1);

/// Which rows, and how fast. Times are the trace's own, before `speed`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Selection {
    /// How many times faster than recorded; above zero.
    pub speed: f64,
    /// Where to start, since the file's first row.
    pub from: Nanos,
    /// How much of it; `None` takes all that follows.
    pub window: Option<Nanos>,
    /// Share of rows that stay, above 0 and at most 1.
    pub keep: f64,
    /// Rows at most.
    pub limit: Option<u32>,
}

/// The rows of a selection.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected {
    /// The rows; their instants are scaled and start at zero.
    pub rows: Vec<Row>,
    /// How long they take, from the first on.
    pub span: Nanos,
    /// Rows before or after the window.
    pub outside: u32,
    /// Rows that thinning took.
    pub thinned: u32,
    /// Rows beyond the limit.
    pub beyond_limit: u32,
}

impl Trace {
    /// Takes the rows of a selection: first the window, then thinning, then the limit. Nothing
    /// where none is left.
    ///
    /// Whether a row stays follows from its number in the file alone, so a row that stays at 25 %
    /// stays at 50 % too. The span ends with the window, or one mean gap after the last row where
    /// trace or limit end before: 4 rows a second apart take 4 s, not 3.
    pub fn select(&self, selection: &Selection) -> Option<Selected> {
        let end = selection.window.map(|window| selection.from + window);
        let inside = |row: &Row| row.at >= selection.from && end.is_none_or(|end| row.at < end);
        let in_window = self.rows.iter().filter(|row| inside(row)).count();
        let kept: Vec<&Row> = self
            .rows
            .iter()
            .filter(|row| inside(row) && lot(row.number) < selection.keep)
            .collect();
        let limit = selection.limit.map_or(usize::MAX, |limit| limit as usize);
        let taken = &kept[..kept.len().min(limit)];
        let (first, last) = (taken.first()?.at, taken.last()?.at);
        let is_whole = taken.len() == kept.len();
        let goes_on = |end: &Nanos| self.rows.last().is_some_and(|row| row.at >= *end);
        let span = if let Some(end) = end.filter(|end| is_whole && goes_on(end)) {
            end.since(first)
        } else {
            let gaps = (taken.len() - 1).max(1) as u64;
            let length = last.since(first);
            length + Nanos::new(length.get() / gaps)
        };
        let scaled = |time: Nanos| {
            let nanos = time.get() as f64 / selection.speed;
            // `as` saturates.
            Nanos::new(nanos.round() as u64)
        };
        let rows = taken.iter().map(|row| Row {
            at: scaled(row.at.since(first)),
            ..(*row).clone()
        });
        Some(Selected {
            rows: rows.collect(),
            span: scaled(span).max(SHORTEST),
            outside: (self.rows.len() - in_window) as u32,
            thinned: (in_window - kept.len()) as u32,
            beyond_limit: (kept.len() - taken.len()) as u32,
        })
    }
}

/// A row's lot in [0, 1): the finaliser of `SplitMix64` (Steele, Lea and Flood, 2014), whose outputs
/// are uniform over consecutive numbers.
fn lot(row: u32) -> f64 {
    let mut z = u64::from(row)
        .wrapping_add(1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    (z >> 11) as f64 / (1_u64 << 53) as f64
}
