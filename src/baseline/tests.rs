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
    promote(root.path(), measured(&stands), "a reason").unwrap();
    let folder = keep_noise(root.path(), measured(&noise)).unwrap();
    let name = "demo".parse().unwrap();
    let environment = Environment::of(&stands[0].pins, &UnderTest::NOTHING);
    let shelf = Shelf::folder(root.path());
    let read = || load(&shelf, &name, &environment).unwrap();
    assert_eq!(read().place, folder.display().to_string());
    assert_eq!(ids(&read().sessions), ["stands"]);
    assert_eq!(ids(&read().noise), ["noise"]);
    assert_eq!(read().noise[0].runs.len(), 3);
    assert_eq!(load_all(&shelf, &name).unwrap(), [read()]);

    let again = keep_noise(root.path(), measured(&noise)).unwrap_err();
    assert!(matches!(again, PromoteError::Already { .. }));
    let promoted = promote(root.path(), measured(&noise), "it is calm").unwrap();
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
    let refused = keep_noise(root.path(), measured(&session("short", 1))).unwrap_err();
    assert!(matches!(refused, PromoteError::TooFew { found: 1 }));
    assert_eq!(list(&Shelf::folder(root.path())).unwrap(), []);
}
