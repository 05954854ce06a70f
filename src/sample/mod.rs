//! What happened to one request, and the metrics of it.
