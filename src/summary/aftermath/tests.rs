use super::*;
use crate::sample::Outcome;
use crate::spec::Arrival;
use crate::summary::tests::{class, request as whole, stage};

/// A window from 10 s to 70 s.
const FRAME: Frame = Frame {
    start: Nanos::from_secs(10),
    end: Nanos::from_secs(70),
    from_schedule: true,
};

fn event(name: &str, at_s: u64, lasts_s: Option<u64>) -> Happened {
    let at = Nanos::from_secs(10 + at_s);
    Happened {
        name: name.to_owned(),
        what: name.to_owned(),
        planned: at,
        lasts: lasts_s.map(Nanos::from_secs),
        began: Some(at),
        ended: Some(at),
        outcome: EventOutcome::Done,
        output: String::new(),
    }
}

/// A request that took 0.2 s, or failed at once.
fn request(due_ms: u64, outcome: Outcome) -> RequestRecord {
    let took = if outcome == Outcome::Completed {
        200
    } else {
        0
    };
    RequestRecord {
        done: Some(Nanos::from_millis(10_000 + due_ms + took)),
        ..whole(0, 10_000 + due_ms, outcome)
    }
}

/// What follows of ten requests a second, of which `fails` (by milliseconds since the window's start) fail.
fn followed(events: &[Happened], fails: impl Fn(u64) -> bool) -> BTreeMap<String, Aftermath> {
    let classes = [class(&[])];
    let mut gathered = Gathered::new(&stage(), &classes, FRAME, events).unwrap();
    for due in (0..60_000).step_by(100) {
        let outcome = if fails(due) {
            Outcome::ConnectError
        } else {
            Outcome::Completed
        };
        gathered.see(&request(due, outcome));
    }
    gathered.finish().0
}

#[test]
fn half_of_the_requests_lost_for_ten_seconds_is_half_of_the_goodput() {
    let kill = event("kill", 30, Some(10));
    let during = |due: u64| (30_000..40_000).contains(&due) && due.is_multiple_of(200);
    let after = followed(&[kill], during).remove("kill").unwrap();
    assert_eq!(
        after.lost,
        BTreeMap::from([(OutcomeKind::ConnectError, 50)])
    );
    assert_eq!(after.attainment_before, Some(1.0));
    let back = after.recovery.seconds().unwrap();
    assert!((9.7..=10.1).contains(&back), "{back}");
    assert!((after.goodput_before_rps - 10.0).abs() < 0.2, "{after:?}");
    assert!((after.remaining().unwrap() - 0.5).abs() < 0.04, "{after:?}");
    assert_eq!(after.while_s.round() as u64, 10);
    assert_eq!(after.drained, Recovery::Kept);
}

#[test]
fn what_repairs_ends_what_was_broken() {
    let events = [event("kill", 30, None), event("start", 45, None)];
    let found = followed(&events, |due| (30_000..46_500).contains(&due));
    let [kill, start] = ["kill", "start"].map(|name| found[name].clone());
    assert_eq!(
        (kill.lost(), start.lost()),
        (150, 15),
        "each to its own time"
    );
    let near = |recovery: &Recovery, s: f64| (recovery.seconds().unwrap() - s).abs() < 0.2;
    assert!(near(&kill.recovery, 16.5), "{kill:?}");
    assert!(near(&start.recovery, 1.5), "{start:?}");
    assert_eq!(kill.while_s.round() as u64, 15, "until the repair");
    assert!(kill.goodput_while_rps < 0.2);
}

#[test]
fn what_never_comes_back_says_so_and_what_never_went_is_kept() {
    let found = followed(&[event("kill", 30, None)], |due| due >= 30_000);
    let why = Recovery::Never {
        why: "attainment was not back when the window ended".to_owned(),
    };
    assert_eq!(found["kill"].recovery, why);
    let found = followed(&[event("drop", 30, None)], |due| due == 30_000);
    assert_eq!(
        found["drop"].recovery,
        Recovery::Kept,
        "one of twenty is chance"
    );
    assert_eq!(found["drop"].lost(), 1);
    let found = followed(&[event("early", 1, None)], |_| false);
    let Recovery::Absent { why } = &found["early"].recovery else {
        panic!("{found:?}");
    };
    assert!(why.starts_with("only 8 requests ended"), "{why}");
    let found = followed(&[event("late", 59, None)], |_| false);
    let why = Recovery::Absent {
        why: "fewer than 20 requests were due after it".to_owned(),
    };
    assert_eq!(found["late"].recovery, why);
}

#[test]
fn a_later_fault_is_not_charged_to_an_earlier_one() {
    let events = [event("one", 20, Some(3)), event("two", 40, Some(5))];
    let bad = |due: u64| (20_000..23_000).contains(&due) || (40_000..45_000).contains(&due);
    let found = followed(&events, bad);
    let seconds = |name: &str| found[name].recovery.seconds().unwrap();
    assert!((2.8..=3.2).contains(&seconds("one")), "{}", seconds("one"));
    assert!((4.8..=5.2).contains(&seconds("two")), "{}", seconds("two"));
}

/// A queue that serves ten a second gets 2/s, and in a burst of 5 s 20/s more: 12/s pile up to 60, which
/// 10/s − 2/s take down in 7.5 s.
#[test]
fn a_burst_drains_as_the_queue_says() {
    let rate = |rate: f64| crate::unit::Rps::try_new(rate).unwrap();
    let mut stage = stage();
    stage.arrival = Arrival::Open {
        profile: RateProfile::Burst {
            base: rate(2.0),
            added: rate(20.0),
            every: Nanos::from_secs(20),
            lasting: Nanos::from_secs(5),
        },
        process: crate::spec::ArrivalProcess::Constant,
    };
    let classes = [class(&[])];
    let mut gathered = Gathered::new(&stage, &classes, FRAME, &[]).unwrap();
    let (mut due, mut free) = (0.0, 0.0_f64);
    while due < 60_000.0 {
        let in_burst = [20_000.0, 40_000.0]
            .iter()
            .any(|b| (*b..b + 5_000.0).contains(&due));
        free = free.max(due) + 100.0;
        let mut record = request(due as u64, Outcome::Completed);
        record.done = Some(Nanos::from_millis(10_000 + free as u64));
        gathered.see(&record);
        due += if in_burst { 1000.0 / 22.0 } else { 500.0 };
    }
    let bursts = gathered.finish().1.unwrap();
    assert_eq!((bursts.bursts, bursts.drained), (2, 2));
    assert!((55..=62).contains(&bursts.in_flight_most), "{bursts:?}");
    let drain = bursts.drain_median_s.unwrap();
    // What counts as gone is one or two requests short of empty.
    assert!((7.0..=7.7).contains(&drain), "{bursts:?}");
}
