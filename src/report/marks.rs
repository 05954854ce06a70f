//! Marks behind percentiles that rest on few values, and what they mean.

use crate::metric::Quantile;

use super::span::Text;

/// Which explanations the tables need.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// A row counts failed requests as infinitely slow.
    pub(super) adjusted: bool,
    coarse: bool,
    maximum: bool,
}

impl Marks {
    /// What to print behind a quantile of n values: it needs 10 of them beyond it, `n (1 − q) ≥ 10`;
    /// with 3 to 10 it is coarse, with fewer it is essentially the largest value.
    ///
    /// p95 of 200 values is supported, of 100 coarse, of 40 the maximum.
    pub(super) fn mark(&mut self, q: Quantile, n: u64) -> &'static str {
        // Rounded, for 200 × (1 − 0.95) is 9.99… in binary.
        let beyond = (n as f64 * (1.0 - q.fraction()) * 1e6).round() / 1e6;
        if beyond >= 10.0 {
            ""
        } else if beyond >= 3.0 {
            self.coarse = true;
            ", coarse"
        } else {
            self.maximum = true;
            ", near max"
        }
    }

    /// The explanation of each mark that was made.
    pub(super) fn texts(&self) -> Vec<Text> {
        let mut out = Vec::new();
        if self.adjusted {
            out.push(Text::of(
                "adjusted: every failed request counts as infinitely slow; gates judge these percentiles",
            ));
        }
        if self.coarse {
            out.push(Text::of(
                "coarse: only 3 to 10 values lie beyond this percentile; it can't gate",
            ));
        }
        if self.maximum {
            out.push(Text::of(
                "near max: fewer than 3 values lie beyond this percentile, so it is essentially the largest value; it can't gate",
            ));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_ten_values_beyond_it() {
        let mut marks = Marks::default();
        assert_eq!(marks.mark(Quantile::P95, 200), "");
        assert_eq!(marks.mark(Quantile::P95, 199), ", coarse");
        assert_eq!(marks.mark(Quantile::P95, 60), ", coarse");
        assert_eq!(marks.mark(Quantile::P95, 59), ", near max");
        assert_eq!(marks.mark(Quantile::P50, 20), "");
        assert_eq!(marks.texts().len(), 2);
    }
}
