//! Numbers in, numbers with caveats out; knows no metric.
