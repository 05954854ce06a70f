//! Pages that are one file each: styles, a small script and plots inside, nothing fetched.
//!
//! A policy in the page allows its own style and script by their digests and nothing else, so even a text
//! that escaped its escaping would run nothing.

mod comparison;
mod curves;
mod forge;
mod history;
mod page;
mod plots;
mod run;
mod section;
mod table;
#[cfg(test)]
mod tests;

pub use comparison::{comparison, of_file};
pub use forge::{Forge, UnknownForge};
pub use history::{history, index};
pub use run::run;
