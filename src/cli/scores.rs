//! Result files of other tools: read before any load, so that a mistake costs no run.

use std::collections::BTreeMap;
use std::path::Path;

use super::failure::Failure;
use super::source::read_file;
use crate::metric::TaskName;
use crate::quality::{Score, ScoreAsk};
use crate::session::Scores;
use crate::spec::{Import, Spec};

/// The scores of what is under test: of `run`, `gate` and shards.
pub(super) fn of_target(spec: &Spec) -> Result<Scores, Failure> {
    Ok(Scores {
        baseline: BTreeMap::new(),
        candidate: read(spec, |import| Ok(import.candidate.clone()))?,
    })
}

/// The scores of both sides, each of which needs a file.
pub(super) fn of_both(spec: &Spec) -> Result<Scores, Failure> {
    let baseline = |import: &'_ Import| {
        import
            .baseline
            .as_deref()
            .map(str::to_owned)
            .ok_or_else(|| {
                Failure::usage(format!(
                    "import `{name}` has no file of the baseline, which `ab` measures too; add \
                 `baseline: results.json` to `quality.import.{name}`",
                    name = import.name
                ))
            })
    };
    Ok(Scores {
        baseline: read(spec, baseline)?,
        candidate: read(spec, |import| Ok(import.candidate.clone()))?,
    })
}

fn read(
    spec: &Spec,
    file: impl Fn(&Import) -> Result<String, Failure>,
) -> Result<BTreeMap<TaskName, Score>, Failure> {
    let one = |import: &Import| {
        let file = file(import)?;
        let wrong = |why: String| {
            Failure::usage(format!("cannot import `{}`: `{file}` {why}", import.name))
        };
        let text = read_file(Path::new(&file)).map_err(|why| {
            wrong(format!(
                "cannot be read: {why}; its path is relative to the spec"
            ))
        })?;
        let ask = ScoreAsk {
            task: &import.task,
            metric: &import.metric,
            filter: import.filter.as_deref(),
        };
        let score = Score::read(&text, ask).map_err(|error| wrong(error.to_string()))?;
        Ok((import.name, score))
    };
    spec.imports.iter().map(one).collect()
}
