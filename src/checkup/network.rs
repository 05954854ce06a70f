//! Whether the way to the target is short beside the latencies that a spec gates.

use super::finding::{Finding, Topic};
use crate::metric::Metric;
use crate::spec::{Limit, SloClause, Spec};
use crate::summary::Network;
use crate::unit::scale::{self, Unit};

/// A limit has to be so many round trips long: below that it is mostly the network that is judged.
const ROUND_TRIPS: f64 = 2.0;

/// What the way takes, and each limit on the time to first token that is shorter than two round
/// trips: a gate of 20 ms over a way of 15 ms judges the way.
pub(super) fn network(spec: &Spec, network: Network) -> Vec<Finding> {
    let least = ROUND_TRIPS * network.rtt_s;
    let time = |seconds: f64| scale::value(Unit::Seconds, seconds);
    let said = |what: String, limit: f64| {
        Finding::trouble(
            Topic::Network,
            format!(
                "{what} of {} is shorter than two round trips to the target ({} each)",
                time(limit),
                time(network.rtt_s)
            ),
            "it would judge the network, not the target",
            format!(
                "measure beside the engine, or raise it to {} and more",
                time(least)
            ),
        )
    };
    let cells = spec.gate.cells.iter().filter(|gated| !gated.informational);
    let cells = cells.filter_map(|gated| {
        let first = matches!(gated.cell.metric.metric(), Metric::Ttft | Metric::Ttfa);
        let (what, limit) = match gated.limit {
            Limit::AtMost(limit) => ("`at_most`", limit),
            Limit::WorseBy {
                floor: Some(floor), ..
            } => ("`floor`", floor),
            Limit::WorseBy { floor: None, .. } | Limit::WorseByPoints(_) | Limit::AtLeast(_) => {
                return None;
            }
        };
        (first && limit < least).then(|| said(format!("{what} of `{}`", gated.cell), limit))
    });
    let classes = spec.workload.classes.iter().filter_map(|class| {
        let limit = class.slo.get(&SloClause::Ttft)?.as_secs_f64();
        (limit < least).then(|| said(format!("the TTFT limit of class `{}`", class.name), limit))
    });
    let short: Vec<Finding> = cells.chain(classes).collect();
    if short.is_empty() {
        let [connect, trip] = [network.connect_s, network.rtt_s].map(time);
        let seen = format!("connects in {connect}, a round trip takes {trip}");
        return vec![Finding::ok(Topic::Network, seen)];
    }
    short
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    const SPEC: &str = "\
infergate: 1
name: link
target: {url: 'http://10.0.0.9:8000'}
workload:
  classes:
    - {name: chat, input: 100, output: 20, slo: {ttft: 40ms, e2e: 2s}}
stages:
  - {name: steady, open: {rate: 8/s}, duration: 180s}
gate:
  cells:
    - {metric: ttft.p95, at_most: 20ms}
    - {metric: ttft.p50, worse_by: 10%, floor: 5ms}
    - {metric: e2e.p50, at_most: 20ms}
    - {metric: tpot.p50, worse_by: 10%, floor: 1ms}
";

    #[test]
    fn a_gate_of_20_ms_over_a_way_of_15_ms_is_refused() {
        let source = crate::diag::Source {
            path: "spec.yaml".to_owned(),
            text: SPEC.to_owned(),
        };
        let parsed = crate::spec::parse(&source, &|_| None, &|_| Err("none".to_owned()));
        let spec = parsed.unwrap().spec;
        let over = |rtt_s| {
            network(
                &spec,
                Network {
                    connect_s: rtt_s,
                    rtt_s,
                },
            )
        };
        let found = over(0.015);
        assert_eq!(found.len(), 2, "{found:#?}");
        assert!(
            found[0]
                .seen
                .starts_with("`at_most` of `steady/ttft.p95` of 20"),
            "{found:#?}"
        );
        assert!(
            found[1]
                .seen
                .starts_with("`floor` of `steady/ttft.p50` of 5"),
            "{found:#?}"
        );
        let fine = over(0.001);
        assert_eq!((fine.len(), &fine[0].level), (1, &Level::Ok));
        assert_eq!(over(0.021).len(), 3, "the class's limit too");
    }
}
