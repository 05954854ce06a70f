//! Labels: which stages of a spec run.

use super::model::Spec;
use super::stage::Stage;
use crate::metric::Cell;

/// Why labels cannot be selected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// No stage has it.
    #[error(
        "no stage has the label `{label}`; {}",
        if known.is_empty() {
            "none has any: give one `labels: [nightly]`".to_owned()
        } else {
            format!("labels are {}", known.join(", "))
        }
    )]
    UnknownLabel {
        /// The label.
        label: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// All stages have labels, and none of those is selected.
    #[error("every stage has labels, so without `--select` there is nothing to run; labels are {}", known.join(", "))]
    NothingLeft {
        /// Those that there are.
        known: Vec<String>,
    },
}

impl Stage {
    /// The sweep that it is a step of.
    pub fn sweep(&self) -> Option<&str> {
        self.name.split_once('@').map(|(sweep, _)| sweep)
    }
}

impl Spec {
    /// The spec with the stages that run under these labels: those without labels, and those that
    /// have one of them. Cells of other stages go with them.
    ///
    /// # Errors
    ///
    /// [`SelectError`] where a label is unknown or no stage is left.
    pub fn select(mut self, labels: &[String]) -> Result<Self, SelectError> {
        let mut known: Vec<String> = self
            .stages
            .iter()
            .flat_map(|stage| stage.labels.iter().cloned())
            .collect();
        known.sort_unstable();
        known.dedup();
        if let Some(label) = labels.iter().find(|label| !known.contains(label)) {
            return Err(SelectError::UnknownLabel {
                label: label.clone(),
                known,
            });
        }
        self.stages.retain(|stage| {
            stage.labels.is_empty() || stage.labels.iter().any(|label| labels.contains(label))
        });
        if self.stages.is_empty() {
            return Err(SelectError::NothingLeft { known });
        }
        let runs = |cell: &Cell| self.stages.iter().any(|stage| cell.is_of(&stage.name));
        self.gate.cells.retain(|cell| runs(&cell.cell));
        self.select = labels.to_vec();
        self.select.sort_unstable();
        self.select.dedup();
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Source;
    use crate::spec::parse;

    fn spec() -> Spec {
        let text = "\
infergate: 1
name: labels
target: {url: http://a}
workload: {classes: [{name: a, input: 5, output: 5}]}
stages:
  - {name: short, closed: {users: 1}, requests: 500}
  - {name: long, closed: {users: 1}, duration: 1h, soak: true, labels: [nightly, weekly]}
gate:
  cells:
    - {metric: ttft.p50, stages: [short]}
    - {metric: output_throughput, stages: [long]}
";
        let source = Source {
            path: "spec.yaml".to_owned(),
            text: text.to_owned(),
        };
        parse(&source, &|_| None, &|_| Err("no traces here".to_owned()))
            .unwrap()
            .spec
    }

    #[test]
    fn a_stage_with_labels_runs_where_one_is_selected() {
        let plain = spec().select(&[]).unwrap();
        assert_eq!((plain.stages.len(), plain.gate.cells.len()), (1, 1));
        let nightly = spec().select(&["nightly".to_owned()]).unwrap();
        assert_eq!((nightly.stages.len(), nightly.gate.cells.len()), (2, 2));
        assert_ne!(plain.workload_digest(), nightly.workload_digest());
        let weekly = spec().select(&["weekly".to_owned()]).unwrap();
        assert_eq!(weekly.workload_digest(), nightly.workload_digest());
    }

    #[test]
    fn labels_that_lead_nowhere_are_refused() {
        let error = spec().select(&["nigthly".to_owned()]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no stage has the label `nigthly`; labels are nightly, weekly"
        );
        let mut only = spec();
        only.stages.remove(0);
        assert!(matches!(
            only.select(&[]),
            Err(SelectError::NothingLeft { .. })
        ));
    }
}
