//! Many tests at once: Holm for what gates, Benjamini–Hochberg for what informs.

/// Holm's adjusted p-values, in the order of the input.
///
/// Sorted ascending, `adj₍ᵢ₎ = max_{j ≤ i} min(1, (G − j + 1) p₍ⱼ₎)`. It holds the chance of any
/// false claim among all `G` under every dependence.
/// `[.001, .012, .02, .04, .3]` becomes `[.005, .048, .06, .08, .3]`.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut running = 0.0_f64;
    for (rank, index) in ascending(p).into_iter().enumerate() {
        running = running.max(((p.len() - rank) as f64 * p[index]).min(1.0));
        adjusted[index] = running;
    }
    adjusted
}

/// Benjamini and Hochberg's adjusted p-values, in the order of the input.
///
/// Sorted ascending, `adj₍ᵢ₎ = min_{j ≥ i} min(1, G p₍ⱼ₎ / j)`.
/// `[.001, .012, .02, .04, .3]` becomes `[.005, .03, .0333, .05, .3]`.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut running = 1.0_f64;
    for (rank, index) in ascending(p).into_iter().enumerate().rev() {
        running = running.min(p.len() as f64 * p[index] / (rank + 1) as f64);
        adjusted[index] = running;
    }
    adjusted
}

fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::tests::close;

    const P: [f64; 5] = [0.001, 0.012, 0.02, 0.04, 0.3];

    #[test]
    fn reference_values() {
        for (got, expected) in holm(&P).into_iter().zip([0.005, 0.048, 0.06, 0.08, 0.3]) {
            close(got, expected);
        }
        let bh = [0.005, 0.03, 0.033_333_333, 0.05, 0.3];
        for (got, expected) in benjamini_hochberg(&P).into_iter().zip(bh) {
            close(got, expected);
        }
    }

    proptest! {
        #[test]
        fn holm_is_at_least_raw_and_keeps_the_order(
            p in prop::collection::vec(0.0..=1.0_f64, 0..20),
        ) {
            let adjusted = holm(&p);
            for i in 0..p.len() {
                prop_assert!(p[i] <= adjusted[i] && adjusted[i] <= 1.0);
                for j in 0..p.len() {
                    prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
                }
            }
        }

        #[test]
        fn benjamini_hochberg_lies_between_raw_and_holm(
            p in prop::collection::vec(0.0..=1.0_f64, 0..20),
        ) {
            for ((raw, bh), holm) in p.iter().zip(benjamini_hochberg(&p)).zip(holm(&p)) {
                prop_assert!(*raw <= bh + 1e-12 && bh <= holm + 1e-12);
            }
        }
    }
}
