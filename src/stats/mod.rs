//! Numbers in, numbers with caveats out; knows no metric.
//!
//! The unit of evidence is a run, not a request: everything here takes one number per run (or per
//! pair of runs) unless its name says otherwise. One method a file:
//!
//! | file | question |
//! |---|---|
//! | [`quantile`] | what is the 95th percentile of these values? |
//! | [`select`] | and of more values than fit in memory? |
//! | [`sum`] | what is their sum, in whatever order they come? |
//! | [`order`] | how far does the sample support a percentile? |
//! | [`histogram`] | a distribution that merges and fits in a file |
//! | [`mser`] | was the warm-up long enough? |
//! | [`effective_sample`] | how many independent values is a series worth? |
//! | [`trend`] | does a series creep up? |
//! | [`change_point`] | where did the level of a series change? |
//! | [`knee`] | at which load does a server give nearly its best? |
//! | [`student`] | Student's t and the normal distribution |
//! | [`noise`] | how much do two runs of the same thing differ? |
//! | [`moderated`] | one look at paired differences, with that noise as prior |
//! | [`stored`] | one look at runs against archived sessions |
//! | [`proportion`] | shares: intervals, overdispersion, test against a limit |
//! | [`multiple`] | many tests at once |
//! | [`sequential`] | look after look: regression, pass, or one more look |

pub mod change_point;
pub mod effective_sample;
pub mod histogram;
pub mod knee;
pub mod moderated;
pub mod mser;
pub mod multiple;
pub mod noise;
pub mod order;
pub mod proportion;
pub mod quantile;
pub mod select;
pub mod sequential;
pub mod stored;
pub mod student;
pub mod sum;
pub mod trend;

/// Arithmetic mean; `None` of nothing. `mean(&[1.0, 2.0, 6.0])` is 3.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Sample variance with n − 1; 0 of fewer than two values.
///
/// `variance(&[1.0, 2.0, 6.0])` is 7.
pub fn variance(values: &[f64]) -> f64 {
    match mean(values) {
        Some(mean) if values.len() > 1 => {
            values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
        }
        _ => 0.0,
    }
}

/// Median, the mean of the two middle values where the count is even; `None` of nothing.
///
/// `median(vec![4.0, 1.0, 2.0, 9.0])` is 3.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    quantile::quantile(&values, 0.5)
}

#[cfg(test)]
mod reference_tests;

#[cfg(test)]
pub(crate) mod tests {
    /// Equal to about seven significant digits, which is what the reference values print.
    #[track_caller]
    pub(crate) fn close(got: f64, expected: f64) {
        let tolerance = 1e-7_f64.max(expected.abs() * 1e-6);
        let tolerance = if expected.abs() < 1e-3 {
            expected.abs() * 1e-5
        } else {
            tolerance
        };
        assert!(
            (got - expected).abs() <= tolerance,
            "got {got}, expected {expected}"
        );
    }
}
