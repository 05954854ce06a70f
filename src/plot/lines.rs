//! Lines over an axis of numbers or of places, with marks.

use super::drawing::{Anchor, Drawing, Item, LETTER, fitted, width_of};
use super::scale::Scale;

/// Size of the view box: laid out for a telephone's width, at which letters are almost as large as drawn; a
/// wider page has room for larger plots with smaller letters.
const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 250.0;
/// Space over the plot: the vertical axis' name, and tags of marks below it.
const TOP: f64 = 42.0;
const BOTTOM: f64 = 48.0;
/// Names at the ends of lines take at most so much.
const NAMES: f64 = 110.0;
/// Least distance of the base lines of two texts.
const LEADING: f64 = LETTER + 3.0;
const RADIUS: f64 = 2.6;
const TICKS: usize = 5;

/// A plot of lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines<'a> {
    /// What it is called.
    pub title: String,
    /// What it shows, in sentences.
    pub description: String,
    /// What lies along the bottom.
    pub ground: Ground<'a>,
    /// The vertical axis.
    pub axis: Axis<'a>,
    /// The lines; each has its own pattern.
    pub lines: Vec<Line>,
    /// What holds for all of them.
    pub marks: Vec<Mark>,
}

/// Writes all ticks of an axis at one scale; the second text is their unit.
pub type Write = dyn Fn(&[f64]) -> (Vec<String>, String);

/// An axis of numbers: its name with the unit, and how to write its ticks.
#[derive(Clone, Copy)]
pub struct Axis<'a> {
    /// How its ticks are written.
    pub write: &'a Write,
    /// What is measured.
    pub name: &'a str,
    /// Whether it begins at 0, unless it is logarithmic.
    pub zero: bool,
}

impl std::fmt::Debug for Axis<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Axis({})", self.name)
    }
}

impl PartialEq for Axis<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.zero) == (other.name, other.zero)
    }
}

/// What lies along the bottom.
#[derive(Debug, Clone, PartialEq)]
pub enum Ground<'a> {
    /// Numbers.
    Numbers(Axis<'a>),
    /// Evenly spaced places, each with its name; `Dot::x` is the index.
    Places {
        /// What they are.
        name: &'a str,
        /// Their names, in order.
        names: Vec<String>,
    },
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What stands at its end.
    pub name: String,
    /// Its points in order.
    pub dots: Vec<Dot>,
    /// Levels to draw behind it: from a place to a place at a height.
    pub levels: Vec<(f64, f64, f64)>,
    /// Whether its points are joined.
    pub joined: bool,
}

/// A point.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// Along the bottom.
    pub x: f64,
    /// Height; `None` where there is none, which breaks the line.
    pub y: Option<f64>,
    /// How it looks.
    pub shape: Shape,
    /// What it says when pointed at.
    pub hint: String,
}

/// How a point looks, so that its meaning needs no colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A dot: it counts.
    Dot,
    /// A hollow dot: it is shown and does not count, and no line goes through it.
    Hollow,
    /// A cross: it was taken back, and no line goes through it.
    Cross,
    /// A diamond: others are measured by it.
    Diamond,
    /// A triangle that points up: from here on it is more.
    Up,
    /// A triangle that points down: from here on it is less.
    Down,
}

/// A vertical line with a short tag over the plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Where it stands.
    pub x: f64,
    /// Two or three letters.
    pub tag: String,
}

impl Lines<'_> {
    /// Draws it. Total: what has no finite value is left out.
    pub fn draw(&self) -> Drawing {
        let mut drawing = Drawing {
            class: "lines",
            width: WIDTH,
            height: HEIGHT,
            title: self.title.clone(),
            description: self.description.clone(),
            items: Vec::new(),
        };
        let heights = |all: bool| -> Vec<f64> {
            let dots = self.lines.iter().flat_map(|line| &line.dots);
            dots.filter(|dot| all || dot.shape != Shape::Cross)
                .filter_map(|dot| dot.y)
                .collect()
        };
        // What was taken back does not stretch the axis: beyond it, it stands at the edge.
        let heights = Some(heights(false))
            .filter(|heights| !heights.is_empty())
            .unwrap_or_else(|| heights(true));
        let (floor, ceiling) = (HEIGHT - BOTTOM, TOP);
        let vertical = Scale::over(&heights, self.axis.zero, floor, ceiling);
        let ticks = vertical.ticks(TICKS);
        let (labels, unit) = (self.axis.write)(&ticks);
        let widest = labels
            .iter()
            .map(|label| width_of(label))
            .fold(0.0, f64::max);
        let left = widest + 14.0;
        let names = self.lines.iter().map(|line| width_of(&line.name));
        // Half of a date under the last place.
        let right = WIDTH - (names.fold(0.0, f64::max).min(NAMES) + 14.0).max(38.0);
        for (tick, label) in ticks.iter().zip(&labels) {
            let y = vertical.place(*tick);
            drawing.path("grid", &[(left, y), (right, y)]);
            let at = (left - 6.0, y + LETTER * 0.35);
            drawing.text("tick", at, Anchor::End, label);
        }
        let log = if vertical.is_log() { ", log scale" } else { "" };
        let name = titled(self.axis.name, &unit) + log;
        let name = fitted(&name, WIDTH - 8.0);
        drawing.text("axis", (4.0, 14.0), Anchor::Start, name);
        let ground = self.ground(&mut drawing, left, right);
        self.marks(&mut drawing, &ground, left, right);
        for (number, line) in self.lines.iter().enumerate() {
            draw_line(&mut drawing, line, number, &ground, &vertical);
        }
        self.names(&mut drawing, right, &vertical);
        drawing
    }

    fn ground(&self, drawing: &mut Drawing, left: f64, right: f64) -> Scale {
        let base = HEIGHT - BOTTOM;
        drawing.path("base", &[(left, base), (right, base)]);
        let middle = f64::midpoint(left, right);
        let (scale, name, ticks) = match &self.ground {
            Ground::Numbers(axis) => {
                let values: Vec<f64> = self
                    .lines
                    .iter()
                    .flat_map(|line| line.dots.iter().map(|dot| dot.x))
                    .collect();
                let scale = Scale::over(&values, axis.zero, left, right);
                let ticks = scale.ticks(TICKS);
                let (labels, unit) = (axis.write)(&ticks);
                let log = if scale.is_log() { ", log scale" } else { "" };
                let name = titled(axis.name, &unit) + log;
                let ticks: Vec<(f64, String)> = ticks.into_iter().zip(labels).collect();
                (scale, name, ticks)
            }
            Ground::Places { name, names } => {
                let scale = Scale::of_places(names.len().saturating_sub(1), left, right);
                let widest = names.iter().map(|name| width_of(name)).fold(0.0, f64::max);
                let fit = ((right - left) / (widest + 16.0)).max(1.0) as usize;
                let every = names.len().div_ceil(fit).max(1);
                let ticks = names.iter().enumerate().step_by(every);
                let ticks = ticks.map(|(i, name)| (i as f64, name.clone()));
                (scale, (*name).to_owned(), ticks.collect())
            }
        };
        let mut end = f64::NEG_INFINITY;
        for (at, label) in ticks {
            let x = scale.place(at);
            drawing.path("base", &[(x, base), (x, base + 4.0)]);
            let half = width_of(&label) / 2.0;
            let inside = x.clamp(half + 2.0, (WIDTH - half - 2.0).max(half + 2.0));
            if inside - half >= end + 4.0 {
                end = inside + half;
                drawing.text("tick", (inside, base + 18.0), Anchor::Middle, label);
            }
        }
        let name = fitted(&name, right - left);
        drawing.text("axis", (middle, HEIGHT - 8.0), Anchor::Middle, name);
        scale
    }

    /// Vertical lines; a tag that would cover the one before it is left to the list below the plot.
    fn marks(&self, drawing: &mut Drawing, ground: &Scale, left: f64, right: f64) {
        let mut end = f64::NEG_INFINITY;
        for mark in &self.marks {
            let x = ground.place(mark.x);
            drawing.path("mark", &[(x, TOP - 4.0), (x, HEIGHT - BOTTOM)]);
            let half = width_of(&mark.tag) / 2.0;
            let inside = x.clamp(left + half, (right - half).max(left + half));
            if inside - half >= end + 4.0 {
                end = inside + half;
                drawing.text("tag", (inside, TOP - 8.0), Anchor::Middle, mark.tag.clone());
            }
        }
    }

    /// Names at the ends of their lines, moved apart where they would cover each other.
    fn names(&self, drawing: &mut Drawing, right: f64, vertical: &Scale) {
        let mut places: Vec<(f64, usize)> = self
            .lines
            .iter()
            .enumerate()
            .filter_map(|(i, line)| {
                let last = line.dots.iter().rev().find_map(|dot| dot.y)?;
                Some((vertical.place(last), i))
            })
            .collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (top, bottom) = (TOP, HEIGHT - BOTTOM);
        let mut free = top;
        for place in &mut places {
            place.0 = place.0.max(free);
            free = place.0 + LEADING;
        }
        // What was pushed out below comes back up.
        let mut free = bottom;
        for place in places.iter_mut().rev() {
            place.0 = place.0.min(free);
            free = place.0 - LEADING;
        }
        for (y, number) in places {
            let at = (right + 8.0, y + LETTER * 0.35);
            let name = fitted(&self.lines[number].name, WIDTH - right - 10.0);
            drawing.text(name_class(number), at, Anchor::Start, name);
        }
    }
}

/// `TTFT p95, ms`.
fn titled(name: &str, unit: &str) -> String {
    let unit = unit.trim();
    if unit.is_empty() {
        name.to_owned()
    } else {
        format!("{name}, {unit}")
    }
}

const fn name_class(number: usize) -> &'static str {
    match number % 4 {
        0 => "name n0",
        1 => "name n1",
        2 => "name n2",
        _ => "name n3",
    }
}

fn draw_line(drawing: &mut Drawing, line: &Line, number: usize, x: &Scale, y: &Scale) {
    let class = format!("s{}", number % 4);
    for (from, to, height) in &line.levels {
        let height = y.place(*height);
        let ends = [(x.place(*from), height), (x.place(*to), height)];
        drawing.path(format!("level {class}"), &ends);
    }
    let mut stretch: Vec<(f64, f64)> = Vec::new();
    let end = |drawing: &mut Drawing, stretch: &mut Vec<(f64, f64)>| {
        if stretch.len() > 1 {
            drawing.path(format!("line {class}"), stretch);
        }
        stretch.clear();
    };
    for dot in line.dots.iter().filter(|_| line.joined) {
        match (dot.y, dot.shape) {
            (_, Shape::Hollow | Shape::Cross) => {}
            (Some(height), _) => stretch.push((x.place(dot.x), y.place(height))),
            (None, _) => end(drawing, &mut stretch),
        }
    }
    end(drawing, &mut stretch);
    for dot in &line.dots {
        let Some(height) = dot.y else { continue };
        let at = (x.place(dot.x), y.place(height));
        drawing.items.extend(shape(dot, at, &class));
    }
}

fn shape(dot: &Dot, at: (f64, f64), class: &str) -> Vec<Item> {
    let r = 1.6 * RADIUS;
    let around = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
        points
            .iter()
            .map(|(x, y)| (at.0 + x * r, at.1 + y * r))
            .collect()
    };
    let closed = |points: &[(f64, f64)]| {
        vec![Item::Shape {
            class: format!("dot {class}"),
            points: around(points),
            hint: dot.hint.clone(),
        }]
    };
    let circle = |class: String| {
        vec![Item::Circle {
            class,
            at,
            radius: RADIUS,
            hint: dot.hint.clone(),
        }]
    };
    match dot.shape {
        Shape::Dot => circle(format!("dot {class}")),
        Shape::Hollow => circle(format!("hollow {class}")),
        Shape::Diamond => closed(&[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)]),
        Shape::Up => closed(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        Shape::Down => closed(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]),
        Shape::Cross => [[(-0.7, -0.7), (0.7, 0.7)], [(-0.7, 0.7), (0.7, -0.7)]]
            .iter()
            .map(|ends| Item::Shape {
                class: format!("cross {class}"),
                points: around(ends),
                hint: dot.hint.clone(),
            })
            .collect(),
    }
}
