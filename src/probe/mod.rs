//! What the target says about itself.
