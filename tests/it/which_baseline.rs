//! Which baseline counts: every event of CI on a real repository, and every way to be fooled.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Project, Ran, SMALL, entries, json};

mod shared;

/// The commits of the payloads in `tests/fixtures/events`.
const HEAD: &str = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";
const BASE: &str = "ec26c3e57ca3a959ca5aad62de7213c562f8c821";

/// A target where nothing listens: what is said before it is asked is all that these tests read.
const NOBODY: &str = "url: 'http://127.0.0.1:1'";

/// A repository with a spec and a baseline folder, cloned as CI would: `main` lives in a bare remote.
struct Clone {
    project: Project,
}

impl Clone {
    /// With the spec of this target on `main`, which is pushed.
    fn new(target: &str) -> Self {
        let project = Project::with_spec(&SMALL.replace("sim: SIM", target));
        let clone = Self { project };
        clone.git(&["init", "--quiet", "-b", "main"]);
        clone.git(&["config", "user.name", "Tester"]);
        clone.git(&["config", "user.email", "tester@example.org"]);
        fs::write(
            clone.project.path(".gitignore"),
            "infergate-out\nremote\nevent.json\nlocks\n",
        )
        .unwrap();
        clone.git(&["init", "--quiet", "--bare", "-b", "main", "remote"]);
        clone.git(&["remote", "add", "origin", "remote"]);
        clone.commit("first");
        clone.push();
        clone
    }

    #[track_caller]
    fn git(&self, words: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(self.project.path("."))
            .args([
                "-c",
                "commit.gpgSign=false",
                "-c",
                "protocol.file.allow=always",
            ])
            .args(words)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {words:?}: {err}");
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    /// Commits everything; returns the commit.
    #[track_caller]
    fn commit(&self, subject: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", subject]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn push(&self) {
        self.git(&["push", "--quiet", "origin", "HEAD"]);
    }

    /// On a new branch from what is checked out.
    fn branch(&self, name: &str) {
        self.git(&["checkout", "--quiet", "-b", name]);
    }

    /// A payload with these commits as its head and base; the event's name is what stands before the case.
    fn event(&self, case: &str, head: &str, base: &str) {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/events");
        let text = fs::read_to_string(fixtures.join(format!("{case}.json"))).unwrap();
        let text = text.replace(HEAD, head).replace(BASE, base);
        fs::write(self.project.path("event.json"), text).unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.project.command(words);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null");
        command
    }

    /// A command in a job of GitHub.
    fn github(&self, event: &str, words: &[&str]) -> Ran {
        let sha = self.git(&["rev-parse", "HEAD"]);
        self.command(words)
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_EVENT_NAME", event)
            .env("GITHUB_EVENT_PATH", "event.json")
            .env("GITHUB_REF", "refs/heads/main")
            .env("GITHUB_SHA", sha)
            .output()
            .unwrap()
            .into()
    }

    fn gate(&self, event: &str) -> Ran {
        self.github(event, &["gate", "spec.yaml"])
    }
}

/// Asserts that a gate found this commit as its base, and got as far as its target.
#[track_caller]
fn based_on(ran: Ran, commit: &str) -> Ran {
    let wanted = format!("the baseline is that of commit {}:", &commit[..12]);
    ran.exits(4).says(&wanted)
}

#[track_caller]
fn based_on_the_tree(ran: Ran) -> Ran {
    ran.exits(4)
        .says("the baseline is that of the working tree:")
}

#[test]
fn outside_of_ci_the_working_tree_counts_and_one_line_says_so() {
    let clone = Clone::new(NOBODY);
    let ran: Ran = clone
        .command(&["gate", "spec.yaml"])
        .output()
        .unwrap()
        .into();
    based_on_the_tree(ran).says("no job of CI says otherwise");
    let first = clone.git(&["rev-parse", "HEAD"]);
    clone.commit("second");
    let asked: Ran = clone
        .command(&["gate", "spec.yaml", "--base", "HEAD~1"])
        .output()
        .unwrap()
        .into();
    based_on(asked, &first).says("`--base HEAD~1` names it");
    let unknown = clone
        .command(&["gate", "spec.yaml", "--base", "gone"])
        .output();
    Ran::from(unknown.unwrap())
        .exits(3)
        .says("has no commit `gone`");

    // Where there is no repository there is nothing that a pull request could change.
    let plain = Project::with_spec(&SMALL.replace("sim: SIM", NOBODY));
    plain
        .run(&["gate", "spec.yaml"])
        .exits(4)
        .says("it lies in no git repository");
}

#[test]
fn a_pull_request_is_held_against_the_merge_base_wherever_its_base_was_last_seen() {
    let clone = Clone::new(NOBODY);
    let old = clone.git(&["rev-parse", "HEAD"]);
    let fork_point = clone.commit("fork point");
    clone.push();
    clone.branch("faster");
    let head = clone.commit("faster prefill");
    clone.git(&["checkout", "--quiet", "main"]);
    clone.commit("others go on");
    clone.push();
    clone.git(&["checkout", "--quiet", "--detach", &head]);

    // `base.sha` is of another day; it is not asked while the branch is there.
    clone.event("pull_request", &head, &old);
    based_on(clone.gate("pull_request"), &fork_point).says("the head of pull request 41");
    clone.event("pull_request_fork", &head, &old);
    based_on(clone.gate("pull_request"), &fork_point).says("from a fork");

    // A rebase moves the merge base with it.
    clone.git(&["checkout", "--quiet", "faster"]);
    clone.git(&["rebase", "--quiet", "main"]);
    let rebased = clone.git(&["rev-parse", "HEAD"]);
    clone.event("pull_request", &rebased, &old);
    let tip = clone.git(&["rev-parse", "main"]);
    based_on(clone.gate("pull_request"), &tip);
}

#[test]
fn a_trial_merge_is_held_against_the_side_that_it_was_merged_into() {
    let clone = Clone::new(NOBODY);
    let fork_point = clone.git(&["rev-parse", "HEAD"]);
    clone.branch("faster");
    let head = clone.commit("faster prefill");
    clone.git(&["checkout", "--quiet", "main"]);
    let others = clone.commit("others go on");
    clone.push();
    // What `refs/pull/41/merge` is: what is measured has the others' work in it too.
    clone.git(&["checkout", "--quiet", "--detach", "main"]);
    clone.git(&["merge", "--quiet", "--no-ff", "-m", "trial", &head]);
    clone.event("pull_request", &head, &fork_point);
    based_on(clone.gate("pull_request"), &others).says("its trial merge");
}

#[test]
fn a_merge_group_is_held_against_the_branch_and_not_against_a_group_before_it() {
    let clone = Clone::new(NOBODY);
    let tip = clone.git(&["rev-parse", "HEAD"]);
    clone.branch("gh-readonly-queue/main/pr-40");
    let group_before = clone.commit("a group that may never land");
    let head = clone.commit("this group");
    clone.event("merge_group", &head, &group_before);
    based_on(clone.gate("merge_group"), &tip).says("on its way into `main`");
}

#[test]
fn a_push_is_held_against_the_default_branch_whatever_was_there_before() {
    let clone = Clone::new(NOBODY);
    let tip = clone.git(&["rev-parse", "HEAD"]);
    clone.branch("faster");
    let head = clone.commit("faster prefill");
    // `before` is zeros in one and a commit that nobody has in the other.
    for case in ["push_new_branch", "push_forced", "push_tag"] {
        clone.event(case, &head, &tip);
        based_on(clone.gate("push"), &tip);
    }
    clone.event("push_deleted", &head, &tip);
    clone.gate("push").exits(3).says("deleted a branch");
    clone.event("workflow_dispatch_branch", &head, &tip);
    based_on(clone.gate("workflow_dispatch"), &tip);

    // On the branch itself the tree counts, so that an accept holds as soon as it has landed.
    clone.git(&["checkout", "--quiet", "main"]);
    for (event, case) in [
        ("push", "push"),
        ("schedule", "schedule"),
        ("workflow_dispatch", "workflow_dispatch"),
    ] {
        clone.event(case, &tip, &tip);
        based_on_the_tree(clone.gate(event)).says("on the branch that others are held against");
    }
}

#[test]
fn a_job_on_the_branch_that_checks_out_something_else_is_held_against_the_branch() {
    let clone = Clone::new(NOBODY);
    let tip = clone.git(&["rev-parse", "HEAD"]);
    clone.branch("faster");
    let head = clone.commit("faster prefill");
    // A comment starts a job of `main`, and the job checks out the pull request's head.
    clone.event("issue_comment", &head, &tip);
    let ran = clone
        .command(&["gate", "spec.yaml"])
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_EVENT_NAME", "issue_comment")
        .env("GITHUB_EVENT_PATH", "event.json")
        .env("GITHUB_REF", "refs/heads/main")
        .env("GITHUB_SHA", &tip)
        .output();
    based_on(ran.unwrap().into(), &tip).says("is checked out and judged");
    // And what one workflow built, another one judges.
    clone.event("workflow_run", &head, &tip);
    clone.git(&["checkout", "--quiet", "main"]);
    clone.commit("others go on");
    clone.push();
    based_on(clone.gate("workflow_run"), &tip).says("the head of pull request 41");
    clone.event("workflow_run_fork", &"ab".repeat(20), &tip);
    clone
        .gate("workflow_run")
        .exits(3)
        .says("not in this clone")
        .says("github.event.workflow_run.head_sha");
    clone.event("pull_request_target", &"ab".repeat(20), &tip);
    clone
        .gate("pull_request_target")
        .exits(3)
        .says("github.event.pull_request.head.sha");
}

#[test]
fn a_shallow_clone_is_refused_with_what_to_write_into_the_job() {
    let clone = Clone::new(NOBODY);
    for subject in ["second", "third"] {
        clone.commit(subject);
    }
    clone.push();
    let remote = format!("file://{}", clone.project.path("remote").display());
    clone.git(&["clone", "--quiet", "--depth", "1", &remote, "shallow"]);
    let head = clone.git(&["rev-parse", "HEAD"]);
    clone.event("pull_request", &head, &head);
    clone
        .github("pull_request", &["gate", "shallow/spec.yaml"])
        .exits(3)
        .says("the clone is shallow")
        .says("with: {fetch-depth: 0}")
        .says("`--base REV`");
}

#[test]
fn a_branch_that_is_gone_or_strange_is_never_passed_over() {
    let clone = Clone::new(NOBODY);
    let tip = clone.git(&["rev-parse", "HEAD"]);
    clone.branch("faster");
    let head = clone.commit("faster prefill");
    clone.git(&["branch", "--quiet", "-D", "main"]);
    clone.git(&["update-ref", "-d", "refs/remotes/origin/main"]);
    // The commit that the event names of it is still here.
    clone.event("pull_request", &head, &tip);
    based_on(clone.gate("pull_request"), &tip)
        .says("`main` is not in this clone")
        .says("stands in for it");
    clone.event("pull_request", &head, &"ab".repeat(20));
    clone
        .gate("pull_request")
        .exits(3)
        .says("the branch `main` is not in this clone")
        .says("git fetch origin main");

    // A history of its own shares nothing with it.
    clone.git(&["checkout", "--quiet", "--orphan", "main"]);
    clone.commit("another beginning");
    clone.git(&["checkout", "--quiet", "faster"]);
    clone.event("pull_request", &head, &tip);
    clone
        .gate("pull_request")
        .exits(3)
        .says("have no commit in common");
    fs::remove_file(clone.project.path("event.json")).unwrap();
    clone
        .gate("pull_request")
        .exits(3)
        .says("cannot read what GitHub says of `pull_request`");
}

#[test]
fn gitlab_and_buildkite_are_heard_too() {
    let clone = Clone::new(NOBODY);
    let tip = clone.git(&["rev-parse", "HEAD"]);
    clone.branch("faster");
    let head = clone.commit("faster prefill");
    let gate = |variables: &[(&str, &str)]| -> Ran {
        let mut command = clone.command(&["gate", "spec.yaml"]);
        command
            .envs(variables.iter().copied())
            .output()
            .unwrap()
            .into()
    };
    based_on(
        gate(&[
            ("GITLAB_CI", "true"),
            ("CI_PIPELINE_SOURCE", "merge_request_event"),
            ("CI_COMMIT_SHA", &head),
            ("CI_MERGE_REQUEST_IID", "7"),
            ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ]),
        &tip,
    )
    .says("the head of merge request 7");
    based_on(
        gate(&[
            ("BUILDKITE", "true"),
            ("BUILDKITE_COMMIT", &head),
            ("BUILDKITE_PULL_REQUEST", "12"),
            ("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "main"),
        ]),
        &tip,
    );
}

#[test]
fn a_spec_that_is_new_or_of_another_workload_has_no_baseline_and_its_policies_do_not_count() {
    let clone = Clone::new(NOBODY);
    let tip = clone.git(&["rev-parse", "HEAD"]);
    clone.branch("faster");
    let spec = fs::read_to_string(clone.project.path("spec.yaml")).unwrap();
    let lenient = "gate:\n  no_baseline: pass\n  incomparable: pass\n";
    let write = |name: &str, text: &str| fs::write(clone.project.path(name), text).unwrap();
    let measured = spec.replace(NOBODY, "sim: test");
    write("new.yaml", &measured.replace("gate:\n", lenient));
    write(
        "spec.yaml",
        &spec
            .replace("requests: 60", "requests: 80")
            .replace("gate:\n", lenient),
    );
    let head = clone.commit("other specs");
    clone.event("pull_request", &head, &tip);
    clone
        .github("pull_request", &["gate", "new.yaml"])
        .exits(3)
        .says("the spec `new.yaml` is new")
        .shows("when this has landed, measure and promote 3 sessions");
    clone
        .gate("pull_request")
        .exits(3)
        .says("the spec changed: its workload is not that of `spec.yaml` at commit")
        .shows("Undecided in small: nothing was judged");
    // Against a second target the new workload can be judged, and it is said by which gate.
    clone
        .github(
            "pull_request",
            &["gate", "spec.yaml", "--baseline-url", "http://127.0.0.1:2"],
        )
        .exits(4)
        .says("it is judged by its own gate");
}

/// The sessions of a baseline, made of one that was measured.
struct Sessions {
    environment: std::path::PathBuf,
    runs: Vec<serde_json::Value>,
}

impl Sessions {
    /// Measures one session and promotes it.
    fn measure(clone: &Clone) -> Self {
        let run = clone.command(&["--quiet", "run", "spec.yaml", "--repeats", "2"]);
        Ran::from({ run }.output().unwrap()).exits(0);
        let session = clone.project.sessions().pop().unwrap();
        let session = session.to_str().unwrap();
        let promote = ["baseline", "promote", session, "--reason", "a test"];
        Ran::from(clone.command(&promote).output().unwrap()).exits(0);
        let environments = entries(&clone.project.path("baselines/small")).into_iter();
        let environment = { environments }.find(|path| path.is_dir()).unwrap();
        let runs = entries(&environment.join("runs"));
        Self {
            runs: runs.iter().map(|path| json(path)).collect(),
            environment,
        }
    }

    /// Puts its folder back, with nothing in it that stands.
    fn restore(&self, clone: &Clone) {
        clone.git(&["fetch", "--quiet", "origin", "archive"]);
        let reference = self
            .environment
            .strip_prefix(clone.project.path("baselines"))
            .unwrap();
        for name in ["environment.json", "reference.json"] {
            let path = format!("FETCH_HEAD:{}/{name}", reference.display());
            fs::write(self.environment.join(name), clone.git(&["show", &path])).unwrap();
        }
    }

    /// Lets such sessions stand instead, two hours apart: what each was measured at, and by what its latencies
    /// are longer.
    fn stand(&self, sessions: &[(Option<&str>, f64)]) {
        fs::remove_dir_all(self.environment.join("runs")).unwrap();
        fs::create_dir(self.environment.join("runs")).unwrap();
        let mut reference = json(&self.environment.join("reference.json"));
        let mut standing = Vec::new();
        for (number, (commit, factor)) in sessions.iter().enumerate() {
            let session = format!("small-{number:02}");
            let mut ids = Vec::new();
            for (repeat, run) in self.runs.iter().enumerate() {
                let mut run = run.clone();
                let id = format!("run-{number:02}-{repeat}");
                run["id"] = id.clone().into();
                run["session"] = session.clone().into();
                let measured: jiff::Timestamp = run["started"].as_str().unwrap().parse().unwrap();
                let hours = i64::try_from(2 * (sessions.len() - number)).unwrap();
                let started = measured - jiff::SignedDuration::from_hours(hours);
                run["started"] = format!("{started:.3}").into();
                run.as_object_mut().unwrap().remove("source");
                if let Some(commit) = commit {
                    run["source"] = serde_json::json!({ "commit": commit });
                }
                // No two sessions are quite alike.
                let wobble = [1.0, 1.002, 0.998, 1.001, 0.999][(number + repeat) % 5];
                scale(&mut run["stages"], factor * wobble);
                let text = serde_json::to_string(&run).unwrap();
                fs::write(self.environment.join(format!("runs/{id}.json")), text).unwrap();
                ids.push(id);
            }
            standing.push(serde_json::json!({
                "session": session, "runs": ids, "promoted": "2026-03-20T00:00:00Z", "reason": "a test",
            }));
        }
        reference["sessions"] = standing.into();
        let text = serde_json::to_string_pretty(&reference).unwrap();
        fs::write(self.environment.join("reference.json"), text).unwrap();
    }
}

/// Makes every latency longer.
fn scale(value: &mut serde_json::Value, factor: f64) {
    match value {
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| scale(item, factor)),
        serde_json::Value::Object(fields) => {
            for (name, field) in fields {
                match field.as_f64() {
                    Some(seconds) if matches!(name.as_str(), "value_s" | "adjusted_s") => {
                        *field = (seconds * factor).into();
                    }
                    _ => scale(field, factor),
                }
            }
        }
        _ => {}
    }
}

fn report(clone: &Clone) -> serde_json::Value {
    json(&clone.project.sessions().pop().unwrap().join("report.json"))
}

#[test]
fn a_pull_request_cannot_turn_itself_green_and_what_it_measured_says_where_it_was() {
    // Steps of 6 ms, beside which a busy machine's own scatter is small.
    let clone = Clone::new("sim: h100-8b");
    let sessions = Sessions::measure(&clone);
    let first = clone.git(&["rev-parse", "HEAD"]);
    sessions.stand(&[(Some(first.as_str()), 1.0); 5]);
    let landed = clone.commit("five sessions");
    clone.git(&["commit", "--quiet", "--allow-empty", "-m", "later"]);
    let base = clone.git(&["rev-parse", "HEAD"]);
    clone.push();

    // The pull request is slow, loosens its gate, and brings a baseline that is as slow as itself.
    clone.branch("slow");
    let spec = fs::read_to_string(clone.project.path("spec.yaml")).unwrap();
    let loose = spec
        .replace("worse_by: 60%", "worse_by: 1000%")
        .replace("sim: h100-8b", "sim: 'h100-8b --slower 400%'");
    fs::write(clone.project.path("spec.yaml"), loose).unwrap();
    sessions.stand(&[(None, 5.0); 5]);
    let head = clone.commit("slow, and nobody is to know");
    clone.event("pull_request", &head, &base);
    let ran = clone.gate("pull_request").exits(1);
    let ran = ran
        .says("another `gate:` or `under_test:`, which takes effect when it has landed")
        .says(&format!(
            "measured 2 commits before the base, at {}",
            &first[..12]
        ));
    drop(ran);
    let judged = report(&clone);
    assert_eq!(judged["base"]["commit"], base);
    assert_eq!(judged["base"]["nearest"]["commit"], first);
    assert_eq!(judged["base"]["nearest"]["distance"], 2);
    assert_eq!(judged["base"]["gate_differs"], true);
    let run = json(&clone.project.runs().pop().unwrap());
    assert_eq!(run["source"]["commit"], head);
    assert_eq!(run["source"]["branch"], "faster", "as the event has it");
    assert_eq!(run["source"]["pull_request"], 41);
    assert_eq!(run["source"]["event"], "pull_request");

    // The same from its folder alone, by the gate that judged it and not by its own.
    let session = clone.project.sessions().pop().unwrap();
    let again = clone.command(&["compare", session.to_str().unwrap(), "--json"]);
    let again = Ran::from({ again }.output().unwrap()).exits(1);
    let again: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again["findings"], judged["findings"]);
    assert_eq!(again["base"], judged["base"]);
    // Outside of CI the tree counts, as its author wrote it.
    let own: Ran = clone
        .command(&["gate", "spec.yaml"])
        .output()
        .unwrap()
        .into();
    let own = own.says("the baseline is that of the working tree");
    assert_ne!(own.code, Some(1), "{}", own.out);
    assert!(own.err.contains("5 sessions name no commit"), "{}", own.err);
    let show = clone.command(&["baseline", "show", "small"]);
    Ran::from({ show }.output().unwrap()).exits(0);
    clone.git(&["checkout", "--quiet", &landed]);
    let show = clone.command(&["baseline", "show", "small"]);
    Ran::from({ show }.output().unwrap())
        .exits(0)
        .shows(&format!("Source: commit {}", &first[..12]));
}

#[test]
fn a_baseline_that_got_worse_by_itself_is_said_and_not_charged_to_the_candidate() {
    let clone = Clone::new("sim: h100-8b");
    let sessions = Sessions::measure(&clone);
    let fast = clone.commit("fast");
    let slow = clone.commit("slow");
    // The candidate is as slow as the newest sessions, twice as slow as the older ones.
    let old = [(Some(fast.as_str()), 0.5); 6];
    let new = [(Some(slow.as_str()), 1.0); 6];
    sessions.stand(&[old, new].concat());
    clone.commit("twelve sessions");
    let ran: Ran = clone
        .command(&["gate", "spec.yaml"])
        .output()
        .unwrap()
        .into();
    assert_ne!(ran.code, Some(1), "{}\n{}", ran.out, ran.err);
    assert!(
        ran.out
            .contains("The baseline itself got worse before this candidate came")
            && ran.out.contains(&fast[..12])
            && ran.out.contains(&slow[..12]),
        "{}",
        ran.out
    );
    let judged = report(&clone);
    let level = &judged["levels"][0];
    assert_eq!(level["last"]["commit"], fast);
    assert_eq!(level["first"]["commit"], slow);
    assert_eq!(level["worse"], true);
    assert_eq!(level["since"], 6);
    let by = level["change"]["ratio"]["estimate"].as_f64().unwrap();
    assert!((0.9..1.1).contains(&by), "{by}");
}

#[test]
fn sessions_of_squashed_commits_count_by_their_tree_and_it_is_said() {
    let clone = Clone::new("sim: test");
    clone.branch("faster");
    let squashed = clone.commit("a commit that is squashed away");
    clone.git(&["checkout", "--quiet", "main"]);
    let sessions = Sessions::measure(&clone);
    let here = clone.git(&["rev-parse", "HEAD"]);
    let gone = "ab".repeat(20);
    sessions.stand(&[
        (Some(&squashed), 1.0),
        (Some(&gone), 1.0),
        (Some(&here), 1.0),
        (None, 1.0),
    ]);
    clone.commit("four sessions");
    let ran: Ran = clone
        .command(&["gate", "spec.yaml"])
        .output()
        .unwrap()
        .into();
    ran.says("2 sessions are of commits that are not in the base's past (squashed or rebased)")
        .says("1 session names no commit")
        .says("measured 1 commit before what is checked out");
}

impl Clone {
    /// Lets what lies in `baselines` be the branch of this name on the remote, and takes the folder away.
    fn publish(&self, branch: &str) {
        let git = |words: &[&str]| {
            let output = Command::new("git")
                .arg("-C")
                .arg(self.project.path("."))
                .args(words)
                .env("GIT_INDEX_FILE", ".git/of-the-archive")
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .output()
                .unwrap();
            assert!(output.status.success(), "{words:?}: {output:?}");
            let said = String::from_utf8(output.stdout).unwrap();
            said.trim_end().to_owned()
        };
        git(&["add", "--force", "baselines"]);
        let whole = git(&["write-tree"]);
        let archive = self.git(&["rev-parse", &format!("{whole}:baselines")]);
        let commit = self.git(&["commit-tree", "-m", "an archive", &archive]);
        let target = format!("{commit}:refs/heads/{branch}");
        self.git(&["push", "--quiet", "origin", &target]);
        fs::remove_dir_all(self.project.path("baselines")).unwrap();
    }

    /// Lets the spec name this branch as its archive.
    fn archive_on(&self, branch: &str) {
        let path = self.project.path("spec.yaml");
        let spec = fs::read_to_string(&path).unwrap();
        let spec = spec.lines().filter(|line| !line.starts_with("archive:"));
        let spec: Vec<&str> = spec.collect();
        let text = format!("{}\narchive: {{branch: {branch}}}\n", spec.join("\n"));
        fs::write(path, text).unwrap();
    }

    /// The gate where no job of CI says anything.
    fn own_gate(&self) -> Ran {
        let mut command = self.command(&["gate", "spec.yaml"]);
        command.output().unwrap().into()
    }
}

#[test]
fn on_a_branch_of_its_own_the_sessions_of_other_branches_do_not_stand() {
    let clone = Clone::new("sim: test");
    let here = clone.git(&["rev-parse", "HEAD"]);
    clone.branch("elsewhere");
    let elsewhere = clone.commit("what others try");
    clone.git(&["checkout", "--quiet", "main"]);
    let sessions = Sessions::measure(&clone);
    let gone = "ab".repeat(20);
    let (here, elsewhere) = (Some(here.as_str()), Some(elsewhere.as_str()));
    sessions.stand(&[
        (elsewhere, 1.0),
        (here, 1.0),
        (Some(&gone), 1.0),
        (here, 1.0),
        (None, 1.0),
    ]);
    clone.publish("archive");
    clone.archive_on("archive");
    clone.commit("the archive is a branch");
    let judged = clone
        .own_gate()
        .exits(3)
        .says("2 sessions of commits that are not in the base's past are left out")
        .says("1 session names no commit")
        .says("measured 1 commit before what is checked out");
    assert!(judged.out.contains("3 of the 5 sessions"), "{}", judged.out);
    let base = &report(&clone)["base"];
    assert_eq!(
        (&base["elsewhere"], &base["rewritten"]),
        (&2.into(), &serde_json::Value::Null)
    );

    // Where none is of this past, that is why nothing is judged.
    fs::create_dir_all(sessions.environment.join("runs")).unwrap();
    sessions.restore(&clone);
    sessions.stand(&[(elsewhere, 1.0); 5]);
    clone.publish("others");
    clone.archive_on("others");
    clone
        .own_gate()
        .exits(3)
        .says("none of the 5 sessions of the baseline was measured in the past of");
}

#[test]
fn a_pull_request_cannot_choose_another_archive() {
    let clone = Clone::new("sim: test");
    let sessions = Sessions::measure(&clone);
    sessions.stand(&[(None, 1.0); 3]);
    clone.publish("mine");
    clone.archive_on("archive");
    let base = clone.commit("the archive is a branch that is empty yet");
    clone.push();
    clone.branch("faster");
    clone.archive_on("mine");
    let head = clone.commit("with a baseline of my own");
    clone.event("pull_request", &head, &base);
    clone
        .gate("pull_request")
        .exits(3)
        .says("no baseline for `small` in branch `archive` of `origin`");
    // Its own branch does hold what it would have liked to be held against.
    let own = clone.own_gate().exits(3);
    assert!(
        own.out.contains("3 of the 5 sessions"),
        "{}\n{}",
        own.out,
        own.err
    );
}

#[test]
fn a_pull_request_cannot_put_more_under_test_than_its_base_does() {
    let clone = Clone::new(NOBODY);
    let base = clone.git(&["rev-parse", "HEAD"]);
    clone.branch("faster");
    let spec = fs::read_to_string(clone.project.path("spec.yaml")).unwrap();
    let more = spec.replace(
        "under_test: [engine.args]",
        "under_test: [engine.args, model]",
    );
    assert_ne!(more, spec);
    fs::write(clone.project.path("spec.yaml"), more).unwrap();
    let head = clone.commit("another model");
    clone.event("pull_request", &head, &base);
    based_on(clone.gate("pull_request"), &base)
        .says("another `gate:` or `under_test:`, which takes effect when it has landed");
}

#[test]
fn sessions_that_show_the_noise_say_where_they_were_measured_too() {
    let clone = Clone::new("sim: test");
    let here = clone.git(&["rev-parse", "HEAD"]);
    let words = ["--sessions", "2", "--repeats", "2"];
    let mut calibrate = clone.command(&[&["calibrate", "spec.yaml"], &words[..]].concat());
    Ran::from(calibrate.output().unwrap()).exits(0);
    for path in clone.project.runs() {
        assert_eq!(json(&path)["source"]["commit"], here, "{}", path.display());
    }
    let show = clone.command(&["baseline", "show", "small"]);
    Ran::from({ show }.output().unwrap())
        .exits(0)
        .shows(&format!("Source: commit {}", &here[..12]));
}
