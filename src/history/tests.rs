//! What a history finds in sessions whose story is known.

use super::*;
use crate::compare::synthetic;
use crate::metric::{Cell, Metric};
use crate::summary::Run;

/// Runs of a session on a day from 2026-03-01 on, whose TTFT is `base · exp(y)` seconds.
pub(crate) fn session(day: u32, ys: &[f64]) -> Vec<Run> {
    let name = format!("day-{day:03}");
    ys.iter()
        .zip(0..)
        .map(|(y, minute)| {
            let mut run = synthetic::run(&name, minute);
            let (month, day) = (3 + day / 28, 1 + day % 28);
            run.started = format!("2026-{month:02}-{day:02}T00:{minute:02}:00Z");
            synthetic::set(&mut run, Metric::Ttft, 0.2 * y.exp());
            run
        })
        .collect()
}

pub(crate) fn standing(runs: &[Run]) -> KeptSession<'_> {
    KeptSession {
        id: runs[0].session.clone(),
        runs,
        standing: Standing::Stands,
        reason: Some("nightly".to_owned()),
        anchor: None,
        epoch: None,
        commit: Some(format!("{:040x}", runs.len())),
    }
}

pub(crate) fn kept(sessions: Vec<KeptSession<'_>>) -> Kept<'_> {
    Kept {
        environment: "cpu-engine-1f3a9c0e".to_owned(),
        sessions,
        accepts: Vec::new(),
        drift_from: None,
    }
}

/// Small noise that is the same each time: between −0.005 and 0.005.
pub(crate) fn noise(i: u32) -> f64 {
    (f64::from(i * 7919 % 101) - 50.0) / 10_000.0
}

fn cell() -> Cell {
    synthetic::cell("ttft.p95")
}

fn history_of(sessions: &[Vec<Run>], change: impl Fn(usize, &mut KeptSession<'_>)) -> History {
    let sessions = sessions
        .iter()
        .enumerate()
        .map(|(i, runs)| {
            let mut session = standing(runs);
            change(i, &mut session);
            session
        })
        .collect();
    assemble("demo", &[kept(sessions)], &[cell()], "2026-05-01T00:00:00Z")
}

fn steps(levels: &[(u32, f64)]) -> Vec<Vec<Run>> {
    let mut day = 0;
    let mut sessions = Vec::new();
    for (days, y) in levels {
        for _ in 0..*days {
            sessions.push(session(day, &[y + noise(day), y + noise(day + 50)]));
            day += 1;
        }
    }
    sessions
}

#[test]
fn a_session_is_a_point_and_a_step_is_a_change_of_level() {
    let sessions = steps(&[(12, 0.0), (10, 0.1)]);
    let history = history_of(&sessions, |_, _| {});
    let [track] = history.tracks.as_slice() else {
        panic!("{} tracks", history.tracks.len());
    };
    assert_eq!(track.sittings.len(), 22);
    let series = &track.series[0];
    assert_eq!((series.cell.clone(), series.gated), (cell(), true));
    // The geometric mean of two runs.
    let expected = 0.2 * f64::midpoint(noise(0), noise(50)).exp();
    let value = series.points[0].value.value().unwrap();
    assert!((value - expected).abs() < 1e-12, "{value} {expected}");
    assert_eq!(series.points[0].runs.len(), 2);
    let [shift] = series.shifts.as_slice() else {
        panic!("{:?}", series.shifts);
    };
    assert_eq!(shift.sitting, 12);
    assert!((shift.change - 0.1_f64.exp_m1()).abs() < 0.01, "{shift:?}");
    assert!(
        shift.worse && !shift.accepted && shift.p < 1e-6,
        "{shift:?}"
    );
    let level = series.level.unwrap();
    assert_eq!((level.since, level.sessions), (12, 10));
    assert!(
        (level.mean - 0.2 * 0.1_f64.exp()).abs() < 0.002,
        "{level:?}"
    );
    assert_eq!(series.drift, None);
    // 22 days after the first of March to the first of May.
    assert_eq!(track.age_days, Some(40.0));
}

#[test]
fn a_step_at_an_epoch_is_accepted_and_drift_is_held_against_the_anchor() {
    let sessions = steps(&[(8, 0.0), (8, 0.03), (8, 0.06)]);
    let history = history_of(&sessions, |i, session| match i {
        2 => session.anchor = Some("v1".to_owned()),
        8 => session.epoch = Some("vLLM 0.12".to_owned()),
        _ => {}
    });
    let series = &history.tracks[0].series[0];
    let accepted: Vec<(usize, bool)> = series
        .shifts
        .iter()
        .map(|shift| (shift.sitting, shift.accepted))
        .collect();
    assert_eq!(accepted, [(8, true), (16, false)]);
    let drift = series.drift.unwrap();
    assert_eq!(drift.anchor, 2);
    assert!(
        drift.worse && (drift.change - 0.06).abs() < 0.01,
        "{drift:?}"
    );
}

#[test]
fn noise_and_void_sessions_are_shown_and_do_not_count() {
    let mut sessions = steps(&[(12, 0.0)]);
    for day in 12..20 {
        sessions.push(session(day, &[0.5, 0.5]));
    }
    let history = history_of(&sessions, |i, session| {
        if (12..16).contains(&i) {
            session.standing = Standing::Noise;
        } else if i >= 16 {
            let reason = "the machine was shared".to_owned();
            session.standing = Standing::Void { reason };
        }
    });
    let track = &history.tracks[0];
    let series = &track.series[0];
    assert_eq!(series.points.len(), 20);
    assert_eq!(
        series.points.iter().filter(|point| point.counts).count(),
        12
    );
    assert_eq!(series.shifts, []);
    assert_eq!(series.level.unwrap().sessions, 12);
    assert_eq!(track.count(|standing| *standing == Standing::Noise), 4);
    // The newest that stands began on the 12th.
    assert_eq!(track.age_days, Some(50.0));
}

#[test]
fn another_workload_or_environment_is_another_line() {
    let mut sessions = steps(&[(3, 0.0), (3, 0.5)]);
    for run in sessions[3..].iter_mut().flatten() {
        run.spec.workload_digest = crate::ident::Digest::of(b"other");
    }
    let history = history_of(&sessions, |_, _| {});
    let told: Vec<(usize, bool)> = history
        .tracks
        .iter()
        .map(|track| (track.sittings.len(), track.superseded))
        .collect();
    assert_eq!(told, [(3, true), (3, false)]);
    assert_ne!(history.tracks[0].workload, history.tracks[1].workload);

    let two = [
        kept(vec![standing(&sessions[0])]),
        kept(vec![standing(&sessions[1])]),
    ];
    let history = assemble("demo", &two, &[], "2026-05-01T00:00:00Z");
    assert_eq!(history.tracks.len(), 2);
    assert!(history.tracks.iter().all(|track| !track.superseded));
}

#[test]
fn a_failed_session_is_worse_than_any_and_makes_no_level() {
    let mut sessions = steps(&[(6, 0.0)]);
    synthetic::set(&mut sessions[5][0], Metric::Ttft, f64::INFINITY);
    sessions[4][1].stages.clear();
    sessions[4][0].stages.clear();
    let history = history_of(&sessions, |_, _| {});
    let series = &history.tracks[0].series[0];
    assert_eq!(series.points[5].value, PointValue::Failed);
    assert!(
        matches!(&series.points[4].value, PointValue::Unknown(why) if why.contains("no stage"))
    );
    assert_eq!(series.level.unwrap().sessions, 4);
}

#[test]
fn the_newest_sessions_keep_what_was_learnt_from_all() {
    let sessions = steps(&[(12, 0.0), (10, 0.1)]);
    let mut history = history_of(&sessions, |i, session| {
        session.anchor = (i == 20).then(|| "v2".to_owned());
    });
    let track = &mut history.tracks[0];
    let level = track.series[0].level.unwrap();
    track.keep_newest(5);
    let series = &track.series[0];
    assert_eq!((track.sittings.len(), series.points.len()), (5, 5));
    assert_eq!(series.points[0].sitting, 0);
    assert_eq!(series.shifts, []);
    assert!((series.level.unwrap().mean - level.mean).abs() < 1e-15);
    assert_eq!(series.drift.unwrap().anchor, 3);
    track.keep_newest(50);
    assert_eq!(track.sittings.len(), 5);
}

#[test]
fn pins_that_change_between_sessions_are_told() {
    use crate::provenance::{Observation, Pin};
    let mut sessions = steps(&[(3, 0.0)]);
    for (session, version) in sessions.iter_mut().zip(["0.11", "0.11", "0.12"]) {
        let observed = Observation::Seen {
            value: version.to_owned(),
            source: "test".to_owned(),
        };
        let pin = Pin {
            declared: None,
            observed,
        };
        for run in session {
            run.pins
                .insert("engine.version".parse().unwrap(), pin.clone());
        }
    }
    let history = history_of(&sessions, |_, _| {});
    let track = &history.tracks[0];
    assert_eq!(track.sittings[1].pins, []);
    let change = &track.sittings[2].pins[0];
    assert_eq!(change.before.as_deref(), Some("0.11"));
    assert_eq!(change.after.as_deref(), Some("0.12"));
}

#[test]
fn an_acceptance_holds_until_its_day_ends() {
    let last = "2026-04-01".parse().unwrap();
    let accept = Acceptance {
        made: "2026-03-01".to_owned(),
        cells: Vec::new(),
        reason: "x".to_owned(),
        expires: Some(last),
    };
    assert_eq!(accept.over("2026-04-01T23:59:59Z"), None);
    assert_eq!(accept.over("2026-04-02T00:00:00Z"), Some(last));
}
