//! Gaps between tokens: what stretches some of them, and what all.

use super::*;

fn stretch_the_longest_gaps(stage: &mut StageSummary) {
    let gaps = stage.pooled.distributions.get_mut(&Metric::Itl).unwrap();
    for (quantile, value) in &mut gaps.quantiles {
        if quantile.fraction() > 0.9 {
            value.value_s *= 3.0;
        }
    }
}

#[test]
fn gaps_at_the_tail_alone_are_interference() {
    let causes = causes(|stage, _| stretch_the_longest_gaps(stage));
    assert_eq!(causes, [Cause::Interference]);
}

#[test]
fn a_longer_way_scatters_the_gaps_too() {
    let causes = causes(|stage, _| {
        scale(stage, Metric::Ttft, 1.4);
        stretch_the_longest_gaps(stage);
    });
    assert_eq!(causes, [Cause::Outside]);
}

#[test]
fn gaps_that_all_grow_a_little_are_no_interference() {
    let causes = causes(|stage, _| {
        scale(stage, Metric::Ttft, 1.4);
        scale(stage, Metric::Itl, 1.045);
        let gaps = stage.pooled.distributions.get_mut(&Metric::Itl).unwrap();
        for (quantile, value) in &mut gaps.quantiles {
            if quantile.fraction() > 0.9 {
                value.value_s *= 1.027;
            }
        }
    });
    assert_eq!(causes, [Cause::Outside], "+4.5 % and +7.3 %");
}
