//! Lines of a terminal or a log, in a language.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::lang::{Label, Lang};

use super::model::Tone;
use super::span::Text;

/// One line with what it means. Its text holds no control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it means.
    pub tone: Tone,
    /// The line, without its end.
    pub text: String,
}

/// Lines without colours, each with its end.
pub fn plain(lines: &[Line]) -> String {
    let ends = lines.iter().flat_map(|line| [line.text.as_str(), "\n"]);
    ends.collect()
}

/// A label as a terminal has it: without a capital.
pub(super) fn small(label: Label, lang: Lang) -> String {
    let text = label.text(lang);
    match text.as_bytes() {
        [first, second, ..] if first.is_ascii_uppercase() && !second.is_ascii_uppercase() => {
            format!("{}{}", text[..1].to_ascii_lowercase(), &text[1..])
        }
        _ => text.to_owned(),
    }
}

/// Lines in a language.
#[derive(Debug, Default)]
pub(super) struct Page {
    lang: Lang,
    pub(super) lines: Vec<Line>,
}

impl Page {
    pub(super) fn new(lang: Lang) -> Self {
        Self {
            lang,
            lines: Vec::new(),
        }
    }

    pub(super) const fn lang(&self) -> Lang {
        self.lang
    }

    /// An empty table whose columns go by these labels.
    pub(super) fn table_of<const N: usize>(&self, header: [Label; N], right: &[usize]) -> Table {
        let header = header.map(|label| small(label, self.lang));
        table(header.each_ref().map(String::as_str), right)
    }

    pub(super) fn line(&mut self, tone: Tone, text: String) {
        self.lines.push(Line { tone, text });
    }

    pub(super) fn item(&mut self, tone: Tone, text: &Text) {
        self.line(tone, format!("  {}", text.plain_in(self.lang)));
    }

    /// One empty line, never two.
    pub(super) fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.text.is_empty()) {
            self.line(Tone::Neutral, String::new());
        }
    }

    /// The header is faint; a row never wraps, so rows are lines.
    pub(super) fn table(&mut self, table: &Table, tone: impl Fn(usize) -> Tone) {
        for (i, line) in table.lines().enumerate() {
            let tone = i.checked_sub(1).map_or(Tone::Faint, &tone);
            self.line(tone, format!("  {}", line.trim_end()));
        }
    }
}

/// An empty table; the columns `right` are aligned to the right.
pub(super) fn table<const N: usize>(header: [&str; N], right: &[usize]) -> Table {
    rows(&header, right)
}

/// The same of as many columns as there are.
pub(super) fn rows(header: &[&str], right: &[usize]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header.to_vec());
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if right.contains(&i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
