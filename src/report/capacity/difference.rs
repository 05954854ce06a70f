//! Two capacities beside each other, in words.

use super::DifferenceRow;
use super::money::{money, paid};
use super::reasons::why;
use super::words::{count, estimate, interval, load, numbers, rate};
use crate::capacity::difference::Moved;
use crate::capacity::{
    Capacity, Compared, Difference, Estimate, KneeReading, Known, SweepReading, Verdict,
};
use crate::lang::{Phrase, say};
use crate::report::span::Text;
use crate::unit::scale::{self, Unit};

/// Good requests that a price is told of.
const THOUSAND: f64 = 1000.0;

/// The whole message: replicas, and what a good request costs.
pub(super) fn headline(compared: &Compared) -> Text {
    let difference = &compared.difference;
    let mut parts = Vec::new();
    if let Some(moved) = difference.rps {
        parts.push(Text::say(say::CAP_CARRIES_CHANGED, [change(moved)]));
    }
    if let Some(replicas) = difference.replicas {
        let by = count(replicas.unsigned_abs());
        parts.push(match difference.replicas_verdict {
            Some(Verdict::More) => Text::say(say::CAP_MORE_REPLICAS, [by]),
            Some(Verdict::Less) => Text::say(say::CAP_FEWER_REPLICAS, [by]),
            Some(Verdict::Noise) | None => Text::word(say::CAP_SAME_REPLICAS),
        });
    }
    if let Some(dearer) = dearer(compared) {
        let what = if dearer.by > 0.0 {
            say::CAP_THOUSAND_MORE
        } else {
            say::CAP_THOUSAND_LESS
        };
        parts.push(Text::say(what, [dearer.size]));
    }
    let said = if parts.is_empty() {
        Text::word(say::CAP_NOTHING_COMMON)
    } else if !compared.moved() {
        Text::word(say::CAP_NO_DIFFERENCE)
    } else {
        Text::commas(parts)
    };
    Text::say(say::CAP_OF, [Text::value(&compared.after.name), said])
}

/// What a thousand good requests cost more, or less.
pub(super) struct Dearer {
    /// The difference of both prices.
    pub(super) by: f64,
    /// Its size, in the currency.
    pub(super) size: Text,
    /// The change.
    pub(super) moved: Moved,
}

/// `None` where it is not beyond noise.
pub(super) fn dearer(compared: &Compared) -> Option<Dearer> {
    let moved = compared.difference.good_request?;
    let after = compared.after.cost.figure()?;
    let by = (moved.after - moved.before) * THOUSAND;
    (moved.verdict != Verdict::Noise).then(|| Dearer {
        by,
        size: money(by.abs(), &after.price),
        moved,
    })
}

/// Both sides of a table, where the earlier one may be missing.
#[derive(Clone, Copy)]
pub(super) struct Sides<'a> {
    pub(super) before: Option<&'a Capacity>,
    pub(super) after: &'a Capacity,
    /// What lies between; `None` where nothing may be said of that.
    pub(super) difference: Option<&'a Difference>,
}

impl<'a> Sides<'a> {
    pub(super) const fn of(compared: &'a Compared) -> Self {
        Self {
            before: Some(&compared.before),
            after: &compared.after,
            difference: Some(&compared.difference),
        }
    }

    /// The sweep that the later side's capacity is of, and the earlier side's of that name.
    fn sweeps(self) -> [Option<&'a SweepReading>; 2] {
        let after = self.after.principal();
        let before = self.before.and_then(|before| {
            let mut same = before.sweeps.iter();
            let same = same.find(|sweep| after.is_some_and(|after| after.name == sweep.name));
            same.or_else(|| before.principal())
        });
        [before, after]
    }

    fn each(self) -> [Option<&'a Capacity>; 2] {
        [self.before, Some(self.after)]
    }
}

/// A figure of both sides, each with why it is not known.
struct Row {
    what: Phrase,
    sides: [Result<Text, Option<Text>>; 2],
    change: Option<Text>,
}

/// A row a figure.
fn all(of: Sides<'_>) -> Vec<Row> {
    let sweeps = of.sweeps();
    let difference = of.difference;
    let from_sweep = |show: &dyn Fn(&SweepReading) -> Result<Text, Option<Text>>| {
        sweeps.map(|sweep| match sweep {
            Some(sweep) => show(sweep),
            None => Err(Some(Text::word(say::CAP_NO_SWEEP))),
        })
    };
    let from_side = |show: &dyn Fn(&Capacity) -> Result<Text, Option<Text>>| {
        of.each().map(|side| side.map_or(Err(None), show))
    };
    let said = |verdict: Option<Verdict>| verdict.map(verdict_text);
    let figure = |moved: Option<Moved>| moved.map(change);
    let knee = difference.and_then(|difference| difference.knee);
    let mut rows = vec![
        Row {
            what: say::CAP_ROW_WITHIN,
            sides: from_sweep(&|sweep| {
                known(&sweep.within_slo, |within| {
                    set(load(sweep.axis, within.load), &within.set)
                })
            }),
            change: said(difference.and_then(|difference| difference.within)),
        },
        Row {
            what: say::CAP_ROW_RPS,
            sides: from_side(&|side| {
                known(&side.carries, |carries| {
                    estimate(Unit::RequestsPerSecond, &carries.rps)
                })
            }),
            change: figure(difference.and_then(|difference| difference.rps)),
        },
        Row {
            what: say::CAP_ROW_KNEE,
            sides: from_sweep(&|sweep| known(&sweep.knee, |knee| knee_text(sweep, knee))),
            change: said(knee),
        },
        Row {
            what: say::CAP_ROW_ALERT,
            sides: from_sweep(&|sweep| known(&sweep.knee, |knee| load(sweep.axis, knee.alert))),
            change: said(knee),
        },
    ];
    if let Some(moved) = difference.and_then(|difference| difference.best) {
        rows.push(Row {
            what: say::CAP_ROW_BEST,
            sides: [Ok(rate(moved.before)), Ok(rate(moved.after))],
            change: Some(change(moved)),
        });
    }
    rows.push(Row {
        what: say::CAP_ROW_REPLICAS,
        sides: from_side(&|side| {
            known(&side.replicas, |replicas| {
                let needed = count(replicas.needed);
                match replicas.range {
                    Some(range) => {
                        interval(needed, scale::count(range.least), scale::count(range.most))
                    }
                    None => needed,
                }
            })
        }),
        change: difference.and_then(|difference| {
            let by = Text::just(signed(difference.replicas?));
            Some(match difference.replicas_verdict {
                Some(Verdict::Noise) => Text::say(say::CAP_IN_NOISE, [by]),
                Some(Verdict::Less | Verdict::More) | None => by,
            })
        }),
    });
    rows.push(Row {
        what: say::CAP_ROW_KV,
        sides: from_side(&|side| known(&side.kv, |kv| count(kv.sequences))),
        change: difference.and_then(|difference| Some(Text::just(signed(difference.kv?)))),
    });
    rows.push(Row {
        what: say::CAP_ROW_GOOD,
        sides: from_side(&|side| match &side.cost {
            Known::Figure(cost) => match &cost.good_request {
                Some(price) => Ok(paid(&price.times(THOUSAND), &cost.price)),
                None => Err(None),
            },
            Known::Unknown(reason) => Err(Some(why(reason))),
        }),
        change: figure(difference.and_then(|difference| difference.good_request)),
    });
    rows
}

/// Rows of both sides; of figures that neither side has none where `known` alone are asked for.
pub(super) fn rows(of: Sides<'_>, known: bool) -> Vec<DifferenceRow> {
    let wanted = |row: &Row| !known || row.sides.iter().any(Result::is_ok);
    let rows = all(of).into_iter().filter(wanted);
    rows.map(|row| {
        let [before, after] = row.sides.map(|side| {
            side.unwrap_or_else(|why| match why {
                Some(_) => Text::word(say::CAP_UNKNOWN),
                None => none(),
            })
        });
        DifferenceRow {
            what: Text::word(row.what),
            before,
            after,
            change: row.change.unwrap_or_else(none),
        }
    })
    .collect()
}

/// Why figures are not known, each reason once.
pub(super) fn reasons(of: Sides<'_>) -> Vec<Text> {
    let mut out: Vec<(Vec<Text>, Text)> = Vec::new();
    for row in all(of) {
        let what = Text::word(row.what);
        let [before, after] = row.sides.map(|side| side.err().flatten());
        let told = match (before, after) {
            (Some(one), Some(other)) if one == other => vec![(what, one)],
            (before, after) => {
                let of =
                    |phrase, why: Option<Text>| Some((Text::say(phrase, [what.clone()]), why?));
                let before = of(say::CAP_OF_BASELINE, before);
                before
                    .into_iter()
                    .chain(of(say::CAP_OF_CANDIDATE, after))
                    .collect()
            }
        };
        for (what, why) in told {
            match out.iter_mut().find(|(_, known)| *known == why) {
                Some((figures, _)) => figures.push(what),
                None => out.push((vec![what], why)),
            }
        }
    }
    let reason = |(figures, why)| Text::say(say::CAP_WHY_NONE, [Text::list(figures), why]);
    out.into_iter().map(reason).collect()
}

fn none() -> Text {
    Text::of("–")
}

fn known<T>(known: &Known<T>, show: impl Fn(&T) -> Text) -> Result<Text, Option<Text>> {
    match known {
        Known::Figure(figure) => Ok(show(figure)),
        Known::Unknown(reason) => Err(Some(why(reason))),
    }
}

/// A load with those that it may be.
fn set(load: Text, set: &[f64]) -> Text {
    if set.is_empty() {
        return load;
    }
    Text::say(say::CAP_SET, [load, numbers(set)])
}

fn knee_text(sweep: &SweepReading, knee: &KneeReading) -> Text {
    set(load(sweep.axis, knee.load), &knee.set)
}

/// `−20.0 % [−30.1 %, −8.4 %]`, or that nothing may be said.
pub(super) fn change(moved: Moved) -> Text {
    let Moved {
        change,
        verdict: said,
        ..
    } = moved;
    let text = interval(
        Text::just(scale::change(change.ratio)),
        scale::change(change.interval.lower),
        scale::change(change.interval.upper),
    );
    match said {
        Verdict::Noise => Text::say(say::CAP_IN_NOISE, [text]),
        Verdict::Less | Verdict::More => text,
    }
}

fn verdict_text(verdict: Verdict) -> Text {
    Text::word(match verdict {
        Verdict::Less => say::CAP_LESS_BEYOND,
        Verdict::More => say::CAP_MORE_BEYOND,
        Verdict::Noise => say::CAP_NO_DIFFERENCE,
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

/// What one replica carries, in requests a second.
pub(super) fn carried(rps: &Estimate) -> Text {
    estimate(Unit::RequestsPerSecond, rps)
}
