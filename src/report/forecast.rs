//! Forecasts for people: what can be told from noise, by repeats.

use comfy_table::{CellAlignment, Table, presets};

use crate::unit::scale;
use crate::verdict::forecast::{CellForecast, Forecast, Scale};

/// A change on its scale: 0.0307 is `3.07 %`, of proportions `3.07 pp`.
pub fn change(scale: Scale, value: f64) -> String {
    let unit = match scale {
        Scale::Ratio => "%",
        Scale::Points => "pp",
    };
    let percent = value * 100.0;
    let digits = match percent.abs() {
        p if p >= 99.5 => 0,
        p if p >= 9.95 => 1,
        _ => 2,
    };
    format!("{percent:.digits$} {unit}")
}

/// A tolerance as a spec has it: 0.08 is `8%`, of proportions `8pp`.
pub fn written(scale: Scale, value: f64) -> String {
    let unit = match scale {
        Scale::Ratio => "%",
        Scale::Points => "pp",
    };
    // As round as it was made.
    format!("{}{unit}", (value * 1e6).round() / 1e4)
}

/// What the last look tells of a cell: `from 3.07 % on`, of a limit `from 2.10 % off it`.
pub fn told(cell: &CellForecast) -> String {
    let Some(smallest) = cell.smallest else {
        return match &cell.why {
            Some(why) => format!("not known: {why}"),
            None => "not known".to_owned(),
        };
    };
    let smallest = change(cell.scale, smallest);
    match (cell.limit.is_relative(), cell.resolvable, cell.room) {
        (true, Some(false), _) => format!("from {smallest} on: not resolvable"),
        (true, ..) => format!("from {smallest} on"),
        (false, _, Some(room)) if room < 0.0 => {
            format!("broken by archived runs, by {}", change(cell.scale, -room))
        }
        (false, Some(false), Some(room)) => format!(
            "from {smallest} off it, and archived runs are {}",
            change(cell.scale, room)
        ),
        (false, ..) => format!("from {smallest} off it"),
    }
}

/// Every declared cell with the smallest change that each number of pairs tells from noise.
pub fn table(forecast: &Forecast) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let columns = forecast.cells.first().map_or(&[][..], |cell| &cell.pairs);
    let mut header = vec!["cell".to_owned(), "runs".to_owned(), "noise".to_owned()];
    header.extend(columns.iter().map(|told| match told.repeats {
        1 => "1 pair".to_owned(),
        pairs => format!("{pairs} pairs"),
    }));
    header.extend(["declared", "holds", "recommended"].map(str::to_owned));
    let numbers = 1..header.len() - 3;
    table.set_header(header);
    for cell in &forecast.cells {
        let dash = || "–".to_owned();
        let on_scale = |value: Option<f64>| value.map_or_else(dash, |v| change(cell.scale, v));
        let mut row = vec![
            cell.cell.to_string(),
            scale::count(cell.runs.into()),
            cell.noise.map_or_else(dash, |noise| {
                let sign = if noise.assumed { "~" } else { "" };
                format!("{sign}{}", change(cell.scale, noise.sigma))
            }),
        ];
        row.extend(cell.pairs.iter().map(|told| on_scale(told.smallest)));
        row.extend([
            cell.limit.describe(cell.cell.metric.metric()).to_string(),
            holds(cell).to_owned(),
            cell.recommended.map_or_else(dash, |v| {
                let tolerance = written(cell.scale, v);
                format!("worse_by: {tolerance}")
            }),
        ]);
        table.add_row(row);
    }
    for column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((u16::from(index > 0), 1));
    }
    table.trim_fmt() + "\n"
}

fn holds(cell: &CellForecast) -> &'static str {
    match cell.resolvable {
        Some(true) => "yes",
        Some(false) => "no",
        None => "–",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_the_digits_that_count() {
        assert_eq!(change(Scale::Ratio, 0.030_749), "3.07 %");
        assert_eq!(change(Scale::Points, 0.123), "12.3 pp");
        assert_eq!(change(Scale::Ratio, 1.5), "150 %");
        assert_eq!(change(Scale::Ratio, 0.0994), "9.94 %");
        assert_eq!(written(Scale::Ratio, 0.085), "8.5%");
        assert_eq!(written(Scale::Points, 0.005), "0.5pp");
    }
}
