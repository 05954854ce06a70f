//! What the terminal shows.
