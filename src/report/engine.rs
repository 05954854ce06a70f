//! The one place that names minijinja: templates to text, with one policy for what is printed.
//!
//! A [`Text`](super::span::Text) prints its pieces for the place; a bare string is somebody else's
//! and is quoted; a number prints; everything else is refused, for a container's own formatting
//! would bypass the policy.

pub(super) mod sandbox;

use std::collections::BTreeMap;

use minijinja::value::{Serde, ValueKind};
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value,
};
use serde::Serialize;

use super::escape;
use super::span::{Part, Text};
use crate::lang::{LABELS, Lang};

/// The templates that are built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Template {
    /// A comparison, as Markdown.
    Report,
    /// Several comparisons, as Markdown.
    Suite,
    /// One run, as Markdown.
    Run,
    /// Two layers, as Markdown.
    Layers,
    /// A capacity, or two, as Markdown.
    Capacity,
    /// Sections of a run or a comparison, as a page.
    Sections,
    /// The archive over time, as a page.
    History,
}

/// All embedded files; includes are found by these names.
const FILES: [(&str, &str); 13] = [
    ("report.md.j2", include_str!("../../templates/report.md.j2")),
    ("suite.md.j2", include_str!("../../templates/suite.md.j2")),
    (
        "_report.md.j2",
        include_str!("../../templates/_report.md.j2"),
    ),
    ("run.md.j2", include_str!("../../templates/run.md.j2")),
    ("layers.md.j2", include_str!("../../templates/layers.md.j2")),
    (
        "capacity.md.j2",
        include_str!("../../templates/capacity.md.j2"),
    ),
    (
        "_tables.md.j2",
        include_str!("../../templates/_tables.md.j2"),
    ),
    (
        "sections.html.j2",
        include_str!("../../templates/sections.html.j2"),
    ),
    (
        "history.html.j2",
        include_str!("../../templates/history.html.j2"),
    ),
    (
        "_page.html.j2",
        include_str!("../../templates/_page.html.j2"),
    ),
    (
        "_parts.html.j2",
        include_str!("../../templates/_parts.html.j2"),
    ),
    ("style.css", STYLE),
    ("sort.js", SCRIPT),
];

/// What pages look like; a page includes it without its last line end.
pub(super) const STYLE: &str = include_str!("../../templates/style.css");
/// What pages can do where scripts run.
pub(super) const SCRIPT: &str = include_str!("../../templates/sort.js");

/// Most characters of a bare string.
const CUT: usize = 200;
/// The same in a page, where a bare string describes a plot.
const LONG: usize = 4000;

impl Template {
    const fn name(self) -> &'static str {
        match self {
            Self::Report => "report.md.j2",
            Self::Suite => "suite.md.j2",
            Self::Run => "run.md.j2",
            Self::Layers => "layers.md.j2",
            Self::Capacity => "capacity.md.j2",
            Self::Sections => "sections.html.j2",
            Self::History => "history.html.j2",
        }
    }
}

/// One text as Markdown.
pub(super) fn markdown(text: &Text, lang: Lang) -> String {
    Place::Markdown.text(text, lang)
}

/// Renders one embedded template.
pub(super) fn render(template: Template, lang: Lang, model: &impl Serialize) -> String {
    try_render(template, lang, model).expect("embedded templates fit their models")
}

fn try_render(template: Template, lang: Lang, model: &impl Serialize) -> Result<String, Error> {
    environment(lang)?
        .get_template(template.name())?
        .render(Serde(model))
}

fn environment(lang: Lang) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let mut syntax = environment.syntax().to_builder();
    environment.set_syntax(syntax.trim_blocks(true).lstrip_blocks(true).build()?);
    // Nothing in a template may declare a string harmless.
    environment.remove_filter("safe");
    environment.add_filter("tight", move |text: &Value| tight(text, lang));
    environment.add_filter("summary", move |text: &Value| summary(text, lang));
    let label = |label: &crate::lang::Label| {
        let text = Value::from_safe_string(label.text(lang).to_owned());
        (label.name, text)
    };
    let labels: BTreeMap<&str, Value> = LABELS.iter().map(label).collect();
    environment.add_global("t", Value::from(labels));
    environment.set_auto_escape_callback(auto_escape);
    environment.set_formatter(move |out, state, value| print(out, state, value, lang));
    for (name, text) in FILES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

/// A text in the `<summary>` of a Markdown page, where Markdown is not read.
fn summary(text: &Value, lang: Lang) -> Result<Value, Error> {
    let text = text_of(text).ok_or_else(no_list)?;
    Ok(Value::from_safe_string(Place::Summary.text(&text, lang)))
}

/// A text in a cell of a Markdown table, which breaks between figures and not within.
fn tight(text: &Value, lang: Lang) -> Result<Value, Error> {
    let text = text_of(text).ok_or_else(no_list)?;
    let parts = text.parts(lang).into_iter().map(|part| match part {
        Part::Words(words) => Part::Words(escape::tight(&words)),
        part => part,
    });
    let printed = parts.map(|part| Place::Markdown.part(&part)).collect();
    Ok(Value::from_safe_string(printed))
}

/// A text as it serialised; `None` where a value is something else.
fn text_of(value: &Value) -> Option<Text> {
    if value.kind() != ValueKind::Seq {
        return None;
    }
    let mut text = Text::default();
    for span in value.try_iter().ok()? {
        if span.kind() != ValueKind::Map || span.len() != Some(1) {
            return None;
        }
        let kind = span.try_iter().ok()?.next()?;
        let piece = span.get_item(&kind).ok()?;
        if kind.as_str()? == "phrase" {
            let args = piece.get_attr("args").ok()?;
            let args = if args.is_undefined() {
                Vec::new()
            } else {
                args.try_iter()
                    .ok()?
                    .map(|arg| text_of(&arg))
                    .collect::<Option<_>>()?
            };
            let capital = piece
                .get_attr("capital")
                .is_ok_and(|capital| capital.is_true());
            text.push_phrase(piece.get_attr("code").ok()?.as_str()?, args, capital);
        } else if !text.push_piece(kind.as_str()?, piece.as_str()?) {
            return None;
        }
    }
    Some(text)
}

/// By the extension in front of `.j2`.
fn auto_escape(name: &str) -> AutoEscape {
    match name.strip_suffix(".j2").unwrap_or(name).rsplit('.').next() {
        Some("html") => AutoEscape::Html,
        Some("md") => AutoEscape::Custom("md".into()),
        _ => AutoEscape::None,
    }
}

fn print(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
    lang: Lang,
) -> Result<(), Error> {
    let place = match state.auto_escape() {
        AutoEscape::Custom(name) if name == "md" => Place::Markdown,
        AutoEscape::Html => Place::Html,
        _ => {
            return Err(Error::new(
                ErrorKind::InvalidOperation,
                "this template's extension has no escaping policy",
            ));
        }
    };
    match value.kind() {
        ValueKind::String if value.is_safe() => write(out, value.as_str().unwrap_or_default()),
        ValueKind::String => write(out, &place.bare(value.as_str().unwrap_or_default())),
        ValueKind::Number => write(out, &value.to_string()),
        ValueKind::Seq => {
            let text = text_of(value).ok_or_else(no_list)?;
            write(out, &place.text(&text, lang))
        }
        ValueKind::Map if place == Place::Html => match drawing(value) {
            Some(svg) => write(out, &svg),
            None => Err(unprintable(ValueKind::Map)),
        },
        ValueKind::Map if place == Place::Markdown => match value.get_attr("mermaid") {
            Ok(chart) if value.len() == Some(1) && chart.as_str().is_some() => {
                write(out, chart.as_str().unwrap_or_default().trim_end())
            }
            _ => {
                let diff = value.get_attr("fenced");
                let text = diff.and_then(|diff| diff.get_attr(lang.tag()));
                match text {
                    Ok(text) if value.len() == Some(1) && text.as_str().is_some() => {
                        write(out, text.as_str().unwrap_or_default())
                    }
                    _ => Err(unprintable(ValueKind::Map)),
                }
            }
        },
        kind => Err(unprintable(kind)),
    }
}

fn unprintable(kind: ValueKind) -> Error {
    Error::new(
        ErrorKind::InvalidOperation,
        format!("a template may print texts, strings and numbers, not a value of kind {kind}"),
    )
}

/// A plot as it serialises, which only `plot` makes: a map of `svg` alone.
fn drawing(value: &Value) -> Option<String> {
    let svg = value.get_attr("svg").ok()?;
    let svg = svg.as_str().filter(|_| value.len() == Some(1))?;
    Some(svg.to_owned())
}

/// For what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Markdown,
    Html,
    Summary,
}

impl Place {
    /// A string that somebody else may have written. In a page it may stand in an attribute.
    fn bare(self, text: &str) -> String {
        match self {
            Self::Markdown => escape::markdown_code(&escape::cut(text, CUT)),
            Self::Summary => escape::summary_code(&escape::cut(text, CUT)),
            Self::Html => escape::html(&escape::cut(text, LONG)),
        }
    }

    fn text(self, text: &Text, lang: Lang) -> String {
        text.parts(lang)
            .iter()
            .map(|part| self.part(part))
            .collect()
    }

    fn part(self, part: &Part) -> String {
        match (part, self) {
            (Part::Words(text), Self::Markdown | Self::Summary) => text.clone(),
            (Part::Words(text), Self::Html) => escape::html(text),
            (Part::Quoted(text) | Part::Code(text), Self::Markdown) => escape::markdown_code(text),
            (Part::Quoted(text) | Part::Code(text), Self::Html) => escape::html_code(text),
            (Part::Prose(text), Self::Markdown) => escape::markdown_prose(text),
            (Part::Prose(text), Self::Html) => escape::html_prose(text),
            (Part::Quoted(text) | Part::Code(text) | Part::Prose(text), Self::Summary) => {
                escape::summary_code(text)
            }
        }
    }
}

fn no_list() -> Error {
    Error::new(
        ErrorKind::InvalidOperation,
        "a template may not print a list",
    )
}

fn write(out: &mut Output<'_>, text: &str) -> Result<(), Error> {
    out.write_str(text).map_err(Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::span::Text;

    fn render_str(source: &str, value: Value) -> Result<String, Error> {
        let mut environment = environment(Lang::En)?;
        environment.add_template_owned("t.md.j2", source.to_owned())?;
        environment
            .get_template("t.md.j2")?
            .render(minijinja::context! { value })
    }

    #[test]
    fn bare_strings_are_quoted_and_containers_refused() {
        let hostile = Value::from("a|b @octocat {{ 7*7 }}");
        assert_eq!(
            render_str("{{ value }}", hostile).unwrap(),
            "<code>a&#124;b &#64;octocat &#123;&#123; 7&#42;7 &#125;&#125;</code>"
        );
        let text = Value::from(Serde(Text::of("p95 ").quoted("<b>")));
        assert_eq!(
            render_str("{{ value }}", text).unwrap(),
            "p95 <code>&#60;b&#62;</code>"
        );
        for container in [
            Value::from(vec!["<b>"]),
            Value::from_iter([("words", "<b>")]),
            Value::from(()),
            Value::from(true),
        ] {
            assert!(render_str("{{ value }}", container).is_err());
        }
        assert!(render_str("{{ missing }}", Value::from(1)).is_err());
    }

    #[test]
    fn the_extension_decides_below_j2() {
        assert!(matches!(auto_escape("report.md.j2"), AutoEscape::Custom(_)));
        assert!(matches!(auto_escape("report.md"), AutoEscape::Custom(_)));
        assert!(matches!(auto_escape("report.html.j2"), AutoEscape::Html));
        assert!(matches!(auto_escape("report.txt.j2"), AutoEscape::None));
        for (name, _) in FILES.iter().filter(|(name, _)| name.contains(".j2")) {
            assert!(!matches!(auto_escape(name), AutoEscape::None), "{name}");
        }
    }

    #[test]
    fn a_page_takes_strings_as_texts_and_drawings_as_they_are() {
        let in_page = |value: Value| {
            let mut environment = environment(Lang::En)?;
            environment.add_template("t.html.j2", "<p title=\"{{ value }}\">")?;
            let template = environment.get_template("t.html.j2")?;
            template.render(minijinja::context! { value })
        };
        assert_eq!(
            in_page(Value::from("a\" onclick='x' <b>&")).unwrap(),
            "<p title=\"a&quot; onclick=&#39;x&#39; &lt;b&gt;&amp;\">"
        );
        let text = Value::from(Serde(Text::of("p95 ").quoted("<b>").prose(" `x` & y")));
        assert_eq!(
            in_page(text).unwrap(),
            "<p title=\"p95 <code>&lt;b&gt;</code> <code>x</code> &amp; y\">"
        );
        let drawing = Value::from(Serde(BTreeMap::from([("svg", "<svg></svg>")])));
        assert_eq!(in_page(drawing).unwrap(), "<p title=\"<svg></svg>\">");
        for container in [
            Value::from(vec!["<b>"]),
            Value::from(Serde(BTreeMap::from([("svg", "<svg></svg>"), ("x", "y")]))),
            Value::from(true),
        ] {
            assert!(in_page(container).is_err());
        }
    }

    #[test]
    fn styles_and_scripts_are_included_without_their_last_line_end() {
        // Their digests in a page's policy are of what stands between the tags.
        for (name, text) in [("style.css", STYLE), ("sort.js", SCRIPT)] {
            let environment = environment(Lang::En).unwrap();
            let template = environment.get_template(name).unwrap();
            assert_eq!(
                Some(template.render(()).unwrap().as_str()),
                text.strip_suffix('\n')
            );
        }
    }
}
