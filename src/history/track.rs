//! Sessions that share a line, and the whole history.

use serde::Serialize;

use super::instant;
use super::kept::{Acceptance, Standing};
use super::series::Series;
use crate::metric::Cell;
use crate::provenance::PinPath;

/// Format tag of the history as JSON.
pub const FORMAT: &str = "infergate.history/1";

/// What the archive holds of a spec, over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct History {
    /// [`FORMAT`].
    pub format: &'static str,
    /// The spec's name.
    pub name: String,
    /// Sessions that share a line: by environment, within it the longest unused first.
    pub tracks: Vec<Track>,
}

/// The sessions of one environment, workload and set of definitions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Track {
    /// The environment's folder.
    pub environment: String,
    /// First digits of the digests of its workload and of its requests.
    pub workload: String,
    /// Tag of the metrics' definitions.
    pub definition: String,
    /// Labels that were selected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub select: Vec<String>,
    /// Whether a later track of this environment took its place.
    pub superseded: bool,
    /// Its sessions, oldest first.
    pub sittings: Vec<Sitting>,
    /// Changes that were accepted in its environment.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepts: Vec<Acceptance>,
    /// Days since its newest session that stands began; `None` without one, or without its instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_days: Option<f64>,
    /// A series a cell: the gated ones in the order of the spec, then all others.
    pub series: Vec<Series>,
}

/// A session as a place on the time axis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sitting {
    /// Its id.
    pub session: String,
    /// When its first run started, as the run file says it.
    pub started: String,
    /// The commit that was measured, in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What it counts for.
    pub standing: Standing,
    /// Why it was promoted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The name under which it is an anchor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// Why a new epoch begins with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<String>,
    /// Pins that are not those of the session before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<PinChange>,
}

/// A pin that changed from one session to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PinChange {
    /// Which pin.
    pub pin: PinPath,
    /// Its value before; `None` where nobody knew.
    pub before: Option<String>,
    /// Its value from here on.
    pub after: Option<String>,
}

impl Sitting {
    /// Whether candidates are compared with it.
    pub fn stands(&self) -> bool {
        self.standing == Standing::Stands
    }

    /// The day it began; its whole text where that is no instant.
    pub fn day(&self) -> String {
        instant::day(&self.started).unwrap_or_else(|| self.started.clone())
    }

    /// The first 9 digits of its commit.
    pub fn short_commit(&self) -> Option<&str> {
        let commit = self.commit.as_deref()?;
        Some(commit.get(..9).unwrap_or(commit))
    }
}

impl Track {
    /// Sessions of one standing.
    pub fn count(&self, of: impl Fn(&Standing) -> bool) -> usize {
        let standings = self.sittings.iter().map(|sitting| &sitting.standing);
        standings.filter(|standing| of(standing)).count()
    }

    /// The series of a cell.
    pub fn find(&self, cell: &str) -> Option<&Series> {
        let mut series = self.series.iter();
        series.find(|series| series.cell.to_string() == cell)
    }

    /// Leaves out all but the newest sessions. What was learnt from the older ones stays learnt: levels
    /// and changes are those of the whole line.
    pub fn keep_newest(&mut self, sessions: usize) {
        let first = self.sittings.len().saturating_sub(sessions);
        self.sittings.drain(..first);
        for series in &mut self.series {
            series.begin_at(first);
        }
    }
}

impl History {
    /// Every cell of the tracks that nothing took the place of, once.
    pub fn cells(&self) -> Vec<&Cell> {
        let mut cells: Vec<&Cell> = Vec::new();
        let current = self.tracks.iter().filter(|track| !track.superseded);
        for series in current.flat_map(|track| &track.series) {
            if !cells.contains(&&series.cell) {
                cells.push(&series.cell);
            }
        }
        cells
    }
}
