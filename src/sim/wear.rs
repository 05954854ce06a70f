//! What gets worse the longer an engine runs.

use crate::unit::Nanos;

/// Memory of an engine when it starts: 4 GiB.
const MEMORY: f64 = 4.0 * 1024.0 * 1024.0 * 1024.0;

/// How an engine wears. The default does not.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Wear {
    /// Memory that it adds in a minute, as a share of what it starts with.
    pub leak_per_min: f64,
    /// Blocks of its KV cache that nothing fits into any more after a minute, as a share of all.
    pub fragmentation_per_min: f64,
}

impl Wear {
    /// Bytes of memory at an instant.
    ///
    /// A leak of 30 % a minute makes 4 GiB 6.4 after two.
    pub fn memory(self, at: Nanos) -> f64 {
        MEMORY * (1.0 + self.leak_per_min * minutes(at))
    }

    /// Blocks that are of no use at an instant, of so many.
    ///
    /// Of 500 blocks 10 % a minute are 100 after two.
    pub fn useless(self, at: Nanos, blocks: usize) -> usize {
        (blocks as f64 * self.fragmentation_per_min * minutes(at)) as usize
    }
}

fn minutes(at: Nanos) -> f64 {
    at.as_secs_f64() / 60.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wear_grows_with_time() {
        let wear = Wear {
            leak_per_min: 0.3,
            fragmentation_per_min: 0.1,
        };
        let two = Nanos::from_secs(120);
        assert!((wear.memory(two) / MEMORY - 1.6).abs() < 1e-12);
        assert_eq!(wear.useless(two, 500), 100);
        assert_eq!(Wear::default().useless(two, 500), 0);
        assert!((Wear::default().memory(two) - MEMORY).abs() < 1.0);
    }
}
