//! The methods that `benches/rivals.rs` measures ours against do what their textbooks say.

#[path = "../benches/rivals/statistics.rs"]
mod statistics;

use statistics::{LEVEL, mann_whitney, prediction_limit, threshold, welch};

#[track_caller]
fn close(got: f64, expected: f64, within: f64) {
    assert!(
        (got - expected).abs() <= within,
        "got {got}, expected {expected}"
    );
}

#[test]
fn welch_agrees_with_students_sleep_data() {
    let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
    let test = welch(&first, &second).unwrap();
    close(test.t, 1.8608, 5e-5);
    close(test.df, 17.776, 5e-4);
    close(2.0 * test.p, 0.079_39, 5e-6);
    assert!(welch(&first[..1], &second).is_none());
    assert!(welch(&[1.0, 1.0], &[1.0, 1.0]).is_none());
}

#[test]
fn mann_whitney_agrees_with_worked_examples() {
    let test = mann_whitney(&[20.0, 11.0, 17.0, 12.0], &[19.0, 22.0, 16.0, 29.0, 24.0]).unwrap();
    close(test.u, 17.0, 1e-12);
    close(2.0 * test.p, 0.111_346_9, 1e-6);
    // Ties of two and of three: var = 9/12 · (7 − (6 + 24)/30) = 4.5, z = (5.5 − 4.5 − .5)/√4.5 = .2357.
    let tied = mann_whitney(&[1.0, 2.0, 2.0], &[2.0, 3.0, 1.0]).unwrap();
    close(tied.u, 5.5, 1e-12);
    close(tied.p, 0.406_83, 5e-5);
    assert!(mann_whitney(&[1.0], &[1.0]).is_none());
    assert!(mann_whitney(&[], &[1.0]).is_none());
}

#[test]
fn the_boundary_is_a_prediction_interval() {
    let history = [101, 103, 99, 100, 104, 98, 102, 100, 97, 101].map(|x| f64::from(x).ln());
    // mean 4.6099472, standard error .0226862, t(.975, 9) = 2.262157
    close(
        prediction_limit(&history).unwrap(),
        4.609_947_2 + 2.262_157 * 0.022_686_2,
        2e-7,
    );
    assert!(prediction_limit(&[1.0]).is_none());
    close(LEVEL, 0.025, 1e-12);
}

#[test]
fn the_threshold_is_one_of_means() {
    let base = [0.0, 0.1];
    assert!(threshold(&base, &[0.2, 0.1], 0.1));
    assert!(!threshold(&base, &[0.1, 0.19], 0.1));
    assert!(!threshold(&base, &[], 0.1));
}
