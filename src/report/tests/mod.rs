//! Snapshots of what people read, and what must hold for any input.

mod capacity;
pub(super) mod chinese;
mod comment;
mod comparison;
mod doctor;
mod engines;
mod explain;
mod files;
pub(super) mod fixture;
mod forged;
pub(super) mod history;
mod hostile;
mod layers;
mod single;
mod spent;
mod template;
