//! `stages`: the stretches of load, sweeps expanded to a stage for each step.

use std::ops::Range;

use super::workload::{duplicate_name, named};
use super::{arrival, happenings, refine, stopping, trace, warmup};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{Fields, Shape};
use crate::spec::gate::Gate;
use crate::spec::model::Target;
use crate::spec::node::Node;
use crate::spec::place::TargetPlace;
use crate::spec::rate::RateProfile;
use crate::spec::stage::{Arrival, Extent, Stage};
use crate::spec::values;
use crate::unit::{Nanos, scale};

const EXAMPLE: &str = "stages: [{name: steady, open: {rate: 8/s}, duration: 180s, warmup: 30s}]";
const SHAPE: Shape = Shape {
    known: &[
        "name",
        "closed",
        "open",
        "trace",
        "duration",
        "requests",
        "warmup",
        "in_flight",
        "drain_timeout",
        "gate",
        "stop_when",
        "refine",
        "soak",
        "labels",
        "events",
    ],
    later: &["only", "min_completed"],
    example: "{name: steady, open: {rate: 8/s, arrivals: poisson}, duration: 180s}",
};
/// Requests of one stage at most, warm-up included: bounds the plan's memory.
const MOST_REQUESTS: u32 = 10_000_000;
/// Requests in flight that an open stage may have at the least where the spec says nothing.
const LEAST_IN_FLIGHT: u32 = 1000;
/// How many times the requests that Little's law expects may be in flight by default.
const TIMES_LITTLE: f64 = 4.0;
/// A stage's length at most.
const LONGEST: Nanos = Nanos::from_secs(7 * 24 * 3600);
/// How long the end of a stage waits where the spec says nothing.
const DRAIN: Nanos = Nanos::from_secs(60);
/// The ways in which requests may come.
const KINDS: [&str; 3] = ["closed", "open", "trace"];
/// The stages as far as they could be read.
pub(super) struct Stages {
    drafts: Vec<Draft>,
}

/// A stage or sweep as written.
pub(super) struct Draft {
    /// As written, even where it is no name.
    pub(super) name: Option<String>,
    /// What `gate` says.
    pub(super) gate: Option<bool>,
    /// Whether a list makes it a sweep.
    pub(super) sweep: bool,
    /// Whether it is there for drift.
    pub(super) soak: bool,
    /// What happens while it loads.
    pub(super) happenings: Vec<happenings::Draft>,
    /// One stage, or one a step; `None` where it could not be read.
    pub(super) steps: Option<Vec<Stage>>,
    /// Where its warm-up is declared.
    warmup: Option<Range<usize>>,
}

impl Draft {
    /// Whether the load is the same over the whole window, and nothing happens in it.
    pub(super) fn is_steady(&self) -> bool {
        let steady = |stage: &Stage| stage.arrival.is_steady();
        self.happenings.is_empty() && self.steps.iter().flatten().all(steady)
    }
}

impl Stages {
    /// Reads `stages`.
    pub(super) fn lower(
        fields: &Fields<'_>,
        around: &trace::Around<'_>,
        out: &mut Diagnostics,
    ) -> Self {
        let items = fields
            .need("stages", EXAMPLE, out)
            .and_then(|node| values::items(node, "`stages`", EXAMPLE, out))
            .unwrap_or_default();
        let mut stages = Self { drafts: Vec::new() };
        let workload = around.classes.workload();
        let latency = workload.map(|workload| workload.latency_at_slo());
        for item in items {
            let draft = stage(item, around, latency, &stages, out);
            stages.drafts.push(draft);
        }
        stages
    }

    /// The stages and sweeps in order.
    pub(super) fn drafts(&self) -> &[Draft] {
        &self.drafts
    }

    /// Whether every stage has a name, so that another name is known to be wrong.
    pub(super) fn all_named(&self) -> bool {
        !self.drafts.is_empty() && self.drafts.iter().all(|draft| draft.name.is_some())
    }

    /// Whether every stage could be read.
    pub(super) fn complete(&self) -> bool {
        !self.drafts.is_empty() && self.drafts.iter().all(|draft| draft.steps.is_some())
    }

    /// All stages, sweeps expanded.
    pub(super) fn into_stages(self) -> Option<Vec<Stage>> {
        let steps: Option<Vec<Vec<Stage>>> =
            self.drafts.into_iter().map(|draft| draft.steps).collect();
        steps.map(|steps| steps.into_iter().flatten().collect())
    }

    /// Refuses events that can't happen to this target.
    pub(super) fn refuse_events_elsewhere(&self, target: &Target, out: &mut Diagnostics) {
        for draft in &self.drafts {
            happenings::refuse_elsewhere(&draft.happenings, target, out);
        }
    }

    /// Warns about gated stages whose declared warm-up is short.
    ///
    /// The embedded engine has nothing to warm, so it is left alone.
    pub(super) fn warn_short_warmup(
        &self,
        gate: &Gate,
        target: Option<&Target>,
        out: &mut Diagnostics,
    ) {
        if target.is_none_or(|target| matches!(target.place, TargetPlace::Sim { .. })) {
            return;
        }
        let gated = |stage: &Stage| {
            gate.cells.iter().any(|gated| {
                let cell = &gated.cell;
                !gated.informational && cell.stage.is_some() && cell.is_of(&stage.name)
            })
        };
        for draft in &self.drafts {
            let (Some(span), Some(steps)) = (&draft.warmup, &draft.steps) else {
                continue;
            };
            if let Some(stage) = steps
                .iter()
                .find(|stage| gated(stage) && warmup::is_short(stage))
            {
                out.warning(
                    "spec::short-warmup",
                    span,
                    format!("stage `{}` is gated after a short warm-up", stage.name),
                    "leave `warmup` out for the default: 30 s and at least 50 requests, two for \
                     each user",
                );
            }
        }
    }
}

fn stage(
    node: &Node,
    around: &trace::Around<'_>,
    latency: Option<Nanos>,
    before: &Stages,
    out: &mut Diagnostics,
) -> Draft {
    let mut draft = Draft {
        name: None,
        gate: None,
        sweep: false,
        soak: false,
        happenings: Vec::new(),
        steps: None,
        warmup: None,
    };
    let whole = named("stage", node);
    let Some(fields) = Fields::open(node, whole.as_str(), &SHAPE, out) else {
        return draft;
    };
    let name_node = fields.need("name", "name: steady", out);
    draft.name = name_node
        .and_then(Node::scalar)
        .map(|scalar| scalar.text.clone());
    let name = name_node.and_then(|node| {
        let name = values::name(node, "`name`", "steady", out)?;
        let taken = before
            .drafts
            .iter()
            .any(|draft| draft.name.as_deref() == Some(name.as_str()));
        if taken {
            duplicate_name("stage", &node.span, name.as_str(), out);
        }
        Some(name)
    });
    if let Some(node) = fields.get("gate", out) {
        draft.gate = values::boolean(node, "`gate`", "gate: false", out);
    }
    let kind = fields.exactly_one(&KINDS, arrival::EXAMPLE, out);
    let arrivals = match kind {
        Some("closed") => fields
            .get("closed", out)
            .and_then(|node| arrival::closed(node, &whole, &mut draft.sweep, out)),
        Some("open") => fields
            .get("open", out)
            .and_then(|node| arrival::open(node, &whole, &mut draft.sweep, out)),
        Some(_) => fields.get("trace", out).and_then(|node| {
            let stage = draft.name.as_deref().unwrap_or_default();
            let replay = trace::lower(node, stage, &whole, around, out)?;
            Some(vec![Arrival::Trace(Box::new(replay))])
        }),
        None => None,
    };
    let extent = if let (Some([Arrival::Trace(replay)]), Some(span)) =
        (arrivals.as_deref(), fields.key_span("trace"))
    {
        trace::refuse_extent(&fields, out).then(|| (Extent::Requests(replay.requests()), span))
    } else if kind == Some("trace") {
        trace::refuse_extent(&fields, out);
        None
    } else {
        extent(&fields, out)
    };
    let warmup = fields.optional("warmup", out, |node, out| {
        draft.warmup = Some(node.span.clone());
        warmup::read(node, out)
    });
    let in_flight = fields.optional("in_flight", out, |node, out| in_flight(&fields, node, out));
    let drain_timeout = fields.or("drain_timeout", DRAIN, out, |node, out| {
        values::quantity(node, "`drain_timeout`", "drain_timeout: 60s", out)
    });
    let soak = fields.or("soak", None, out, stopping::soak);
    draft.soak = soak.is_some_and(|soak| soak.is_some());
    let labels = fields.or("labels", Vec::new(), out, stopping::labels);
    let sweep = draft.sweep;
    let stop_when = fields.optional("stop_when", out, |node, out| {
        stopping::stop_when(&fields, node, sweep, out)
    });
    let events = fields.or("events", Vec::new(), out, happenings::lower);
    let has_events = events.is_some();
    draft.happenings = events.unwrap_or_default();
    let refine = fields.or("refine", None, out, |node, out| {
        refine::lower(&fields, node, sweep, out).ok()
    });
    draft.steps = (|| {
        if !has_events {
            return None;
        }
        let (soak, labels, stop_when) = (soak?, labels?, stop_when.ok()?);
        let refine = refine?;
        let (name, arrivals, (extent, extent_span)) = (name?, arrivals?, extent?);
        let (warmup, in_flight, drain_timeout) = (warmup.ok()?, in_flight.ok()?, drain_timeout?);
        happenings::refuse_late(&draft.happenings, extent, out)?;
        let mut steps = Vec::with_capacity(arrivals.len());
        for arrival in arrivals {
            let stage = Stage {
                name: arrival::step_name(name.as_str(), &arrival, draft.sweep),
                extent,
                warmup: warmup.unwrap_or_else(|| warmup::default(&arrival)),
                in_flight: in_flight.unwrap_or_else(|| default_in_flight(&arrival, latency)),
                drain_timeout,
                stop_when,
                refine,
                soak,
                labels: labels.clone(),
                events: draft
                    .happenings
                    .iter()
                    .map(|d| d.happening.clone())
                    .collect(),
                arrival,
            };
            check_size(&stage, extent_span, out)?;
            steps.push(stage);
        }
        Some(steps)
    })();
    draft
}

fn extent<'n>(fields: &Fields<'n>, out: &mut Diagnostics) -> Option<(Extent, &'n Range<usize>)> {
    let key = fields.exactly_one(&["duration", "requests"], "duration: 180s", out)?;
    let node = fields.get(key, out)?;
    let extent = if key == "duration" {
        Extent::Duration(values::time(node, "`duration`", "duration: 180s", out)?)
    } else {
        let bounds = 1..=MOST_REQUESTS;
        Extent::Requests(values::whole_number(
            node,
            "`requests`",
            bounds,
            "requests: 200",
            out,
        )?)
    };
    Some((extent, &node.span))
}

fn in_flight(fields: &Fields<'_>, node: &Node, out: &mut Diagnostics) -> Option<u32> {
    if fields.has("closed") {
        out.error(
            "spec::conflicting-fields",
            fields.key_span("in_flight").unwrap_or(&node.span),
            "a closed stage has as many requests in flight as users",
            "remove `in_flight`; it bounds open stages",
        );
        return None;
    }
    values::whole_number(node, "`in_flight`", 1..=1_000_000, "in_flight: 1000", out)
}

/// Users of a closed stage; of an open one four times what Little's law (L = λ·W) expects at its
/// peak when every request just keeps its SLO, at least 1,000: 8/s at 66 s each gives 2,112.
fn default_in_flight(arrival: &Arrival, latency: Option<Nanos>) -> u32 {
    let peak = match arrival {
        Arrival::Closed { users, .. } => return *users,
        Arrival::Open { profile, .. } => profile.peak(),
        Arrival::Trace(replay) => replay.mean_rate(),
    };
    let little = peak * latency.unwrap_or(Nanos::ZERO).as_secs_f64();
    // `as` saturates.
    ((TIMES_LITTLE * little).ceil() as u32).clamp(LEAST_IN_FLIGHT, 1_000_000)
}

/// Refuses stages that would send nothing, or more than a plan can hold.
fn check_size(stage: &Stage, span: &Range<usize>, out: &mut Diagnostics) -> Option<()> {
    let mut refuse = |message: String, help: String| {
        out.error("spec::out-of-range", span, message, help);
        None
    };
    let name = &stage.name;
    let longest = stage.expected_duration(Nanos::ZERO);
    if longest > LONGEST {
        return refuse(
            format!("stage `{name}` lasts longer than seven days"),
            "shorten it".to_owned(),
        );
    }
    let &Arrival::Open { profile, .. } = &stage.arrival else {
        return Some(());
    };
    let window = stage.window(Nanos::ZERO).as_secs_f64();
    let warmup = longest.as_secs_f64() - window;
    let requests = profile.first().get() * warmup + profile.count(window);
    if requests > f64::from(MOST_REQUESTS) {
        return refuse(
            format!(
                "stage `{name}` sends more than {} requests",
                scale::count(MOST_REQUESTS.into())
            ),
            "shorten it, or lower its rate".to_owned(),
        );
    }
    if stage
        .expected_requests()
        .is_some_and(|requests| requests < 1.0)
    {
        return refuse(
            format!("stage `{name}` is over before its first request"),
            match profile {
                RateProfile::Steady(rate) => {
                    format!("at {rate} it needs at least {}", rate.mean_gap())
                }
                RateProfile::Ramp { .. } | RateProfile::Burst { .. } => {
                    "lengthen it, or raise its rate".to_owned()
                }
            },
        );
    }
    if let RateProfile::Burst { every, .. } = profile
        && every.as_secs_f64() >= window
    {
        return refuse(
            format!("stage `{name}` is over before its first burst, at {every}"),
            "lengthen it, or let bursts come sooner".to_owned(),
        );
    }
    Some(())
}
