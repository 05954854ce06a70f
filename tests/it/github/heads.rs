//! Nothing is said of a commit that its pull request is not about any more.

use serde_json::json;

use super::fake::{FORK, Fake, HEAD, REPOSITORY};
use super::job::Job;

const OTHER: &str = "1234567890abcdef1234567890abcdef12345678";

#[test]
fn a_pull_request_that_moved_on_or_closed_is_told_nothing() {
    let fake = Fake::start();
    fake.state().pulls[0]["head"]["sha"] = json!(OTHER);
    Job::of(&fake)
        .publish(&["--require-publish"])
        .exits(0)
        .says("ec26c3e57ca3 is not the head of `acme/engine#7` any more, which is 1234567890ab");
    fake.state().pulls[0]["head"]["sha"] = json!(HEAD);
    fake.state().pulls[0]["state"] = json!("closed");
    Job::of(&fake)
        .publish(&[])
        .exits(0)
        .says("no comment: `acme/engine#7` is closed meanwhile");
    assert!(fake.writes().is_empty(), "{:?}", fake.writes());
}

/// The second workflow of a fork's pair: its event names no pull request.
fn second_workflow(fake: &Fake) -> Job {
    let payload = json!({
        "workflow_run": {
            "head_sha": HEAD, "head_branch": "faster", "event": "pull_request", "pull_requests": [],
            "head_repository": {"id": 2, "full_name": FORK},
        },
        "repository": {"id": 1, "default_branch": "main"},
    });
    Job::of(fake).event("workflow_run", &payload)
}

#[test]
fn a_forks_pull_request_is_found_by_its_head() {
    let fake = Fake::start();
    fake.state().pulls.clear();
    fake.state().open(7, HEAD, FORK);
    // Somebody else's pull request with the same commit, a closed one, and one of another commit.
    fake.state().open(8, HEAD, "trudy/engine");
    fake.state().open(9, HEAD, FORK);
    fake.state().pulls[2]["state"] = json!("closed");
    fake.state().open(10, OTHER, FORK);
    second_workflow(&fake)
        .publish(&[])
        .exits(0)
        .says("/pull/7#issuecomment-");
    let comments: Vec<String> = fake
        .writes()
        .into_iter()
        .filter(|line| line.contains("/comments"))
        .collect();
    assert_eq!(comments, ["POST /issues/7/comments → 201"]);
}

#[test]
fn two_pull_requests_with_one_head_are_none() {
    let fake = Fake::start();
    fake.state().pulls.clear();
    fake.state().open(7, HEAD, FORK);
    fake.state().open(8, HEAD, FORK);
    second_workflow(&fake)
        .publish(&[])
        .exits(0)
        .says("both have ec26c3e57ca3 as their head; name one with `--pr`");
    assert!(fake.writes().is_empty());
}

#[test]
fn a_fork_that_pushed_meanwhile_is_told_nothing() {
    let fake = Fake::start();
    fake.state().pulls.clear();
    fake.state().open(7, OTHER, FORK);
    second_workflow(&fake)
        .publish(&[])
        .exits(0)
        .says("no open pull request has ec26c3e57ca3 as its head");
    assert!(fake.writes().is_empty());
}

#[test]
fn a_push_has_a_check_and_no_comment() {
    let fake = Fake::start();
    let payload = json!({
        "ref": "refs/heads/main", "after": HEAD, "repository": {"default_branch": "main", "full_name": REPOSITORY},
    });
    let job = Job::of(&fake).event("push", &payload);
    job.publish(&[])
        .exits(0)
        .says("no comment: this event is of no pull request");
    assert_eq!(fake.writes(), ["POST /check-runs → 201"]);
}

#[test]
fn a_merge_group_has_a_check_on_its_own_head() {
    let fake = Fake::start();
    let payload = json!({"merge_group": {
        "head_sha": OTHER, "head_ref": "refs/heads/gh-readonly-queue/main/pr-7-abc", "base_ref": "refs/heads/main",
        "base_sha": HEAD,
    }});
    Job::of(&fake)
        .event("merge_group", &payload)
        .publish(&[])
        .exits(0);
    assert_eq!(fake.state().checks[0]["head_sha"], OTHER);
    assert!(fake.reports().is_empty());
}

#[test]
fn the_default_branch_keeps_an_issue_while_it_regresses() {
    let fake = Fake::start();
    let payload = json!({
        "ref": "refs/heads/main", "after": HEAD, "repository": {"default_branch": "main", "full_name": REPOSITORY},
    });
    let publish = |run: u64, verdict: &str| {
        let job = Job::of(&fake).event("push", &payload).run_number(run);
        job.reports(verdict);
        job.publish(&["--issue", "--skip", "check", "--skip", "status"])
            .exits(0)
    };
    publish(100, "pass").says("no issue: the branch passes, and none is open");
    publish(101, "regression").says("issue opened: https://github.example/acme/engine/issues/");
    publish(102, "regression").says("issue updated");
    publish(103, "undecided").says("no issue: it is neither a pass nor a regression");
    publish(101, "pass").says("no issue: what stands there is of a later job");
    assert_eq!(fake.state().issues.len(), 1);
    assert_eq!(fake.state().issues[0]["state"], "open");
    publish(104, "pass").says("issue closed");
    assert_eq!(fake.state().issues[0]["state"], "closed");
    assert_eq!(fake.state().issues[0]["state_reason"], "completed");
    publish(105, "regression").says("issue opened");
    assert_eq!(fake.state().issues.len(), 2);
}

#[test]
fn a_pull_request_opens_no_issue() {
    let fake = Fake::start();
    let job = Job::of(&fake);
    job.reports("regression");
    job.publish(&["--issue"]).exits(0);
    assert!(fake.state().issues.is_empty());
}
