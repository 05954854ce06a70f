//! Cells to findings and one verdict.

mod model;

pub use model::{
    Advice, CellState, Change, Design, Evidence, Finding, Headline, Judgement, NextLook,
    PinDifference, Reading, Reason, Verdict,
};
