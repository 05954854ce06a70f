//! Bytes to events of the OpenAI-compatible streaming protocol.
