//! The comment that is edited in place, and the one that says a change.

use std::collections::BTreeSet;

use super::fake::{Fake, HEAD, Viewer};
use super::job::Job;

const BOT: (&str, &str) = ("github-actions[bot]", "Bot");

/// A marker of this run.
fn marker(run: u64, decided: &str) -> String {
    format!(
        "<!-- infergate:report v=1 key=small sha={HEAD} run={run} attempt=1 decided={decided} -->"
    )
}

#[test]
fn a_report_is_one_comment_however_often_it_is_published() {
    let fake = Fake::start();
    Job::of(&fake)
        .publish(&[])
        .exits(0)
        .says("comment created: https://github.example/acme/engine/pull/7#issuecomment-");
    let first = fake.reports();
    assert!(first[0].starts_with(&marker(100, "pass")), "{}", first[0]);
    Job::of(&fake)
        .run_number(101)
        .publish(&[])
        .exits(0)
        .says("comment updated");
    let second = fake.reports();
    assert_eq!(second.len(), 1);
    assert!(second[0].starts_with(&marker(101, "pass")), "{}", second[0]);
    assert!(fake.changes().is_empty());
}

#[test]
fn a_change_from_pass_to_regression_and_back_is_told_once_each() {
    let fake = Fake::start();
    let publish = |run: u64, verdict: &str| {
        let job = Job::of(&fake).run_number(run);
        job.reports(verdict);
        job.publish(&[]).exits(0)
    };
    publish(100, "regression");
    assert!(
        fake.changes().is_empty(),
        "the first report is told by itself"
    );
    publish(101, "regression");
    // What can't be decided is no change, and the next decision is held against the one before it.
    publish(102, "undecided");
    publish(103, "excused");
    assert!(fake.changes().is_empty());
    publish(104, "pass").says("comment on the change created");
    assert_eq!(fake.changes().len(), 1);
    publish(105, "pass");
    publish(106, "invalid");
    publish(107, "regression");
    let changes = fake.changes();
    assert_eq!(changes.len(), 2);
    assert!(changes[0].contains("passes again"), "{}", changes[0]);
    assert!(changes[1].contains("regresses now"), "{}", changes[1]);
    assert!(changes[1].contains("https://github.example/acme/engine/pull/7#issuecomment-"));
    assert_eq!(fake.reports().len(), 1);
}

#[test]
fn the_report_is_found_on_any_page() {
    let fake = Fake::start();
    for n in 0..230 {
        fake.state()
            .comment(Some(("reviewer", "User")), &format!("remark {n}"));
    }
    let id = fake.state().comment(Some(BOT), &marker(99, "pass"));
    fake.state().comment(Some(("reviewer", "User")), "one more");
    Job::of(&fake)
        .publish(&[])
        .exits(0)
        .says(&format!("issuecomment-{id}"));
    // Each page by its path: one that got lost on the way is asked for again.
    let paths = fake.exchanges().into_iter().map(|exchange| exchange.path);
    let pages: BTreeSet<String> = paths.filter(|path| path.contains("/7/comments?")).collect();
    assert_eq!(pages.len(), 3, "{pages:?}");
    assert_eq!(fake.reports().len(), 1);
}

#[test]
fn a_marker_that_somebody_else_wrote_is_nobodys() {
    for viewer in [Viewer::Job, Viewer::Person] {
        for graphql in [true, false] {
            let fake = Fake::start();
            fake.state().viewer = viewer;
            fake.state().graphql = graphql;
            let forged = format!("{}\nAll is well, merge it.", marker(99, "pass"));
            fake.state().comment(Some(("mallory", "User")), &forged);
            // The name of an app, without its brackets, is a name that a person may have.
            fake.state()
                .comment(Some(("github-actions", "User")), &forged);
            fake.state().comment(None, &forged);
            fake.state()
                .comment(Some(BOT), &format!("As was said:\n{forged}"));
            let job = Job::of(&fake);
            job.reports("regression");
            job.publish(&["--skip", "check", "--skip", "status"])
                .exits(0)
                .says("comment created");
            let state = fake.state();
            assert_eq!(
                state.comments.len(),
                5,
                "no change is told against a forged pass"
            );
            assert!(
                state.comments[..3]
                    .iter()
                    .all(|comment| comment["body"] == forged.as_str())
            );
        }
    }
}

#[test]
fn of_several_the_oldest_is_edited_and_the_others_are_hidden() {
    let fake = Fake::start();
    let first = fake.state().comment(Some(BOT), &marker(97, "pass"));
    fake.state().comment(Some(BOT), &marker(98, "pass"));
    fake.state().comment(Some(BOT), &marker(99, "pass"));
    Job::of(&fake)
        .publish(&[])
        .exits(0)
        .says(&format!("issuecomment-{first}"));
    let hidden = |fake: &Fake| -> Vec<bool> {
        fake.state()
            .comments
            .iter()
            .map(|comment| !comment["minimized"].is_null())
            .collect()
    };
    assert_eq!(hidden(&fake), [false, true, true]);
    let before = fake.exchanges().len();
    Job::of(&fake)
        .run_number(101)
        .publish(&[])
        .exits(0)
        .says(&format!("issuecomment-{first}"));
    let hiding =
        |exchange: &super::fake::Exchange| exchange.body.to_string().contains("minimizeComment");
    assert!(
        !fake.exchanges()[before..].iter().any(hiding),
        "what is hidden stays hidden"
    );
}

#[test]
fn reports_of_other_keys_stay_what_they_are() {
    let fake = Fake::start();
    Job::of(&fake).publish(&[]).exits(0);
    Job::of(&fake)
        .publish(&["--key", "nightly"])
        .exits(0)
        .says("comment created");
    assert_eq!(fake.reports().len(), 2);
}

#[test]
fn a_job_that_is_late_leaves_the_newer_report() {
    let fake = Fake::start();
    Job::of(&fake).run_number(101).publish(&[]).exits(0);
    let job = Job::of(&fake).run_number(100);
    job.reports("regression");
    job.publish(&[])
        .exits(0)
        .says("the report there is of a later job (101, attempt 1)");
    assert!(fake.reports()[0].starts_with(&marker(101, "pass")));
    assert!(fake.changes().is_empty());
}

#[test]
fn an_account_that_is_gone_spoils_no_page() {
    let fake = Fake::start();
    fake.state().comment(None, "I was here");
    Job::of(&fake).publish(&[]).exits(0).says("comment created");
    Job::of(&fake)
        .run_number(101)
        .publish(&[])
        .exits(0)
        .says("comment updated");
}

#[test]
fn a_comment_that_was_deleted_meanwhile_is_made_anew() {
    let fake = Fake::start();
    Job::of(&fake).publish(&[]).exits(0);
    fake.after("GET", "/7/comments", |state| state.comments.clear());
    Job::of(&fake)
        .run_number(101)
        .publish(&[])
        .exits(0)
        .says("comment created anew");
    assert_eq!(fake.reports().len(), 1);
}

#[test]
fn a_server_of_ones_own_is_asked_below_its_own_path() {
    let fake = Fake::start_at("/api/v3");
    Job::of(&fake).publish(&[]).exits(0).says("comment created");
    let paths: Vec<String> = fake
        .exchanges()
        .into_iter()
        .map(|exchange| exchange.path)
        .collect();
    assert!(paths.iter().any(|path| path == "/api/graphql"), "{paths:?}");
    assert!(
        paths
            .iter()
            .all(|path| path == "/api/graphql" || path.starts_with("/api/v3/repos/")),
        "{paths:?}"
    );
}

#[test]
fn a_shorter_limit_is_met_by_a_shorter_report() {
    let fake = Fake::start();
    fake.state().longest = Some(40_000);
    let job = Job::of(&fake);
    let mut report = super::job::report("pass");
    let long: Vec<String> = (0..400)
        .map(|n| format!("caveat {n} {}", "x".repeat(150)))
        .collect();
    report["caveats"] = serde_json::json!(long);
    std::fs::write(job.path("report.json"), report.to_string()).unwrap();
    job.publish(&["--skip", "check"])
        .exits(0)
        .says("comment created");
    assert!(fake.reports()[0].encode_utf16().count() <= 40_000);
}
