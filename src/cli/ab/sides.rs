//! Where the two sides are: flags, then the spec.

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::sim::parse_words;
use crate::cli::sitting::CliSitting;
use crate::session::Station;
use crate::spec::{Spec, TargetPlace, base_url};
use crate::summary::Side;

/// Where the two sides are.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::cli) struct SideArgs {
    /// URL of the baseline
    #[arg(long, value_name = "URL", conflicts_with = "baseline_sim")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) baseline_url: Option<String>,

    /// The embedded engine as the baseline: a profile and its switches
    #[arg(long, value_name = "WORDS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) baseline_sim: Option<String>,

    /// URL of the candidate
    #[arg(long, value_name = "URL", conflicts_with = "candidate_sim")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) candidate_url: Option<String>,

    /// The embedded engine as the candidate: a profile and its switches
    #[arg(long, value_name = "WORDS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) candidate_sim: Option<String>,
}

impl SideArgs {
    /// Whether the baseline is a live target of its own.
    pub(in crate::cli) const fn names_baseline(&self) -> bool {
        self.baseline_url.is_some() || self.baseline_sim.is_some()
    }

    /// Where a side is: as named, else as the spec has it; its own target is the baseline where it
    /// names none.
    pub(in crate::cli) fn place(&self, side: Side, spec: &Spec) -> Result<TargetPlace, Failure> {
        let (url, words, flag) = match side {
            Side::Baseline => (&self.baseline_url, &self.baseline_sim, "--baseline"),
            Side::Candidate => (&self.candidate_url, &self.candidate_sim, "--candidate"),
        };
        if let Some(url) = url {
            let url = base_url(url).map_err(|fault| {
                Failure::usage(format!(
                    "`{flag}-url` {fault}; write it like `http://127.0.0.1:8000`"
                ))
            })?;
            return Ok(TargetPlace::Urls(vec![url.to_owned()]));
        }
        if let Some(words) = words {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            if words.is_empty() {
                return Err(Failure::usage(format!(
                    "`{flag}-sim` names no profile; `infergate sim --list` shows all"
                )));
            }
            parse_words(&words)
                .map_err(|error| Failure::usage(format!("`{flag}-sim`: {error}")))?;
            return Ok(TargetPlace::Sim { words, replicas: 1 });
        }
        Ok(match (side, &spec.baseline) {
            (Side::Baseline, Some(baseline)) => baseline.clone(),
            (Side::Baseline, None) | (Side::Candidate, _) => spec.target.place.clone(),
        })
    }
}

/// A side in words.
pub(super) const fn name(side: Side) -> &'static str {
    match side {
        Side::Baseline => "baseline",
        Side::Candidate => "candidate",
    }
}

/// Which side of a pair runs first: A B, B A, A B, …
pub(super) const fn order(pair: u32) -> [Side; 2] {
    if pair.is_multiple_of(2) {
        [Side::Baseline, Side::Candidate]
    } else {
        [Side::Candidate, Side::Baseline]
    }
}

/// Where both sides are measured.
pub(super) struct Stations {
    baseline: Station,
    /// `None`: the baseline's. One URL for both sides is one server.
    candidate: Option<Station>,
}

impl Stations {
    /// Finds both sides; nothing is started yet.
    pub(super) fn find(
        sides: &SideArgs,
        spec: &Spec,
        sitting: &CliSitting,
        context: &mut Context,
    ) -> Result<Self, Failure> {
        let baseline = sides.place(Side::Baseline, spec)?;
        let candidate = sides.place(Side::Candidate, spec)?;
        let shared = baseline == candidate && matches!(baseline, TargetPlace::Urls(_));
        let baseline = sitting.station(baseline, name(Side::Baseline), context);
        let candidate =
            (!shared).then(|| sitting.station(candidate, name(Side::Candidate), context));
        let stations = Self {
            baseline,
            candidate,
        };
        if let Some(side) = stations.only_launched() {
            context.note(&format!(
                "warning: only the {} is started anew for each run: what an engine keeps from run to run \
                 (caches, memory) stands against it; launch both sides, or neither",
                name(side)
            ));
        }
        Ok(stations)
    }

    /// Whether a side's engine is started for each run.
    pub(super) fn any_launched(&self) -> bool {
        let mut both = [Some(&self.baseline), self.candidate.as_ref()]
            .into_iter()
            .flatten();
        both.any(Station::is_launched)
    }

    /// The side that is started for each run while the other stays up.
    fn only_launched(&self) -> Option<Side> {
        let candidate = self.candidate.as_ref()?;
        match (self.baseline.is_launched(), candidate.is_launched()) {
            (true, false) => Some(Side::Baseline),
            (false, true) => Some(Side::Candidate),
            (true, true) | (false, false) => None,
        }
    }

    /// Whether one server is both sides.
    pub(super) const fn are_one(&self) -> bool {
        self.candidate.is_none()
    }

    /// Where a side is measured.
    pub(super) fn of(&mut self, side: Side) -> &mut Station {
        match (side, &mut self.candidate) {
            (Side::Candidate, Some(candidate)) => candidate,
            (Side::Candidate, None) | (Side::Baseline, _) => &mut self.baseline,
        }
    }

    /// Ends what was started for both.
    pub(super) async fn down(&mut self) {
        self.baseline.down().await;
        if let Some(candidate) = &mut self.candidate {
            candidate.down().await;
        }
    }
}
