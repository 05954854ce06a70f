//! The regression gate for LLM inference.
//!
//! The journey of the data, one module a step:
//!
//! [`spec`] and [`trace`] (YAML, recorded traffic → valid spec) → [`plan`] (spec + seed → every
//! length and instant) → [`probe`] (what is the target?) → [`load`] (send, time, record) →
//! [`sample`] (one request's record and its metrics) → [`summary`] (records → run) → [`archive`]
//! (runs on disk) → [`compare`] (two sides → cells) → [`verdict`] (cells → findings) → [`report`]
//! (findings → text) → [`exit`].
//!
//! The layers and what may import what stand in `ARCHITECTURE.md`; `tests/architecture.rs` checks
//! them.

pub mod access;
pub mod archive;
pub mod baseline;
pub mod bisect;
pub mod capacity;
pub mod checkup;
pub mod cli;
pub mod compare;
pub mod diag;
pub mod diagnosis;
pub mod event;
pub mod exit;
pub mod git;
pub mod headroom;
pub mod history;
pub mod ident;
pub mod importer;
pub mod lang;
pub mod layers;
pub mod load;
pub mod metric;
pub mod plan;
pub mod plot;
pub mod priority;
pub mod probe;
pub mod provenance;
pub mod publish;
pub mod quality;
pub mod rehearsal;
pub mod report;
pub mod sample;
pub mod scaffold;
mod schema;
pub mod session;
pub mod sim;
pub mod spec;
pub mod stats;
pub mod summary;
pub mod term;
pub mod trace;
pub mod unit;
pub mod verdict;
pub mod wire;
