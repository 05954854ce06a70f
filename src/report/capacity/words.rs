//! What a capacity says, in words.

use super::reasons::why;
use crate::capacity::{
    Axis, Capacity, Estimate, KneeReading, KneeRule, Known, KvSource, Replicas, Sustained,
    SweepReading, WithinSlo,
};
use crate::report::span::Text;
use crate::spec::SloClause;
use crate::unit::scale::{self, Unit};

pub(super) const CONCLUSION: &str = "what follows";
pub(super) const COST: &str = "cost";
pub(super) const RISKS: &str = "risks";
pub(super) const NEXT: &str = "what to try next";
pub(super) const NO_CLAIMS: &str = "what these runs can't say";

/// The whole message.
pub(super) fn headline(capacity: &Capacity) -> Text {
    let of = |text: Text| text.words(" of ").quoted(&capacity.name);
    match &capacity.carries {
        Known::Figure(carries) => of(Text::of("Capacity"))
            .words(": one replica carries ")
            .then(users(carries.users))
            .words(" at ")
            .figure(scale::value(Unit::RequestsPerSecond, carries.rps.value))
            .words(" within the SLO"),
        Known::Unknown(reason) => of(Text::of("No capacity")).words(": ").then(why(reason)),
    }
}

/// What the figures hold for.
pub(super) fn facts(capacity: &Capacity) -> Vec<Text> {
    let mut out = Vec::new();
    let measured = capacity.sweeps.iter().flat_map(|sweep| &sweep.steps);
    let at = match capacity.carries.figure() {
        Some(carries) => measured.clone().find(|step| step.stage == carries.stage),
        None => measured.clone().find(|step| step.figures.is_some()),
    };
    if let Some(figures) = at.and_then(|step| step.figures.as_ref()) {
        out.push(
            Text::of("workload: ")
                .figure(whole(figures.input_tokens))
                .words(" input and ")
                .figure(whole(figures.output_tokens))
                .words(" output tokens a request; window ")
                .figure(scale::elapsed(figures.window_s))
                .words(" a step"),
        );
    }
    if capacity.slos.is_empty() {
        out.push(Text::of("SLO: none"));
    }
    for (class, slo) in &capacity.slos {
        let clauses = slo.iter().map(|(limit, most)| {
            Text::of(clause(*limit))
                .words(" ≤ ")
                .figure(scale::value(Unit::Seconds, most.as_secs_f64()))
        });
        out.push(
            Text::of("SLO of ")
                .quoted(class)
                .words(": ")
                .then(Text::join(clauses, ", ")),
        );
    }
    let servers = capacity.replicas_measured;
    let runs = Text::just(scale::count(capacity.runs.len() as u64)).words(plural(
        capacity.runs.len() as u64,
        " run of ",
        " runs of ",
    ));
    out.push(runs.figure(scale::count(servers.into())).words(plural(
        servers.into(),
        " replica",
        " replicas",
    )));
    out
}

/// The three numbers, the knee, replicas and the cache.
pub(super) fn conclusion(capacity: &Capacity) -> Vec<Text> {
    let mut out = Vec::new();
    for sweep in &capacity.sweeps {
        let name = || Text::value(&sweep.name).words(": ");
        out.push(name().then(match &sweep.within_slo {
            Known::Figure(within) => within_slo(sweep, within, capacity.plan.attainment),
            Known::Unknown(reason) => Text::of("no load within the SLO: ").then(why(reason)),
        }));
        out.push(name().then(match &sweep.knee {
            Known::Figure(found) => knee(sweep, found),
            Known::Unknown(reason) => Text::of("no knee: ").then(why(reason)),
        }));
    }
    if let Known::Figure(carries) = &capacity.carries {
        out.push(
            Text::of("step of growth: one replica more carries ")
                .then(estimate(Unit::RequestsPerSecond, &carries.rps))
                .words(", ")
                .figure(scale::value(Unit::TokensPerSecond, carries.input_tps))
                .words(" of input and ")
                .figure(scale::value(
                    Unit::TokensPerSecond,
                    carries.output_tps.value,
                ))
                .words(" of output"),
        );
    }
    out.push(match &capacity.replicas {
        Known::Figure(figures) => replicas(figures),
        Known::Unknown(reason) => Text::of("no number of replicas: ").then(why(reason)),
    });
    if let Known::Figure(found) = &capacity.replicas {
        out.push(after_loss(found));
    }
    out.push(kv(capacity));
    out
}

fn within_slo(sweep: &SweepReading, within: &WithinSlo, wanted: f64) -> Text {
    let text = Text::of(if within.is_last {
        "largest load within the SLO at least "
    } else {
        "largest load within the SLO "
    })
    .then(load(sweep.axis, within.load))
    .words(", ")
    .then(estimate(
        Unit::RequestsPerSecond,
        &within.figures.completed_rps,
    ))
    .words(", ")
    .figure(scale::value(Unit::Proportion, within.attainment))
    .words(" of requests good (at least ")
    .figure(scale::value(Unit::Proportion, wanted))
    .words(" wanted)");
    text.then(sustained(&within.sustained))
}

fn sustained(sustained: &Sustained) -> Text {
    let at = |words: &'static str, stage: &str, rate: f64, attainment: f64| {
        Text::of(words)
            .quoted(stage)
            .words(" at ")
            .figure(scale::value(Unit::RequestsPerSecond, rate))
            .words(" with ")
            .figure(scale::value(Unit::Proportion, attainment))
            .words(" good")
    };
    match sustained {
        Sustained::Measured => Text::of("; sustained, for it was measured in an open loop"),
        Sustained::Verified {
            stage,
            rate_rps,
            attainment,
        } => at(
            "; sustained, by the open loop of ",
            stage,
            *rate_rps,
            *attainment,
        ),
        Sustained::Refuted {
            stage,
            rate_rps,
            attainment,
        } => at(
            "; not sustained: the open loop of ",
            stage,
            *rate_rps,
            *attainment,
        ),
        Sustained::NotTried { .. } => {
            Text::of("; not called sustainable, for no open loop was run at that rate")
        }
    }
}

fn knee(sweep: &SweepReading, found: &KneeReading) -> Text {
    let by = match found.by {
        KneeRule::Goodput => "97 % of the best goodput",
        KneeRule::Throughput => "95 % of the largest throughput",
    };
    let set = found.set.iter().map(|one| Text::just(number(*one)));
    Text::of("knee at ")
        .then(load(sweep.axis, found.load))
        .words(", the smallest load with ")
        .words(by)
        .words("; may be ")
        .then(Text::join(set, ", "))
        .words("; alert from ")
        .then(load(sweep.axis, found.alert))
        .words(" (")
        .figure(percent(found.alert_share))
        .words(" of it)")
}

fn replicas(found: &Replicas) -> Text {
    Text::of("replicas for ")
        .figure(scale::value(Unit::RequestsPerSecond, found.peak_rps))
        .words(" (")
        .figure(scale::value(Unit::TokensPerSecond, found.peak_tps))
        .words(" in and out): ")
        .figure(scale::count(found.needed))
        .words(", of ")
        .figure(scale::count(found.by_users))
        .words(" by users and ")
        .figure(scale::count(found.by_tokens))
        .words(" by output tokens the larger")
}

fn after_loss(found: &Replicas) -> Text {
    let loss = found.after_loss;
    let text = Text::of("when one is lost, ")
        .figure(scale::count(loss.replicas))
        .words(" carry ")
        .figure(scale::value(Unit::RequestsPerSecond, loss.capacity_rps));
    match loss.load {
        Some(share) => text
            .words(": the peak is ")
            .figure(scale::value(Unit::Proportion, share))
            .words(if loss.holds {
                " of that, so it is carried"
            } else {
                " of that, so it is NOT carried"
            }),
        None => text.words(": nothing is left for the peak"),
    }
}

fn kv(capacity: &Capacity) -> Text {
    let bound = match &capacity.kv {
        Known::Figure(bound) => bound,
        Known::Unknown(reason) => return Text::of("no bound by the KV cache: ").then(why(reason)),
    };
    let source = match bound.source {
        KvSource::Engine { blocks, block_size } => Text::of("the engine's ")
            .figure(scale::count(blocks))
            .words(" blocks of ")
            .figure(scale::count(block_size))
            .words(" tokens"),
        KvSource::Model {
            bytes,
            sequence_bytes,
            windows,
        } => Text::of("the model in ")
            .figure(gigabytes(bytes))
            .words(" a GPU, ")
            .figure(gigabytes(sequence_bytes))
            .words(if windows {
                " a request, if the engine frees what a window leaves behind"
            } else {
                " a request"
            }),
    };
    let mut text = Text::of("the KV cache holds ")
        .figure(scale::count(bound.sequences))
        .words(" requests of ")
        .figure(scale::count(bound.mean_tokens))
        .words(" tokens (")
        .then(source)
        .words(")");
    if let (Some(tokens), Some(sequences)) = (bound.longest_tokens, bound.longest_sequences) {
        text = text
            .words(", and ")
            .figure(scale::count(sequences))
            .words(" of the longest with ")
            .figure(scale::count(tokens));
    }
    if let Known::Figure(carries) = &capacity.carries {
        text = text.words(if carries.bound_by_kv {
            ": fewer than the users within the SLO, so that is the capacity"
        } else {
            ": no less than the users within the SLO"
        });
    }
    text
}

/// How to read it.
pub(super) fn method() -> Vec<Text> {
    vec![
        Text::of(
            "intervals are of 95 %, by the scatter of runs and the assumed 3 %; one replica is one server behind the target",
        ),
        Text::of(
            "replicas by users: peak × time in service / users × redundancy; by tokens: peak × output tokens / (output tok/s) × elasticity × failure; both rounded up",
        ),
    ]
}

/// What lies along the bottom of a chart.
pub(super) const fn axis_name(axis: Axis) -> &'static str {
    match axis {
        Axis::Users => "users",
        Axis::Rate => "requests/s",
    }
}

/// A load with its unit: `16 users`, `8.00 req/s`.
pub(super) fn load(axis: Axis, load: f64) -> Text {
    match axis {
        Axis::Users => users(load),
        Axis::Rate => Text::just(scale::value(Unit::RequestsPerSecond, load)),
    }
}

pub(super) fn users(users: f64) -> Text {
    let text = number(users);
    let one = text == "1";
    Text::just(text).words(if one { " user" } else { " users" })
}

/// A number that is whole as such, else with one digit after the point.
pub(super) fn number(value: f64) -> String {
    if (value - value.round()).abs() < 1e-9 {
        scale::count(value.round() as u64)
    } else {
        scale::mean(value)
    }
}

/// An estimate with its interval: `8.00 req/s [7.20, 8.90]`.
pub(super) fn estimate(unit: Unit, estimate: &Estimate) -> Text {
    let Some(bounds) = estimate.interval else {
        return Text::just(scale::value(unit, estimate.value));
    };
    let [value, lower, upper] = scale::row(unit, [estimate.value, bounds.lower, bounds.upper]);
    // The unit stands before them.
    let bare = |text: String| text.split(' ').next().unwrap_or_default().to_owned();
    Text::just(value)
        .words(" [")
        .figure(bare(lower))
        .words(", ")
        .figure(bare(upper))
        .words("]")
}

/// A declared share: `70 %`.
fn percent(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 100.0)
}

fn whole(value: f64) -> String {
    scale::count(value.round() as u64)
}

/// Bytes in powers of ten.
fn gigabytes(bytes: u64) -> String {
    format!("{:.3} GB", bytes as f64 / 1e9)
}

pub(super) const fn plural(count: u64, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

pub(super) const fn clause(clause: SloClause) -> &'static str {
    match clause {
        SloClause::Ttft => "TTFT",
        SloClause::Ttfa => "TTFA",
        SloClause::Tpot => "TPOT",
        SloClause::ItlMax => "longest gap",
        SloClause::E2e => "E2E",
    }
}
