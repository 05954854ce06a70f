//! What the archive holds of a spec as it is now, by environment, and what can be told with it.

use serde::Serialize;

use super::baseline::runs_of;
use super::failure::Failure;
use crate::baseline::{self, Baseline, Shelf};
use crate::compare::Archive;
use crate::plan::Plan;
use crate::spec::Spec;
use crate::summary::Run;
use crate::verdict::forecast::{Forecast, forecast};

/// The kept runs of one environment.
#[derive(Debug)]
pub(super) struct Kept {
    /// The environment's folder, without its path.
    pub(super) environment: String,
    /// Those that stand as a baseline.
    pub(super) stands: Vec<Run>,
    /// Those that show the noise alone.
    pub(super) noise: Vec<Run>,
}

/// What a gate will be able to tell in one environment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Archived {
    /// The environment; `None` without an archive.
    pub(super) environment: Option<String>,
    /// What it will be able to tell.
    #[serde(flatten)]
    pub(super) forecast: Forecast,
}

impl Kept {
    /// What `baseline` holds of this spec's workload as it is now.
    pub(super) fn of(mut baseline: Baseline, spec: &Spec, plan: &Plan) -> Self {
        let (workload, trace) = (spec.workload_digest(), plan.trace_digest());
        baseline.retain(|run| {
            run.spec.workload_digest == workload
                && run.trace_digest == trace
                && run.spec.select == spec.select
        });
        Self {
            environment: baseline.environment,
            stands: runs_of(baseline.sessions),
            noise: runs_of(baseline.others.into_iter().chain(baseline.noise)),
        }
    }

    /// All runs.
    pub(super) fn runs(&self) -> impl Iterator<Item = &Run> {
        self.stands.iter().chain(&self.noise)
    }

    /// What the spec's gate will be able to tell.
    pub(super) fn forecast(&self, spec: &Spec) -> Archived {
        let archive = Archive {
            stands: &self.stands,
            noise: &self.noise,
        };
        Archived {
            environment: Some(self.environment.clone()),
            forecast: forecast(archive, &spec.gate),
        }
    }
}

/// The environments in which runs of this spec as it is now were kept.
pub(super) fn kept(shelf: &Shelf, spec: &Spec, plan: &Plan) -> Result<Vec<Kept>, Failure> {
    let all = baseline::load_all(shelf, &spec.name)?;
    Ok(all
        .into_iter()
        .map(|baseline| Kept::of(baseline, spec, plan))
        .filter(|kept| kept.runs().next().is_some())
        .collect())
}

impl Archived {
    /// In each of these environments; where there is none, on assumed noise.
    pub(super) fn in_each(kept: &[Kept], spec: &Spec) -> Vec<Self> {
        if kept.is_empty() {
            vec![Self {
                environment: None,
                forecast: forecast(Archive::default(), &spec.gate),
            }]
        } else {
            kept.iter().map(|kept| kept.forecast(spec)).collect()
        }
    }

    /// Whose noise it is, in words.
    pub(super) fn whose(&self) -> String {
        match &self.environment {
            None => "the noise assumed without an archive (3 % between runs)".to_owned(),
            Some(environment) => format!(
                "the noise of `{environment}` ({} and {})",
                plural(self.forecast.sessions, "session", "sessions"),
                plural(self.forecast.runs, "run", "runs"),
            ),
        }
    }
}

pub(super) fn plural(n: u32, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
