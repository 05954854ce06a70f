//! What the terminal shows: colours by meaning, and progress while a run is under way.

mod progress;
mod style;

pub use progress::{Mode, Progress, StageProgress};
pub use style::Style;

/// Columns of the terminal that standard output is; `None` where it is none.
pub fn columns() -> Option<usize> {
    let (columns, _) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some(usize::from(columns.0))
}
