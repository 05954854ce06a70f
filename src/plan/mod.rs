//! Spec and seed to every length, prompt and instant.
