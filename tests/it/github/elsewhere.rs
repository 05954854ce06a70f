//! Dry runs, other CIs, and what a log may hold.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::fake::{Fake, HEAD, REPOSITORY, TOKEN};
use super::job::Job;
use crate::support::Ran;

/// The requests that a dry run prints.
fn rehearsed(ran: &Ran) -> Vec<Value> {
    ran.out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_dry_run_prints_what_a_first_publication_sends() {
    let fake = Fake::start();
    let job = Job::of(&fake);
    let words = ["publish", "report.json", "--dry-run"];
    let mut command = job.command(&words);
    let dry = Ran::from(command.env_remove("GITHUB_TOKEN").output().unwrap()).exits(0);
    assert!(fake.exchanges().is_empty(), "nothing is sent");
    assert!(!job.path("summary.md").exists());
    job.publish(&[]).exits(0);
    let line = |method: &str, url: &str, body: &Value| format!("{method} {url} {body}");
    let sent: Vec<String> = fake
        .exchanges()
        .iter()
        .map(|sent| {
            line(
                &sent.method,
                &format!("{}{}", fake.api(), sent.path),
                &sent.body,
            )
        })
        .collect();
    let rehearsed: Vec<String> = rehearsed(&dry)
        .iter()
        .map(|request| {
            line(
                request["method"].as_str().unwrap(),
                request["url"].as_str().unwrap(),
                &request["body"],
            )
        })
        .collect();
    assert_eq!(rehearsed, sent);
}

#[test]
fn flags_say_what_no_job_says() {
    let fake = Fake::start();
    let job = Job::of(&fake);
    let words = [
        "publish",
        "report.json",
        "--repo",
        REPOSITORY,
        "--pr",
        "7",
        "--sha",
        HEAD,
        "--json",
    ];
    let mut command = job.project.command(&words);
    command
        .env("GITHUB_API_URL", fake.api())
        .env("GH_TOKEN", TOKEN);
    let ran = Ran::from(command.output().unwrap()).exits(0);
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(told["posted"][1]["channel"], "comment");
    assert_eq!(told["posted"][1]["outcome"], "done");
    assert!(
        told["comment_url"]
            .as_str()
            .unwrap()
            .contains("github.com/acme/engine/pull/7")
    );
    assert!(fake.reports()[0].starts_with(&format!(
        "<!-- infergate:report v=1 key=small sha={HEAD} decided=pass -->"
    )));
    let nowhere: Ran = job
        .project
        .command(&["publish", "report.json"])
        .output()
        .unwrap()
        .into();
    nowhere
        .exits(2)
        .says("not known where to publish")
        .says("--to");
}

#[test]
fn several_reports_are_one_comment() {
    let fake = Fake::start();
    let job = Job::of(&fake);
    let mut other = super::job::report("regression");
    other["spec"]["name"] = json!("code");
    std::fs::write(job.path("code.json"), other.to_string()).unwrap();
    job.publish(&["code.json"]).exits(0);
    let reports = fake.reports();
    assert_eq!(reports.len(), 1);
    assert!(
        reports[0].starts_with("<!-- infergate:report v=1 key=all "),
        "{}",
        reports[0]
    );
    assert!(reports[0].contains("code") && reports[0].contains("small"));
    assert_eq!(fake.state().checks[0]["conclusion"], "failure");
}

#[test]
fn a_folder_stands_for_the_reports_below_it() {
    let fake = Fake::start();
    let job = Job::of(&fake);
    for (place, name, verdict) in [
        ("vllm-fp8/s1", "vllm-fp8", "pass"),
        ("sglang-fp8/s2", "sglang-fp8", "invalid"),
    ] {
        let folder = job.path("reports").join(place);
        std::fs::create_dir_all(&folder).unwrap();
        let mut report = super::job::report(verdict);
        report["spec"]["name"] = json!(name);
        std::fs::write(folder.join("report.json"), report.to_string()).unwrap();
    }
    let words = ["publish", "reports", "--key", "matrix"];
    let ran = Ran::from(job.command(&words).output().unwrap()).exits(0);
    let reports = fake.reports();
    assert_eq!(reports.len(), 1, "{}", ran.err);
    assert!(reports[0].contains("vllm-fp8") && reports[0].contains("sglang-fp8"));
    std::fs::create_dir_all(job.path("empty")).unwrap();
    let none = Ran::from(job.command(&["publish", "empty"]).output().unwrap());
    none.exits(2)
        .says("cannot read the report `empty/report.json`");
}

#[test]
fn what_is_printed_of_a_failure_is_no_command_of_the_runner() {
    let fake = Fake::start();
    let job = Job::of(&fake);
    let out = job
        .command(&["publish", "none\n::error::forged.json"])
        .output()
        .unwrap();
    let ran = Ran::from(out).exits(2);
    let lines: Vec<&str> = ran.err.lines().collect();
    let word = lines[0].strip_prefix("::stop-commands::").unwrap();
    assert_eq!(lines.last().unwrap(), &format!("::{word}::"));
    assert!(word.len() >= 16);
}

/// A GitLab with one merge request.
#[derive(Default)]
struct MergeRequest {
    notes: Vec<Value>,
    requests: Vec<String>,
    /// The next POST is done and answered by 502.
    fails: bool,
    /// So many requests are answered by 429 and the seconds to wait.
    limited: Option<(u32, &'static str)>,
    may: bool,
    sha: &'static str,
}

async fn gitlab(
    State(notes): State<Arc<Mutex<MergeRequest>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut notes = notes.lock().unwrap();
    notes.requests.push(format!("{method} {}", uri.path()));
    let answer = |status: u16, body: Value| {
        let mut response = axum::Json(body).into_response();
        *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
        response
    };
    if headers
        .get("private-token")
        .is_none_or(|token| token != "glpat-1")
    {
        return answer(401, json!({"message": "401 Unauthorized"}));
    }
    if let Some((left @ 1.., after)) = notes.limited {
        notes.limited = Some((left - 1, after));
        let mut limited = answer(429, json!({"message": "429 Too Many Requests"}));
        let after = http::HeaderValue::from_static(after);
        limited.headers_mut().insert("retry-after", after);
        return limited;
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let path = uri.path().strip_prefix("/api/v4").unwrap();
    let base = "/projects/42/merge_requests/7";
    match (method.as_str(), path.strip_prefix(base)) {
        ("GET", None) if path == "/user" => answer(200, json!({"id": 9, "username": "gate"})),
        ("GET", Some("")) => answer(200, json!({"iid": 7, "state": "opened", "sha": notes.sha})),
        ("GET", Some("/notes")) => {
            let query = uri.query().unwrap();
            let page: usize = query.split("&page=").nth(1).unwrap().parse().unwrap();
            let all = notes.notes.chunks(100).nth(page - 1).unwrap_or_default();
            answer(200, json!(all))
        }
        _ if !notes.may => answer(403, json!({"message": "403 Forbidden"})),
        ("POST", Some("/notes")) => {
            let id = notes.notes.len() + 1;
            notes
                .notes
                .push(json!({"id": id, "body": body["body"], "author": {"id": 9}}));
            if std::mem::take(&mut notes.fails) {
                return answer(502, json!({}));
            }
            answer(201, json!({"id": id}))
        }
        ("PUT", Some(rest)) => {
            let id: usize = rest.strip_prefix("/notes/").unwrap().parse().unwrap();
            notes.notes[id - 1]["body"] = body["body"].clone();
            answer(200, json!({"id": id}))
        }
        _ => answer(404, json!({"message": "404 Not found"})),
    }
}

/// Runs `publish` in a pipeline of a merge request against such a GitLab, as often as asked.
fn in_pipelines(notes: &Arc<Mutex<MergeRequest>>, publish: impl FnOnce(&dyn Fn(u64) -> Ran)) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let listener = runtime
        .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
        .unwrap();
    let api = format!("http://{}/api/v4", listener.local_addr().unwrap());
    let router = Router::new().fallback(gitlab).with_state(Arc::clone(notes));
    runtime.spawn(async move { axum::serve(listener, router).await });
    let fake = Fake::start();
    let job = Job::of(&fake);
    publish(&|pipeline| {
        let mut command = job.project.command(&["publish", "report.json"]);
        command
            .env("GITLAB_CI", "true")
            .env("CI_API_V4_URL", &api)
            .env("CI_PROJECT_ID", "42")
            .env("CI_PIPELINE_ID", pipeline.to_string())
            .env("CI_MERGE_REQUEST_IID", "7")
            .env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
            .env("CI_COMMIT_SHA", HEAD)
            .env("GITLAB_TOKEN", "glpat-1");
        command.output().unwrap().into()
    });
}

#[test]
fn a_merge_request_has_one_note() {
    let notes = Arc::new(Mutex::new(MergeRequest {
        may: true,
        sha: HEAD,
        ..MergeRequest::default()
    }));
    let forged =
        format!("<!-- infergate:report v=1 key=small sha={HEAD} run=1 attempt=1 decided=pass -->");
    let others: Vec<Value> = (1..=130)
        .map(|id| json!({"id": id, "body": forged, "author": {"id": 1}}))
        .collect();
    notes.lock().unwrap().notes = others;
    in_pipelines(&notes, |publish| {
        publish(100).exits(0).says("merge-request note created");
        publish(101).exits(0).says("merge-request note updated");
        publish(100)
            .exits(0)
            .says("no merge-request note: the report there is of a later job");
    });
    let notes = notes.lock().unwrap();
    assert_eq!(notes.notes.len(), 131);
    assert!(
        notes.notes[130]["body"]
            .as_str()
            .unwrap()
            .contains("run=101")
    );
    assert!(
        notes.notes[..130]
            .iter()
            .all(|note| note["body"] == forged.as_str())
    );
}

#[test]
fn a_note_is_not_doubled_and_a_token_that_may_not_is_told() {
    let notes = Arc::new(Mutex::new(MergeRequest {
        may: true,
        fails: true,
        sha: HEAD,
        ..MergeRequest::default()
    }));
    in_pipelines(&notes, |publish| {
        publish(100).exits(0).says("merge-request note created");
        notes.lock().unwrap().may = false;
        publish(101).exits(0).says("the scope `api`");
        notes.lock().unwrap().sha = "1234567890abcdef1234567890abcdef12345678";
        publish(102).exits(0).says("is not its head any more");
    });
    assert_eq!(notes.lock().unwrap().notes.len(), 1);
}

#[test]
fn a_gitlab_that_limits_requests_is_waited_for_and_not_for_an_hour() {
    let notes = Arc::new(Mutex::new(MergeRequest {
        may: true,
        sha: HEAD,
        limited: Some((2, "0")),
        ..MergeRequest::default()
    }));
    in_pipelines(&notes, |publish| {
        publish(100).exits(0).says("merge-request note created");
        notes.lock().unwrap().limited = Some((1, "3600"));
        publish(101)
            .exits(0)
            .says("takes no more requests of this token for another 3600 s (429)");
    });
    let notes = notes.lock().unwrap();
    assert_eq!(notes.notes.len(), 1);
    assert_eq!(notes.limited, Some((0, "3600")), "asked once");
}

#[cfg(unix)]
#[test]
fn a_build_of_buildkite_has_an_annotation() {
    use std::os::unix::fs::PermissionsExt as _;
    let fake = Fake::start();
    let job = Job::of(&fake);
    job.reports("regression");
    let agent = "#!/bin/sh\nprintf '%s\\n' \"$@\" > words\ncat > text\n[ ! -e refuse ] || { echo 'no such job' >&2; exit 1; }\n";
    std::fs::write(job.path("buildkite-agent"), agent).unwrap();
    std::fs::set_permissions(
        job.path("buildkite-agent"),
        std::fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    let publish = |path: &str| -> Ran {
        let mut command = job.project.command(&["publish", "report.json"]);
        let path = format!("{path}:/usr/bin:/bin");
        command
            .env("BUILDKITE", "true")
            .env("BUILDKITE_BRANCH", "faster")
            .env("BUILDKITE_COMMIT", HEAD)
            .env("BUILDKITE_PIPELINE_DEFAULT_BRANCH", "main")
            .env("PATH", path);
        command.output().unwrap().into()
    };
    let here = job.path("").display().to_string();
    publish(&here).exits(0).says("build annotation written");
    assert_eq!(
        job.text("words"),
        "annotate\n--style\nerror\n--context\ninfergate-small\n"
    );
    assert!(job.text("text").contains("small"));
    std::fs::write(job.path("refuse"), "").unwrap();
    publish(&here)
        .exits(0)
        .says("warning: build annotation: cannot annotate the build")
        .says("no such job");
    publish("/nowhere").exits(0).says("can't be started");
    assert!(fake.exchanges().is_empty());
}
