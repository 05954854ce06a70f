//! Shapes and texts with their places, and SVG of them.

use std::fmt::Write as _;

use serde::Serialize;

/// Height of a letter in the drawing's units.
pub(super) const LETTER: f64 = 12.0;
/// Width of a letter on average, generously: fonts differ.
const ADVANCE: f64 = 6.7;

/// A drawing in a view box from 0, 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// What kind it is, for a page's style.
    pub(super) class: &'static str,
    pub(super) width: f64,
    pub(super) height: f64,
    /// What it is called.
    pub(super) title: String,
    /// What it shows, for those who can't see it.
    pub(super) description: String,
    pub(super) items: Vec<Item>,
}

/// SVG that this module has written: the one text that pages take as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Svg {
    svg: String,
}

impl Svg {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.svg
    }
}

/// One thing that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    /// A line through points.
    Path {
        class: String,
        points: Vec<(f64, f64)>,
    },
    /// A closed shape through points, with what it says when pointed at.
    Shape {
        class: String,
        points: Vec<(f64, f64)>,
        hint: String,
    },
    /// A circle, with what it says when pointed at.
    Circle {
        class: String,
        at: (f64, f64),
        radius: f64,
        hint: String,
    },
    /// A text on its base line.
    Text {
        class: &'static str,
        at: (f64, f64),
        anchor: Anchor,
        text: String,
    },
}

/// Which end of a text its place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Width of a text, rather more than less.
pub(super) fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * ADVANCE
}

/// The first letters of a text that fit into a width, with `…` where some do not.
pub(super) fn fitted(text: &str, width: f64) -> String {
    let fits = (width / ADVANCE).max(1.0) as usize;
    if text.chars().count() <= fits {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(fits.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

impl Drawing {
    pub(super) fn path(&mut self, class: impl Into<String>, points: &[(f64, f64)]) {
        self.items.push(Item::Path {
            class: class.into(),
            points: points.to_vec(),
        });
    }

    pub(super) fn text(
        &mut self,
        class: &'static str,
        at: (f64, f64),
        anchor: Anchor,
        text: impl Into<String>,
    ) {
        self.items.push(Item::Text {
            class,
            at,
            anchor,
            text: text.into(),
        });
    }

    /// As SVG for a page: a picture with a title and a description, named by `id`.
    pub fn svg(&self, id: &str) -> Svg {
        let id = escaped(id);
        let mut out = format!(
            "<svg class=\"{}\" viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">",
            self.class,
            number(self.width),
            number(self.height)
        );
        let _ = write!(
            out,
            "<title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>",
            escaped(&self.title),
            escaped(&self.description)
        );
        for item in &self.items {
            write_item(&mut out, item);
        }
        out.push_str("</svg>");
        Svg { svg: out }
    }
}

fn write_item(out: &mut String, item: &Item) {
    let _ = match item {
        Item::Path { class, points } => {
            write!(
                out,
                "<path class=\"{}\" d=\"{}\"/>",
                escaped(class),
                along(points)
            )
        }
        Item::Shape {
            class,
            points,
            hint,
        } => write!(
            out,
            "<path class=\"{}\" d=\"{}Z\">{}</path>",
            escaped(class),
            along(points),
            hint_of(hint)
        ),
        Item::Circle {
            class,
            at,
            radius,
            hint,
        } => write!(
            out,
            "<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\">{}</circle>",
            escaped(class),
            number(at.0),
            number(at.1),
            number(*radius),
            hint_of(hint)
        ),
        Item::Text {
            class,
            at,
            anchor,
            text,
        } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            write!(
                out,
                "<text class=\"{class}\" x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
                number(at.0),
                number(at.1),
                escaped(text)
            )
        }
    };
}

fn hint_of(hint: &str) -> String {
    if hint.is_empty() {
        String::new()
    } else {
        format!("<title>{}</title>", escaped(hint))
    }
}

fn along(points: &[(f64, f64)]) -> String {
    let mut out = String::new();
    for (i, (x, y)) in points.iter().enumerate() {
        let letter = if i == 0 { 'M' } else { 'L' };
        let _ = write!(out, "{letter}{} {}", number(*x), number(*y));
    }
    out
}

/// A tenth of a unit is finer than a screen.
fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0 + 0.0;
    format!("{rounded}")
}

/// Nothing that could end a text or an attribute, no controls.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
