//! The one file that names minijinja: templates to text, with one policy for what is printed.
//!
//! A [`Text`](super::span::Text) prints its pieces for the place; a bare string is somebody else's
//! and is quoted; a number prints; everything else is refused, for a container's own formatting
//! would bypass the policy.

use minijinja::value::{Serde, ValueKind};
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value,
};
use serde::Serialize;

use super::escape;

/// The templates that are built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Template {
    /// A comparison, as Markdown.
    Report,
    /// One run, as Markdown.
    Run,
    /// Two layers, as Markdown.
    Layers,
}

/// All embedded files; includes are found by these names.
const FILES: [(&str, &str); 4] = [
    ("report.md.j2", include_str!("../../templates/report.md.j2")),
    ("run.md.j2", include_str!("../../templates/run.md.j2")),
    ("layers.md.j2", include_str!("../../templates/layers.md.j2")),
    (
        "_tables.md.j2",
        include_str!("../../templates/_tables.md.j2"),
    ),
];

/// Most characters of a bare string.
const CUT: usize = 200;

impl Template {
    const fn name(self) -> &'static str {
        match self {
            Self::Report => "report.md.j2",
            Self::Run => "run.md.j2",
            Self::Layers => "layers.md.j2",
        }
    }
}

/// Renders one embedded template.
pub(super) fn render(template: Template, model: &impl Serialize) -> String {
    try_render(template, model).expect("embedded templates fit their models")
}

fn try_render(template: Template, model: &impl Serialize) -> Result<String, Error> {
    environment()?
        .get_template(template.name())?
        .render(Serde(model))
}

fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let mut syntax = environment.syntax().to_builder();
    environment.set_syntax(syntax.trim_blocks(true).lstrip_blocks(true).build()?);
    // Nothing in a template may declare a string harmless.
    environment.remove_filter("safe");
    environment.set_auto_escape_callback(auto_escape);
    environment.set_formatter(print);
    for (name, text) in FILES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

/// By the extension in front of `.j2`.
fn auto_escape(name: &str) -> AutoEscape {
    match name.strip_suffix(".j2").unwrap_or(name).rsplit('.').next() {
        Some("html") => AutoEscape::Html,
        Some("md") => AutoEscape::Custom("md".into()),
        _ => AutoEscape::None,
    }
}

fn print(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    if !matches!(state.auto_escape(), AutoEscape::Custom(name) if name == "md") {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            "this template's extension has no escaping policy",
        ));
    }
    match value.kind() {
        ValueKind::String if value.is_safe() => write(out, value.as_str().unwrap_or_default()),
        ValueKind::String => {
            let text = escape::cut(value.as_str().unwrap_or_default(), CUT);
            write(out, &escape::markdown_code(&text))
        }
        ValueKind::Number => write(out, &value.to_string()),
        ValueKind::Seq => {
            for span in value.try_iter()? {
                write(out, &span_markdown(&span)?)?;
            }
            Ok(())
        }
        kind => Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("a template may print texts, strings and numbers, not a value of kind {kind}"),
        )),
    }
}

/// One piece of a `Text` as it serialises: a map of its kind to its string.
fn span_markdown(span: &Value) -> Result<String, Error> {
    let part = |kind: &str| -> Option<String> {
        let value = span.get_attr(kind).ok()?;
        value.as_str().map(str::to_owned)
    };
    if span.kind() == ValueKind::Map && span.len() == Some(1) {
        if let Some(text) = part("words") {
            return Ok(text);
        }
        if let Some(text) = part("quoted") {
            return Ok(escape::markdown_code(&text));
        }
        if let Some(text) = part("prose") {
            return Ok(escape::markdown_prose(&text));
        }
    }
    Err(Error::new(
        ErrorKind::InvalidOperation,
        "a template may not print a list",
    ))
}

fn write(out: &mut Output<'_>, text: &str) -> Result<(), Error> {
    out.write_str(text).map_err(Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::span::Text;

    fn render_str(source: &str, value: Value) -> Result<String, Error> {
        let mut environment = environment()?;
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
        for (name, _) in FILES {
            assert!(matches!(auto_escape(name), AutoEscape::Custom(_)), "{name}");
        }
    }
}
