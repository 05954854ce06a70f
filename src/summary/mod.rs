//! Records to the summary of a run.
