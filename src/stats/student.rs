//! Student's t and the normal distribution.

use statrs::distribution::{ContinuousCDF as _, Normal, StudentsT};

/// Above this many degrees of freedom the library's t quantile loses digits (3e-7 at 30,000), and
/// the first term of the Cornish–Fisher expansion round the normal is closer.
const NORMAL_ABOVE: f64 = 10_000.0;

fn distribution(df: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, df.max(f64::MIN_POSITIVE))
        .expect("location 0, scale 1 and positive degrees of freedom are valid")
}

/// P(T ≤ t) with `df` > 0 degrees of freedom. `cdf(-4.2, 14.0)` is 4.452714e-4.
pub fn cdf(t: f64, df: f64) -> f64 {
    if t.is_infinite() {
        return if t > 0.0 { 1.0 } else { 0.0 };
    }
    distribution(df).cdf(t)
}

/// P(T > t) with `df` > 0 degrees of freedom. `sf(2.5, 10.0)` is 0.01572342.
pub fn sf(t: f64, df: f64) -> f64 {
    cdf(-t, df)
}

/// The `t` with P(T ≤ t) = `p`, for `p` within \[0, 1\]. `quantile(0.975, 8.0)` is 2.306004.
pub fn quantile(p: f64, df: f64) -> f64 {
    if df > NORMAL_ABOVE {
        let z = normal_quantile(p);
        return z + (z.powi(3) + z) / (4.0 * df);
    }
    distribution(df).inverse_cdf(p.clamp(0.0, 1.0))
}

/// P(Z ≤ z) of the standard normal. `normal_cdf(1.959964)` is 0.975.
pub fn normal_cdf(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// The `z` with P(Z ≤ z) = `p`, for `p` within \[0, 1\]. `normal_quantile(0.95)` is 1.6448536.
pub fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use statrs::function::{beta::beta_reg, gamma::ln_gamma};

    use super::*;
    use crate::stats::tests::close;

    #[test]
    fn reference_quantiles() {
        for (p, values) in [
            (
                0.95,
                [2.919_986, 2.131_847, 1.859_548, 1.812_461, 1.782_288],
            ),
            (
                0.975,
                [4.302_653, 2.776_445, 2.306_004, 2.228_139, 2.178_813],
            ),
            (
                0.99,
                [6.964_557, 3.746_947, 2.896_459, 2.763_769, 2.680_998],
            ),
            (
                0.995,
                [9.924_843, 4.604_095, 3.355_387, 3.169_273, 3.054_54],
            ),
        ] {
            for (df, expected) in [2.0, 4.0, 8.0, 10.0, 12.0].into_iter().zip(values) {
                close(quantile(p, df), expected);
                close(quantile(1.0 - p, df), -expected);
            }
        }
    }

    #[test]
    fn reference_tails() {
        close(sf(2.5, 10.0), 0.015_723_42);
        close(sf(3.1, 8.0), 0.007_332_88);
        close(sf(1.7, 12.5), 0.056_929_49);
        close(cdf(-4.2, 14.0), 4.452_714e-4);
        assert!((cdf(f64::INFINITY, 3.0) - 1.0).abs() < 1e-15);
        assert!(sf(f64::INFINITY, 3.0).abs() < 1e-15);
    }

    #[test]
    fn reference_special_functions() {
        close(beta_reg(5.0, 0.5, 0.7), 0.065_262_25);
        close(beta_reg(2.5, 0.5, 0.3), 0.018_927_12);
        close(beta_reg(6.0, 0.5, 0.6), 0.015_220_09);
        close(ln_gamma(0.5), 0.572_364_9);
        close(ln_gamma(7.3), 7.147_892_5);
        for (p, z) in [
            (0.9, 1.281_551_6),
            (0.95, 1.644_853_6),
            (0.975, 1.959_964_0),
            (0.99, 2.326_347_9),
            (0.995, 2.575_829_3),
            (0.999, 3.090_232_3),
        ] {
            close(normal_quantile(p), z);
            close(normal_cdf(z), p);
        }
    }

    #[test]
    fn many_degrees_of_freedom_stay_exact() {
        assert!((quantile(0.975, 1_000_000.0) - 1.959_966).abs() < 1e-6);
        assert!((quantile(0.975, 10_000.0) - quantile(0.975, 10_001.0)).abs() < 1e-6);
    }
}
