//! What a capacity says, in words.

use super::reasons::why;
use crate::capacity::{
    Axis, Capacity, Estimate, KneeReading, KneeRule, Known, KvSource, Replicas, Sustained,
    SweepReading, WithinSlo,
};
use crate::lang::{Lang, Phrase, label, say};
use crate::report::span::Text;
use crate::spec::SloClause;
use crate::unit::scale::{self, Unit};

/// The whole message.
pub(super) fn headline(capacity: &Capacity) -> Text {
    let name = Text::value(&capacity.name);
    match &capacity.carries {
        Known::Figure(carries) => {
            let carried = [users(carries.users), rate(carries.rps.value)];
            Text::say(say::CAP_OF, [name, Text::say(say::CAP_CARRIES, carried)])
        }
        Known::Unknown(reason) => Text::say(say::CAP_NONE_OF, [name, why(reason)]),
    }
}

/// What the figures hold for: workload, SLO and window.
pub(super) fn conditions(capacity: &Capacity) -> Vec<Text> {
    let mut out = Vec::new();
    let measured = capacity.sweeps.iter().flat_map(|sweep| &sweep.steps);
    let at = match capacity.carries.figure() {
        Some(carries) => measured.clone().find(|step| step.stage == carries.stage),
        None => measured.clone().find(|step| step.figures.is_some()),
    };
    if let Some(figures) = at.and_then(|step| step.figures.as_ref()) {
        let of = [
            whole(figures.input_tokens),
            whole(figures.output_tokens),
            scale::elapsed(figures.window_s),
        ];
        out.push(Text::say(say::CAP_WORKLOAD, of.map(Text::just)));
    }
    if capacity.slos.is_empty() {
        out.push(Text::word(say::CAP_NO_SLO));
    }
    for (class, slo) in &capacity.slos {
        let clauses = slo.iter().map(|(limit, most)| {
            let most = scale::value(Unit::Seconds, most.as_secs_f64());
            Text::say(say::CAP_SLO_CLAUSE, [clause(*limit), Text::just(most)])
        });
        let of = [Text::value(class), Text::list(clauses)];
        out.push(Text::say(say::CAP_SLO_OF, of));
    }
    out
}

/// The same with what was run.
pub(super) fn facts(capacity: &Capacity) -> Vec<Text> {
    let mut out = conditions(capacity);
    let runs = [
        count(capacity.runs.len() as u64),
        count(capacity.replicas_measured.into()),
    ];
    out.push(Text::say(say::CAP_RUNS, runs));
    out
}

/// The three numbers, the knee, replicas and the cache.
pub(super) fn conclusion(capacity: &Capacity) -> Vec<Text> {
    let mut out = Vec::new();
    for sweep in &capacity.sweeps {
        let of = |text: Text| Text::say(say::CAP_SWEEP, [Text::value(&sweep.name), text]);
        out.push(of(match &sweep.within_slo {
            Known::Figure(within) => within_slo(sweep, within, capacity.plan.attainment),
            Known::Unknown(reason) => Text::say(say::CAP_NO_WITHIN, [why(reason)]),
        }));
        out.push(of(match &sweep.knee {
            Known::Figure(found) => knee(sweep, found),
            Known::Unknown(reason) => Text::say(say::CAP_NO_KNEE, [why(reason)]),
        }));
    }
    if let Known::Figure(carries) = &capacity.carries {
        let tokens = |tps| Text::just(scale::value(Unit::TokensPerSecond, tps));
        let of = [
            estimate(Unit::RequestsPerSecond, &carries.rps),
            tokens(carries.input_tps),
            tokens(carries.output_tps.value),
        ];
        out.push(Text::say(say::CAP_GROWTH, of));
    }
    out.push(match &capacity.replicas {
        Known::Figure(figures) => replicas(figures),
        Known::Unknown(reason) => Text::say(say::CAP_NO_REPLICAS, [why(reason)]),
    });
    if let Known::Figure(found) = &capacity.replicas {
        out.push(after_loss(found));
    }
    out.push(kv(capacity));
    out
}

fn within_slo(sweep: &SweepReading, within: &WithinSlo, wanted: f64) -> Text {
    let what = if within.is_last {
        say::CAP_WITHIN_LEAST
    } else {
        say::CAP_WITHIN
    };
    let of = [
        load(sweep.axis, within.load),
        estimate(Unit::RequestsPerSecond, &within.figures.completed_rps),
        share(within.attainment),
        share(wanted),
    ];
    let text = Text::say(what, of);
    let text = if within.set.len() > 1 {
        Text::say(say::CAP_MAY_BE, [text, numbers(&within.set)])
    } else {
        text
    };
    sustained(text, &within.sustained)
}

fn sustained(text: Text, sustained: &Sustained) -> Text {
    let by = |phrase: Phrase, stage: &str, rate_rps: f64, attainment: f64| {
        let of = [text.clone(), Text::value(stage)];
        Text::say(
            phrase,
            of.into_iter().chain([rate(rate_rps), share(attainment)]),
        )
    };
    match sustained {
        Sustained::Measured => Text::say(say::CAP_SUSTAINED, [text]),
        Sustained::Verified {
            stage,
            rate_rps,
            attainment,
        } => by(say::CAP_VERIFIED, stage, *rate_rps, *attainment),
        Sustained::Refuted {
            stage,
            rate_rps,
            attainment,
        } => by(say::CAP_REFUTED, stage, *rate_rps, *attainment),
        Sustained::NotTried { .. } => Text::say(say::CAP_NOT_TRIED, [text]),
    }
}

fn knee(sweep: &SweepReading, found: &KneeReading) -> Text {
    let by = match found.by {
        KneeRule::Goodput => say::CAP_BY_GOODPUT,
        KneeRule::Throughput => say::CAP_BY_THROUGHPUT,
    };
    let of = [
        load(sweep.axis, found.load),
        Text::word(by),
        numbers(&found.set),
        load(sweep.axis, found.alert),
        Text::just(percent(found.alert_share)),
    ];
    Text::say(say::CAP_KNEE, of)
}

fn replicas(found: &Replicas) -> Text {
    let of = [
        rate(found.peak_rps),
        Text::just(scale::value(Unit::TokensPerSecond, found.peak_tps)),
        count(found.needed),
        count(found.by_users),
        count(found.by_tokens),
    ];
    let text = Text::say(say::CAP_REPLICAS, of);
    match found.range {
        Some(range) if range.least < range.most => {
            let of = [text, count(range.least), count(range.most)];
            Text::say(say::CAP_REPLICAS_RANGE, of)
        }
        _ => text,
    }
}

fn after_loss(found: &Replicas) -> Text {
    let loss = found.after_loss;
    let (left, carried) = (count(loss.replicas), rate(loss.capacity_rps));
    match loss.load {
        Some(load) if loss.holds => Text::say(say::CAP_LOSS, [left, carried, share(load)]),
        Some(load) => Text::say(say::CAP_LOSS_NOT, [left, carried, share(load)]),
        None => Text::say(say::CAP_LOSS_ALL, [left, carried]),
    }
}

fn kv(capacity: &Capacity) -> Text {
    let bound = match &capacity.kv {
        Known::Figure(bound) => bound,
        Known::Unknown(reason) => return Text::say(say::CAP_NO_KV, [why(reason)]),
    };
    let source = match bound.source {
        KvSource::Engine { blocks, block_size } => {
            Text::say(say::CAP_KV_ENGINE, [blocks, block_size].map(count))
        }
        KvSource::Model {
            bytes,
            sequence_bytes,
            windows,
        } => {
            let what = if windows {
                say::CAP_KV_WINDOWS
            } else {
                say::CAP_KV_MODEL
            };
            let of = [bytes, sequence_bytes].map(|bytes| Text::just(gigabytes(bytes)));
            Text::say(what, of)
        }
    };
    let holds = [count(bound.sequences), count(bound.mean_tokens), source];
    let mut text = Text::say(say::CAP_KV, holds);
    if let (Some(tokens), Some(sequences)) = (bound.longest_tokens, bound.longest_sequences) {
        let of = [text, count(sequences), count(tokens)];
        text = Text::say(say::CAP_KV_LONGEST, of);
    }
    match capacity.carries.figure() {
        Some(carries) if carries.bound_by_kv => Text::say(say::CAP_KV_BINDS, [text]),
        Some(_) => Text::say(say::CAP_KV_AMPLE, [text]),
        None => text,
    }
}

/// How to read it.
pub(super) fn method() -> Vec<Text> {
    let all = [
        say::CAP_METHOD_INTERVALS,
        say::CAP_METHOD_SETS,
        say::CAP_METHOD_REPLICAS,
    ];
    all.map(Text::word).into()
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
        Axis::Rate => rate(load),
    }
}

pub(super) fn users(users: f64) -> Text {
    Text::say(say::CAP_USERS, [Text::just(number(users))])
}

pub(super) fn rate(rps: f64) -> Text {
    Text::just(scale::value(Unit::RequestsPerSecond, rps))
}

pub(super) fn share(share: f64) -> Text {
    Text::just(scale::value(Unit::Proportion, share))
}

pub(super) fn count(count: u64) -> Text {
    Text::just(scale::count(count))
}

pub(super) fn numbers(loads: &[f64]) -> Text {
    Text::list(loads.iter().map(|load| Text::just(number(*load))))
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
    interval(Text::just(value), bare(lower), bare(upper))
}

/// A figure with both ends of its interval.
pub(super) fn interval(text: Text, lower: String, upper: String) -> Text {
    Text::say(
        say::CAP_BETWEEN,
        [text, Text::just(lower), Text::just(upper)],
    )
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

pub(super) fn clause(clause: SloClause) -> Text {
    match clause {
        SloClause::Ttft => Text::of("TTFT"),
        SloClause::Ttfa => Text::of("TTFA"),
        SloClause::Tpot => Text::of("TPOT"),
        SloClause::ItlMax => Text::word(say::CAP_LONGEST_GAP),
        SloClause::E2e => Text::of("E2E"),
    }
}

/// The columns of a table of steps.
pub(super) fn header(lang: Lang) -> [String; 10] {
    use crate::report::lines::small;
    let own = |text: &str| text.to_owned();
    [
        small(label::load, lang),
        small(label::completed, lang),
        small(label::output, lang),
        own("TTFT p50"),
        own("p99"),
        own("ITL p95"),
        own("p99"),
        small(label::goodput_rate, lang),
        small(label::good, lang),
        small(label::state, lang),
    ]
}
