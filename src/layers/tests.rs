//! Gaps made up so that their cause is known: 50 tokens an answer, the first after 200 ms, the others
//! 20 ms apart, so 1.18 s in all.

use super::*;
use crate::compare::synthetic;
use crate::sample::OutcomeKind;

const METRICS: [(Metric, f64); 4] = [
    (Metric::Ttft, 0.2),
    (Metric::Tpot, 0.02),
    (Metric::Itl, 0.02),
    (Metric::E2e, 1.18),
];

/// A run of a layer; runs of a pair share what scatters, half a millisecond more from pair to pair.
fn run(layer: Layer, pair: u32) -> Run {
    let mut run = synthetic::run("today", 600 + 2 * pair);
    run.pair = Some(pair);
    run.id = format!("{}-{pair}", layer.name());
    let pin = crate::provenance::Pin {
        declared: None,
        observed: crate::provenance::Observation::Seen {
            value: layer.name().to_owned(),
            source: "spec".to_owned(),
        },
    };
    run.pins.insert("layer".parse().unwrap(), pin);
    run.stages[0].users = None;
    run.stages[0].rate_rps = Some(20.0);
    for (metric, seconds) in METRICS {
        synthetic::set(&mut run, metric, seconds + 0.0005 * f64::from(pair));
    }
    run
}

/// Pairs of runs of which the front's were changed.
pub(crate) fn runs(pairs: u32, change: impl Fn(&mut Run)) -> Vec<Run> {
    let pair = |pair| {
        let mut front = run(Layer::EndToEnd, pair);
        change(&mut front);
        [run(Layer::Engine, pair), front]
    };
    (0..pairs).flat_map(pair).collect()
}

/// Adds so many seconds to all of a metric.
pub(crate) fn add(run: &mut Run, metric: Metric, seconds: f64) {
    let before = run.stages[0].pooled.distributions[&metric].mean_s.unwrap();
    synthetic::set(run, metric, before + seconds);
}

/// Changes a quantile of a metric.
fn quantile(run: &mut Run, metric: Metric, quantile: Quantile, seconds: f64) {
    let pooled = &mut run.stages[0].pooled;
    let distribution = pooled.distributions.get_mut(&metric).unwrap();
    distribution.quantiles.get_mut(&quantile).unwrap().value_s = seconds;
}

fn stage(pairs: u32, change: impl Fn(&mut Run)) -> StageLayers {
    let layers = side_by_side(&runs(pairs, change)).unwrap();
    assert_eq!(layers.pairs, pairs);
    layers.stages.into_iter().next().unwrap()
}

#[track_caller]
fn close(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-9, "{got} for {expected}");
}

#[test]
fn a_constant_is_one_for_each_request() {
    let stage = stage(3, |run| {
        add(run, Metric::Ttft, 0.04);
        add(run, Metric::E2e, 0.04);
    });
    let [Part::PerRequest { gap, .. }, Part::NothingPerToken { .. }] = &stage.parts[..] else {
        panic!("{:?}", stage.parts);
    };
    close(gap.difference, 0.04);
    close(gap.engine, 0.2005);
    assert_eq!(stage.unsure, []);
    let ttft = &stage.figures[0];
    assert_eq!(ttft.metric.to_string(), "ttft.p50");
    close(ttft.gap.unwrap().relative().unwrap(), 0.04 / 0.2005);
}

#[test]
fn a_price_of_each_token_adds_up_over_an_answer() {
    let stage = stage(3, |run| {
        add(run, Metric::Tpot, 0.001);
        add(run, Metric::E2e, 0.049);
    });
    let [
        Part::NothingPerRequest { .. },
        Part::PerToken {
            gap,
            tokens,
            answer,
        },
    ] = &stage.parts[..]
    else {
        panic!("{:?}", stage.parts);
    };
    close(gap.difference, 0.001);
    close(*tokens, 49.0);
    close(answer.difference, 0.049);
}

#[test]
fn an_answer_that_is_held_back_is_no_slow_first_token() {
    // The first token comes with the last, and the last 20 ms later than the engine's.
    let stage = stage(3, |run| {
        add(run, Metric::Ttft, 0.99);
        synthetic::set(run, Metric::Tpot, 0.0002);
        synthetic::set(run, Metric::Itl, 0.0002);
        add(run, Metric::E2e, 0.02);
    });
    let [
        Part::Buffered {
            engine_s,
            front_s,
            first,
        },
        Part::PerRequest { gap, .. },
    ] = &stage.parts[..]
    else {
        panic!("{:?}", stage.parts);
    };
    close(*engine_s, 0.98);
    close(*front_s, 0.01);
    close(first.difference, 0.99);
    close(gap.difference, 0.02);
}

#[test]
fn tokens_that_come_together_are_clumps() {
    let stage = stage(3, |run| {
        quantile(run, Metric::Itl, Quantile::P50, 0.0);
        quantile(run, Metric::Itl, Quantile::P99, 0.16);
        synthetic::set(run, Metric::Tpot, 0.02);
    });
    let clumped = stage.parts.iter().find_map(|part| match part {
        Part::Clumped { tokens, .. } => Some(*tokens),
        _ => None,
    });
    assert_eq!(clumped, Some(8.0), "{:?}", stage.parts);
}

#[test]
fn events_that_are_put_together_are_counted() {
    let mut runs = runs(3, |_| {});
    for run in &mut runs {
        // 49 gaps an answer at the engine, 12 at the front.
        let gaps = if layer(run) == Some(Layer::Engine) {
            49
        } else {
            12
        };
        synthetic::set(run, Metric::ChunkGap, 0.02);
        let pooled = &mut run.stages[0].pooled;
        pooled.distributions.get_mut(&Metric::ChunkGap).unwrap().n = gaps * 1000;
    }
    let parts = side_by_side(&runs).unwrap().stages[0].parts.clone();
    let merged = Part::Merged {
        engine: 50.0,
        front: 13.0,
    };
    assert!(parts.contains(&merged), "{parts:?}");
}

#[test]
fn failures_of_the_front_are_its_own_only_beyond_doubt() {
    let failing = |requests| stage(1, move |run| synthetic::fail(run, requests)).parts;
    let failures = |parts: Vec<Part>| {
        let kind = |part: &Part| match part {
            Part::Failures { kind, front, .. } => Some((*kind, front.requests, front.of)),
            _ => None,
        };
        parts.iter().find_map(kind)
    };
    let many = Some((OutcomeKind::HttpError, 20, 1000));
    assert_eq!(failures(failing(20)), many);
    // 2 of 1,000 against none: Newcombe's interval begins below 0.
    assert_eq!(failures(failing(2)), None);
}

#[test]
fn a_front_that_keeps_no_connection_opens_one_each_time() {
    let mut runs = runs(1, |_| {});
    for run in &mut runs {
        let engine = layer(run) == Some(Layer::Engine);
        run.stages[0].health.as_mut().unwrap().connections = Some(if engine { 8 } else { 1000 });
    }
    let parts = &side_by_side(&runs).unwrap().stages[0].parts;
    let connections = Part::Connections {
        engine: 0.008,
        front: 1.0,
    };
    assert!(parts.contains(&connections), "{parts:?}");
}

#[test]
fn a_tail_that_moves_more_than_the_middle_is_no_constant() {
    let stage = stage(3, |run| {
        quantile(run, Metric::Ttft, Quantile::P95, 0.5);
        add(run, Metric::E2e, 0.01);
    });
    let [Part::Tail { middle, tail }, ..] = &stage.parts[..] else {
        panic!("{:?}", stage.parts);
    };
    close(middle.difference, 0.0);
    close(tail.difference, 0.5 - 0.2005);
}

#[test]
fn a_gap_that_grows_with_the_load_is_a_queue() {
    let with = |gaps: [f64; 2]| {
        let mut runs = runs(3, |_| {});
        for run in &mut runs {
            let front = layer(run) == Some(Layer::EndToEnd);
            for (index, (gap, rate)) in gaps.into_iter().zip([4.0, 16.0]).enumerate() {
                if index > 0 {
                    let mut stage = run.stages[0].clone();
                    stage.name = "busy".to_owned();
                    run.stages.push(stage);
                }
                run.stages.swap(0, index);
                run.stages[0].rate_rps = Some(rate);
                synthetic::set(run, Metric::Ttft, 0.2 + if front { gap } else { 0.0 });
                run.stages.swap(0, index);
            }
        }
        side_by_side(&runs).unwrap().across
    };
    let [
        Across::Queueing {
            from,
            to,
            low,
            high,
        },
    ] = &with([0.002, 0.06])[..]
    else {
        panic!("no queue");
    };
    assert_eq!((from.as_str(), to.as_str()), ("steady", "busy"));
    close(low.difference, 0.002);
    close(high.difference, 0.06);
    assert!(matches!(with([0.04, 0.041])[..], [Across::Steady { .. }]));
    let one = side_by_side(&runs(1, |_| {})).unwrap().across;
    assert_eq!(one, [Across::OneLoad]);
}

#[test]
fn what_is_not_known_is_said() {
    let few = stage(1, |run| add(run, Metric::Ttft, 0.001));
    assert_eq!(few.unsure, [Unsure::FewPairs { pairs: 1 }]);
    assert!(matches!(few.parts[0], Part::NothingPerRequest { .. }));
    let spoilt = stage(3, |run| {
        run.stages[0].invalid = vec![crate::summary::InvalidReason::NoRequests];
    });
    assert_eq!(
        spoilt.unsure,
        [Unsure::Invalid { pairs: 3 }, Unsure::FewPairs { pairs: 0 }]
    );
    assert_eq!((spoilt.parts, spoilt.figures), (Vec::new(), Vec::new()));
    let mut runs = runs(3, |run| run.stages[0].pooled.rates.completed_rps = 15.0);
    for run in &mut runs {
        (run.stages[0].users, run.stages[0].rate_rps) = (Some(8), None);
        run.stages[0].pooled.distributions.remove(&Metric::Ttft);
    }
    let unsure = &side_by_side(&runs).unwrap().stages[0].unsure;
    let less = Unsure::LessLoad {
        engine_rps: 20.0,
        front_rps: 15.0,
    };
    assert_eq!(*unsure, [Unsure::NoTokens, less]);
}

#[test]
fn runs_of_one_layer_or_of_two_sides_are_no_pair() {
    let mut runs = runs(2, |_| {});
    assert_eq!(side_by_side(&runs[..1]), None);
    runs[3].end = RunEnd::Interrupted;
    assert_eq!(side_by_side(&runs).unwrap().pairs, 1, "one pair is whole");
    for run in &mut runs {
        run.side = Some(crate::summary::Side::Baseline);
    }
    assert_eq!(side_by_side(&runs), None);
}
