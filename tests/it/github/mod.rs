//! Publishing on GitHub, against one on this machine.

mod action;
mod checks;
mod comments;
mod elsewhere;
mod fake;
mod faults;
mod fork;
mod gate;
mod heads;
mod job;
mod refusals;
mod suite;
