//! `warmup`: what precedes a stage's window, declared or by rule.

use crate::spec::diagnostics::Diagnostics;
use crate::spec::node::Node;
use crate::spec::stage::{Arrival, Stage, Warmup};
use crate::spec::values;
use crate::unit::Nanos;

/// Requests of a declared warm-up at most.
const MOST_REQUESTS: u32 = 10_000_000;
/// The default warm-up lasts at least so long, and so many requests or two for each user.
const WARMUP: (Nanos, u32) = (Nanos::from_secs(30), 50);
/// A declared warm-up shorter than this on a gated stage is warned about: half the default.
const SHORT_WARMUP: Nanos = Nanos::from_secs(15);

/// A whole number is requests, a number with a unit is time.
pub(super) fn read(node: &Node, out: &mut Diagnostics) -> Option<Warmup> {
    let text = node.scalar().map(|scalar| scalar.text.as_str());
    let is_requests = text.is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    if is_requests {
        let bounds = 0..=MOST_REQUESTS;
        let requests = values::whole_number(node, "`warmup`", bounds, "warmup: 50", out)?;
        return Some(Warmup {
            requests,
            duration: Nanos::ZERO,
        });
    }
    let duration = values::quantity(node, "`warmup`", "warmup: 30s", out)?;
    Some(Warmup {
        requests: 0,
        duration,
    })
}

/// The longer of 30 s and 50 requests, or two for each user.
pub(super) fn default(arrival: &Arrival) -> Warmup {
    let users = match arrival {
        Arrival::Closed { users, .. } => *users,
        Arrival::Open { .. } | Arrival::Trace(_) => 0,
    };
    Warmup {
        requests: least_warmup(users),
        duration: WARMUP.0,
    }
}

/// Whether a declared warm-up is well short of the default.
pub(super) fn is_short(stage: &Stage) -> bool {
    if stage.warmup.requests == 0 {
        return stage.warmup.duration < SHORT_WARMUP;
    }
    let requests = stage.warmup.requests;
    match (&stage.arrival, stage.arrival.first_rate()) {
        (Arrival::Closed { users, .. }, _) => requests < least_warmup(*users),
        (_, rate) => {
            rate.is_some_and(|rate| f64::from(requests) / rate < SHORT_WARMUP.as_secs_f64())
        }
    }
}

/// Warm-up requests of the default rule: two for each user and at least 50.
fn least_warmup(users: u32) -> u32 {
    users.saturating_mul(2).max(WARMUP.1)
}
