//! Intervals around estimates, one below the other, against zero and a limit each.

use super::drawing::{Anchor, Drawing, Item, LETTER, fitted, width_of};
use super::scale::Scale;

const WIDTH: f64 = 560.0;
const LEFT: f64 = 16.0;
/// A row holds a name and, below it, the interval.
const ROW: f64 = 38.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 26.0;

/// Intervals in rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Intervals {
    /// What it is called.
    pub title: String,
    /// What it shows, in sentences.
    pub description: String,
    /// What is measured, over the axis.
    pub axis: String,
    /// The rows, from above.
    pub rows: Vec<Interval>,
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Its name.
    pub name: String,
    /// What stands behind the name: the figures in words.
    pub note: String,
    /// The best estimate.
    pub estimate: f64,
    /// The interval's lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The limit; `None` without one.
    pub limit: Option<f64>,
    /// Whether it is beyond its limit.
    pub broken: bool,
}

impl Intervals {
    /// Draws it; `write` makes texts of the ticks. What reaches beyond the axis ends at its edge.
    pub fn draw(&self, write: impl Fn(f64) -> String) -> Drawing {
        let height = TOP + ROW * self.rows.len() as f64 + BOTTOM;
        let mut drawing = Drawing {
            class: "intervals",
            width: WIDTH,
            height,
            title: self.title.clone(),
            description: self.description.clone(),
            items: Vec::new(),
        };
        let mut values = vec![0.0];
        for row in &self.rows {
            values.extend([row.estimate, row.low, row.high]);
            values.extend(row.limit);
        }
        let right = WIDTH - LEFT;
        let scale = Scale::over(&values, true, LEFT + 14.0, right - 14.0);
        let floor = height - BOTTOM;
        drawing.text(
            "axis",
            (4.0, 14.0),
            Anchor::Start,
            fitted(&self.axis, right),
        );
        let mut end = f64::NEG_INFINITY;
        for tick in scale.ticks(7) {
            let x = scale.place(tick);
            let class = if tick == 0.0 { "zero" } else { "grid" };
            drawing.path(class, &[(x, TOP), (x, floor)]);
            let label = write(tick);
            let half = width_of(&label) / 2.0;
            let inside = x.clamp(half + 2.0, WIDTH - half - 2.0);
            if inside - half >= end + 4.0 {
                end = inside + half;
                drawing.text("tick", (inside, height - 8.0), Anchor::Middle, label);
            }
        }
        for (row, number) in self.rows.iter().zip(0_u32..) {
            let top = TOP + ROW * f64::from(number);
            self.row(&mut drawing, row, top, &scale);
        }
        drawing
    }

    #[expect(clippy::unused_self, reason = "rows are drawn as part of it")]
    fn row(&self, drawing: &mut Drawing, row: &Interval, top: f64, scale: &Scale) {
        let note = fitted(&row.note, (WIDTH - 2.0 * LEFT) / 2.0);
        let space = WIDTH - 2.0 * LEFT - width_of(&note) - 12.0;
        let base = top + LETTER + 3.0;
        let name = fitted(&row.name, space);
        drawing.text("name", (LEFT, base), Anchor::Start, name);
        drawing.text("note", (WIDTH - LEFT, base), Anchor::End, note);
        let y = top + ROW - 12.0;
        let (low, high) = (scale.place(row.low), scale.place(row.high));
        let class = if row.broken { "bad" } else { "calm" };
        if let Some(limit) = row.limit {
            let x = scale.place(limit);
            drawing.path("limit", &[(x, y - 8.0), (x, y + 8.0)]);
        }
        drawing.path(format!("line {class}"), &[(low, y), (high, y)]);
        for x in [low, high] {
            drawing.path(format!("line {class}"), &[(x, y - 4.0), (x, y + 4.0)]);
        }
        let x = scale.place(row.estimate);
        let hint = format!("{}: {}", row.name, row.note);
        let (class, r) = (format!("dot {class}"), 4.5);
        drawing.items.push(if row.broken {
            Item::Shape {
                class,
                points: vec![(x, y - r), (x + r, y), (x, y + r), (x - r, y)],
                hint,
            }
        } else {
            Item::Circle {
                class,
                at: (x, y),
                radius: r - 1.0,
                hint,
            }
        });
    }
}
