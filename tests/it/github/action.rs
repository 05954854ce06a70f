//! The action and an example's workflow, run as a runner does: by `act` in host mode, against the stand-in for
//! GitHub. `bash tests/github/act.sh` installs it and runs this.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::fake::{Fake, HEAD, REPOSITORY, TOKEN};
use crate::support::{Project, Ran, SMALL};

/// The repository of a user of the action, with an example's workflow.
struct User {
    project: Project,
    /// What the runner keeps, elsewhere: it copies the project.
    home: tempfile::TempDir,
}

impl User {
    /// With this workflow of the examples, the action taken from here and the machine this one.
    fn of(workflow: &str, candidate: &str) -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let spec = SMALL.replace("SIM", candidate) + "baseline: {sim: test}\n";
        let user = Self {
            project: Project::with_spec(&spec),
            home: tempfile::tempdir().unwrap(),
        };
        let at = |name: &str| user.project.path(name);
        fs::create_dir_all(at("infergate")).unwrap();
        fs::rename(at("spec.yaml"), at("infergate/chat.yaml")).unwrap();
        fs::create_dir_all(at("action")).unwrap();
        for file in [
            "action.yml",
            "action/run.sh",
            "action/install.sh",
            "action/checksums.txt",
        ] {
            fs::copy(here.join(file), at(file)).unwrap();
        }
        let text = fs::read_to_string(here.join("examples/workflows").join(workflow)).unwrap();
        fs::create_dir_all(at(".github/workflows")).unwrap();
        fs::write(at(".github/workflows/gate.yml"), local(&text)).unwrap();
        for words in [
            &["init", "--quiet", "-b", "main"][..],
            &["add", "."],
            &[
                "-c",
                "user.name=T",
                "-c",
                "user.email=t@example.org",
                "commit",
                "--quiet",
                "-m",
                "x",
            ],
            &["update-ref", "refs/remotes/origin/main", "HEAD"],
        ] {
            let git = Command::new("git")
                .arg("-C")
                .arg(at("."))
                .args(words)
                .status();
            assert!(git.unwrap().success());
        }
        user
    }

    /// Runs the workflow for pull request 7.
    #[expect(
        clippy::disallowed_methods,
        reason = "a switch, and the runner's own path"
    )]
    fn acts(&self, fake: &Fake) -> Ran {
        let act = PathBuf::from(
            std::env::var("INFERGATE_ACT").expect("INFERGATE_ACT names the program act"),
        );
        let git = Command::new("git")
            .arg("-C")
            .arg(self.project.path("."))
            .args(["rev-parse", "HEAD"])
            .output();
        let head = String::from_utf8(git.unwrap().stdout)
            .unwrap()
            .trim()
            .to_owned();
        fake.state().pulls[0]["head"]["sha"] = json!(head);
        let event = json!({
            "number": 7,
            "pull_request": {
                "number": 7,
                "head": {"sha": head, "ref": "faster", "repo": {"id": 1, "full_name": REPOSITORY}},
                "base": {"ref": "main", "sha": HEAD, "repo": {"id": 1}},
            },
            "repository": {"id": 1, "default_branch": "main", "full_name": REPOSITORY},
        });
        let file = self.home.path().join("event.json");
        fs::write(&file, event.to_string()).unwrap();
        let programs = Path::new(env!("CARGO_BIN_EXE_infergate"))
            .parent()
            .unwrap()
            .display();
        let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
        let locks = self.home.path().join("locks");
        let mut command = Command::new(act);
        command
            .current_dir(self.project.path("."))
            .args(["pull_request", "--eventpath"])
            .arg(&file)
            .args(["-P", "ubuntu-24.04=-self-hosted", "--action-offline-mode"])
            .args(["-s", &format!("GITHUB_TOKEN={TOKEN}")])
            .args(["--env", &format!("GITHUB_API_URL={}", fake.api())])
            .args(["--env", &format!("GITHUB_GRAPHQL_URL={}", fake.graphql())])
            .args(["--env", &format!("GITHUB_REPOSITORY={REPOSITORY}")])
            .args(["--env", &format!("INFERGATE_LOCKS={}", locks.display())])
            .args(["--env", &format!("PATH={path}")])
            .env("PATH", &path)
            .env("HOME", self.home.path())
            .env("XDG_CACHE_HOME", self.home.path());
        command.output().unwrap().into()
    }
}

/// What a user writes, with this machine for the one with a GPU and without what only GitHub's own runner has.
fn local(workflow: &str) -> String {
    let mut text = String::new();
    let mut skipped = false;
    for line in workflow.lines() {
        if line.trim_start().starts_with("- ") {
            skipped = false;
        }
        if line.contains("- if: always()") {
            skipped = true; // what keeps the artifacts
        }
        let line = if line.contains("uses: infergate/infergate@") {
            "      - uses: ./\n        id: gate".to_owned()
        } else if line.contains("with:") && text.ends_with("id: gate\n") {
            format!("{line}\n          version: none")
        } else {
            line.replace("[self-hosted, linux, gpu]", "ubuntu-24.04")
        };
        if !skipped {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text + "      - if: always()\n        env:\n          SAYS: ${{ steps.gate.outputs.verdict }} ${{ steps.gate.outputs.exit-code }} ${{ steps.gate.outputs.comment-url }}\n        run: echo \"outputs $SAYS\"\n"
}

#[test]
#[ignore = "needs act: bash tests/github/act.sh"]
fn an_examples_workflow_gates_comments_and_passes_its_outputs_on() {
    let fake = Fake::start();
    let slower = User::of("gpu-gate.yml", "test --slower 2000%");
    let ran = slower.acts(&fake);
    let text = format!("{}\n{}", ran.out, ran.err);
    assert_ne!(ran.code, Some(0), "{text}");
    let comments = fake.reports();
    assert_eq!(comments.len(), 1, "{text}");
    assert!(comments[0].contains("e2e.p50"), "{}", comments[0]);
    assert!(text.contains("outputs regression 1 https://"), "{text}");
    assert_eq!(fake.state().checks[0]["conclusion"], "failure");
    assert!(!text.contains(TOKEN), "the token is nowhere");

    let alike = User::of("gpu-gate.yml", "test").acts(&fake);
    let text = format!("{}\n{}", alike.out, alike.err);
    assert_eq!(alike.code, Some(0), "{text}");
    assert!(text.contains("outputs pass 0 https://"), "{text}");
    assert_eq!(fake.reports().len(), 1, "edited in place");
}
