//! Whether what a stage asks for lies within the headroom.

use serde::{Deserialize, Serialize};

use super::{Demand, Found, Headroom};

/// One thing that a stage asks for and a machine bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// Requests a second of an open loop.
    Rate,
    /// Token events a second.
    Events,
    /// Streams at once of a closed loop.
    Streams,
    /// Connections, by the limit on open files.
    OpenFiles,
    /// Connections, by the free local ports.
    Ports,
}

/// What is asked for beside what there is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Of what.
    pub aspect: Aspect,
    /// What the stage asks for.
    pub asked: f64,
    /// What there is.
    pub headroom: f64,
    /// Whether there is more than that: the search ended before a rule broke.
    pub at_least: bool,
}

impl Check {
    /// How often what is asked for fits into what there is: 4,000 by 500 is 8.
    pub fn factor(&self) -> f64 {
        if self.asked > 0.0 {
            self.headroom / self.asked
        } else {
            f64::INFINITY
        }
    }
}

/// How a stage fits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// What it asks for.
    pub demand: Demand,
    /// Each aspect that it has and the machine bounds, scarcest first.
    pub checks: Vec<Check>,
    /// Whether all of them have room.
    pub fits: bool,
}

impl Fit {
    /// The scarcest aspect; `None` where nothing of what the stage asks for is known to be bounded.
    pub fn scarcest(&self) -> Option<&Check> {
        self.checks.first()
    }
}

/// Judges each stage: it fits where every aspect has at least what is asked for.
pub fn judge(headroom: &Headroom, demands: &[Demand]) -> Vec<Fit> {
    demands
        .iter()
        .map(|demand| {
            let mut checks = checks(headroom, demand);
            checks.sort_by(|a, b| a.factor().total_cmp(&b.factor()));
            Fit {
                demand: demand.clone(),
                fits: checks.iter().all(|check| check.factor() >= 1.0),
                checks,
            }
        })
        .collect()
}

fn checks(headroom: &Headroom, demand: &Demand) -> Vec<Check> {
    let searched =
        |aspect, asked: Option<f64>, found: &Found, value: fn(&super::Reading) -> f64| {
            asked.map(|asked| Check {
                aspect,
                asked,
                headroom: found.best.as_ref().map_or(0.0, value),
                at_least: found.broke.is_none() && found.best.is_some(),
            })
        };
    let counted = |aspect, most: Option<u64>| {
        most.map(|most| Check {
            aspect,
            asked: f64::from(demand.connections),
            headroom: most as f64,
            at_least: false,
        })
    };
    let Headroom {
        requests,
        streams,
        machine,
        ..
    } = headroom;
    // Which of the two loops brings more events depends on the machine; both were seen to work.
    let richer = if events(requests) > events(streams) {
        requests
    } else {
        streams
    };
    [
        searched(Aspect::Rate, demand.peak_rps, requests, |r| r.load),
        searched(Aspect::Events, demand.events_per_s, richer, |r| {
            r.events_per_s
        }),
        searched(Aspect::Streams, demand.users.map(f64::from), streams, |r| {
            r.load
        }),
        counted(
            Aspect::OpenFiles,
            machine.open_files.map(super::OpenFiles::connections),
        ),
        counted(Aspect::Ports, machine.ports.map(super::Ports::free)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn events(found: &Found) -> f64 {
    found.best.as_ref().map_or(0.0, |best| best.events_per_s)
}

#[cfg(test)]
mod tests {
    use super::super::tests::headroom;
    use super::*;

    fn open(peak_rps: f64, events_per_s: f64, connections: u32) -> Demand {
        Demand {
            stage: "open".to_owned(),
            peak_rps: Some(peak_rps),
            events_per_s: Some(events_per_s),
            users: None,
            connections,
        }
    }

    fn closed(users: u32) -> Demand {
        Demand {
            stage: "closed".to_owned(),
            peak_rps: None,
            events_per_s: None,
            users: Some(users),
            connections: users,
        }
    }

    fn scarcest(demand: Demand) -> (Aspect, f64, bool) {
        let fit = &judge(&headroom(), &[demand])[0];
        let check = fit.scarcest().unwrap();
        (check.aspect, check.factor(), fit.fits)
    }

    #[test]
    fn the_scarcest_aspect_decides() {
        // 4,000 req/s, 100,000 events/s, 1,000 streams, 972 connections, 28,200 ports.
        assert_eq!(
            scarcest(open(500.0, 10_000.0, 40)),
            (Aspect::Rate, 8.0, true)
        );
        assert_eq!(
            scarcest(open(500.0, 50_000.0, 40)),
            (Aspect::Events, 2.0, true)
        );
        assert_eq!(
            scarcest(open(500.0, 10_000.0, 1944)),
            (Aspect::OpenFiles, 0.5, false)
        );
        assert_eq!(scarcest(closed(500)), (Aspect::OpenFiles, 1.944, true));
        assert!(scarcest(open(4000.0, 0.0, 1)).2, "exactly fits");
        assert!(!scarcest(open(4001.0, 0.0, 1)).2);
    }

    #[test]
    fn streams_are_bounded_by_what_was_measured() {
        let mut headroom = headroom();
        headroom.machine.open_files = None;
        headroom.machine.ports = None;
        let fit = &judge(&headroom, &[closed(500)])[0];
        assert_eq!(fit.checks.len(), 1);
        assert_eq!(fit.checks[0].aspect, Aspect::Streams);
        assert!(!fit.checks[0].at_least);
        headroom.streams.broke = None;
        assert!(judge(&headroom, &[closed(500)])[0].checks[0].at_least);
    }

    #[test]
    fn where_nothing_held_nothing_fits() {
        let mut headroom = headroom();
        headroom.requests.best = None;
        let fit = &judge(&headroom, &[open(1.0, 1.0, 1)])[0];
        assert!(!fit.fits);
        assert!(fit.scarcest().unwrap().factor().abs() < 1e-9);
    }
}
