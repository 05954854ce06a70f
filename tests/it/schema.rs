//! The published JSON Schemas: they are what the command prints, and they refuse what the reader refuses.

use std::fs;

use serde_json::{Value, json};

use crate::support::Project;
use crate::valid::{KINDS, check_files, mistakes, published};

#[test]
fn the_published_schemas_are_what_the_command_prints() {
    let project = Project::new("test");
    for kind in KINDS {
        let printed = project.run(&["schema", kind]).exits(0).out;
        assert!(
            printed == published(kind),
            "schemas/{kind}.json differs: `infergate schema {kind} > schemas/{kind}.json`"
        );
    }
    project.run(&["schema", "spec.yaml"]).exits(2);
}

#[test]
fn the_schemas_refuse_what_the_reader_refuses() {
    let project = Project::new("test");
    project.run(&["run", "spec.yaml"]).exits(0);
    let run: Value =
        serde_json::from_str(&fs::read_to_string(&project.runs()[0]).unwrap()).unwrap();
    assert_eq!(mistakes("run", &run), [""; 0]);
    for (place, wrong) in [
        ("/format", json!("infergate.run/2")),
        ("/stages", json!({})),
        ("/stages/0/pooled/scheduled", json!("many")),
        ("/stages/0/pooled/scheduled", json!(-1)),
        ("/trace_digest", json!("abc")),
        ("/end", json!("unplanned")),
        ("/pins", json!({"Engine Version": {}})),
    ] {
        let mut broken = run.clone();
        *broken.pointer_mut(place).unwrap() = wrong;
        assert_ne!(mistakes("run", &broken), [""; 0], "{place}");
    }
    let mut lacking = run;
    lacking.as_object_mut().unwrap().remove("session");
    assert_ne!(mistakes("run", &lacking), [""; 0]);
}

#[test]
fn every_kind_of_file_is_held_against_its_schema() {
    let project = Project::new("test");
    project.run(&["ab", "spec.yaml"]).exits_any();
    let (wrong, checked) = check_files(&project.path(""));
    assert_eq!(wrong, [""; 0]);
    // Runs, their records line by line, and the report.
    assert!(checked > 60, "{checked}");
}
