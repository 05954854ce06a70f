//! What `infergate export` adds to a file in the shape of vLLM's: what the figures mean, and whose they are.

use serde_json::Value;

use super::field::{num, text};
use super::found::{Found, FoundStage};
use crate::metric::DEFINITION;

/// Takes it; false of a file that vLLM itself wrote, and of figures by other definitions than these.
pub(super) fn read(row: &Value, found: &mut Found, stage: &mut FoundStage) -> bool {
    if text(row, "infergate_definition") != Some(DEFINITION) {
        return false;
    }
    found.definition = Some(DEFINITION.to_owned());
    found.session = text(row, "infergate_session")
        .filter(|session| is_name(session))
        .map(str::to_owned);
    found.run = text(row, "infergate_run").map(str::to_owned);
    found.version = text(row, "infergate_version").map(str::to_owned);
    found.shape = "json, by infergate export";
    found.setting(
        "workload",
        text(row, "infergate_workload").map(str::to_owned),
    );
    if let Some(pins) = row.get("infergate_pins").and_then(Value::as_object) {
        for (path, value) in pins {
            found.pin(path, value.as_str().map(str::to_owned));
        }
    }
    text(row, "infergate_stage")
        .unwrap_or("")
        .clone_into(&mut stage.name);
    // vLLM has no such key, and divides by the time of the whole load.
    stage.input_tps = num(row, "input_throughput");
    stage.from_schedule = text(row, "infergate_latency_from") == Some("schedule");
    true
}

/// Whether a session can be called so: anybody can have written the file.
fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=80).contains(&text.len()) && text.chars().all(plain)
}

/// Stages of one run, which stand in rows of their own, as one run again.
pub(super) fn join(rows: Vec<Found>) -> Vec<Found> {
    let mut runs: Vec<Found> = Vec::new();
    for row in rows {
        let same = runs
            .iter_mut()
            .find(|run| run.run.is_some() && run.run == row.run);
        match same {
            Some(run) => {
                run.stages.extend(row.stages);
                run.notes.take(row.notes);
            }
            None => runs.push(row),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::importer::notes::Code;

    #[test]
    fn what_is_to_be_doubted_of_any_stage_is_of_the_run() {
        let row = |doubt: Option<Code>| {
            let mut found = Found {
                run: Some("x".to_owned()),
                stages: vec![FoundStage::default()],
                ..Found::default()
            };
            if let Some(code) = doubt {
                found.notes.doubt(code, "so");
            }
            found
        };
        let runs = join(vec![row(None), row(Some(Code::CountsDisagree))]);
        assert_eq!((runs.len(), runs[0].stages.len()), (1, 2));
        assert_eq!(runs[0].notes.caveats.len(), 1);
    }

    #[test]
    fn definitions_and_names_are_taken_only_where_they_are_some() {
        let read = |definition: &str, session: &str| {
            let row = json!({"infergate_definition": definition, "infergate_session": session});
            let (mut found, mut stage) = (Found::default(), FoundStage::default());
            let is_ours = read(&row, &mut found, &mut stage);
            (is_ours, found.definition, found.session)
        };
        let tag = "infergate/1".to_owned();
        assert_eq!(
            read("infergate/1", "20261129T190000Z"),
            (true, Some(tag.clone()), Some("20261129T190000Z".to_owned()))
        );
        assert_eq!(read("infergate/1", "../../etc"), (true, Some(tag), None));
        for other in ["nobody/7", "aiperf/1"] {
            assert_eq!(read(other, "x"), (false, None, None));
        }
    }
}
