//! A suite on a pull request: one comment, one check.

use std::fs;

use super::fake::Fake;
use super::job::Job;
use crate::support::{Ran, SMALL};

#[test]
fn a_suite_is_one_comment_and_one_check_whatever_became_of_its_members() {
    let fake = Fake::start();
    let job = Job::of(&fake);
    fs::create_dir(job.path("perf")).unwrap();
    let spec = |name: &str, more: &str| {
        let spec = SMALL
            .replace("SIM", "test")
            .replace("name: small", &format!("name: {name}"));
        spec.replace("gate:\n", &format!("gate:\n{more}"))
    };
    let write = |name: &str, text: &str| fs::write(job.path("perf").join(name), text).unwrap();
    write("a.yaml", &spec("alpha", "  no_baseline: pass\n"));
    write(
        "b.yaml",
        &spec("beta", "").replace("sim: test", "url: 'http://127.0.0.1:1'"),
    );
    write(
        "c.yaml",
        &spec("gamma", "").replace("worse_by: 60%", "at_most: 1us"),
    );
    let gate = || -> Ran {
        let words = ["gate", "perf", "--publish", "github"];
        job.command(&words).output().unwrap().into()
    };
    // 1 outranks 4: what was proven is not hidden by what could not be measured.
    gate().exits(1).says("member 3 of 3: c");
    let comments = fake.reports();
    assert_eq!(comments.len(), 1, "{comments:?}");
    assert!(comments[0].contains("key=perf"), "{}", comments[0]);
    assert!(
        comments[0].contains("Regression in 1 of 3 specs"),
        "{}",
        comments[0]
    );
    for name in ["alpha", "`b`", "gamma", "cannot reach the target"] {
        assert!(comments[0].contains(name), "no {name}: {}", comments[0]);
    }
    let state = fake.state();
    assert_eq!(state.checks.len(), 1);
    assert_eq!(state.checks[0]["conclusion"], "failure");
    assert_eq!(state.checks[0]["output"]["title"], "1 of 3 specs pass");
    let noted = state.checks[0]["annotations"].to_string();
    assert!(noted.contains("perf/c.yaml"), "{noted}");
    drop(state);
    assert!(
        job.text("output").contains("\nregression\n"),
        "{}",
        job.text("output")
    );
    assert!(
        job.text("summary.md").contains("1 of 3 specs"),
        "{}",
        job.text("summary.md")
    );
    // Again: the same comment, edited.
    write("c.yaml", &spec("gamma", "  no_baseline: pass\n"));
    write("b.yaml", &spec("beta", "  no_baseline: pass\n"));
    gate().exits(0);
    assert_eq!(fake.reports().len(), 1);
    assert!(
        !fake.reports()[0].contains("Regression in"),
        "{}",
        fake.reports()[0]
    );
}

#[test]
fn a_suite_that_can_not_be_read_leaves_no_comment_and_says_so() {
    let fake = Fake::start();
    let job = Job::of(&fake);
    fs::create_dir(job.path("perf")).unwrap();
    fs::write(
        job.path("perf/suite.yaml"),
        "infergate-suite: 1\nspecs: 5\n",
    )
    .unwrap();
    let words = ["gate", "perf", "--publish", "github"];
    let ran: Ran = job.command(&words).output().unwrap().into();
    ran.exits(2).says("--> perf/suite.yaml:2:");
    assert!(fake.reports().is_empty() && fake.writes().is_empty());
}
