//! A page of sections: of runs and of comparisons.

use serde::Serialize;

use super::page::{Figure, Page};
use super::table::{Cell, Column, Table};
use crate::lang::Lang;
use crate::report::engine::{Template, render};
use crate::report::model::CellTable;
use crate::report::span::Text;

/// A part of a page.
#[derive(Debug, Default, Serialize)]
pub(super) struct Section {
    id: String,
    title: Text,
    /// Whether it has to be opened.
    folded: bool,
    texts: Vec<Text>,
    tables: Vec<Table>,
    figures: Vec<Figure>,
}

#[derive(Debug, Serialize)]
struct Model {
    page: Page,
    sections: Vec<Section>,
}

/// Renders a page; sections without content are left out.
pub(super) fn render_sections(page: Page, sections: Vec<Section>) -> String {
    let mut sections: Vec<Section> = sections
        .into_iter()
        .filter(|section| !section.is_empty())
        .collect();
    for (number, section) in sections.iter_mut().enumerate() {
        section.id = format!("section-{number}");
    }
    render(Template::Sections, Lang::En, &Model { page, sections })
}

impl Section {
    /// With a heading; without one it stands under the headline.
    pub(super) fn new(title: Text) -> Self {
        Self {
            title,
            ..Self::default()
        }
    }

    /// To be opened.
    pub(super) fn folded(title: Text) -> Self {
        Self {
            folded: true,
            ..Self::new(title)
        }
    }

    /// With texts, one an item.
    pub(super) fn texts(mut self, texts: impl IntoIterator<Item = Text>) -> Self {
        self.texts.extend(texts);
        self
    }

    /// With a table.
    pub(super) fn table(mut self, table: Table) -> Self {
        self.tables.push(table);
        self
    }

    /// With plots.
    pub(super) fn figures(mut self, figures: impl IntoIterator<Item = Figure>) -> Self {
        self.figures.extend(figures);
        self
    }

    fn is_empty(&self) -> bool {
        let rows = self.tables.iter().any(|table| !table.rows.is_empty());
        self.texts.is_empty() && self.figures.is_empty() && !rows
    }
}

/// A table of texts; the columns `numbers` are aligned to the right.
pub(super) fn texts<const N: usize>(
    caption: Text,
    names: [&'static str; N],
    numbers: &[usize],
    rows: impl IntoIterator<Item = [Text; N]>,
) -> Table {
    let columns = names.into_iter().enumerate().map(|(i, name)| {
        if numbers.contains(&i) {
            Column::number(Text::of(name))
        } else {
            Column::text(Text::of(name))
        }
    });
    let mut table = Table::new(caption, columns.collect());
    for row in rows {
        let cells = row.into_iter().enumerate().map(|(i, text)| {
            if numbers.contains(&i) {
                Cell::number(text, None)
            } else {
                Cell::text(text)
            }
        });
        table.rows.push(cells.collect());
    }
    table
}

/// Judged cells with the reasons that several share.
pub(super) fn cells(title: Text, folded: bool, cells: &CellTable) -> Section {
    let names = [
        "Cell",
        "Baseline",
        "Candidate",
        "Change [95 % interval]",
        "Limit",
        "State",
    ];
    let rows = cells.rows.iter().map(|row| {
        let state = match &row.resolvable {
            Some(size) => row
                .state
                .clone()
                .words(", visible from ")
                .then(size.clone()),
            None => row.state.clone(),
        };
        [
            row.cell.clone(),
            row.baseline.clone(),
            row.candidate.clone(),
            row.change.clone(),
            row.limit.clone(),
            state,
        ]
    });
    let table = texts(Text::of("Judged cells"), names, &[1, 2], rows);
    let reasons = cells.reasons.iter().map(|reason| {
        let cells = reason.cells.clone().words(": ");
        cells.then(reason.why.clone())
    });
    let section = if folded {
        Section::folded(title)
    } else {
        Section::new(title)
    };
    section.texts(reasons).table(table)
}
