//! Exact quantiles of a sample that is too large to hold: it is gone through several times.
//!
//! The first pass counts values in buckets by the leading bits of their floating-point form, which order
//! as the values do. A bucket that holds a wanted order statistic is cut finer in the next pass, until
//! the value is the only one left. Two or three passes do for any sample that machines measure; memory
//! depends on the number of buckets and not on that of values.

use std::collections::BTreeMap;

use super::quantile::Rank;

/// Bits of a value's sign and exponent.
const EXPONENT: u32 = 12;
/// Bits of its mantissa.
const MANTISSA: u32 = 64 - EXPONENT;

/// Order statistics of a weighted sample, found over several passes.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Bits of the mantissa that first buckets are told apart by.
    fineness: u32,
    total: u64,
    state: State,
    /// Wanted order statistics that are known, by their index from 0.
    found: BTreeMap<u64, f64>,
}

#[derive(Debug, Clone)]
enum State {
    /// First pass: weights by exponent and first bits of the mantissa.
    Counting(BTreeMap<u64, Box<[u64]>>),
    /// Later passes: only what wanted values may be among, ascending.
    Narrowing(Vec<Interval>),
}

/// Neighbouring values, some of which are wanted.
#[derive(Debug, Clone)]
struct Interval {
    /// What their keys start with.
    prefix: u64,
    /// Bits in which their keys differ.
    bits: u32,
    /// Weight of what is below them.
    below: u64,
    weight: u64,
    /// Indices of the wanted ones, ascending.
    wanted: Vec<u64>,
    /// Bits in which keys of one part differ.
    part_bits: u32,
    parts: BTreeMap<u64, Part>,
}

#[derive(Debug, Clone, Copy)]
struct Part {
    weight: u64,
    lowest: u64,
    highest: u64,
}

impl Selection {
    /// A selection whose first buckets are told apart by so many bits of the mantissa (at most 16): with
    /// 10, a bucket is a thousandth of its values wide, and each power of two that occurs takes 8 KiB.
    pub fn new(fineness: u32) -> Self {
        Self {
            fineness: fineness.min(16),
            total: 0,
            state: State::Counting(BTreeMap::new()),
            found: BTreeMap::new(),
        }
    }

    /// Whether this is the first pass.
    pub const fn is_counting(&self) -> bool {
        matches!(self.state, State::Counting(_))
    }

    /// A value that counts `weight` times; in each pass the same ones, in any order.
    pub fn add(&mut self, value: f64, weight: u64) {
        if weight == 0 {
            return;
        }
        let key = key(value);
        match &mut self.state {
            State::Counting(pages) => {
                self.total += weight;
                let page = pages
                    .entry(key >> MANTISSA)
                    .or_insert_with(|| vec![0; 1 << self.fineness].into_boxed_slice());
                let mantissa = key & ((1 << MANTISSA) - 1);
                page[(mantissa >> (MANTISSA - self.fineness)) as usize] += weight;
            }
            State::Narrowing(intervals) => {
                let after = intervals.partition_point(|interval| interval.first() <= key);
                if let Some(interval) = after.checked_sub(1).map(|at| &mut intervals[at])
                    && interval.holds(key)
                {
                    interval.add(key, weight);
                }
            }
        }
    }

    /// Weight of all values.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Ends the first pass: looks for these quantiles, each with a number of further values that count
    /// as +∞.
    pub fn want(&mut self, quantiles: impl IntoIterator<Item = (f64, u64)>) {
        let State::Counting(pages) = &self.state else {
            return;
        };
        let mut wanted: Vec<u64> = quantiles
            .into_iter()
            .filter_map(|(q, beyond)| Rank::of(self.total + beyond, q))
            .flat_map(|rank| [rank.lower, rank.upper])
            .filter(|&index| index < self.total)
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        let bits = MANTISSA - self.fineness;
        let buckets = pages.iter().flat_map(|(&page, weights)| {
            let first = page << self.fineness;
            let buckets = weights.iter().zip(first..);
            buckets.map(|(&weight, prefix)| (prefix, weight))
        });
        let filled = buckets.filter(|(_, weight)| *weight > 0);
        let (mut below, mut intervals) = (0, Vec::new());
        let mut wanted = wanted.into_iter().peekable();
        for (prefix, weight) in filled {
            let mut here = Vec::new();
            while let Some(index) = wanted.next_if(|&index| index < below + weight) {
                here.push(index);
            }
            if !here.is_empty() {
                intervals.push(Interval::new(prefix, bits, below, weight, here));
            }
            below += weight;
        }
        self.state = State::Narrowing(intervals);
    }

    /// How many intervals the next pass has to cut; none where everything wanted is known.
    pub const fn open(&self) -> usize {
        match &self.state {
            State::Counting(_) => 0,
            State::Narrowing(intervals) => intervals.len(),
        }
    }

    /// Starts the next pass, in which each open interval is cut into 2^`fineness` parts at the most.
    pub fn start_pass(&mut self, fineness: u32) {
        if let State::Narrowing(intervals) = &mut self.state {
            for interval in intervals {
                let all = interval.weight.checked_shr(fineness).unwrap_or(0) == 0;
                interval.part_bits = if all {
                    0
                } else {
                    interval.bits.saturating_sub(fineness.max(1))
                };
            }
        }
    }

    /// Ends that pass: keeps what is found, and narrows down to what is not.
    pub fn end_pass(&mut self) {
        let State::Narrowing(intervals) = &mut self.state else {
            return;
        };
        let mut narrower = Vec::new();
        for interval in std::mem::take(intervals) {
            let mut below = interval.below;
            let mut wanted = interval.wanted.into_iter().peekable();
            for (prefix, part) in interval.parts {
                let mut here = Vec::new();
                while let Some(index) = wanted.next_if(|&index| index < below + part.weight) {
                    here.push(index);
                }
                if part.lowest == part.highest {
                    let value = value(part.lowest);
                    self.found
                        .extend(here.into_iter().map(|index| (index, value)));
                } else if !here.is_empty() {
                    let bits = interval.part_bits;
                    narrower.push(Interval::new(prefix, bits, below, part.weight, here));
                }
                below += part.weight;
            }
        }
        *intervals = narrower;
    }

    /// Quantile `q`, type 7, with `beyond` further values as +∞; `None` where there is no value at all or
    /// it was not wanted.
    pub fn quantile(&self, q: f64, beyond: u64) -> Option<f64> {
        let rank = Rank::of(self.total + beyond, q)?;
        let at = |index: u64| {
            if index < self.total {
                self.found.get(&index).copied()
            } else {
                Some(f64::INFINITY)
            }
        };
        Some(rank.interpolate(at(rank.lower)?, at(rank.upper)?))
    }
}

impl Interval {
    const fn new(prefix: u64, bits: u32, below: u64, weight: u64, wanted: Vec<u64>) -> Self {
        Self {
            prefix,
            bits,
            below,
            weight,
            wanted,
            part_bits: 0,
            parts: BTreeMap::new(),
        }
    }

    const fn first(&self) -> u64 {
        self.prefix << self.bits
    }

    const fn holds(&self, key: u64) -> bool {
        key >> self.bits == self.prefix
    }

    fn add(&mut self, key: u64, weight: u64) {
        let part = self.parts.entry(key >> self.part_bits).or_insert(Part {
            weight: 0,
            lowest: key,
            highest: key,
        });
        part.weight += weight;
        part.lowest = part.lowest.min(key);
        part.highest = part.highest.max(key);
    }
}

/// A value as an integer that orders as [`f64::total_cmp`] does.
const fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 {
        bits | 1 << 63
    } else {
        !bits
    }
}

const fn value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key ^ 1 << 63 } else { !key })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::quantile::{Weighted, weighted_quantile};

    const WANTED: [f64; 6] = [0.0, 0.5, 0.9, 0.95, 0.99, 1.0];

    /// The quantiles and the number of passes that they took.
    fn select(
        sample: &[(f64, u64)],
        beyond: u64,
        fineness: u32,
        parts: u32,
    ) -> (Vec<Option<f64>>, u32) {
        let mut selection = Selection::new(fineness);
        let pass = |selection: &mut Selection| {
            for &(value, weight) in sample {
                selection.add(value, weight);
            }
        };
        pass(&mut selection);
        selection.want(WANTED.map(|q| (q, beyond)));
        let mut passes = 1;
        while selection.open() > 0 {
            selection.start_pass(parts);
            pass(&mut selection);
            selection.end_pass();
            passes += 1;
        }
        let found = WANTED.map(|q| selection.quantile(q, beyond));
        (found.to_vec(), passes)
    }

    fn sorted(sample: &[(f64, u64)], beyond: u64) -> Vec<Option<f64>> {
        let mut all: Vec<Weighted> = sample
            .iter()
            .map(|&(value, weight)| Weighted { value, weight })
            .collect();
        all.sort_by(|a, b| a.value.total_cmp(&b.value));
        all.push(Weighted {
            value: f64::INFINITY,
            weight: beyond,
        });
        WANTED.map(|q| weighted_quantile(&all, q)).to_vec()
    }

    #[test]
    fn keys_order_as_values_do() {
        let values = [
            f64::NEG_INFINITY,
            -2.0,
            -1.5,
            -0.0,
            0.0,
            1e-300,
            0.1,
            1.0,
            f64::INFINITY,
        ];
        assert!(values.is_sorted_by_key(|&v| key(v)));
        for v in values {
            assert_eq!(value(key(v)).to_bits(), v.to_bits());
        }
    }

    #[test]
    fn many_equal_values_are_found_at_once() {
        let sample = [(0.0, 1 << 40), (0.25, 1), (0.25, 3)];
        let (found, passes) = select(&sample, 0, 4, 4);
        assert_eq!(found, sorted(&sample, 0));
        assert_eq!(passes, 2);
    }

    #[test]
    fn a_smooth_sample_takes_two_or_three_passes() {
        let sample: Vec<(f64, u64)> = (0..40_000_u64)
            .map(|i| (0.01 + (i * 7919 % 40_009) as f64 * 1e-7, 1))
            .collect();
        let (found, passes) = select(&sample, 0, 10, 12);
        assert_eq!(found, sorted(&sample, 0));
        assert_eq!(passes, 2);
        let (found, passes) = select(&sample, 0, 6, 6);
        assert_eq!(found, sorted(&sample, 0));
        assert_eq!(passes, 3);
    }

    #[test]
    fn nothing_has_no_quantile() {
        assert_eq!(select(&[], 0, 10, 4).0, [None; 6]);
        assert_eq!(select(&[(1.0, 0)], 0, 10, 4).0, [None; 6]);
        assert_eq!(select(&[], 2, 10, 4).0, [Some(f64::INFINITY); 6]);
    }

    proptest! {
        #[test]
        fn equal_to_sorting_bit_by_bit(
            sample in prop::collection::vec(
                (prop_oneof![0.0..1e-3_f64, 0.0..1e3_f64, Just(0.5), -1.0..1.0_f64], 0..5_u64), 0..80,
            ),
            beyond in 0..9_u64, fineness in 0..12_u32, parts in 0..9_u32,
        ) {
            let bits = |quantiles: Vec<Option<f64>>| -> Vec<Option<u64>> {
                quantiles.into_iter().map(|q| q.map(f64::to_bits)).collect()
            };
            let (found, _) = select(&sample, beyond, fineness, parts);
            prop_assert_eq!(bits(found), bits(sorted(&sample, beyond)));
        }
    }
}
