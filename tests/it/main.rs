//! Behaviour of the real binary: one module a command, over real sockets, in temporary folders.

#![allow(clippy::unwrap_used, reason = "tests: a panic is the failure")]

mod ab;
mod baseline;
mod calibrate;
mod cases;
mod check;
mod compare;
mod doctor;
mod doctor_servers;
mod front;
mod help;
mod honesty;
mod hostile_files;
mod hostile_servers;
mod init;
#[cfg(unix)]
mod launch;
#[cfg(unix)]
mod pins;
mod proxy;
#[cfg(unix)]
mod resume;
mod run;
mod shards;
#[cfg(unix)]
mod signals;
mod stages;
mod support;
mod target;
mod trace;
mod traffic;
