//! The real binary against a real engine: llama.cpp's own server on the CPU, with a tiny model of
//! random weights. Off unless asked for:
//!
//! ```sh
//! tests/engines/setup.sh .engines
//! INFERGATE_ENGINE=.engines cargo test --test real_engine -- --ignored --test-threads 1
//! ```
//!
//! Counts are exact. Times on a shared machine are not, so no test holds them against a threshold:
//! only orders that have to hold on any machine are asserted.

#![allow(clippy::unwrap_used, reason = "tests: a panic is the failure")]
#![allow(
    clippy::print_stdout,
    reason = "what was measured is worth reading, with --nocapture"
)]

mod capacity;
mod compare;
mod engine;
mod failure;
mod gate;
#[cfg(unix)]
mod launch;
mod measure;
mod quality;
#[path = "../it/support.rs"]
#[allow(dead_code, reason = "the end-to-end tests use the rest")]
mod support;
#[path = "../it/valid.rs"]
#[allow(dead_code, reason = "the end-to-end tests use the rest")]
mod valid;
