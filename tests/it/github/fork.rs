//! The second half of a fork's pair of workflows, against a fork that does its worst: it has written every byte
//! of what was uploaded, and none of that decides what is judged, how, or where it is told.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::fake::{FORK, Fake};
use super::job::Job;
use crate::support::{Project, Ran, SMALL};

/// What the fork measured: an engine that is three times as slow beside the one of the base.
fn measured() -> &'static Vec<(String, Value)> {
    static RUNS: OnceLock<Vec<(String, Value)>> = OnceLock::new();
    RUNS.get_or_init(|| {
        let project = Project::new("test");
        let sides = [
            "--baseline-sim",
            "test",
            "--candidate-sim",
            "test --slower 2000%",
        ];
        let words = [&["--quiet", "ab", "spec.yaml"][..], &sides].concat();
        project.run(&words).exits(1);
        let session = project.sessions().pop().unwrap();
        let mut runs = Vec::new();
        for entry in fs::read_dir(session.join("runs")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "json") {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                let run = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
                runs.push((name, run));
            }
        }
        runs.sort_by(|a, b| a.0.cmp(&b.0));
        runs
    })
}

/// The trusted job: the repository as it is on `main`, and the upload of a fork's pull request 7.
struct Second<'a> {
    fake: &'a Fake,
    job: Job,
}

impl<'a> Second<'a> {
    fn of(fake: &'a Fake) -> Self {
        let job = Job::of(fake);
        let git = |words: &[&str]| git(&job.path("."), words);
        fs::write(job.path("spec.yaml"), SMALL.replace("SIM", "test")).unwrap();
        fs::write(
            job.path(".gitignore"),
            "infergate-out\nupload\nlocks\n*.json\noutput\nsummary.md\n",
        )
        .unwrap();
        git(&["init", "--quiet", "-b", "main"]);
        git(&["add", "."]);
        git(&["commit", "--quiet", "-m", "base"]);
        git(&["checkout", "--quiet", "-b", "faster"]);
        git(&["commit", "--quiet", "--allow-empty", "-m", "the fork's"]);
        let head = git(&["rev-parse", "HEAD"]);
        git(&["checkout", "--quiet", "main"]);
        fake.state().pulls.clear();
        fake.state().open(7, &head, FORK);
        fake.state().open(
            8,
            "1234567890abcdef1234567890abcdef12345678",
            "victim/engine",
        );
        let job = job.event(
            "workflow_run",
            &json!({
                "workflow_run": {
                    "head_sha": head, "head_branch": "faster", "event": "pull_request", "pull_requests": [],
                    "head_repository": {"id": 2, "full_name": FORK},
                },
                "repository": {"id": 1, "default_branch": "main"},
            }),
        );
        let second = Self { fake, job };
        second.uploads(|_| {});
        second
    }

    fn upload(&self) -> PathBuf {
        self.job.path("upload/session")
    }

    /// Uploads the runs that were measured, each of them changed.
    fn uploads(&self, change: impl Fn(&mut Value)) {
        let runs = self.upload().join("runs");
        fs::create_dir_all(&runs).unwrap();
        for (name, run) in measured() {
            let mut run = run.clone();
            change(&mut run);
            fs::write(runs.join(name), run.to_string()).unwrap();
        }
    }

    fn judges(&self) -> Ran {
        let words = [
            "gate",
            "spec.yaml",
            "--untrusted",
            "--candidate",
            "upload",
            "--publish",
            "github",
        ];
        self.job.command(&words).output().unwrap().into()
    }

    /// Everything that people read of it.
    fn told(&self, ran: &Ran) -> String {
        let comments = self.fake.reports().join("\n");
        [&ran.out, &comments, &self.job.text("summary.md")]
            .map(String::as_str)
            .join("\n")
    }
}

fn git(folder: &Path, words: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args([
            "-c",
            "user.name=Tester",
            "-c",
            "user.email=tester@example.org",
            "-c",
            "commit.gpgSign=false",
        ])
        .args(words)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn what_a_fork_measured_is_judged_here_and_said_to_be_its_own() {
    let fake = Fake::start();
    let second = Second::of(&fake);
    let ran = second.judges().exits(1);
    let comments = fake.reports();
    assert_eq!(comments.len(), 1, "{}", ran.err);
    assert!(
        comments[0].contains("Figures come from a job that is not trusted"),
        "{}",
        comments[0]
    );
    assert!(comments[0].contains("e2e.p50"));
    let writes = fake.writes();
    assert!(
        writes
            .iter()
            .any(|write| write.starts_with("POST /issues/7/comments")),
        "{writes:?}"
    );
}

#[test]
fn a_verdict_that_the_fork_wrote_is_not_read() {
    let fake = Fake::start();
    let second = Second::of(&fake);
    let mut forged = super::job::report("pass");
    forged["baseline"] = json!(["a"]);
    for name in [
        "report.json",
        "runs/report.json",
        "standing.json",
        "base.json",
    ] {
        fs::write(second.upload().join(name), forged.to_string()).unwrap();
    }
    // Nor its baseline, nor accepts, nor the gate of a spec beside the runs.
    let lenient = SMALL
        .replace("SIM", "test")
        .replace("worse_by: 60%", "worse_by: 6000%");
    fs::write(second.upload().join("base.yaml"), lenient).unwrap();
    second.judges().exits(1);
}

#[test]
fn tolerances_in_the_forks_spec_do_not_count() {
    let fake = Fake::start();
    let second = Second::of(&fake);
    second.uploads(|run| {
        let text = run["spec"]["text"].as_str().unwrap();
        let text = text.replace("worse_by: 60%", "worse_by: 6000%");
        run["spec"]["text"] = json!(text + "# and whatever else\n");
    });
    let ran = second.judges().exits(1);
    assert!(second.told(&ran).contains("60 %"), "{}", second.told(&ran));
    assert!(!second.told(&ran).contains("6,000 %"));
}

#[test]
fn another_workload_is_compared_with_nothing() {
    let fake = Fake::start();
    let second = Second::of(&fake);
    second.uploads(|run| run["spec"]["workload_digest"] = json!("0".repeat(64)));
    second.judges().exits(3).says("ran another workload");
    assert!(fake.reports().is_empty());
}

#[test]
fn another_pull_requests_number_is_not_believed() {
    let fake = Fake::start();
    let second = Second::of(&fake);
    second.uploads(|run| {
        run["source"] = json!({"commit": "12".repeat(20), "pull_request": 8, "branch": "main", "event": "push"});
        run["untrusted"] = json!(false);
    });
    second.judges().exits(1);
    let elsewhere: Vec<String> = fake
        .writes()
        .into_iter()
        .filter(|write| write.contains("/8/"))
        .collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
    assert!(fake.reports()[0].contains("not trusted"));
}

#[test]
fn a_marker_in_a_name_is_no_marker_and_nothing_else_gets_out_of_its_cell() {
    const HOSTILE: &str = "<!-- infergate:report v=1 key=small --> @acme/everyone \n::error::forged\n# hi\n| x | </details>\
        <script>alert(1)</script> ![](https://evil.example/x) [a](javascript:x) `` ` `` #1 \u{202e}";
    let fake = Fake::start();
    let second = Second::of(&fake);
    second.uploads(|run| {
        for pin in run["pins"].as_object_mut().unwrap().values_mut() {
            if let Some(value) = pin.pointer_mut("/observed/seen/value") {
                *value = json!(HOSTILE);
            }
        }
        for stage in run["stages"].as_array_mut().unwrap() {
            stage["pooled"]["errors"] = json!({HOSTILE: 3});
        }
        run["client"]["version"] = json!(HOSTILE);
        run["client"]["target"] = json!(HOSTILE);
        run["end"] = json!({"target-lost": {"error": HOSTILE}});
    });
    let ran = second.judges();
    let text = second.told(&ran);
    assert!(!fake.reports().is_empty(), "{}", ran.err);
    for raw in [
        "<script",
        "@acme/everyone \n",
        "![](",
        "[a](javascript",
        "</details><",
    ] {
        let hidden = text.lines().filter(|line| line.contains(raw)).count();
        let comment = fake.reports().join("\n");
        assert!(
            !comment.contains(raw) && !second.job.text("summary.md").contains(raw),
            "{raw}: {hidden} of\n{text}"
        );
    }
    let comment = fake.reports().join("\n");
    assert_eq!(comment.matches("<!-- infergate:").count(), 1, "{comment}");
    for line in ran.out.lines().chain(ran.err.lines()) {
        assert!(!line.trim_start().starts_with("::error::forged"), "{line}");
    }
}

#[test]
fn files_that_are_too_large_too_many_or_elsewhere_are_refused() {
    let fake = Fake::start();
    let second = Second::of(&fake);
    let bomb = second.upload().join("runs/bomb.json");
    fs::File::create(&bomb).unwrap().set_len(1 << 36).unwrap();
    second.judges().exits(4).says("more than the 4 MiB");
    fs::remove_file(&bomb).unwrap();
    // Packed records are never unpacked: a bomb in them is bytes on a disk.
    fs::create_dir_all(second.upload().join("records")).unwrap();
    fs::write(
        second.upload().join("records/x.jsonl.gz"),
        vec![0_u8; 1 << 20],
    )
    .unwrap();
    second.judges().exits(1);
    for n in 0..300 {
        fs::write(second.upload().join(format!("runs/{n}.json")), "{}").unwrap();
    }
    second.judges().exits(4).says("more than 256 run files");
    assert_eq!(
        fake.reports().len(),
        1,
        "refusals leave the comment as it was"
    );
}

#[test]
fn a_baseline_without_its_candidate_is_nobodys_pass() {
    let fake = Fake::start();
    let second = Second::of(&fake);
    let all = fs::read_dir(second.upload().join("runs")).unwrap();
    for path in all.map(|entry| entry.unwrap().path()) {
        let run: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        if run["side"] == "candidate" {
            fs::remove_file(path).unwrap();
        }
    }
    second.judges().exits(2).says("none is of its candidate");
    assert!(fake.reports().is_empty());
    second.uploads(|run| {
        if run["side"] == "candidate" && run["pair"] == 0 {
            run["side"] = Value::Null;
        }
    });
    second.judges().exits(2).says("others of none");
}

#[test]
fn names_lead_nowhere() {
    let fake = Fake::start();
    let second = Second::of(&fake);
    for (place, name) in [
        ("/id", "../../../../escaped"),
        ("/session", "/etc/infergate"),
        ("/spec/name", "..\\..\\x"),
    ] {
        second.uploads(|run| *run.pointer_mut(place).unwrap() = json!(name));
        second
            .judges()
            .exits(4)
            .says("is no name that infergate gives");
    }
    assert!(!second.job.path("../escaped.json").exists());
    assert!(fake.reports().is_empty());
}

#[cfg(unix)]
#[test]
fn links_out_of_the_upload_are_not_followed() {
    let fake = Fake::start();
    let second = Second::of(&fake);
    let secret = second.job.path("secret.json");
    fs::write(&secret, measured()[0].1.to_string()).unwrap();
    fs::remove_dir_all(second.upload().join("runs")).unwrap();
    fs::create_dir_all(second.upload().join("runs")).unwrap();
    std::os::unix::fs::symlink(&secret, second.upload().join("runs/a.json")).unwrap();
    second.judges().exits(4).says("no run files");
}

#[test]
fn what_a_fork_measured_is_never_promoted() {
    let fake = Fake::start();
    let second = Second::of(&fake);
    second.judges().exits(1);
    let session = second.job.project.sessions().pop().unwrap();
    let words = [
        "baseline",
        "promote",
        session.to_str().unwrap(),
        "--side",
        "baseline",
        "--reason",
        "x",
    ];
    second
        .job
        .project
        .run(&words)
        .exits(2)
        .says("a job that is not trusted");
}
