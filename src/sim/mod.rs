//! The embedded engine: a real HTTP server with a model of continuous batching behind it.
