//! Plots as SVG, drawn by ourselves: scales with round ticks, lines, intervals, labels that keep apart.
//!
//! A [`Drawing`] is a list of shapes and texts with known places, so a test can hold that no label
//! covers another and that nothing leaves the view box. Colours are classes of the page's style sheet,
//! and no line or mark is told apart by its colour alone. Knows no metric and reads nothing.

mod drawing;
mod intervals;
mod lines;
mod scale;
#[cfg(test)]
mod tests;

pub use drawing::{Drawing, Svg};
pub use intervals::{Interval, Intervals};
pub use lines::{Axis, Dot, Ground, Line, Lines, Mark, Shape, Write};
pub use scale::{Scale, ticks};
