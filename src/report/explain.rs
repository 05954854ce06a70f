//! Why a cell has its state, for a terminal.

use crate::unit::scale;
use crate::verdict::{Decided, Explanation, NoiseOfRun, Repeat};

use super::cells::{Group, group};
use super::model::Tone;
use super::span::Text;
use super::text::{Line, Page, table};
use super::words;

/// Values of one stored session and no more are shown in a line.
const VALUES: usize = 12;

/// The explanation of one finding: what became of it, its values, its noise, its looks.
pub fn explanation(explained: &Explanation) -> Vec<Line> {
    let finding = &explained.finding;
    let mut page = Page::default();
    let tone = match group(finding.state) {
        Group::Broken => Tone::Bad,
        Group::Unmeasured | Group::Undecided => Tone::Unsure,
        Group::Within => Tone::Good,
    };
    let title = Text::value(&finding.cell.to_string())
        .words(": ")
        .words(finding.state.label())
        .words(if finding.gated { "" } else { ", not gated" });
    page.line(tone, title.plain());
    page.item(Tone::Neutral, &words::sentence(finding));
    if let Some(why) = words::why(finding) {
        page.item(Tone::Neutral, &why);
    }
    values(explained, &mut page);
    grounds(explained, &mut page);
    looks(explained, &mut page);
    ahead(explained, &mut page);
    page.lines
}

fn values(explained: &Explanation, page: &mut Page) {
    let unit = explained.finding.cell.metric.metric().unit();
    let value =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |v| scale::value(unit, v));
    for (i, session) in explained.sessions.iter().enumerate() {
        if i == 0 {
            page.gap();
            page.line(Tone::Faint, "  stored sessions, oldest first".to_owned());
        }
        let shown: Vec<String> = session
            .iter()
            .take(VALUES)
            .map(|v| scale::value(unit, *v))
            .collect();
        page.line(
            Tone::Neutral,
            format!("  {:>2}  {}", i + 1, shown.join(", ")),
        );
    }
    if explained.repeats.is_empty() {
        return;
    }
    page.gap();
    let mut rows = table(
        ["repeat", "baseline", "candidate", "change", ""],
        &[0, 1, 2, 3],
    );
    for repeat in &explained.repeats {
        let Repeat {
            number,
            baseline,
            candidate,
            change,
            ..
        } = repeat;
        rows.add_row([
            number.to_string(),
            value(*baseline),
            value(*candidate),
            change.map_or_else(String::new, |change| size(explained, change)),
            said(repeat),
        ]);
    }
    let tones: Vec<Tone> = explained
        .repeats
        .iter()
        .map(|repeat| {
            if repeat.used {
                Tone::Neutral
            } else {
                Tone::Faint
            }
        })
        .collect();
    page.table(&rows, |i| tones.get(i).copied().unwrap_or(Tone::Neutral));
}

fn said(repeat: &Repeat) -> String {
    match (&repeat.note, repeat.used) {
        (Some(note), _) => Text::default().prose(note).plain(),
        (None, true) => String::new(),
        (None, false) => "left out: another gated cell has no valid value here".to_owned(),
    }
}

/// A change in the unit of the test.
fn size(explained: &Explanation, change: f64) -> String {
    if explained.ratio {
        scale::change(change)
    } else {
        scale::points(change)
    }
}

fn plain(explained: &Explanation, size_of: f64) -> String {
    size(explained, size_of).trim_start_matches('+').to_owned()
}

fn grounds(explained: &Explanation, page: &mut Page) {
    page.gap();
    if let Some(noise) = explained.noise {
        page.item(Tone::Neutral, &scatter(explained, noise));
    }
    if let Some(tolerance) = explained.tolerance {
        let text = Text::of("tolerance: ").figure(plain(explained, tolerance));
        page.item(Tone::Neutral, &text);
    }
    if let Some(tail) = explained.tail {
        let text = Text::of("percentile: a run has ")
            .figure(scale::count(tail.n))
            .words(" values, of which ")
            .figure(
                format!("{:.1}", tail.beyond)
                    .trim_end_matches(".0")
                    .to_owned(),
            )
            .words(" are expected beyond it; 10 are needed to gate");
        page.item(Tone::Neutral, &text);
    }
}

fn scatter(explained: &Explanation, noise: NoiseOfRun) -> Text {
    let text = Text::of("noise: one run scatters by ")
        .figure(plain(explained, noise.sigma))
        .words(" (standard deviation), which is worth ")
        .figure(format!("{:.0}", noise.df))
        .words(" degrees of freedom; ");
    match noise.sessions {
        0 => text.words("assumed, for no archived session holds the cell"),
        _ => text
            .words("learnt from ")
            .figure(scale::count(noise.runs.into()))
            .words(" runs of ")
            .figure(scale::count(noise.sessions.into()))
            .words(" sessions"),
    }
}

fn looks(explained: &Explanation, page: &mut Page) {
    if explained.looks.is_empty() {
        return;
    }
    page.gap();
    let text = Text::of("looks: regressed where p over all ")
        .figure(scale::count(explained.family.into()))
        .words(" cells and looks is at most 0.05 and the estimate is over the tolerance; ok where p of over it is at most its share");
    page.item(Tone::Faint, &text);
    let header = [
        "repeats",
        "estimate",
        "p not worse",
        "over all",
        "p of over it",
        "share",
        "decided",
    ];
    let mut rows = table(header, &[0, 1, 2, 3, 4, 5]);
    for look in &explained.looks {
        rows.add_row([
            look.repeats.to_string(),
            size(explained, look.estimate) + if look.over { " over" } else { "" },
            probability(look.p_regression),
            probability(look.p_adjusted),
            probability(look.p_pass),
            probability(look.pass_at),
            decided(look.decided).to_owned()
                + if look.noisy {
                    " (noisier than the archive)"
                } else {
                    ""
                },
        ]);
    }
    page.table(&rows, |_| Tone::Neutral);
}

fn ahead(explained: &Explanation, page: &mut Page) {
    if explained.ahead.is_empty() || group(explained.finding.state) != Group::Undecided {
        return;
    }
    page.gap();
    page.line(
        Tone::Faint,
        "  if further repeats went on like these".to_owned(),
    );
    let mut rows = table(["repeats", "resolve", "would be"], &[0, 1]);
    for look in &explained.ahead {
        rows.add_row([
            look.repeats.to_string(),
            look.resolvable
                .map_or_else(|| "–".to_owned(), |smallest| plain(explained, smallest)),
            decided(look.would).to_owned(),
        ]);
    }
    page.table(&rows, |_| Tone::Neutral);
}

const fn decided(decided: Decided) -> &'static str {
    match decided {
        Decided::Open => "open",
        Decided::Regressed => "regressed",
        Decided::Passed => "ok",
    }
}

/// A probability with two significant digits: `0.034`, `3.7e-7`.
fn probability(p: f64) -> String {
    if p >= 0.001 {
        let digits = if p >= 0.1 { 2 } else { 3 };
        format!("{p:.digits$}")
    } else {
        format!("{p:.1e}")
    }
}
