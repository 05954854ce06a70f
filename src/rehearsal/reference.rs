//! What an independent implementation of the procedure found, from 20,000 repetitions a row.

use super::{Machine, Model};
use crate::stats::moderated::Evidence;

/// The expected rates of one model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// Share of repetitions in which the first gate regressed.
    pub gate_regression: f64,
    /// … in which it passed.
    pub gate_pass: f64,
    /// … in which it stayed undecided.
    pub gate_undecided: f64,
    /// … in which any gate regressed.
    pub report_fail: f64,
    /// … in which all gates passed.
    pub report_pass: f64,
    /// Mean number of repeats.
    pub repeats: f64,
}

/// Run SD, share of outliers, effect; the shares in [`Expected`]'s order; mean repeats.
type Row = ([f64; 3], [f64; 5], f64);

/// A regression has to be worse than no change, its estimate over the tolerance.
const BEYOND_ZERO: [Row; 30] = [
    ([0.01, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 1.0], 3.0),
    ([0.01, 0.0, 0.5], [0.0, 1.0, 0.0, 0.0, 1.0], 3.01),
    (
        [0.01, 0.0, 1.0],
        [0.7158, 0.0284, 0.2559, 0.7158, 0.0284],
        5.63,
    ),
    ([0.01, 0.0, 1.5], [1.0, 0.0, 0.0, 1.0, 0.0], 3.01),
    ([0.01, 0.0, 2.0], [1.0, 0.0, 0.0, 1.0, 0.0], 3.0),
    ([0.01, 0.03, 0.0], [0.0, 0.994, 0.006, 0.0, 0.9916], 3.7),
    (
        [0.01, 0.03, 0.5],
        [0.0001, 0.932, 0.0679, 0.0001, 0.932],
        3.97,
    ),
    (
        [0.01, 0.03, 1.0],
        [0.698, 0.018, 0.2841, 0.698, 0.018],
        6.13,
    ),
    ([0.01, 0.03, 1.5], [0.997, 0.0, 0.0029, 0.997, 0.0], 3.69),
    ([0.01, 0.03, 2.0], [0.9999, 0.0, 0.0001, 0.9999, 0.0], 3.53),
    ([0.02, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 1.0], 3.03),
    (
        [0.02, 0.0, 0.5],
        [0.0019, 0.9933, 0.0047, 0.0019, 0.9933],
        4.06,
    ),
    (
        [0.02, 0.0, 1.0],
        [0.7158, 0.0284, 0.2558, 0.7158, 0.0284],
        5.63,
    ),
    ([0.02, 0.0, 1.5], [1.0, 0.0, 0.0, 1.0, 0.0], 3.01),
    ([0.02, 0.0, 2.0], [1.0, 0.0, 0.0, 1.0, 0.0], 3.01),
    (
        [0.02, 0.03, 0.0],
        [0.0001, 0.9915, 0.0084, 0.0001, 0.9837],
        3.66,
    ),
    (
        [0.02, 0.03, 0.5],
        [0.0095, 0.9001, 0.0903, 0.0095, 0.9001],
        4.98,
    ),
    (
        [0.02, 0.03, 1.0],
        [0.6975, 0.025, 0.2774, 0.6975, 0.025],
        6.0,
    ),
    (
        [0.02, 0.03, 1.5],
        [0.9958, 0.0001, 0.0042, 0.9958, 0.0001],
        3.57,
    ),
    ([0.02, 0.03, 2.0], [0.9998, 0.0, 0.0003, 0.9998, 0.0], 3.44),
    (
        [0.04, 0.0, 0.0],
        [0.0006, 0.9918, 0.0076, 0.0039, 0.9678],
        6.15,
    ),
    (
        [0.04, 0.0, 0.5],
        [0.0441, 0.5859, 0.37, 0.0463, 0.5826],
        7.88,
    ),
    (
        [0.04, 0.0, 1.0],
        [0.6514, 0.0285, 0.32, 0.6521, 0.0285],
        6.72,
    ),
    (
        [0.04, 0.0, 1.5],
        [0.9978, 0.0001, 0.0022, 0.9978, 0.0001],
        3.72,
    ),
    ([0.04, 0.0, 2.0], [1.0, 0.0, 0.0, 1.0, 0.0], 3.09),
    (
        [0.04, 0.03, 0.0],
        [0.0014, 0.9657, 0.0329, 0.0086, 0.8994],
        6.62,
    ),
    (
        [0.04, 0.03, 0.5],
        [0.0559, 0.5171, 0.427, 0.0602, 0.5101],
        8.06,
    ),
    (
        [0.04, 0.03, 1.0],
        [0.6238, 0.0306, 0.3456, 0.6249, 0.0304],
        7.03,
    ),
    (
        [0.04, 0.03, 1.5],
        [0.9885, 0.0003, 0.0112, 0.9885, 0.0003],
        4.16,
    ),
    ([0.04, 0.03, 2.0], [0.9992, 0.0, 0.0008, 0.9992, 0.0], 3.32),
];

/// A regression has to be worse than the tolerance itself.
const BEYOND_TOLERANCE: [Row; 30] = [
    ([0.01, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 1.0], 3.0),
    ([0.01, 0.0, 0.5], [0.0, 1.0, 0.0, 0.0, 1.0], 3.01),
    (
        [0.01, 0.0, 1.0],
        [0.004, 0.0286, 0.9674, 0.004, 0.0286],
        9.85,
    ),
    ([0.01, 0.0, 1.5], [1.0, 0.0, 0.0, 1.0, 0.0], 3.09),
    ([0.01, 0.0, 2.0], [1.0, 0.0, 0.0, 1.0, 0.0], 3.01),
    ([0.01, 0.03, 0.0], [0.0, 0.994, 0.006, 0.0, 0.9916], 3.7),
    ([0.01, 0.03, 0.5], [0.0, 0.932, 0.068, 0.0, 0.932], 3.97),
    (
        [0.01, 0.03, 1.0],
        [0.0022, 0.0181, 0.9797, 0.0022, 0.0181],
        9.9,
    ),
    ([0.01, 0.03, 1.5], [0.8794, 0.0, 0.1206, 0.8794, 0.0], 4.24),
    ([0.01, 0.03, 2.0], [0.965, 0.0, 0.035, 0.965, 0.0], 3.91),
    ([0.02, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 1.0], 3.03),
    ([0.02, 0.0, 0.5], [0.0, 0.9949, 0.0052, 0.0, 0.9949], 4.08),
    (
        [0.02, 0.0, 1.0],
        [0.004, 0.0287, 0.9674, 0.004, 0.0287],
        9.85,
    ),
    ([0.02, 0.0, 1.5], [0.9409, 0.0, 0.059, 0.9409, 0.0], 6.11),
    ([0.02, 0.0, 2.0], [1.0, 0.0, 0.0, 1.0, 0.0], 3.09),
    ([0.02, 0.03, 0.0], [0.0, 0.9916, 0.0084, 0.0, 0.9838], 3.66),
    ([0.02, 0.03, 0.5], [0.0, 0.9026, 0.0974, 0.0, 0.9026], 5.03),
    (
        [0.02, 0.03, 1.0],
        [0.0027, 0.0253, 0.972, 0.0027, 0.0253],
        9.86,
    ),
    (
        [0.02, 0.03, 1.5],
        [0.7561, 0.0001, 0.2438, 0.7561, 0.0001],
        7.05,
    ),
    ([0.02, 0.03, 2.0], [0.9649, 0.0, 0.0351, 0.9649, 0.0], 3.85),
    ([0.04, 0.0, 0.0], [0.0, 0.9949, 0.0052, 0.0, 0.9702], 6.17),
    (
        [0.04, 0.0, 0.5],
        [0.0001, 0.5897, 0.4103, 0.0001, 0.5863],
        8.15,
    ),
    (
        [0.04, 0.0, 1.0],
        [0.004, 0.0287, 0.9674, 0.004, 0.0287],
        9.86,
    ),
    (
        [0.04, 0.0, 1.5],
        [0.2578, 0.0001, 0.7421, 0.2578, 0.0001],
        9.35,
    ),
    ([0.04, 0.0, 2.0], [0.9409, 0.0, 0.059, 0.9409, 0.0], 6.11),
    ([0.04, 0.03, 0.0], [0.0, 0.9717, 0.0284, 0.0, 0.9023], 6.67),
    (
        [0.04, 0.03, 0.5],
        [0.0001, 0.52, 0.48, 0.0001, 0.5129],
        8.38,
    ),
    (
        [0.04, 0.03, 1.0],
        [0.0037, 0.0307, 0.9655, 0.0037, 0.0306],
        9.84,
    ),
    (
        [0.04, 0.03, 1.5],
        [0.2129, 0.0003, 0.7867, 0.2129, 0.0003],
        9.45,
    ),
    ([0.04, 0.03, 2.0], [0.8638, 0.0, 0.1362, 0.8638, 0.0], 6.66),
];

/// The 60 models whose rates are known: both kinds of evidence, run SDs of 1, 2 and 4 %, outliers none
/// and 3 %, effects of 0 to 2 tolerances.
pub fn reference() -> impl Iterator<Item = (Model, Expected)> {
    let rows = |evidence, rows: &'static [Row]| rows.iter().map(move |row| expected(evidence, row));
    rows(Evidence::BeyondZero, &BEYOND_ZERO)
        .chain(rows(Evidence::BeyondTolerance, &BEYOND_TOLERANCE))
}

fn expected(evidence: Evidence, row: &Row) -> (Model, Expected) {
    let ([run_sd, outliers, effect], shares, repeats) = *row;
    let [
        gate_regression,
        gate_pass,
        gate_undecided,
        report_fail,
        report_pass,
    ] = shares;
    let model = Model {
        machine: Machine {
            run_sd,
            outliers,
            drift: 0.0,
        },
        effect,
        evidence,
        ..Model::default()
    };
    let expected = Expected {
        gate_regression,
        gate_pass,
        gate_undecided,
        report_fail,
        report_pass,
        repeats,
    };
    (model, expected)
}

#[cfg(test)]
mod tests {
    use super::super::{Archive, Setting};
    use super::*;

    #[test]
    fn shares_add_up() {
        let mut rows = 0;
        for (model, expected) in reference() {
            let sum = expected.gate_regression + expected.gate_pass + expected.gate_undecided;
            assert!((sum - 1.0).abs() < 2e-4, "{model:?}");
            assert!(
                expected.report_fail >= expected.gate_regression,
                "{model:?}"
            );
            assert!(expected.report_pass <= expected.gate_pass, "{model:?}");
            rows += 1;
        }
        assert_eq!(rows, 60);
    }

    #[test]
    fn they_are_the_default_model_but_for_what_varies() {
        let (model, _) = reference().next().unwrap();
        assert_eq!(
            model.archive,
            Some(Archive {
                sessions: 10,
                runs: 3
            })
        );
        assert_eq!(model.setting, Setting::Alternating);
    }
}
