//! A report that fits where it is posted: whole sections go, in a stated order, and that is said.

use crate::lang::{Lang, Phrase, say};

use super::json::ReportFile;
use super::model::ReportModel;
use super::span::Text;
use super::suite::SuiteModel;
use super::{markdown, suite};

/// A report as Markdown that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The Markdown.
    pub text: String,
    /// Sections that were left out, in words; the text says so too.
    pub left_out: Vec<Phrase>,
    /// Rows of cells beyond their limits, not measured or undecided that did not fit either; the text
    /// counts them.
    pub rows_left_out: usize,
}

/// A section that may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    EqualPins,
    Diff,
    Engines,
    Sweeps,
    Observed,
    Outcomes,
    Method,
    Within,
    Pins,
    Capacity,
    Goodput,
    Why,
    Caveats,
    Advice,
}

impl Part {
    /// In the order in which they go: what is furthest from the verdict first.
    const ORDER: [Self; 14] = [
        Self::EqualPins,
        Self::Diff,
        Self::Engines,
        Self::Sweeps,
        Self::Observed,
        Self::Outcomes,
        Self::Method,
        Self::Within,
        Self::Pins,
        Self::Capacity,
        Self::Goodput,
        Self::Why,
        Self::Caveats,
        Self::Advice,
    ];

    const fn label(self) -> Phrase {
        match self {
            Self::EqualPins => say::PART_EQUAL_PINS,
            Self::Diff => say::PART_DIFF,
            Self::Engines => say::PART_ENGINES,
            Self::Sweeps => say::PART_SWEEPS,
            Self::Observed => say::PART_OBSERVED,
            Self::Outcomes => say::PART_OUTCOMES,
            Self::Method => say::PART_METHOD,
            Self::Within => say::PART_WITHIN,
            Self::Pins => say::PART_PINS,
            Self::Capacity => say::PART_CAPACITY,
            Self::Goodput => say::PART_GOODPUT,
            Self::Why => say::PART_WHY,
            Self::Caveats => say::PART_CAVEATS,
            Self::Advice => say::PART_ADVICE,
        }
    }

    /// Takes it out of a report; whether there was any.
    fn drop_from(self, model: &mut ReportModel) -> bool {
        fn clear<T>(list: &mut Vec<T>) -> bool {
            let any = !list.is_empty();
            list.clear();
            any
        }
        match self {
            Self::EqualPins => clear(&mut model.shared_pins),
            Self::Diff => model.pins_diff.take().is_some(),
            Self::Engines => clear(&mut model.engines),
            Self::Sweeps => clear(&mut model.sweeps),
            Self::Observed => clear(&mut model.observed.rows),
            Self::Outcomes => clear(&mut model.outcomes) | clear(&mut model.clauses),
            Self::Method => clear(&mut model.method),
            Self::Within => clear(&mut model.within.rows),
            Self::Pins => clear(&mut model.pins),
            Self::Capacity => model.capacity.take().is_some(),
            Self::Goodput => clear(&mut model.goodput),
            Self::Why => clear(&mut model.why),
            Self::Caveats => clear(&mut model.caveats),
            Self::Advice => clear(&mut model.advice),
        }
    }
}

/// The report of one spec, or of several as one, in at most `limit` UTF-16 code units.
///
/// Sections are left out whole, in this order: equal pins, their diff, what the engines say, latency over the steps of sweeps, cells that are not
/// gated, how requests ended, method, gated cells within their limits, differing pins, capacity (its line near the verdict stays), why goodput
/// moved, why figures moved, caveats, what to do; of several specs then the reports of each. Cells beyond their limits, not measured or
/// undecided stay; only where even those do not fit, the worst of them stay and the others are counted.
pub fn comment(reports: &[ReportFile], limit: usize, lang: Lang) -> Comment {
    let urgent = urgent_rows(reports);
    let whole = Page::of(reports, lang, 0, usize::MAX);
    if whole.fits(limit) {
        return whole.comment(0);
    }
    let least = Part::ORDER.len() + 1;
    let fewest = largest(least, |kept| {
        let page = Page::of(reports, lang, least - kept, usize::MAX);
        page.fits(limit).then_some(page)
    });
    if let Some((page, _)) = fewest {
        return page.comment(0);
    }
    let most = largest(urgent, |rows| {
        let page = Page::of(reports, lang, least, rows);
        page.fits(limit).then_some(page)
    });
    match most {
        Some((page, rows)) => page.comment(urgent - rows),
        None => first_words(reports, limit, lang, urgent),
    }
}

/// The largest number below `end` whose page fits, with that page, where a larger one never fits better.
fn largest<T>(end: usize, page: impl Fn(usize) -> Option<T>) -> Option<(T, usize)> {
    let (mut found, mut low, mut high) = (None, 0, end);
    while low < high {
        let middle = low.midpoint(high);
        match page(middle) {
            Some(page) => {
                found = Some((page, middle));
                low = middle + 1;
            }
            None => high = middle,
        }
    }
    found
}

fn urgent_rows(reports: &[ReportFile]) -> usize {
    let wanted = |report: &ReportFile| {
        let findings = report.findings.iter();
        findings
            .filter(|finding| super::build::URGENT.iter().any(|of| of(finding)))
            .count()
    };
    reports.iter().map(wanted).sum()
}

/// The verdict alone, for places where nothing else fits.
fn first_words(reports: &[ReportFile], limit: usize, lang: Lang, urgent: usize) -> Comment {
    let said = match suite::exit(reports) {
        crate::exit::Exit::Pass => say::PASS,
        crate::exit::Exit::Regression => say::REGRESSION,
        crate::exit::Exit::Undecided => say::UNDECIDED,
        crate::exit::Exit::Usage | crate::exit::Exit::Invalid => say::INVALID_MEASUREMENT,
    };
    let said = said.text(lang);
    let text = format!(
        "**{said}**{}{}\n",
        say::CLAUSES.text(lang),
        say::DOES_NOT_FIT.text(lang)
    );
    Comment {
        text: if text.encode_utf16().count() <= limit {
            text
        } else {
            said.chars().take(limit).collect()
        },
        left_out: vec![say::EVERYTHING],
        rows_left_out: urgent,
    }
}

/// One rendering.
struct Page {
    text: String,
    left_out: Vec<Phrase>,
}

impl Page {
    /// Without the first so many parts, and with so many urgent rows at most.
    fn of(reports: &[ReportFile], lang: Lang, dropped: usize, rows: usize) -> Self {
        match reports {
            [report] => {
                let mut model = report.model_of(rows);
                let left_out = drop_parts(std::slice::from_mut(&mut model), dropped);
                model.left_out = said(&left_out, rows);
                Self {
                    text: markdown::report(&model, lang),
                    left_out,
                }
            }
            reports => {
                let mut model = suite::build_of(reports, rows);
                let left_out = Self::thin(&mut model, dropped);
                model.left_out = said(&left_out, rows);
                Self {
                    text: markdown::suite(&model, lang),
                    left_out,
                }
            }
        }
    }

    fn thin(model: &mut SuiteModel, dropped: usize) -> Vec<Phrase> {
        let mut left_out = drop_parts(&mut model.reports, dropped);
        if dropped > Part::ORDER.len() {
            model.reports.clear();
            left_out.push(say::PART_REPORTS);
        }
        left_out
    }

    fn fits(&self, limit: usize) -> bool {
        // A character has at least as many bytes as UTF-16 code units.
        self.text.len() <= limit || self.text.encode_utf16().count() <= limit
    }

    fn comment(self, rows_left_out: usize) -> Comment {
        Comment {
            text: self.text,
            left_out: self.left_out,
            rows_left_out,
        }
    }
}

fn drop_parts(models: &mut [ReportModel], dropped: usize) -> Vec<Phrase> {
    let mut left_out = Vec::new();
    for part in Part::ORDER.into_iter().take(dropped) {
        let mut any = false;
        for model in &mut *models {
            any |= part.drop_from(model);
        }
        if any {
            left_out.push(part.label());
        }
    }
    left_out
}

/// What was left out and where it is.
fn said(left_out: &[Phrase], rows: usize) -> Option<Text> {
    let mut names: Vec<Text> = left_out.iter().copied().map(Text::word).collect();
    if rows < usize::MAX {
        names.push(Text::word(say::ROWS_ABOVE));
    }
    (!names.is_empty()).then(|| {
        let files = ["report.md", "report.json"].map(Text::value);
        let [page, file] = files;
        Text::say(say::LEFT_OUT, [Text::list(names), page, file])
    })
}
