//! Publishing on GitHub, against one on this machine.

mod checks;
mod comments;
mod fake;
mod faults;
mod heads;
mod job;
mod refusals;
