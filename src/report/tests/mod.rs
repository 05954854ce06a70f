//! Snapshots of what people read, and what must hold for any input.

mod comparison;
mod fixture;
mod hostile;
mod single;
