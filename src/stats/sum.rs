//! Sums that depend neither on the order of their values nor on how they were split up.

/// A sum in fixed point: whole multiples of 2⁻⁶⁴, added as integers, up to 2⁶³ either way.
///
/// A value of which less than 2⁻⁶⁴ is lost is exact, and every value at or above 2⁻¹² is. So the sum of
/// some records is the same to the last bit whoever adds them up, in whatever order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExactSum {
    units: i128,
}

/// Units in one.
const SCALE: f64 = 18_446_744_073_709_551_616.0;

impl ExactSum {
    /// Adds a value so many times; one that is not finite is left out.
    pub fn add(&mut self, value: f64, times: u64) {
        if value.is_finite() {
            // `as` saturates.
            let units = (value * SCALE).round() as i128;
            self.units = self
                .units
                .saturating_add(units.saturating_mul(i128::from(times)));
        }
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: Self) {
        self.units = self.units.saturating_add(other.units);
    }

    /// The sum, rounded once.
    ///
    /// 0.1 added ten times is 1, where adding floats gives 0.9999999999999999.
    pub fn value(self) -> f64 {
        self.units as f64 / SCALE
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_tenth_ten_times_is_one() {
        let mut sum = ExactSum::default();
        sum.add(0.1, 7);
        sum.add(0.1, 3);
        assert_eq!(sum.value().to_bits(), 1.0_f64.to_bits());
        sum.add(f64::INFINITY, 1);
        sum.add(f64::NAN, 1);
        sum.add(-0.5, 1);
        assert_eq!(sum.value().to_bits(), 0.5_f64.to_bits());
    }

    #[test]
    fn what_is_too_large_stays_at_the_end() {
        let mut sum = ExactSum::default();
        sum.add(1e300, u64::MAX);
        sum.add(1e300, 1);
        assert!(sum.value() > 9e18);
    }

    proptest! {
        #[test]
        fn neither_order_nor_parts_matter(
            values in prop::collection::vec((-1e3..1e3_f64, 0..9_u64), 0..40), cut in 0..40_usize,
        ) {
            let of = |values: &[(f64, u64)]| {
                let mut sum = ExactSum::default();
                for &(value, times) in values {
                    sum.add(value, times);
                }
                sum
            };
            let whole = of(&values);
            let (left, right) = values.split_at(cut.min(values.len()));
            let mut parts = of(right);
            parts.merge(of(left));
            prop_assert_eq!(parts, whole);
            let expected: f64 = values.iter().map(|&(value, times)| value * times as f64).sum();
            prop_assert!((whole.value() - expected).abs() < 1e-9);
        }
    }
}
