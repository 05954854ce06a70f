//! What every command says of itself.

use crate::support::Project;

const COMMANDS: &[&[&str]] = &[
    &[],
    &["demo"],
    &["init"],
    &["check"],
    &["doctor"],
    &["run"],
    &["merge"],
    &["ab"],
    &["gate"],
    &["compare"],
    &["explain"],
    &["report"],
    &["publish"],
    &["baseline"],
    &["baseline", "promote"],
    &["baseline", "list"],
    &["baseline", "show"],
    &["history"],
    &["export"],
    &["import"],
    &["calibrate"],
    &["capacity"],
    &["sim"],
];

#[test]
fn every_command_explains_itself() {
    let project = Project::new("test");
    for words in COMMANDS {
        let mut words = words.to_vec();
        words.push("--help");
        let help = project.run(&words).exits(0).out;
        let name = words
            .join("-")
            .replace("---help", "")
            .replace("--help", "infergate");
        insta::assert_snapshot!(name, help);
    }
}

#[test]
fn every_command_that_does_something_has_an_example() {
    let project = Project::new("test");
    for words in COMMANDS
        .iter()
        .filter(|words| !words.is_empty() && **words != ["baseline"])
    {
        let mut words = words.to_vec();
        words.push("--help");
        project
            .run(&words)
            .exits(0)
            .shows("Examples:\n  infergate ");
    }
}
