//! Snapshots of what people read, and what must hold for any input.

mod comparison;
mod doctor;
mod engines;
mod explain;
mod fixture;
mod hostile;
mod layers;
mod single;
mod spent;
