//! Which load of a sweep is to be measured next: a gap that the knee or the largest load within the SLO lies
//! in, cut in two.

use super::sweep::{Axis, KneeReading, KneeRule, SweepReading};

/// Neighbours this close say as much as one.
const CLOSE: f64 = 1.1;

/// The load that would tell most of where the knee and the largest load within the SLO are; `None` where their
/// neighbours are as close as anybody needs, or there is neither.
///
/// Loads grow by factors, so a gap is cut at the geometric mean of its ends: between 16 and 32 users at 23.
/// Of the gaps next to the knee (that above it only where goodput falls there) and that above the largest load
/// within the SLO the widest one. Users are whole, so 3 and 4 have nothing between them; ends within 10 % of
/// each other are close enough.
pub fn next(sweep: &SweepReading) -> Option<f64> {
    let mut gaps: Vec<(f64, f64)> = Vec::new();
    gaps.extend(
        sweep
            .knee
            .figure()
            .into_iter()
            .flat_map(|knee| next_to(sweep, knee)),
    );
    gaps.extend(sweep.within_slo.figure().and_then(|within| {
        let mut steps = sweep.steps.iter();
        let beyond = steps.find(|step| step.load > within.load && step.figures.is_some())?;
        Some((within.load, beyond.load))
    }));
    gaps.sort_by(|one, other| (other.1 / other.0).total_cmp(&(one.1 / one.0)));
    gaps.into_iter().find_map(|gap| cut(gap, sweep.axis))
}

/// The gaps beside the knee.
fn next_to(sweep: &SweepReading, knee: &KneeReading) -> impl Iterator<Item = (f64, f64)> {
    let below = knee.below.map(|below| (below, knee.load));
    let above = match knee.by {
        KneeRule::Goodput => above(sweep, knee.load).map(|above| (knee.load, above)),
        KneeRule::Throughput => None,
    };
    below.into_iter().chain(above)
}

/// The next higher load, where it gives less that is good.
fn above(sweep: &SweepReading, load: f64) -> Option<f64> {
    let good = |step: &super::step::Step| Some(step.figures.as_ref()?.goodput_rps.as_ref()?.value);
    let at = sweep.steps.iter().find(|step| step.load >= load)?;
    let next = sweep
        .steps
        .iter()
        .find(|step| step.load > load && step.figures.is_some())?;
    (good(next)? < good(at)?).then_some(next.load)
}

fn cut((low, high): (f64, f64), axis: Axis) -> Option<f64> {
    if high / low <= CLOSE {
        return None;
    }
    let middle = (low * high).sqrt();
    let load = match axis {
        Axis::Users => middle.round(),
        // Three digits: a step is named by its rate.
        Axis::Rate => {
            let digit = 10_f64.powi(2 - middle.log10().floor() as i32);
            (middle * digit).round() / digit
        }
    };
    (low < load && load < high).then_some(load)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_cut_at_its_geometric_mean() {
        assert_eq!(cut((16.0, 32.0), Axis::Users), Some(23.0));
        assert_eq!(cut((3.0, 4.0), Axis::Users), None);
        assert_eq!(cut((1.0, 3.0), Axis::Users), Some(2.0));
        assert_eq!(cut((20.0, 22.0), Axis::Users), None);
        assert_eq!(cut((8.0, 16.0), Axis::Rate), Some(11.3));
        assert_eq!(cut((0.1, 0.2), Axis::Rate), Some(0.141));
        assert_eq!(cut((100.0, 108.0), Axis::Rate), None);
    }
}
