//! What the terminal shows: colours by meaning, and progress while a run is under way.

mod progress;
mod style;

pub use progress::{Mode, Progress, StageProgress};
pub use style::Style;
