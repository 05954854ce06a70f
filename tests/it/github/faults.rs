//! What goes wrong on the way to GitHub: what was sent, what came back, what the user saw, what is there.

use std::fmt::Write as _;

use serde_json::json;

use super::fake::{Exchange, Fake, Fault, TOKEN};
use super::job::Job;
use crate::support::Ran;

/// One fault, and what became of it.
struct Case {
    name: &'static str,
    /// Comments afterwards.
    comments: usize,
    prepare: fn(&Fake),
    words: &'static [&'static str],
}

fn says(status: u16, message: &'static str, headers: &[(&'static str, &str)]) -> Fault {
    let headers = headers
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()));
    Fault::Says(status, message, headers.collect())
}

const COMMENTS: &str = "/7/comments";
/// So that an answer that never comes is not waited for.
const SHORT: &[&str] = &["--timeout", "3s"];

fn cases() -> Vec<Case> {
    let case = |name, comments, prepare| Case {
        name,
        comments,
        prepare,
        words: &[],
    };
    let short = |name, comments, prepare| Case {
        name,
        comments,
        prepare,
        words: SHORT,
    };
    vec![
        case("nothing", 1, |_| {}),
        case("the token is not known", 0, |fake| {
            fake.fails_times(9, "GET", "/pulls/7", says(401, "Bad credentials", &[]));
        }),
        case("the token may not comment", 0, |fake| {
            fake.state().may = vec!["checks", "statuses"];
        }),
        case("the token may not make check runs", 1, |fake| {
            fake.state().may = vec!["pulls", "statuses"];
        }),
        case("the token may only read", 0, |fake| {
            fake.state().may = vec![];
        }),
        case("a limit that is over at once", 1, |fake| {
            let limit = says(
                403,
                "You have exceeded a secondary rate limit",
                &[("retry-after", "0")],
            );
            fake.fails_times(2, "POST", COMMENTS, limit);
        }),
        case(
            "the hour's requests are used up, until a moment ago",
            1,
            |fake| {
                let hour = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "0")];
                fake.fails(
                    "GET",
                    "/pulls/7",
                    says(429, "API rate limit exceeded", &hour),
                );
            },
        ),
        case("a limit that is over tomorrow", 0, |fake| {
            fake.fails(
                "POST",
                COMMENTS,
                says(429, "API rate limit exceeded", &[("retry-after", "86400")]),
            );
        }),
        case("the pull request is not there", 0, |fake| {
            fake.state().pulls.clear();
        }),
        case("the conversation is locked", 0, |fake| {
            let locked = says(
                403,
                "Unable to create comment because issue is locked.",
                &[],
            );
            fake.fails("POST", COMMENTS, locked);
        }),
        case(
            "the text is too long for this server, at any length",
            0,
            |fake| fake.state().longest = Some(100),
        ),
        case("a server that fails once on the way in", 1, |fake| {
            fake.fails("GET", COMMENTS, says(502, "Bad gateway", &[]));
        }),
        case("a server that fails for good", 0, |fake| {
            fake.fails_times(9, "GET", COMMENTS, says(503, "Unavailable", &[]));
        }),
        case("502, and the comment was made", 1, |fake| {
            fake.fails("POST", COMMENTS, Fault::DoneThen(502));
        }),
        case("502, and the comment was not made", 1, |fake| {
            fake.fails("POST", COMMENTS, says(502, "Bad gateway", &[]));
        }),
        case("502, and the check run was made", 1, |fake| {
            fake.fails("POST", "/check-runs", Fault::DoneThen(502));
        }),
        case(
            "cut in the middle of an answer, and the comment was made",
            1,
            |fake| {
                fake.fails("POST", COMMENTS, Fault::DoneThenCut);
            },
        ),
        case("cut in the middle of a list", 1, |fake| {
            fake.fails("GET", COMMENTS, Fault::DoneThenCut);
        }),
        short("no answer in time, and the comment was made", 1, |fake| {
            fake.fails("POST", COMMENTS, Fault::DoneThenSilence);
        }),
        short("no answer in time, once", 1, |fake| {
            fake.fails("GET", "/pulls/7", Fault::Silence);
        }),
        case("a proxy that wants to be signed into", 0, |fake| {
            fake.fails_times(9, "GET", "/pulls/7", Fault::Page);
        }),
        case("a next page at another server", 0, |fake| {
            for _ in 0..120 {
                fake.state().comment(Some(("reviewer", "User")), "remark");
            }
            fake.fails("GET", COMMENTS, Fault::LinkElsewhere);
        }),
        case("the repository has moved", 0, |fake| {
            fake.fails(
                "GET",
                "/pulls/7",
                says(
                    301,
                    "Moved Permanently",
                    &[("location", "/repositories/1/pulls/7")],
                ),
            );
        }),
        case("the pull request was closed meanwhile", 0, |fake| {
            fake.state().pulls[0]["state"] = json!("closed");
        }),
        case("the pull request was pushed to meanwhile", 0, |fake| {
            fake.state().pulls[0]["head"]["sha"] =
                json!("1234567890abcdef1234567890abcdef12345678");
        }),
    ]
}

fn shown(case: &Case, fake: &Fake, ran: &Ran) -> String {
    let mut text = format!("## {}\n\n", case.name);
    let told = |exchange: &Exchange| !exchange.path.ends_with("/graphql");
    for exchange in fake.exchanges().iter().filter(|exchange| told(exchange)) {
        let _ = writeln!(text, "    {}", exchange.line());
    }
    let said = ran.err.replace(&fake.api(), "API");
    let _ = writeln!(text, "\nsaid:\n{}", said.trim_end().replace("%0A", "\n  "));
    let comments = fake.reports().len();
    let state = fake.state();
    let (checks, statuses) = (state.checks.len(), state.statuses.len());
    let code = ran.code.unwrap();
    let _ = writeln!(
        text,
        "\nexit {code}, comments {comments}, checks {checks}, statuses {statuses}\n"
    );
    text
}

#[test]
fn no_fault_doubles_a_comment_or_changes_an_exit_code() {
    let cases = cases();
    // Each has a GitHub of its own, and most of the time is waiting.
    let texts: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = cases.iter().map(|case| scope.spawn(|| run(case))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    insta::with_settings!({filters => vec![(r"issuecomment-\d+", "issuecomment-N"), (r"/runs/1\d{3}\b", "/runs/N")]}, {
        insta::assert_snapshot!("faults", texts.concat());
    });
}

fn run(case: &Case) -> String {
    let fake = Fake::start();
    (case.prepare)(&fake);
    let ran = Job::of(&fake).publish(case.words).exits(0);
    assert!(
        !ran.err.contains(TOKEN) && !ran.out.contains(TOKEN),
        "{}: the token is shown",
        case.name
    );
    assert_eq!(
        fake.reports().len(),
        case.comments,
        "{}\n{}",
        case.name,
        ran.err
    );
    shown(case, &fake, &ran)
}

#[test]
fn what_is_required_and_not_posted_is_invalid_and_never_a_regression() {
    let fake = Fake::start();
    fake.state().may = vec!["checks", "statuses"];
    Job::of(&fake).publish(&["--require-publish"]).exits(4);
    let job = Job::of(&fake);
    job.reports("regression");
    job.publish(&["--require-publish"]).exits(4);
    job.publish(&[]).exits(0);
}

#[test]
fn nobody_listens() {
    let fake = Fake::start();
    let job = Job::of(&fake);
    drop(fake);
    job.publish(&[])
        .exits(0)
        .says("cannot look at `acme/engine#7`: no answer")
        .says("GITHUB_API_URL");
}

#[test]
fn a_token_that_is_shown_by_the_server_is_masked() {
    let fake = Fake::start();
    fake.fails(
        "GET",
        "/pulls/7",
        says(400, "who is ghs_0123456789abcdef?", &[]),
    );
    let ran = Job::of(&fake).publish(&[]).exits(0).says("[masked]");
    assert!(!ran.err.contains(TOKEN));
}

#[test]
fn settings_that_are_wrong_are_mistakes() {
    let fake = Fake::start();
    let job = Job::of(&fake);
    let with = |name: &str, value: &str| -> Ran {
        job.command(&["publish", "report.json"])
            .env(name, value)
            .output()
            .unwrap()
            .into()
    };
    with("GITHUB_API_URL", "http://ghe.example/api/v3")
        .exits(2)
        .says("not encrypted");
    with("GITHUB_GRAPHQL_URL", "http://127.0.0.2:9/graphql")
        .exits(2)
        .says("not at the server");
    with("GITHUB_REPOSITORY", "../../x")
        .exits(2)
        .says("no repository");
    with("GITHUB_TOKEN", "a\nb")
        .exits(2)
        .says("control characters");
    let none: Ran = job
        .command(&["publish", "report.json"])
        .env_remove("GITHUB_TOKEN")
        .output()
        .unwrap()
        .into();
    none.exits(2).says("there is no token").says("github.token");
    job.publish(&["--sha", "abc"]).exits(2).says("`--sha`");
    job.publish(&["--repo", "acme"])
        .exits(2)
        .says("no repository");
    let nothing: Ran = job
        .command(&["publish", "none.json"])
        .output()
        .unwrap()
        .into();
    nothing.exits(2).says("cannot read the report `none.json`");
    let spec: Ran = job
        .command(&["publish", "spec.yaml"])
        .output()
        .unwrap()
        .into();
    spec.exits(2).says("is not a report file");
    assert!(fake.exchanges().is_empty());
}
