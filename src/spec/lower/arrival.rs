//! `closed` and `open`: how a stage's requests come, one or many steps.

use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{Fields, Shape};
use crate::spec::model::{Arrival, ArrivalProcess};
use crate::spec::node::{Kind, Node};
use crate::spec::values;
use crate::unit::Rps;

/// An arrival, for help.
pub(super) const EXAMPLE: &str = OPEN.example;

const CLOSED: Shape = Shape {
    known: &["users", "ramp"],
    later: &["think", "turns"],
    example: "closed: {users: 8}",
};
const OPEN: Shape = Shape {
    known: &["rate", "arrivals"],
    later: &["ramp", "burst", "gamma", "burstiness", "every", "turns"],
    example: "open: {rate: 8/s, arrivals: poisson}",
};

/// Users of one stage at most.
const MOST_USERS: u32 = 100_000;
/// `sweep@8` for the step of 8 users or 8/s.
pub(super) fn step_name(name: &str, arrival: &Arrival, sweep: bool) -> String {
    match arrival {
        _ if !sweep => name.to_owned(),
        Arrival::Closed { users, .. } => format!("{name}@{users}"),
        Arrival::Open { rate, .. } => format!("{name}@{}", rate.get()),
        Arrival::Trace(_) => name.to_owned(),
    }
}

/// Users who wait for their answer.
pub(super) fn closed(
    node: &Node,
    whole: &str,
    sweep: &mut bool,
    out: &mut Diagnostics,
) -> Option<Vec<Arrival>> {
    let fields = Fields::open(node, format!("`closed` of {whole}"), &CLOSED, out)?;
    let ramp = fields.optional("ramp", out, |node, out| {
        values::time(node, "`ramp`", "ramp: 5s", out)
    });
    let users = fields.need("users", CLOSED.example, out).and_then(|node| {
        steps(node, "`users`", sweep, out, |item, out| {
            values::whole_number(item, "`users`", 1..=MOST_USERS, "users: 8", out)
        })
    });
    let (users, ramp) = (users?, ramp.ok()?);
    Some(
        users
            .into_iter()
            .map(|users| Arrival::Closed { users, ramp })
            .collect(),
    )
}

/// Arrivals by the clock.
pub(super) fn open(
    node: &Node,
    whole: &str,
    sweep: &mut bool,
    out: &mut Diagnostics,
) -> Option<Vec<Arrival>> {
    let fields = Fields::open(node, format!("`open` of {whole}"), &OPEN, out)?;
    let rates = fields.need("rate", OPEN.example, out).and_then(|node| {
        steps(node, "`rate`", sweep, out, |item, out| {
            values::quantity::<Rps>(item, "`rate`", "rate: 8/s", out)
        })
    });
    let process = fields.or("arrivals", ArrivalProcess::Poisson, out, |node, out| {
        let options = [
            ("poisson", ArrivalProcess::Poisson),
            ("constant", ArrivalProcess::Constant),
        ];
        values::choice(
            node,
            "`arrivals`",
            &options,
            &["gamma", "ramp", "burst"],
            out,
        )
    });
    let (rates, process) = (rates?, process?);
    Some(
        rates
            .into_iter()
            .map(|rate| Arrival::Open { rate, process })
            .collect(),
    )
}

/// One value, or the steps of a sweep.
fn steps<T: PartialEq>(
    node: &Node,
    what: &str,
    sweep: &mut bool,
    out: &mut Diagnostics,
    read: impl Fn(&Node, &mut Diagnostics) -> Option<T>,
) -> Option<Vec<T>> {
    *sweep = matches!(node.kind, Kind::Sequence(_));
    let mut values = Vec::new();
    let mut all = true;
    for item in values::one_or_many(node, what, out) {
        match read(item, out) {
            Some(value) if values.contains(&value) => {
                out.error(
                    "spec::duplicate-name",
                    &item.span,
                    format!("the sweep has the step {} already", item.describe()),
                    "give each step once",
                );
                all = false;
            }
            Some(value) => values.push(value),
            None => all = false,
        }
    }
    (all && !values.is_empty()).then_some(values)
}
