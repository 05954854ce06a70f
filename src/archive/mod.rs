//! Runs and records on disk.
