//! What a soak's windows show: whether memory creeps up, the same load gets slower, its tail drifts.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::window::Window;
use crate::sample::Pause;
use crate::spec::Soak;
use crate::stats::trend::{Trend, trend_in};

/// Memory that a client may gain without a word: it warms up too, and is small.
const CLIENT_FLOOR: f64 = 64.0 * 1024.0 * 1024.0;
/// Windows below which no trend is looked for.
const LEAST: usize = 8;

/// What a soak stage shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SoakView {
    /// Length of its windows.
    pub window_s: f64,
    /// Whole windows that the trends rest on.
    pub windows: u64,
    /// How much a figure may move over the whole, as a share of its median.
    pub tolerance: f64,
    /// How each figure moves.
    pub trends: BTreeMap<SoakFigure, Course>,
    /// Where it was cut off and went on: windows on either side of a pause are not held against each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<Pause>,
    /// What that means; empty where nothing crept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<SoakFinding>,
}

/// A figure of a soak's windows.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SoakFigure {
    /// Median TTFT.
    TtftP50,
    /// Its 99th percentile.
    TtftP99,
    /// Median TPOT.
    TpotP50,
    /// Output tokens a second.
    OutputThroughput,
    /// Memory of the engine's processes.
    EngineMemory,
    /// Share of the KV cache in use.
    KvUsage,
    /// Blocks of it that can be used.
    KvBlocks,
    /// Preemptions.
    Preemptions,
    /// Memory of the client.
    ClientMemory,
}

impl SoakFigure {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::TtftP50,
        Self::TtftP99,
        Self::TpotP50,
        Self::OutputThroughput,
        Self::EngineMemory,
        Self::KvUsage,
        Self::KvBlocks,
        Self::Preemptions,
        Self::ClientMemory,
    ];

    /// In words.
    pub const fn label(self) -> &'static str {
        match self {
            Self::TtftP50 => "TTFT p50",
            Self::TtftP99 => "TTFT p99",
            Self::TpotP50 => "TPOT p50",
            Self::OutputThroughput => "output throughput",
            Self::EngineMemory => "engine memory",
            Self::KvUsage => "KV cache in use",
            Self::KvBlocks => "usable KV blocks",
            Self::Preemptions => "preemptions",
            Self::ClientMemory => "client memory",
        }
    }

    fn of(self, window: &Window) -> Option<f64> {
        match self {
            Self::TtftP50 => window.ttft_p50_s,
            Self::TtftP99 => window.ttft_p99_s,
            Self::TpotP50 => window.tpot_p50_s,
            Self::OutputThroughput => Some(window.output_tokens as f64),
            Self::EngineMemory => window.engine_memory_bytes,
            Self::KvUsage => window.kv_usage,
            Self::KvBlocks => window.kv_blocks,
            Self::Preemptions => window.preemptions,
            Self::ClientMemory => window.client_memory_bytes,
        }
    }
}

/// How a figure moved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Course {
    /// By Mann and Kendall's test and the slope of Theil and Sen, on batch means.
    Seen {
        /// Batches of windows.
        batches: u64,
        /// What the slope makes of the whole soak, as a share of the median.
        growth: f64,
        /// The slope's 95 % interval, the same way.
        low: f64,
        /// Its upper end.
        high: f64,
        /// What the slope of the last half makes of the whole.
        late_growth: f64,
        /// One-sided p-value against "does not rise".
        p_rising: f64,
        /// One-sided p-value against "does not fall".
        p_falling: f64,
        /// Where it went.
        moved: Moved,
    },
    /// Nobody can tell.
    Absent {
        /// Why.
        why: String,
    },
}

/// Where a figure went, beyond doubt, beyond the tolerance, and to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Moved {
    /// Nowhere.
    Level,
    /// Up.
    Up,
    /// Down.
    Down,
}

/// Something that a soak found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SoakFinding {
    /// What.
    pub code: SoakCode,
    /// The figures that show it.
    pub evidence: Vec<SoakFigure>,
}

/// What a soak can find.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
pub enum SoakCode {
    /// The engine's memory creeps up.
    #[serde(rename = "soak::engine-leak")]
    EngineLeak,
    /// The same load gets slower while the KV cache has less room.
    #[serde(rename = "soak::fragmentation")]
    Fragmentation,
    /// The same load gets slower, and the KV cache does not say why.
    #[serde(rename = "soak::slowdown")]
    Slowdown,
    /// The slowest requests get slower, the usual ones don't.
    #[serde(rename = "soak::tail-drift")]
    TailDrift,
    /// The client's own memory creeps up.
    #[serde(rename = "soak::client-leak")]
    ClientLeak,
}

impl SoakCode {
    /// The code, as run files have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EngineLeak => "soak::engine-leak",
            Self::Fragmentation => "soak::fragmentation",
            Self::Slowdown => "soak::slowdown",
            Self::TailDrift => "soak::tail-drift",
            Self::ClientLeak => "soak::client-leak",
        }
    }

    /// Whether it is the client's fault and not the engine's.
    pub const fn is_clients(self) -> bool {
        matches!(self, Self::ClientLeak)
    }
}

/// What the windows of a soak show. `length_s` is that of the measured window: a last one that is shorter
/// than the others is left out.
pub fn soak_view(soak: Soak, windows: &[Window], length_s: f64, pauses: Vec<Pause>) -> SoakView {
    let window_s = match windows {
        [_, second, ..] => second.start_s,
        _ => length_s,
    };
    let whole = windows
        .iter()
        .filter(|window| window.start_s + window_s <= length_s + 1e-6);
    let whole: Vec<&Window> = whole.collect();
    let mut trends = BTreeMap::new();
    for figure in SoakFigure::ALL {
        let values: Vec<Option<f64>> = whole.iter().map(|window| figure.of(window)).collect();
        trends.insert(figure, course(figure, &values, &pauses, soak.tolerance));
    }
    SoakView {
        window_s,
        windows: whole.len() as u64,
        tolerance: soak.tolerance,
        findings: findings(&trends),
        trends,
        pauses,
    }
}

fn course(figure: SoakFigure, values: &[Option<f64>], pauses: &[Pause], tolerance: f64) -> Course {
    let absent = |why: &str| Course::Absent {
        why: why.to_owned(),
    };
    // A window in which nothing was seen says nothing; half of them say too little.
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    let known_before = |pause: &Pause| {
        let before = values.iter().take(pause.after_windows as usize);
        before.flatten().count()
    };
    let starts: Vec<usize> = pauses.iter().map(known_before).collect();
    if known.len() < LEAST {
        return absent("fewer than 8 windows have it");
    }
    if 2 * known.len() < values.len() {
        return absent("more than half of the windows lack it");
    }
    // Counts that are 0 in most windows have no share to grow by; one more keeps them apart.
    let known: Vec<f64> = match figure {
        SoakFigure::Preemptions => known.iter().map(|count| count + 1.0).collect(),
        _ => known,
    };
    let windows = known.len() as f64;
    let Some(found) = trend_in(&known, &starts) else {
        return absent("its median is 0");
    };
    let share = |slope: f64| slope * windows / found.level;
    // The client began anew after each pause.
    let edges: Vec<usize> = [0].into_iter().chain(starts).chain([known.len()]).collect();
    let gains = edges.windows(2).filter_map(|edge| {
        let block = known.get(edge[0]..edge[1])?;
        Some(block.last()? - block.first()?)
    });
    let gained = gains.fold(0.0, f64::max);
    let small = figure == SoakFigure::ClientMemory && gained < CLIENT_FLOOR;
    Course::Seen {
        batches: found.batches as u64,
        growth: found.growth,
        low: share(found.slope.interval.lower),
        high: share(found.slope.interval.upper),
        late_growth: share(found.late_slope),
        p_rising: found.p_rising,
        p_falling: found.p_falling,
        moved: if small {
            Moved::Level
        } else {
            moved(&found, tolerance)
        },
    }
}

fn moved(found: &Trend, tolerance: f64) -> Moved {
    if found.is_leak(tolerance) {
        Moved::Up
    } else if found.is_decline(tolerance) {
        Moved::Down
    } else {
        Moved::Level
    }
}

fn findings(trends: &BTreeMap<SoakFigure, Course>) -> Vec<SoakFinding> {
    let went = |figure: SoakFigure| match trends.get(&figure) {
        Some(Course::Seen { moved, .. }) => *moved,
        Some(Course::Absent { .. }) | None => Moved::Level,
    };
    let those = |wanted: &[(SoakFigure, Moved)]| -> Vec<SoakFigure> {
        let found = wanted.iter().filter(|(figure, to)| went(*figure) == *to);
        found.map(|(figure, _)| *figure).collect()
    };
    let slower = those(&[
        (SoakFigure::TtftP50, Moved::Up),
        (SoakFigure::TpotP50, Moved::Up),
        (SoakFigure::OutputThroughput, Moved::Down),
    ]);
    let narrower = those(&[
        (SoakFigure::KvBlocks, Moved::Down),
        (SoakFigure::KvUsage, Moved::Up),
        (SoakFigure::Preemptions, Moved::Up),
    ]);
    let mut out = Vec::new();
    let mut found = |code: SoakCode, evidence: Vec<SoakFigure>| {
        if !evidence.is_empty() {
            out.push(SoakFinding { code, evidence });
        }
    };
    found(
        SoakCode::EngineLeak,
        those(&[(SoakFigure::EngineMemory, Moved::Up)]),
    );
    if narrower.is_empty() {
        found(SoakCode::Slowdown, slower);
    } else if !slower.is_empty() {
        found(SoakCode::Fragmentation, [narrower, slower].concat());
    }
    if went(SoakFigure::TtftP50) != Moved::Up {
        found(
            SoakCode::TailDrift,
            those(&[(SoakFigure::TtftP99, Moved::Up)]),
        );
    }
    found(
        SoakCode::ClientLeak,
        those(&[(SoakFigure::ClientMemory, Moved::Up)]),
    );
    out
}
