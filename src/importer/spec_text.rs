//! A spec in the words of ours for a load that another tool made, so that reports and gates can speak of it.

use std::fmt::Write as _;

use super::found::FoundStage;
use crate::metric::Metric;
use crate::spec::Slo;

/// What stands above it.
const HEAD: &str = "\
# Written by `infergate import` from another tool's file: what that tells of the load. Nothing of it was
# sent by infergate, and what the file does not tell is left to defaults.
";
/// Users that a stage may have.
const MOST_USERS: u64 = 100_000;
/// Values that a p50 and a p95 take to be judged.
const FOR_P50: u64 = 50;
const FOR_P95: u64 = 200;

/// The text of a spec with these stages, its gate of the metrics that they hold.
pub(super) fn write(name: &str, stages: &[(String, &FoundStage)], slo: &Slo) -> String {
    let mut out = String::from(HEAD);
    let _ = writeln!(
        out,
        "infergate: 1\nname: {name}\ntarget: {{url: \"http://127.0.0.1\"}}"
    );
    let tokens = |of: fn(&FoundStage) -> Option<u64>| mean_of(stages, of).unwrap_or(1).max(1);
    let (input, output) = (
        tokens(|stage| stage.input_tokens),
        tokens(|stage| stage.output_tokens).max(2),
    );
    let _ = write!(
        out,
        "workload: {{classes: [{{name: requests, input: {input}, output: {output}"
    );
    if !slo.is_empty() {
        let clauses: Vec<String> = slo
            .iter()
            .map(|(clause, limit)| format!("{}: {limit}", clause.name()))
            .collect();
        let _ = write!(out, ", slo: {{{}}}", clauses.join(", "));
    }
    out.push_str("}]}\nstages:\n");
    for (name, stage) in stages {
        let requests = requests(stage).max(1);
        let rate = stage.rate_rps.filter(|rate| (1e-3..1e6).contains(rate));
        match (rate, stage.users) {
            (Some(rate), cap) => {
                let cap = cap.map(|users| format!(", in_flight: {}", users.clamp(1, 1_000_000)));
                let _ = writeln!(
                    out,
                    "  - {{name: {name}, open: {{rate: {rate}/s}}, requests: {requests}{}}}",
                    cap.unwrap_or_default()
                );
            }
            (None, users) => {
                let users = users
                    .map_or(requests, u64::from)
                    .clamp(1, requests.min(MOST_USERS));
                let _ = writeln!(
                    out,
                    "  - {{name: {name}, closed: {{users: {users}}}, requests: {requests}}}"
                );
            }
        }
    }
    out.push_str("gate:\n  cells:\n");
    for (name, stage) in stages {
        for line in cells(name, stage) {
            let _ = writeln!(out, "    - {line}");
        }
    }
    // Relative, so that one file a side decides nothing.
    out.push_str("    - {metric: error_ratio, worse_by: 1pp}\n");
    out
}

/// Requests of a stage.
pub(super) fn requests(stage: &FoundStage) -> u64 {
    let counted = [stage.completed.unwrap_or(0), stage.failed.unwrap_or(0)]
        .into_iter()
        .fold(stage.unfinished, u64::saturating_add);
    let told = stage.requests.unwrap_or(0).max(counted);
    if stage.each.is_empty() {
        told
    } else {
        stage.each.len() as u64
    }
}

fn mean_of(stages: &[(String, &FoundStage)], of: fn(&FoundStage) -> Option<u64>) -> Option<u64> {
    let (mut sum, mut requests) = (0_u64, 0_u64);
    for (_, stage) in stages {
        if let Some(tokens) = of(stage) {
            sum = sum.saturating_add(tokens);
            requests = requests.saturating_add(stage.completed.unwrap_or(0));
        }
    }
    (requests > 0).then(|| (sum / requests).clamp(1, 1_000_000))
}

/// What is judged of a stage: latencies that it holds, by a percentile that its requests support.
fn cells(name: &str, stage: &FoundStage) -> Vec<String> {
    let requests = requests(stage);
    let holds = |metric: Metric| {
        stage.reduced.contains_key(&metric)
            || stage.each.iter().any(|each| match metric {
                Metric::Ttft => each.ttft_s.is_some(),
                Metric::Tpot => each.ttft_s.is_some() && each.output.is_some_and(|n| n > 1),
                _ => each.e2e_s.is_some() || each.gaps_s.is_some(),
            })
    };
    let percentile = match requests {
        FOR_P95.. => "p95",
        FOR_P50.. => "p50",
        _ => return Vec::new(),
    };
    [Metric::Ttft, Metric::Tpot, Metric::E2e]
        .into_iter()
        .filter(|metric| holds(*metric))
        .map(|metric| format!("{{metric: {metric}.{percentile}, stages: [{name}], worse_by: 10%}}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_hostile_file_add_up_to_the_most_there_can_be() {
        let stage = FoundStage {
            completed: Some(u64::MAX),
            failed: Some(1),
            unfinished: 1,
            ..FoundStage::default()
        };
        assert_eq!(requests(&stage), u64::MAX);
    }
}
