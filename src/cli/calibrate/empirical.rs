//! `infergate calibrate SPEC --empirical`: how often would the gate fail equal sides?

use std::fmt::Write as _;

use serde::Serialize;

use super::{NoiseArgs, no_archive};
use crate::cli::archived::{Kept, kept, plural};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::exit::Exit;
use crate::plan::Plan;
use crate::spec::Spec;
use crate::summary::Run;
use crate::verdict::empirical::{Empirical, FEWEST, TooLittle, empirical};

/// Of one environment, for `--json`.
#[derive(Debug, Serialize)]
struct Found {
    /// Always `infergate.empirical/1`.
    format: &'static str,
    /// The environment's folder.
    environment: String,
    #[serde(flatten)]
    rates: Empirical,
}

pub(super) fn run(
    args: &NoiseArgs,
    spec: &Spec,
    plan: &Plan,
    json: bool,
    context: &mut Context,
) -> Result<Exit, Failure> {
    let undecided = |text: String| Failure::new(Exit::Undecided, text);
    let shelf = args.archive.open(Some(spec), context)?;
    let kept = kept(&shelf, spec, plan)?;
    if kept.is_empty() {
        return Err(undecided(no_archive(&shelf, spec)));
    }
    let mut found = Vec::new();
    for kept in &kept {
        let counted = count(kept, spec).map_err(|why| {
            undecided(format!(
                "cannot make comparisons of equal sides from `{}`: {why}; take more sessions: \
                 `infergate calibrate SPEC`",
                kept.environment
            ))
        })?;
        found.push(Found {
            format: "infergate.empirical/1",
            environment: kept.environment.clone(),
            rates: counted,
        });
    }
    let text = if json {
        serde_json::to_string_pretty(&found).map_err(|error| {
            Failure::new(
                Exit::Invalid,
                format!("cannot write the rates as JSON: {error}"),
            )
        })? + "\n"
    } else {
        found.iter().map(describe).collect()
    };
    context.print(&text);
    Ok(Exit::Pass)
}

fn count(kept: &Kept, spec: &Spec) -> Result<Empirical, TooLittle> {
    let runs: Vec<Run> = kept.runs().cloned().collect();
    empirical(&runs, &spec.gate, &spec.under_test)
}

fn describe(found: &Found) -> String {
    let Found {
        environment,
        rates: found,
        ..
    } = found;
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let mut text = format!(
        "`{environment}`: {} of equal sides, {} each, from {} and {}\n",
        plural(found.reports, "comparison", "comparisons"),
        plural(found.pairs, "pair", "pairs"),
        plural(found.sessions, "session", "sessions"),
        plural(found.runs, "run", "runs"),
    );
    let _ = writeln!(
        text,
        "  failed {} ({}), passed {}, undecided {}",
        found.failed,
        percent(found.fail_rate),
        found.passed,
        found.reports - found.failed - found.passed,
    );
    let _ = writeln!(
        text,
        "  as far as {} can tell, the rate of false alarms is {} to {}",
        plural(found.sessions, "session", "sessions"),
        percent(found.low),
        percent(found.high),
    );
    if !found.enough {
        let _ = writeln!(
            text,
            "  cannot verify 5 %: that takes {FEWEST} sessions, and none of {FEWEST} still allows 16.1 %"
        );
    } else if found.low > 0.05 {
        text.push_str("  more than the 5 % that the procedure promises\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rates_read_well() {
        let few = Empirical {
            sessions: 4,
            runs: 12,
            pairs: 4,
            reports: 400,
            failed: 3,
            passed: 390,
            fail_rate: 0.0075,
            low: 0.0001,
            high: 0.4905,
            enough: false,
        };
        let found = |found: &Empirical| {
            describe(&Found {
                format: "infergate.empirical/1",
                environment: "nvidia-h200-vllm-1f3a9c0e".to_owned(),
                rates: found.clone(),
            })
        };
        let many = Empirical {
            sessions: 40,
            runs: 120,
            low: 0.061,
            enough: true,
            ..few
        };
        insta::assert_snapshot!([found(&few), found(&many)].join("\n"));
    }
}
