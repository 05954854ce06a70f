//! Sessions that stand, and sessions that show the noise alone.

use super::*;
use crate::compare::synthetic::run;
use crate::provenance::UnderTest;
use crate::summary::Run;

static NOTHING: UnderTest = UnderTest::NOTHING;

fn session(name: &str, runs: u32) -> Vec<Run> {
    (0..runs).map(|minute| run(name, minute)).collect()
}

fn measured(runs: &[Run]) -> MeasuredSession<'_> {
    MeasuredSession {
        runs,
        is_gated: &|_| true,
        under_test: &NOTHING,
        now: "2026-03-01T00:00:00Z",
    }
}

fn ids(sessions: &[Session]) -> Vec<&str> {
    sessions.iter().map(|session| session.id.as_str()).collect()
}

#[test]
fn noise_is_kept_beside_the_sessions_that_stand_until_it_is_promoted() {
    let root = tempfile::tempdir().unwrap();
    let (stands, noise) = (session("stands", 2), session("noise", 3));
    let keeper = Keeper::Folder(root.path().to_owned());
    let promoted = |runs: &[Run]| keeper.keep(|shelf| promote(shelf, measured(runs), "a reason"));
    let kept = |runs: &[Run]| keeper.keep(|shelf| keep_noise(shelf, measured(runs)));
    promoted(&stands).unwrap();
    let folder = kept(&noise).unwrap().folder;
    let name = "demo".parse().unwrap();
    let environment = Environment::of(&stands[0].pins, &UnderTest::NOTHING);
    let shelf = Shelf::folder(root.path());
    let read = || load(&shelf, &name, &environment).unwrap();
    assert_eq!(read().place, keeper.describe(&folder));
    assert_eq!(ids(&read().sessions), ["stands"]);
    assert_eq!(ids(&read().noise), ["noise"]);
    assert_eq!(read().noise[0].runs.len(), 3);
    assert_eq!(load_all(&shelf, &name).unwrap(), [read()]);

    let again = kept(&noise).unwrap_err();
    assert!(matches!(again, PromoteError::Already { .. }));
    let promoted = promoted(&noise).unwrap();
    assert_eq!(promoted.sessions, 2);
    assert_eq!(ids(&read().sessions), ["stands", "noise"]);
    assert_eq!(ids(&read().noise), [""; 0]);
}

#[test]
fn a_reference_of_an_earlier_version_has_no_noise() {
    let text = r#"{"format": "infergate.reference/1", "sessions": []}"#;
    let read: Reference = serde_json::from_str(text).unwrap();
    assert_eq!(read.noise, []);
    assert!(!serde_json::to_string(&read).unwrap().contains("noise"));
}

#[test]
fn nothing_is_kept_of_a_session_that_cannot_show_its_noise() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().join("archive");
    let short = session("short", 1);
    let keeper = Keeper::Folder(root.clone());
    let refused = keeper
        .keep(|shelf| keep_noise(shelf, measured(&short)))
        .unwrap_err();
    assert!(matches!(refused, PromoteError::TooFew { found: 1 }));
    assert!(!root.exists(), "not even a folder");
}

#[test]
fn a_writer_that_ends_after_any_step_leaves_an_archive_that_reads() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    let keeper = Keeper::Folder(root.to_owned());
    let shelf = Shelf::folder(root);
    let name = "demo".parse().unwrap();
    let standing = || -> Vec<String> {
        let all = load_all(&shelf, &name).unwrap();
        let sessions = all.into_iter().flat_map(|baseline| baseline.sessions);
        sessions.map(|session| session.id).collect()
    };
    let mut expected: Vec<String> = Vec::new();
    let mut steps_of_one = usize::MAX;
    let mut k = 0;
    while k <= steps_of_one {
        let id = format!("session-{k}");
        let runs = session(&id, 2);
        let (change, _) = promote(&shelf, measured(&runs), "cut off").unwrap();
        let steps = folder::steps(root, &change);
        steps_of_one = steps.len();
        for step in &steps[..k.min(steps.len())] {
            step.take().unwrap();
        }
        // As before, or as after: the session stands with all its runs, or is not there.
        let now = standing();
        if now != expected {
            expected.push(id);
        }
        assert_eq!(now, expected, "after {k} steps of {steps_of_one}");
        let found = verify(&shelf, "2026-03-01".parse().unwrap()).unwrap();
        let errors = found
            .findings
            .iter()
            .filter(|f| f.gravity == Gravity::Error);
        let codes: Vec<&str> = errors.map(|finding| finding.code).collect();
        let nothing_yet: &[&str] = if expected.is_empty() {
            &["no-history"]
        } else {
            &[]
        };
        assert_eq!(codes, nothing_yet, "after {k} steps of {steps_of_one}");

        let next = format!("next-{k}");
        let runs = session(&next, 2);
        keeper
            .keep(|shelf| promote(shelf, measured(&runs), "whole"))
            .unwrap();
        expected.push(next);
        assert_eq!(standing(), expected);
        let left = files(root);
        let whole = |path: &String| !path.contains("unfinished") && !path.contains(".lock");
        assert!(left.iter().all(whole), "{left:?}");
        k += 1;
    }
    assert!(steps_of_one > 10, "{steps_of_one}");
    assert!(
        expected.contains(&format!("session-{steps_of_one}")),
        "the last one was whole"
    );
}

/// The names of all files below a folder.
fn files(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path.display().to_string()]
            }
        })
        .collect()
}
