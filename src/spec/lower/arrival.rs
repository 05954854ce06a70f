//! `closed` and `open`: how a stage's requests come, one or many steps.

use super::conversation;
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Shape};
use crate::spec::node::{Kind, Node};
use crate::spec::rate::RateProfile;
use crate::spec::stage::{Arrival, ArrivalProcess};
use crate::spec::think::Think;
use crate::spec::values;
use crate::unit::{Nanos, Rps};

/// An arrival, for help.
pub(super) const EXAMPLE: &str = OPEN.example;

const CLOSED: Shape = Shape {
    known: &["users", "ramp", "think"],
    later: &[],
    example: "closed: {users: 8}",
};
const OPEN: Shape = Shape {
    known: &["rate", "ramp", "burst", "arrivals"],
    later: &[],
    example: "open: {rate: 8/s, arrivals: poisson}",
};
const RAMP: Shape = Shape {
    known: &["from", "to", "steps"],
    later: &[],
    example: "ramp: {from: 1/s, to: 20/s}",
};
const BURST: Shape = Shape {
    known: &["every", "for", "rate", "size"],
    later: &[],
    example: "burst: {every: 30s, for: 2s, rate: 20/s}",
};
const PROCESS: Shape = Shape {
    known: &["gamma"],
    later: &[],
    example: "arrivals: {gamma: {burstiness: 0.4}}",
};
const GAMMA: Shape = Shape {
    known: &["burstiness"],
    later: &[],
    example: "gamma: {burstiness: 0.4}",
};

/// Users of one stage at most.
const MOST_USERS: u32 = 100_000;
/// Steps of a ramp at most.
const MOST_STEPS: u32 = 1000;
/// Requests of one burst at most.
const MOST_IN_BURST: u32 = 1_000_000;
/// Shapes of gamma gaps: from clumps of hundreds to as good as constant.
const BURSTINESS: std::ops::RangeInclusive<f64> = 0.01..=1000.0;

/// `sweep@8` for the step of 8 users or 8/s.
pub(super) fn step_name(name: &str, arrival: &Arrival, sweep: bool) -> String {
    match arrival {
        _ if !sweep => name.to_owned(),
        Arrival::Closed { users, .. } => format!("{name}@{users}"),
        Arrival::Open { profile, .. } => format!("{name}@{}", profile.first().get()),
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
    let think = fields.or("think", Think::NONE, out, conversation::think);
    let (users, ramp, think) = (users?, ramp.ok()?, think?);
    Some(
        users
            .into_iter()
            .map(|users| Arrival::Closed { users, ramp, think })
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
    let burst = fields.optional("burst", out, |node, out| burst(node, whole, out));
    let profiles = match fields.exactly_one(&["rate", "ramp"], OPEN.example, out) {
        Some("ramp") => {
            if let Some(place) = fields.key_span("burst") {
                out.error(
                    "spec::conflicting-fields",
                    place,
                    format!("`open` of {whole} has both `ramp` and `burst`"),
                    "a burst comes on top of a steady `rate`; give each a stage of its own",
                );
            }
            fields
                .get("ramp", out)
                .and_then(|node| ramp(node, whole, out))
                .map(|profile| vec![profile])
        }
        Some(_) => fields.get("rate", out).and_then(|node| {
            steps(node, "`rate`", sweep, out, |item, out| {
                values::quantity::<Rps>(item, "`rate`", "rate: 8/s", out)
            })
            .map(|rates| rates.into_iter().map(RateProfile::Steady).collect())
        }),
        None => None,
    };
    let process = fields.or("arrivals", ArrivalProcess::Poisson, out, process);
    let (profiles, burst, process) = (profiles?, burst.ok()?, process?);
    Some(
        profiles
            .into_iter()
            .map(|profile| Arrival::Open {
                profile: burst.map_or(profile, |burst| burst.on(profile.first())),
                process,
            })
            .collect(),
    )
}

/// How the gaps are distributed: a word, or a distribution with a parameter.
fn process(node: &Node, out: &mut Diagnostics) -> Option<ArrivalProcess> {
    if !matches!(node.kind, Kind::Mapping(_)) {
        let options = [
            ("poisson", ArrivalProcess::Poisson),
            ("constant", ArrivalProcess::Constant),
        ];
        if node.scalar().is_some_and(|scalar| scalar.text == "gamma") {
            let expected = "a distribution with its burstiness";
            fields::wrong_type(node, "`arrivals`", expected, PROCESS.example, out);
            return None;
        }
        return values::choice(node, "`arrivals`", &options, &[], out);
    }
    let fields = Fields::open(node, "`arrivals`", &PROCESS, out)?;
    let gamma = fields.need("gamma", PROCESS.example, out)?;
    let fields = Fields::open(gamma, "`gamma`", &GAMMA, out)?;
    let node = fields.need("burstiness", GAMMA.example, out)?;
    let burstiness = values::number(node, "`burstiness`", GAMMA.example, out)?;
    if !BURSTINESS.contains(&burstiness) {
        let rule = "it is the gaps' shape, from 0.01 to 1,000: 1 is poisson, below it come clumps";
        fields::out_of_range(node, "`burstiness`", rule, out);
        return None;
    }
    Some(ArrivalProcess::Gamma { burstiness })
}

/// A rate that changes over the window.
fn ramp(node: &Node, whole: &str, out: &mut Diagnostics) -> Option<RateProfile> {
    let fields = Fields::open(node, format!("`ramp` of {whole}"), &RAMP, out)?;
    let mut rate = |key: &str| {
        let node = fields.need(key, RAMP.example, out)?;
        values::quantity::<Rps>(node, &format!("`{key}`"), RAMP.example, out)
    };
    let (from, to) = (rate("from"), rate("to"));
    let steps = fields.optional("steps", out, |node, out| {
        values::whole_number(node, "`steps`", 2..=MOST_STEPS, "steps: 5", out)
    });
    Some(RateProfile::Ramp {
        from: from?,
        to: to?,
        steps: steps.ok()?,
    })
}

/// A burst, before it is known what it comes on top of.
#[derive(Debug, Clone, Copy)]
struct Burst {
    added: Rps,
    every: Nanos,
    lasting: Nanos,
}

impl Burst {
    const fn on(self, base: Rps) -> RateProfile {
        RateProfile::Burst {
            base,
            added: self.added,
            every: self.every,
            lasting: self.lasting,
        }
    }
}

fn burst(node: &Node, whole: &str, out: &mut Diagnostics) -> Option<Burst> {
    let fields = Fields::open(node, format!("`burst` of {whole}"), &BURST, out)?;
    let mut time = |key: &str| {
        let node = fields.need(key, BURST.example, out)?;
        let time = values::time(node, &format!("`{key}`"), BURST.example, out)?;
        Some((time, node))
    };
    let (every, lasting) = (time("every"), time("for"));
    let size = match fields.exactly_one(&["rate", "size"], BURST.example, out) {
        Some("size") => fields
            .get("size", out)
            .and_then(|node| {
                let bounds = 1..=MOST_IN_BURST;
                values::whole_number(node, "`size`", bounds, "size: 40", out)
            })
            .map(Size::Requests),
        Some(_) => fields
            .get("rate", out)
            .and_then(|node| values::quantity(node, "`rate`", "rate: 20/s", out))
            .map(Size::Rate),
        None => None,
    };
    let ((every, _), (lasting, lasting_node)) = (every?, lasting?);
    if lasting >= every {
        let rule = format!("it must be shorter than `every`, {every}");
        fields::out_of_range(lasting_node, "`for`", rule, out);
        return None;
    }
    let added = match size? {
        Size::Rate(rate) => Some(rate),
        Size::Requests(requests) => Rps::try_new(f64::from(requests) / lasting.as_secs_f64()),
    };
    Some(Burst {
        added: added?,
        every,
        lasting,
    })
}

/// How much a burst brings.
enum Size {
    /// At this rate.
    Rate(Rps),
    /// So many in all.
    Requests(u32),
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
