//! From values to places, with round numbers to mark them.

/// A range over this many times its least value is drawn by logarithms.
const LOG_FROM: f64 = 20.0;

/// From values to places along an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    log: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// Over these values, widened to round numbers, onto the places `from` to `to`.
    ///
    /// Of positive values whose largest is over 20 times the least, distances are those of logarithms.
    /// `zero` takes 0 in where that does not cost more than half of the axis.
    pub fn over(values: &[f64], zero: bool, from: f64, to: f64) -> Self {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let mut low = finite().fold(f64::INFINITY, f64::min);
        let mut high = finite().fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let log = low > 0.0 && high / low > LOG_FROM;
        if log {
            let (floor, ceiling) = (round_down(low), round_up(high));
            return Self {
                low: floor,
                high: ceiling,
                log,
                from,
                to,
            };
        }
        if zero && low > 0.0 && low < high / 2.0 {
            low = 0.0;
        }
        if high - low <= 1e-9 * high.abs().max(1e-300) {
            // One value stands in the middle.
            let half = if high == 0.0 { 0.5 } else { high.abs() / 10.0 };
            (low, high) = (low - half, high + half);
        }
        let step = round_step((high - low) / 5.0);
        Self {
            low: (low / step + 1e-9).floor() * step,
            high: (high / step - 1e-9).ceil() * step,
            log,
            from,
            to,
        }
    }

    /// Evenly spaced places for `0 ..= last`, half a step in from both ends.
    pub fn of_places(last: usize, from: f64, to: f64) -> Self {
        Self {
            low: -0.5,
            high: last as f64 + 0.5,
            log: false,
            from,
            to,
        }
    }

    /// Whether distances are those of logarithms.
    pub const fn is_log(&self) -> bool {
        self.log
    }

    /// The place of a value; beyond the ends it is the end.
    pub fn place(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        let share = if share.is_nan() { 0.0 } else { share };
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Round values along the axis, at most `most`.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        ticks(self.low, self.high, self.log, most)
    }
}

/// Round values from `low` to `high`: steps of 1, 2 or 5 times a power of ten; on a logarithmic axis
/// those numbers themselves, or powers of ten alone.
///
/// From 0 to 1 with at most 6 it is 0, 0.2, 0.4, …, 1; from 1 to 100 by logarithms 1, 2, 5, 10, 20,
/// 50, 100 with at most 7, and 1, 10, 100 with at most 6.
pub fn ticks(low: f64, high: f64, log: bool, most: usize) -> Vec<f64> {
    let most = most.max(2);
    if log {
        for digits in [&[1.0, 2.0, 5.0][..], &[1.0]] {
            let found = decades(low, high, digits);
            if found.len() <= most && found.len() >= 2 {
                return found;
            }
        }
        let powers = decades(low, high, &[1.0]);
        let every = powers.len().div_ceil(most).max(1);
        return powers.into_iter().step_by(every).collect();
    }
    let mut step = round_step((high - low) / most as f64);
    loop {
        let first = (low / step - 1e-9).ceil();
        let last = (high / step + 1e-9).floor();
        let count = (last - first).max(0.0) as usize + 1;
        if count <= most || !step.is_finite() {
            // No negative zero.
            return (0..count)
                .map(|i| (first + i as f64) * step + 0.0)
                .collect();
        }
        step = round_step(step * 1.5);
    }
}

fn decades(low: f64, high: f64, digits: &[f64]) -> Vec<f64> {
    let (from, to) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let mut found = Vec::new();
    for power in from..=to {
        for digit in digits {
            let value = digit * 10_f64.powi(power);
            if value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9) {
                found.push(value);
            }
        }
    }
    found
}

/// The least of 1, 2, 5 × 10ⁿ that is not under a size.
fn round_step(size: f64) -> f64 {
    if !(size > 0.0 && size.is_finite()) {
        return 1.0;
    }
    let power = 10_f64.powf(size.log10().floor());
    let digit = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|digit| digit * power >= size * (1.0 - 1e-9));
    digit.unwrap_or(10.0) * power
}

fn round_up(value: f64) -> f64 {
    round_step(value)
}

fn round_down(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let digit = [5.0, 2.0, 1.0]
        .into_iter()
        .find(|digit| digit * power <= value * (1.0 + 1e-9));
    digit.unwrap_or(1.0) * power
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rounded(values: Vec<f64>) -> Vec<f64> {
        values
            .into_iter()
            .map(|value| (value * 1e9).round() / 1e9)
            .collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(
            rounded(ticks(0.0, 1.0, false, 6)),
            [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        );
        assert_eq!(rounded(ticks(0.0, 1.0, false, 4)), [0.0, 0.5, 1.0]);
        assert_eq!(
            rounded(ticks(-0.1, 0.3, false, 5)),
            [-0.1, 0.0, 0.1, 0.2, 0.3]
        );
        assert_eq!(
            rounded(ticks(1.0, 100.0, true, 7)),
            [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
        );
        assert_eq!(rounded(ticks(1.0, 100.0, true, 6)), [1.0, 10.0, 100.0]);
        assert_eq!(ticks(1e-6, 1e6, true, 5).len(), 5);
    }

    #[test]
    fn a_wide_range_is_logarithmic_and_a_narrow_one_is_not() {
        let wide = Scale::over(&[0.03, 1.0], true, 0.0, 100.0);
        assert!(wide.is_log());
        assert!((wide.place(0.02) - 0.0).abs() < 1e-9, "{wide:?}");
        let narrow = Scale::over(&[0.06, 1.0], true, 0.0, 100.0);
        assert!(!narrow.is_log());
        assert!(narrow.place(0.0).abs() < 1e-9);
        assert!((narrow.place(1.0) - 100.0).abs() < 1e-9);
        let one = Scale::over(&[7.0], true, 0.0, 100.0);
        assert!((one.place(7.0) - 50.0).abs() < 1e-6, "{one:?}");
        assert!(!Scale::over(&[], true, 0.0, 1.0).is_log());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn places_stay_between_the_ends_and_follow_the_values(
            values in prop::collection::vec(-1e9_f64..1e9, 1..30),
            zero: bool,
        ) {
            let scale = Scale::over(&values, zero, 10.0, 90.0);
            let mut sorted = values;
            sorted.sort_unstable_by(f64::total_cmp);
            let places: Vec<f64> = sorted.iter().map(|value| scale.place(*value)).collect();
            prop_assert!(places.iter().all(|place| (10.0..=90.0).contains(place)));
            prop_assert!(places.is_sorted());
            let ticks = scale.ticks(6);
            prop_assert!((1..=6).contains(&ticks.len()), "{ticks:?}");
            prop_assert!(ticks.is_sorted());
        }
    }
}
