//! Snapshots of what people read, and what must hold for any input.

mod comparison;
mod doctor;
mod fixture;
mod hostile;
mod single;
