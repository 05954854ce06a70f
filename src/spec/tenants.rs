//! Tenants: who a request belongs to.

use std::sync::Arc;

use serde::Serialize;

/// Tenants that share a class's or workload's requests by Zipf's law: tenant *k*, from 1, has a weight
/// of 1 / kˢ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tenants {
    count: u32,
    zipf: f64,
    /// Weights of the first, the first two, and so on.
    #[serde(skip)]
    cumulative: Arc<[f64]>,
}

impl Tenants {
    /// So many tenants, at least one, with the exponent s: 0 gives all the same share, 1 gives the first
    /// of three 6 in 11 requests, the second 3 and the third 2.
    pub fn new(count: u32, zipf: f64) -> Self {
        let cumulative = (1..=count.max(1)).scan(0.0, |total, rank| {
            // `libm` gives the same bits on every machine; std does not.
            *total += libm::pow(f64::from(rank), -zipf);
            Some(*total)
        });
        Self {
            count,
            zipf,
            cumulative: cumulative.collect(),
        }
    }

    /// How many there are.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// The tenant, from 0, at a place of the distribution: `unit` is uniform in [0, 1).
    pub fn at(&self, unit: f64) -> u32 {
        let total = self.cumulative.last().copied().unwrap_or(0.0);
        let place = unit * total;
        let rank = self.cumulative.partition_point(|up_to| *up_to <= place);
        (rank as u32).min(self.count.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_zipfs() {
        let tenants = Tenants::new(3, 1.0);
        // 6, 3 and 2 elevenths.
        let at = |eleventh: f64| tenants.at(eleventh / 11.0);
        assert_eq!(
            [at(0.0), at(5.9), at(6.1), at(8.9), at(9.1), at(10.9)],
            [0, 0, 1, 1, 2, 2]
        );
        let even = Tenants::new(4, 0.0);
        assert_eq!(
            [0.0, 0.3, 0.5, 0.99].map(|unit| even.at(unit)),
            [0, 1, 2, 3]
        );
    }
}
