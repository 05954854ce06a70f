//! The check run, and the commit status where there can't be one.

use serde_json::Value;

use super::fake::{Fake, HEAD, Viewer};
use super::job::Job;

fn conclusion(verdict: &str) -> Value {
    let fake = Fake::start();
    let job = Job::of(&fake);
    job.reports(verdict);
    job.publish(&[]).exits(0).says("check run concluded");
    let state = fake.state();
    assert_eq!(state.checks.len(), 1);
    assert!(state.statuses.is_empty());
    assert_eq!(state.checks[0]["head_sha"], HEAD);
    assert_eq!(state.checks[0]["name"], "infergate/small");
    state.checks[0]["conclusion"].clone()
}

#[test]
fn what_is_no_pass_opens_no_protected_branch() {
    assert_eq!(conclusion("pass"), "success");
    assert_eq!(conclusion("regression"), "failure");
    assert_eq!(conclusion("undecided"), "action_required");
    assert_eq!(conclusion("invalid"), "failure");
    // The spec's policy lets it through.
    assert_eq!(conclusion("excused"), "neutral");
}

#[test]
fn a_personal_token_sets_a_commit_status_and_says_why() {
    let fake = Fake::start();
    fake.state().viewer = Viewer::Person;
    let job = Job::of(&fake);
    job.reports("undecided");
    job.publish(&[])
        .exits(0)
        .says("only GitHub Apps may")
        .says("commit status set to `error`");
    let state = fake.state();
    assert!(state.checks.is_empty());
    assert_eq!(state.statuses[0]["state"], "error");
    assert_eq!(state.statuses[0]["context"], "infergate/small");
    let description = state.statuses[0]["description"].as_str().unwrap();
    assert!(description.chars().count() <= 140, "{description}");
}

#[test]
fn what_is_not_wanted_is_not_posted() {
    let fake = Fake::start();
    Job::of(&fake)
        .publish(&["--skip", "check"])
        .exits(0)
        .says("commit status set to `success`");
    assert_eq!(fake.state().statuses.len(), 1);
    assert_eq!(fake.state().checks.len(), 0);
    let job = Job::of(&fake);
    job.publish(&[
        "--skip", "check", "--skip", "status", "--skip", "comment", "--skip", "summary",
    ])
    .exits(0);
    assert_eq!(fake.state().statuses.len(), 1);
    assert_eq!(fake.reports().len(), 1);
    assert!(!job.path("summary.md").exists() && !job.path("output").exists());
}

#[test]
fn the_job_gets_its_summary_and_outputs() {
    let fake = Fake::start();
    let job = Job::of(&fake);
    job.publish(&[]).exits(0).says("job summary written");
    assert!(job.text("summary.md").contains("small"));
    let outputs = job.text("output");
    assert!(
        outputs.contains("verdict<<") && outputs.contains("\npass\n"),
        "{outputs}"
    );
    let url = "https://github.example/acme/engine/pull/7#issuecomment-";
    assert!(
        outputs.contains("comment-url<<") && outputs.contains(url),
        "{outputs}"
    );
}
