//! `refine` of a sweep: steps around its knee that a run adds by itself.

use serde::Serialize;

use crate::unit::Nanos;

/// How far a sweep is refined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Refine {
    /// Steps that are added at most.
    pub steps: u32,
    /// Time after which none is begun; `None` for as long as it takes.
    pub time: Option<Nanos>,
}

impl Refine {
    /// What `refine: true` stands for: from a grid that doubles, four cuts leave the knee between two
    /// neighbours within 10 %, and two more those above it.
    pub const DEFAULT: Self = Self {
        steps: 6,
        time: None,
    };
}
