//! Findings to text; computes nothing.
