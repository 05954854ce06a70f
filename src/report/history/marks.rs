//! What is to be said of a session or a change, in words.

use crate::history::{Drift, Scale, Series, Shift, Sitting, Standing, Track};
use crate::metric::Metric;
use crate::report::span::Text;
use crate::unit::scale;

/// `+28.4 %`, or `+0.61 pp` of shares.
pub(in crate::report) fn size(of: Scale, change: f64) -> String {
    match of {
        Scale::Ratio => scale::change(change),
        Scale::Points => scale::points(change),
    }
}

/// `+28.4 % (243.0 ms → 312.0 ms), worse, p 2e-7`.
pub(in crate::report) fn shift(series: &Series, shift: &Shift) -> Text {
    let [before, after] = both(series.cell.metric.metric(), shift.before, shift.after);
    let text = Text::just(size(series.scale, shift.change))
        .words(" (")
        .figure(before)
        .words(" → ")
        .figure(after)
        .words(if shift.worse { "), worse" } else { "), better" })
        .words(", p ")
        .figure(p(shift.p));
    if shift.accepted {
        text.words(", accepted")
    } else {
        text
    }
}

/// A p-value with one digit: `2e-7`, `0.0004`; below what a float tells, `0`.
fn p(p: f64) -> String {
    if p >= 1e-4 {
        format!("{p:.4}")
    } else {
        format!("{p:.0e}")
    }
}

/// `+31.0 % from v1.2 (240.0 ms → 314.4 ms), worse`.
pub(in crate::report) fn drift(track: &Track, series: &Series, drift: &Drift) -> Text {
    let anchor = &track.sittings[drift.anchor];
    let name = anchor.anchor.as_deref().unwrap_or_default();
    let [from, to] = both(series.cell.metric.metric(), drift.from, drift.to);
    Text::just(size(series.scale, drift.change))
        .words(" from ")
        .quoted(name)
        .words(" (")
        .figure(from)
        .words(" → ")
        .figure(to)
        .words(if drift.worse {
            "), worse"
        } else {
            "), not worse"
        })
}

fn both(metric: Metric, before: f64, after: f64) -> [String; 2] {
    scale::row(metric.unit(), [before, after])
}

/// What sets a session apart from its neighbours: standing, anchor, epoch, pins.
pub(in crate::report) fn sitting(sitting: &Sitting) -> Vec<Text> {
    let mut out = Vec::new();
    match &sitting.standing {
        Standing::Stands => {}
        Standing::Noise => out.push(Text::of("for noise")),
        Standing::Void { reason } => out.push(Text::of("void: ").prose(reason)),
    }
    if let Some(name) = &sitting.anchor {
        out.push(Text::of("anchor ").quoted(name));
    }
    if let Some(reason) = &sitting.epoch {
        out.push(Text::of("epoch: ").prose(reason));
    }
    for change in &sitting.pins {
        let value = |value: &Option<String>| match value {
            Some(value) => Text::value(value),
            None => Text::of("unknown"),
        };
        out.push(
            Text::value(change.pin.as_str())
                .words(" ")
                .then(value(&change.before))
                .words(" → ")
                .then(value(&change.after)),
        );
    }
    out
}
