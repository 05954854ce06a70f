//! Behaviour of the real binary: one module a command, over real sockets, in temporary folders.

#![allow(clippy::unwrap_used, reason = "tests: a panic is the failure")]

mod ab;
mod archive_branch;
mod archive_faults;
mod archive_size;
mod archive_verbs;
mod archive_versions;
mod baseline;
#[cfg(unix)]
mod bisect;
mod budget;
mod calibrate;
mod capacity;
mod cases;
mod certificate;
mod check;
#[cfg(unix)]
mod cold_start;
mod compare;
#[cfg(unix)]
mod container;
mod doctor;
mod doctor_servers;
mod duckdb;
#[cfg(unix)]
mod events;
#[cfg(unix)]
mod examples;
mod export;
mod front;
mod github;
#[cfg(unix)]
mod gpu;
mod help;
mod history;
mod honesty;
mod hostile_files;
mod hostile_servers;
mod import;
mod init;
#[cfg(unix)]
mod killed;
#[cfg(unix)]
mod launch;
#[cfg(unix)]
mod lock;
mod metrics;
#[cfg(unix)]
mod pins;
mod proxy;
mod quality;
#[cfg(unix)]
mod recipes;
mod resume;
mod run;
mod schema;
mod scripted_history;
mod shards;
#[cfg(unix)]
mod signals;
mod soak;
#[cfg(unix)]
mod soak_resume;
mod stages;
mod suite;
mod support;
mod target;
mod trace;
mod traffic;
mod valid;
mod which_baseline;
