//! Why a cell has its state, for a terminal.

use crate::lang::{Lang, say};
use crate::unit::scale;
use crate::verdict::{Decided, Explanation, NoiseOfRun, Repeat};

use super::cells::{Group, group};
use super::lines::{Line, Page, table};
use super::model::Tone;
use super::span::Text;
use super::words;

/// Values of one stored session and no more are shown in a line.
const VALUES: usize = 12;

/// The explanation of one finding: what became of it, its values, its noise, its looks.
pub fn explanation(explained: &Explanation, lang: Lang) -> Vec<Line> {
    let finding = &explained.finding;
    let mut page = Page::new(lang);
    let tone = match group(finding.state) {
        Group::Broken => Tone::Bad,
        Group::Unmeasured | Group::Undecided => Tone::Unsure,
        Group::Within => Tone::Good,
    };
    let title = if finding.gated {
        say::CELL_STATE
    } else {
        say::CELL_STATE_UNGATED
    };
    let cell = Text::value(&finding.cell.to_string());
    let title = Text::say(title, [cell, words::state(finding.state)]);
    page.line(tone, title.plain_in(lang));
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
            page.item(Tone::Faint, &Text::word(say::STORED_SESSIONS));
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
    let header = [say::REPEAT, say::BASELINE, say::CANDIDATE, say::CHANGE];
    let header = header.map(|word| word.text(page.lang()));
    let [repeat, baseline, candidate, change] = header;
    let mut rows = table([repeat, baseline, candidate, change, ""], &[0, 1, 2, 3]);
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
            said(repeat).plain_in(page.lang()),
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

fn said(repeat: &Repeat) -> Text {
    match (&repeat.note, repeat.used) {
        (Some(note), _) => Text::default().prose(note),
        (None, true) => Text::default(),
        (None, false) => Text::word(say::LEFT_OUT_HERE),
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
        let tolerance = Text::just(plain(explained, tolerance));
        page.item(Tone::Neutral, &Text::say(say::TOLERANCE, [tolerance]));
    }
    if let Some(tail) = explained.tail {
        let beyond = format!("{:.1}", tail.beyond);
        let counts = [
            scale::count(tail.n),
            beyond.trim_end_matches(".0").to_owned(),
        ];
        page.item(Tone::Neutral, &Text::say(say::TAIL, counts.map(Text::just)));
    }
}

fn scatter(explained: &Explanation, noise: NoiseOfRun) -> Text {
    let mut args = vec![plain(explained, noise.sigma), format!("{:.0}", noise.df)];
    let phrase = if noise.sessions == 0 {
        say::SCATTER_ASSUMED
    } else {
        args.push(scale::count(noise.runs.into()));
        args.push(scale::count(noise.sessions.into()));
        say::SCATTER_LEARNT
    };
    Text::say(phrase, args.into_iter().map(Text::just))
}

fn looks(explained: &Explanation, page: &mut Page) {
    if explained.looks.is_empty() {
        return;
    }
    page.gap();
    let family = Text::just(scale::count(explained.family.into()));
    page.item(Tone::Faint, &Text::say(say::LOOKS, [family]));
    let header = [
        say::REPEATS,
        say::ESTIMATE,
        say::P_NOT_WORSE,
        say::P_OVER_ALL,
        say::P_OVER,
        say::P_SHARE,
        say::DECIDED,
    ];
    let lang = page.lang();
    let mut rows = table(header.map(|word| word.text(lang)), &[0, 1, 2, 3, 4, 5]);
    for look in &explained.looks {
        let estimate = Text::just(size(explained, look.estimate));
        let outcome = decided(look.decided);
        rows.add_row([
            look.repeats.to_string(),
            if look.over {
                Text::say(say::OVER, [estimate]).plain_in(lang)
            } else {
                estimate.plain_in(lang)
            },
            probability(look.p_regression),
            probability(look.p_adjusted),
            probability(look.p_pass),
            probability(look.pass_at),
            if look.noisy {
                Text::say(say::NOISIER, [outcome]).plain_in(lang)
            } else {
                outcome.plain_in(lang)
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
    page.item(Tone::Faint, &Text::word(say::AHEAD));
    let lang = page.lang();
    let header = [say::REPEATS, say::RESOLVE, say::WOULD_BE].map(|word| word.text(lang));
    let mut rows = table(header, &[0, 1]);
    for look in &explained.ahead {
        rows.add_row([
            look.repeats.to_string(),
            look.resolvable
                .map_or_else(|| "–".to_owned(), |smallest| plain(explained, smallest)),
            decided(look.would).plain_in(lang),
        ]);
    }
    page.table(&rows, |_| Tone::Neutral);
}

fn decided(decided: Decided) -> Text {
    Text::word(match decided {
        Decided::Open => say::UNDECIDED_YET,
        Decided::Regressed => say::REGRESSED,
        Decided::Passed => say::OK,
    })
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
