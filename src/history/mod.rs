//! The archive over time: a series a cell, where its level changed, how far it is from an anchor.
//!
//! A session is one point, the mean of its runs on the scale on which the gate judges them
//! ([`Scale`]). Sessions that could not be compared share no line: those of one environment, workload
//! and set of definitions make a [`Track`]. Judges nothing.

mod assemble;
pub mod instant;
mod kept;
mod scale;
mod series;
#[cfg(test)]
pub(crate) mod tests;
mod track;

pub use assemble::assemble;
pub use kept::{Acceptance, Kept, KeptSession, Standing};
pub use scale::Scale;
pub use series::{Drift, Level, Point, PointValue, RunValue, Series, Shift, Stretch};
pub use track::{FORMAT, History, PinChange, Sitting, Track};
