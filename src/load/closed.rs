//! Closed loop: users who send their next request when the last one has ended.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use super::clock::Clock;
use super::conversation::NextTurn;
use super::dispatch::{Dispatch, Landing};
use super::supply::Supply;
use super::window::{Bounds, Window};
use crate::plan::Phase;
use crate::spec::{Extent, Warmup};
use crate::unit::Nanos;

/// Longest spread of the users' starts where it follows from the first latency.
const LONGEST_SPREAD: Nanos = Nanos::from_secs(10);

/// The users of a stage and what they share.
#[derive(Debug)]
pub(super) struct Users {
    pub(super) dispatch: Arc<Dispatch>,
    pub(super) turns: Turns,
    pub(super) warmup: Supply,
    pub(super) measured: Supply,
    pub(super) ramp: Ramp,
    /// From the end of an answer to its user's next request on average.
    pub(super) think: Nanos,
}

/// When each user starts.
#[derive(Debug)]
pub(super) struct Ramp {
    users: u32,
    /// Known from the start, or once the first request has ended.
    spread: watch::Sender<Option<Spread>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Spread {
    from: Nanos,
    over: Nanos,
}

impl Ramp {
    /// Starts spread over `ramp`; without it, the first request runs alone, and the others spread
    /// over its latency.
    pub(super) fn new(users: u32, ramp: Option<Nanos>) -> Self {
        let spread = ramp.map(|over| Spread {
            from: Nanos::ZERO,
            over,
        });
        Self {
            users,
            spread: watch::Sender::new(spread),
        }
    }

    /// The first request is over: others start within one round of its user.
    fn first_ended(&self, began: Nanos, ended: Nanos, think: Nanos) {
        self.spread.send_if_modified(|spread| {
            let unknown = spread.is_none();
            if unknown {
                *spread = Some(Spread {
                    from: ended,
                    over: (ended.since(began) + think).min(LONGEST_SPREAD),
                });
            }
            unknown
        });
    }

    /// Waits for a user's start.
    async fn start(&self, user: u32, clock: Clock) {
        let mut spread = self.spread.subscribe();
        if user == 0 {
            return;
        }
        let Ok(spread) = spread.wait_for(Option::is_some).await.map(|spread| *spread) else {
            return;
        };
        if let Some(Spread { from, over }) = spread {
            let share = u128::from(over.get()) * u128::from(user) / u128::from(self.users);
            sleep_until(clock.timer(from + Nanos::new(share as u64))).await;
        }
    }
}

impl Users {
    /// Starts all users as tasks, which end when there is nothing more to send.
    pub(super) fn start(self) -> JoinSet<()> {
        let users = Arc::new(self);
        let mut tasks = JoinSet::new();
        for user in 0..users.ramp.users {
            let lane = users.dispatch.client.lanes().of(user as usize);
            tasks.spawn_on(Arc::clone(&users).user(user), lane.runtime());
        }
        tasks
    }

    async fn user(self: Arc<Self>, user: u32) {
        let mut window = self.dispatch.window.watch();
        tokio::select! {
            () = self.ramp.start(user, self.dispatch.clock) => {}
            _ = window.wait_for(|bounds| bounds.halted) => return,
        }
        let clock = self.dispatch.clock;
        let lane = self.dispatch.client.lanes().of(user as usize);
        let kitchen = &self.dispatch.kitchen;
        let mut is_new = true;
        let mut due = None;
        let mut next_turn: Option<NextTurn> = None;
        while let Some(turn) = self.turns.next(is_new, due, clock) {
            let prepared = match (next_turn.take(), turn.phase) {
                (Some(next), phase) => Some(next.prepared(phase, kitchen)),
                (None, Phase::Warmup) => self.warmup.next().await,
                (None, Phase::Measured) => self.measured.next().await,
            };
            let Some(prepared) = prepared else {
                return;
            };
            let planned = prepared.planned;
            let flight = self.dispatch.depart(lane, prepared, turn.scheduled);
            let Landing { done, next } = flight.fly().await;
            if user == 0 && is_new {
                self.ramp
                    .first_ended(turn.scheduled, clock.now(), self.think);
            }
            is_new = false;
            let think = next.as_ref().and_then(|next| next.think);
            let think = think.unwrap_or_else(|| kitchen.think(&planned));
            // Without one, the user starts another conversation.
            next_turn = next;
            due = None;
            if think > Nanos::ZERO {
                let next = done + think;
                // Whoever would only think past the end is done.
                let over =
                    |bounds: &Bounds| bounds.halted || bounds.end.is_some_and(|end| end <= next);
                tokio::select! {
                    () = sleep_until(clock.timer(next)) => {}
                    _ = window.wait_for(over) => return,
                }
                due = Some(next);
            }
        }
    }
}

/// Whose turn it is: numbers requests, and opens and closes the window.
///
/// The warm-up is over when both its parts are and all users have started. The window opens with
/// the first request after that. By requests, it closes at the first instant at which a user is
/// free after the last was sent, so the load is whole until its end.
#[derive(Debug)]
pub(super) struct Turns {
    rules: Rules,
    window: Arc<Window>,
    state: Mutex<State>,
}

/// What a closed-loop stage asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) users: u32,
    pub(super) warmup: Warmup,
    pub(super) extent: Extent,
}

#[derive(Debug, Default)]
struct State {
    started: u32,
    warmup_sent: u32,
    measured_sent: u32,
}

/// One request to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    phase: Phase,
    /// When the user became free, and had thought.
    scheduled: Nanos,
}

impl Turns {
    /// A stage in which nobody has started.
    pub(super) fn new(rules: Rules, window: Arc<Window>) -> Self {
        Self {
            rules,
            window,
            state: Mutex::default(),
        }
    }

    /// The next request for a user who is free now, and was due a moment ago where it had to wake
    /// up; `None` when there is none.
    fn next(&self, is_new: bool, due: Option<Nanos>, clock: Clock) -> Option<Turn> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock, so that turns are in the order of their instants.
        let now = clock.now();
        self.turn(&mut state, is_new, due.unwrap_or(now), now)
    }

    fn turn(&self, state: &mut State, is_new: bool, due: Nanos, now: Nanos) -> Option<Turn> {
        let Rules {
            users,
            warmup,
            extent,
        } = self.rules;
        state.started += u32::from(is_new);
        let bounds = self.window.bounds();
        if bounds.halted || bounds.end.is_some_and(|end| end <= now) {
            return None;
        }
        if bounds.start.is_some_and(|start| now < start) {
            // The window's start is agreed with other clients.
            return Some(Turn {
                phase: Phase::Warmup,
                scheduled: due,
            });
        }
        if bounds.start.is_none() {
            let warm = state.warmup_sent >= warmup.requests && now >= warmup.duration;
            if !warm || state.started < users {
                state.warmup_sent += 1;
                return Some(Turn {
                    phase: Phase::Warmup,
                    scheduled: due,
                });
            }
            let end = match extent {
                Extent::Duration(duration) => Some(now + duration),
                Extent::Requests(_) => None,
            };
            if !self.window.open(now, end) {
                return None;
            }
        }
        if let Extent::Requests(requests) = extent
            && state.measured_sent >= requests
        {
            self.window.close(now);
            return None;
        }
        state.measured_sent += 1;
        // The window may have opened between the two.
        let opened = self.window.bounds().start.unwrap_or(now);
        Some(Turn {
            phase: Phase::Measured,
            scheduled: due.max(opened),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(users: u32, warmup: Warmup, extent: Extent) -> Turns {
        let rules = Rules {
            users,
            warmup,
            extent,
        };
        Turns::new(rules, Arc::new(Window::new(None, None)))
    }

    fn secs(secs: u64) -> Nanos {
        Nanos::from_secs(secs)
    }

    fn phases(turns: &Turns, free: &[(bool, u64)]) -> Vec<Option<Phase>> {
        let mut state = turns.state.lock().unwrap();
        free.iter()
            .map(|&(is_new, at)| {
                let turn = turns.turn(&mut state, is_new, secs(at), secs(at))?;
                assert_eq!(turn.scheduled, secs(at));
                Some(turn.phase)
            })
            .collect()
    }

    const W: Option<Phase> = Some(Phase::Warmup);
    const M: Option<Phase> = Some(Phase::Measured);

    #[test]
    fn the_window_opens_when_the_warmup_is_over_and_all_have_started() {
        let warmup = |requests, secs| Warmup {
            requests,
            duration: Nanos::from_secs(secs),
        };
        for (warmup, expected) in [
            (warmup(0, 0), [W, W, M, M, M]),
            (warmup(3, 0), [W, W, W, M, M]),
            (warmup(0, 4), [W, W, W, W, M]),
            (warmup(3, 9), [W, W, W, W, W]),
        ] {
            let turns = turns(3, warmup, Extent::Requests(9));
            let free = [(true, 0), (true, 1), (true, 2), (false, 3), (false, 4)];
            assert_eq!(phases(&turns, &free), expected);
            let first = expected.iter().position(|phase| *phase == M);
            assert_eq!(turns.window.bounds().start, first.map(|at| secs(at as u64)));
        }
    }

    #[test]
    fn one_user_without_a_warmup_measures_at_once() {
        let none = Warmup {
            requests: 0,
            duration: Nanos::ZERO,
        };
        let turns = turns(1, none, Extent::Requests(1));
        assert_eq!(
            phases(&turns, &[(true, 0), (false, 5), (false, 6)]),
            [M, None, None]
        );
        let bounds = turns.window.bounds();
        assert_eq!((bounds.start, bounds.end), (Some(secs(0)), Some(secs(5))));
    }

    #[test]
    fn a_window_by_time_ends_by_time() {
        let none = Warmup {
            requests: 1,
            duration: Nanos::ZERO,
        };
        let turns = turns(1, none, Extent::Duration(secs(10)));
        let free = [(true, 0), (false, 2), (false, 11), (false, 12), (false, 13)];
        assert_eq!(phases(&turns, &free), [W, M, M, None, None]);
        let bounds = turns.window.bounds();
        assert_eq!((bounds.start, bounds.end), (Some(secs(2)), Some(secs(12))));
    }

    #[test]
    fn a_measured_request_is_never_due_before_its_window() {
        let none = Warmup {
            requests: 1,
            duration: Nanos::ZERO,
        };
        let turns = turns(1, none, Extent::Requests(9));
        let mut state = turns.state.lock().unwrap();
        let mut turn = |is_new, due, now| turns.turn(&mut state, is_new, secs(due), secs(now));
        assert_eq!(turn(true, 3, 4).unwrap().scheduled, secs(3));
        assert_eq!(turn(false, 5, 7).unwrap().scheduled, secs(7));
        assert_eq!(turn(false, 6, 8).unwrap().scheduled, secs(7));
        assert_eq!(turn(false, 9, 10).unwrap().scheduled, secs(9));
        assert_eq!(turns.window.bounds().start, Some(secs(7)));
    }

    #[test]
    fn a_window_that_is_agreed_opens_by_time_whoever_has_started() {
        let warmup = Warmup {
            requests: 0,
            duration: secs(5),
        };
        let rules = Rules {
            users: 3,
            warmup,
            extent: Extent::Duration(secs(10)),
        };
        let turns = Turns::new(rules, Arc::new(Window::new(Some(secs(5)), Some(secs(15)))));
        let free = [(true, 0), (false, 4), (false, 5), (true, 9), (false, 15)];
        assert_eq!(phases(&turns, &free), [W, W, M, M, None]);
    }

    #[test]
    fn a_halt_ends_all_turns() {
        let none = Warmup {
            requests: 0,
            duration: Nanos::ZERO,
        };
        let turns = turns(1, none, Extent::Requests(9));
        assert_eq!(phases(&turns, &[(true, 0)]), [M]);
        turns.window.halt(secs(1));
        assert_eq!(phases(&turns, &[(false, 2)]), [None]);
    }
}
