//! The archive over time, for a terminal, a spreadsheet and a browser.

pub(super) mod marks;
mod sparkline;
mod table;
mod text;

pub use table::csv;
pub use text::{Page, cell, overview};
