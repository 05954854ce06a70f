//! The command line.

pub mod sim;
pub mod check;

use std::process::ExitCode;

use crate::exit::Exit;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    Exit::Usage.into()
}
