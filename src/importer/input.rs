//! Where the bytes of a file come from.

use std::io::{self, Read};

/// A file's bytes, as often as they are asked for.
///
/// A large file is gone through twice rather than held: what it is of shows only at its end.
pub trait Input {
    /// Its bytes from the start.
    ///
    /// # Errors
    ///
    /// Where it can't be read.
    fn open(&self) -> io::Result<Box<dyn Read + '_>>;
}

impl Input for str {
    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.as_bytes()))
    }
}

impl Input for &str {
    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.as_bytes()))
    }
}

impl Input for String {
    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.as_bytes()))
    }
}
