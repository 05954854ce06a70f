//! `report.json`: the judgement in full precision, for machines and for publishing later.

use serde::{Deserialize, Serialize};

use crate::diagnosis::Diagnosis;
use crate::exit::Exit;
use crate::ident::Digest;
use crate::lang::Said;
use crate::spec::Spec;
use crate::stats::moderated::Evidence as Proof;
use crate::summary::{Run, Spent};
use crate::verdict::{
    Advice, BaseStamp, Design, Finding, Headline, Judgement, LevelChange, NextLook, PinDifference,
    UniformShift, Verdict,
};

use super::build::{Sides, build_of};
use super::facts::Facts;
use super::model::ReportModel;
use super::place::CellPlace;

/// Format tag of a report file: name and major version.
pub const REPORT_FORMAT: &str = "infergate.report/1";

/// A report file. Keys come in this order; newer minor versions may add some.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReportFile {
    /// [`REPORT_FORMAT`].
    pub format: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The exit code's name, after the spec's policies.
    pub exit: Exit,
    /// The exit code.
    pub exit_code: u8,
    /// What a policy changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Said>,
    /// The spec.
    pub spec: ReportSpec,
    /// Counts of gated cells.
    pub headline: Headline,
    /// How the runs were taken.
    pub design: Design,
    /// What a regression was proven against.
    #[serde(default)]
    pub proof: Proof,
    /// Scatter of the repeats by that of the archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_ratio: Option<f64>,
    /// All latencies and rates moved alike, and by how much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift: Option<UniformShift>,
    /// What a stored baseline was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<BaseStamp>,
    /// Gated cells whose level changed within the stored baseline, before the candidate came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelChange>,
    /// Why figures moved, as far as anything tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnoses: Vec<Diagnosis>,
    /// Ids of the baseline's runs.
    pub baseline: Vec<String>,
    /// Ids of the candidate's runs.
    pub candidate: Vec<String>,
    /// Pins that differ.
    pub pins: Vec<PinDifference>,
    /// All findings, worst first.
    pub findings: Vec<Finding>,
    /// Reasons to trust the whole less.
    pub caveats: Vec<Said>,
    /// What the runs took of the machine, and what that costs; `None` without a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
    /// What to do next.
    pub advice: Vec<Advice>,
    /// Whether more repeats are worth taking.
    pub next: NextLook,
    /// Why nothing could be held against a baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unjudged: Option<String>,
    /// Where the gated cells stand in the spec; empty where nobody knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<CellPlace>,
    /// What a report shows of the runs; empty in files of versions before 0.2.
    #[serde(default)]
    pub facts: Facts,
}

/// The spec that was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReportSpec {
    /// Its name.
    pub name: String,
    /// Digest of the candidate's text of it; `None` without a candidate run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

/// Why a text is no report file.
#[derive(Debug, thiserror::Error)]
pub enum ReportFileError {
    /// It does not have the shape of one.
    #[error("is not a report file; give the `report.json` that a gate wrote")]
    Malformed(#[source] serde_json::Error),
    /// It is of another format or of a newer major version.
    #[error("has the format `{found}`, this version reads `{REPORT_FORMAT}`; update infergate")]
    OtherFormat {
        /// The format it names.
        found: String,
    },
}

impl ReportFile {
    /// Everything of a judgement, with the runs behind it by id.
    pub fn new(judgement: &Judgement, sides: &Sides<'_>) -> Self {
        let ids = |runs: &[Run]| runs.iter().map(|run| run.id.clone()).collect();
        Self {
            format: REPORT_FORMAT.to_owned(),
            verdict: judgement.verdict,
            exit: judgement.exit,
            exit_code: judgement.exit.code(),
            policy: judgement.policy.clone(),
            spec: ReportSpec {
                name: sides.title.to_owned(),
                digest: sides.candidate.first().map(|run| run.spec.digest),
            },
            headline: judgement.headline,
            design: judgement.design.clone(),
            proof: judgement.proof,
            noise_ratio: judgement.noise_ratio,
            shift: judgement.shift,
            base: judgement.base.clone(),
            levels: judgement.levels.clone(),
            diagnoses: judgement.diagnoses.clone(),
            baseline: ids(sides.baseline),
            candidate: ids(sides.candidate),
            pins: judgement.pins.clone(),
            findings: judgement.findings.clone(),
            caveats: judgement.caveats.clone(),
            spent: Spent::of(sides.baseline.iter().chain(sides.candidate)),
            advice: judgement.advice.clone(),
            next: judgement.next,
            unjudged: judgement.unjudged.clone(),
            places: sides.places.to_vec(),
            facts: Facts::of(sides),
        }
    }

    /// With the SLOs of the spec that judged it, for charts.
    #[must_use]
    pub fn with_slo_of(mut self, spec: &Spec) -> Self {
        self.facts.slo = super::facts::slo_of(spec);
        self
    }

    /// The view model: the same as of the runs themselves.
    pub fn model(&self) -> ReportModel {
        self.model_of(usize::MAX)
    }

    /// The same with so many rows of cells beyond their limits, not measured or undecided at most.
    pub(super) fn model_of(&self, most: usize) -> ReportModel {
        let judgement = self.clone().judgement();
        build_of(&judgement, &self.spec.name, &self.facts, most)
    }

    /// Where a finding's limit is written; `None` where nobody knows.
    pub fn place(&self, finding: &Finding) -> Option<&CellPlace> {
        self.places.iter().find(|place| place.is_of(finding))
    }

    /// The judgement in it, to render again.
    pub fn judgement(self) -> Judgement {
        Judgement {
            verdict: self.verdict,
            exit: self.exit,
            policy: self.policy,
            headline: self.headline,
            design: self.design,
            proof: self.proof,
            noise_ratio: self.noise_ratio,
            shift: self.shift,
            base: self.base,
            levels: self.levels,
            diagnoses: self.diagnoses,
            pins: self.pins,
            findings: self.findings,
            caveats: self.caveats,
            advice: self.advice,
            next: self.next,
            unjudged: self.unjudged,
        }
    }

    /// As JSON, indented, with a line end.
    pub fn render(&self) -> String {
        // Only a map with non-string keys or a failing writer can make this fail.
        let json = serde_json::to_string_pretty(self).expect("report files have string keys");
        // Within strings alone: the runner of a job takes it for a command wherever it stands.
        format!("{}\n", json.replace("##[", "#\\u0023["))
    }

    /// Reads a report file, of this format whatever its age.
    pub fn parse(text: &str) -> Result<Self, ReportFileError> {
        #[derive(Deserialize)]
        struct Tag {
            format: String,
        }
        let tag: Tag = serde_json::from_str(text).map_err(ReportFileError::Malformed)?;
        if tag.format != REPORT_FORMAT {
            return Err(ReportFileError::OtherFormat { found: tag.format });
        }
        serde_json::from_str(text).map_err(ReportFileError::Malformed)
    }
}
