//! A job of GitHub Actions that publishes.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::fake::{Fake, HEAD, REPOSITORY, TOKEN};
use crate::support::{Project, Ran};

/// A report file of a pass.
const REPORT: &str = include_str!("../../fixtures/archive/single/report-1.json");

/// A job of pull request 7, or of another event.
pub(crate) struct Job {
    pub(crate) project: Project,
    api: String,
    graphql: String,
    run: u64,
    event: &'static str,
}

impl Job {
    /// On pull request 7 of a GitHub, whose report is a pass.
    pub(crate) fn of(fake: &Fake) -> Self {
        let job = Self {
            project: Project::new("test"),
            api: fake.api(),
            graphql: fake.graphql(),
            run: 100,
            event: "pull_request",
        };
        job.reports("pass");
        job.tells(&json!({
            "number": 7,
            "pull_request": {
                "number": 7,
                "head": {"sha": HEAD, "ref": "faster", "repo": {"id": 1, "full_name": REPOSITORY}},
                "base": {"ref": "main", "repo": {"id": 1}},
            },
        }));
        job
    }

    /// Of another event.
    pub(crate) fn event(mut self, name: &'static str, payload: &Value) -> Self {
        self.event = name;
        self.tells(payload);
        self
    }

    /// A later or earlier run of it.
    pub(crate) fn run_number(mut self, run: u64) -> Self {
        self.run = run;
        self
    }

    fn tells(&self, payload: &Value) {
        fs::write(self.path("event.json"), payload.to_string()).unwrap();
    }

    /// A path of the job's folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.project.path(name)
    }

    /// A file of the job's folder; nothing where it is not there.
    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Makes the report one that ended so.
    pub(crate) fn reports(&self, verdict: &str) {
        fs::write(self.path("report.json"), report(verdict).to_string()).unwrap();
    }

    /// The binary in this job, with these words.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.project.command(words);
        command
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_API_URL", &self.api)
            .env("GITHUB_GRAPHQL_URL", &self.graphql)
            .env("GITHUB_SERVER_URL", "https://github.example")
            .env("GITHUB_REPOSITORY", REPOSITORY)
            .env("GITHUB_EVENT_NAME", self.event)
            .env("GITHUB_EVENT_PATH", self.path("event.json"))
            .env("GITHUB_RUN_ID", self.run.to_string())
            .env("GITHUB_RUN_ATTEMPT", "1")
            .env("GITHUB_STEP_SUMMARY", self.path("summary.md"))
            .env("GITHUB_OUTPUT", self.path("output"))
            .env("GITHUB_TOKEN", TOKEN);
        command
    }

    /// Publishes its report, with these words more.
    pub(crate) fn publish(&self, words: &[&str]) -> Ran {
        let words = [&["publish", "report.json"], words].concat();
        self.command(&words).output().unwrap().into()
    }
}

/// A report file that ended so.
pub(crate) fn report(verdict: &str) -> Value {
    let mut report: Value = serde_json::from_str(REPORT).unwrap();
    let (word, exit, code) = match verdict {
        "pass" => ("pass", "pass", 0),
        "regression" => ("regression", "regression", 1),
        "undecided" => ("undecided", "undecided", 3),
        "excused" => ("undecided", "pass", 0),
        "invalid" => ("invalid", "invalid", 4),
        other => panic!("{other}"),
    };
    report["verdict"] = json!(word);
    report["exit"] = json!(exit);
    report["exit_code"] = json!(code);
    report
}
