//! Two capacities beside each other, in words.

use super::DifferenceRow;
use super::money::{money, paid};
use super::words::{estimate, load, number};
use crate::capacity::difference::Moved;
use crate::capacity::{
    Capacity, Carries, Compared, CostFigures, KneeReading, Known, SweepReading, Verdict,
};
use crate::report::span::Text;
use crate::unit::scale::{self, Unit};

pub(super) const BEFORE: &str = "before";
pub(super) const AFTER: &str = "after";

/// The whole message: replicas, and what a good request costs.
pub(super) fn headline(compared: &Compared) -> Text {
    let name = Text::of("Capacity of ").quoted(&compared.after.name);
    let mut parts = Vec::new();
    if let Some(moved) = compared.difference.rps {
        parts.push(Text::of("one replica carries ").then(change(moved)));
    }
    if let Some(replicas) = compared.difference.replicas {
        parts.push(match replicas {
            0 => Text::of("as many replicas"),
            more if more > 0 => {
                Text::just(scale::count(more.unsigned_abs())).words(" more for the peak")
            }
            fewer => Text::just(scale::count(fewer.unsigned_abs())).words(" fewer for the peak"),
        });
    }
    let before = compared.before.cost.figure();
    let after = compared.after.cost.figure();
    if let (Some(before), Some(after), Some(moved)) =
        (before, after, compared.difference.good_request)
        && moved.verdict != Verdict::Noise
        && let (Some(one), Some(other)) = (&before.good_request, &after.good_request)
    {
        let thousand = (other.value - one.value) * 1000.0;
        let text = money(thousand.abs(), &after.price);
        parts.push(text.words(if thousand > 0.0 {
            " more for a thousand good requests"
        } else {
            " less for a thousand good requests"
        }));
    }
    if parts.is_empty() {
        return name.words(": the sides have no figure in common");
    }
    if !compared.moved() && compared.difference.replicas.unwrap_or(0) == 0 {
        return name.words(": no difference beyond noise");
    }
    name.words(": ").then(Text::join(parts, ", "))
}

/// A row a figure.
pub(super) fn rows(compared: &Compared) -> Vec<DifferenceRow> {
    let (before, after) = (&compared.before, &compared.after);
    let difference = &compared.difference;
    let first = |side: &Capacity| side.sweeps.first().cloned();
    let (one, other) = (first(before), first(after));
    let row = |what: &'static str, before: Text, after: Text, change: Text| DifferenceRow {
        what: Text::of(what),
        before,
        after,
        change,
    };
    let knee_of =
        |sweep: &Option<SweepReading>, show: fn(&SweepReading, &KneeReading) -> Text| match sweep {
            Some(sweep) => either(&sweep.knee, |knee| show(sweep, knee)),
            None => Text::of("no sweep"),
        };
    let within = |sweep: &Option<SweepReading>| match sweep {
        Some(sweep) => either(&sweep.within_slo, |within| load(sweep.axis, within.load)),
        None => Text::of("no sweep"),
    };
    let carries = |side: &Capacity| {
        either(&side.carries, |carries: &Carries| {
            estimate(Unit::RequestsPerSecond, &carries.rps)
        })
    };
    let good = |side: &Capacity| {
        either(&side.cost, |cost: &CostFigures| match &cost.good_request {
            Some(price) => paid(price, &cost.price),
            None => Text::of("–"),
        })
    };
    let knee = difference.knee.map_or_else(none, verdict);
    let figure = |moved: Option<Moved>| moved.map_or_else(none, change);
    let count = |change: Option<i64>| change.map_or_else(none, |by| Text::just(signed(by)));
    let mut rows = vec![
        row("load within the SLO", within(&one), within(&other), none()),
        row(
            "requests of one replica",
            carries(before),
            carries(after),
            figure(difference.rps),
        ),
        row(
            "knee",
            knee_of(&one, knee_text),
            knee_of(&other, knee_text),
            knee.clone(),
        ),
        row(
            "alert from",
            knee_of(&one, |sweep, knee| load(sweep.axis, knee.alert)),
            knee_of(&other, |sweep, knee| load(sweep.axis, knee.alert)),
            knee,
        ),
    ];
    if let Some(moved) = difference.best {
        let rate = |value| Text::just(scale::value(Unit::RequestsPerSecond, value));
        let (before, after) = (rate(moved.before), rate(moved.after));
        rows.push(row(
            "best over the loads of both",
            before,
            after,
            change(moved),
        ));
    }
    rows.push(row(
        "replicas for the peak",
        either(&before.replicas, |replicas| {
            Text::just(scale::count(replicas.needed))
        }),
        either(&after.replicas, |replicas| {
            Text::just(scale::count(replicas.needed))
        }),
        count(difference.replicas),
    ));
    rows.push(row(
        "requests in the KV cache",
        either(&before.kv, |kv| Text::just(scale::count(kv.sequences))),
        either(&after.kv, |kv| Text::just(scale::count(kv.sequences))),
        count(difference.kv),
    ));
    rows.push(row(
        "a good request",
        good(before),
        good(after),
        figure(difference.good_request),
    ));
    rows
}

fn none() -> Text {
    Text::of("–")
}

fn either<T>(known: &Known<T>, show: impl Fn(&T) -> Text) -> Text {
    match known {
        Known::Figure(figure) => show(figure),
        Known::Unknown(_) => Text::of("unknown"),
    }
}

fn knee_text(sweep: &SweepReading, knee: &KneeReading) -> Text {
    let set = knee.set.iter().map(|load| Text::just(number(*load)));
    load(sweep.axis, knee.load)
        .words(" [")
        .then(Text::join(set, ", "))
        .words("]")
}

/// `−20.0 % [−30.1 %, −8.4 %]`, or that nothing may be said.
fn change(moved: Moved) -> Text {
    let Moved {
        change,
        verdict: said,
        ..
    } = moved;
    let text = Text::just(scale::change(change.ratio))
        .words(" [")
        .figure(scale::change(change.interval.lower))
        .words(", ")
        .figure(scale::change(change.interval.upper))
        .words("]");
    match said {
        Verdict::Noise => text.words(": no difference beyond noise"),
        Verdict::Less | Verdict::More => text,
    }
}

fn verdict(verdict: Verdict) -> Text {
    Text::of(match verdict {
        Verdict::Less => "less, beyond noise",
        Verdict::More => "more, beyond noise",
        Verdict::Noise => "no difference beyond noise",
    })
}

fn signed(by: i64) -> String {
    let size = scale::count(by.unsigned_abs());
    match by {
        0 => "0".to_owned(),
        by if by > 0 => format!("+{size}"),
        _ => format!("−{size}"),
    }
}
