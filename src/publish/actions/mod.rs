//! What a job of GitHub Actions is told: by files that its runner names, and by lines of its log.

mod command;
mod file;

pub use command::{fence, remarks, warning};
pub use file::{outputs, summary};
