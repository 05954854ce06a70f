//! Diagnostics as text: code, sentence, place, the source with a caret, help.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::{Diagnostic, Severity, Source};

/// Whether the text may carry colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// For files, pipes and tests.
    Plain,
    /// With ANSI colours, for a terminal.
    Coloured,
}

/// Renders diagnostics in the order given, a blank line between two.
pub fn render(diagnostics: &[Diagnostic], source: &Source, style: Style) -> String {
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    let mut text = String::new();
    for diagnostic in diagnostics {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&one(diagnostic, source, &renderer));
        text.push('\n');
    }
    text
}

fn one(diagnostic: &Diagnostic, named: &Source, renderer: &Renderer) -> String {
    let source = diagnostic.source.as_deref().unwrap_or(named);
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code);
    let mut group = annotate_snippets::Group::with_title(title);
    if let Some(span) = &diagnostic.span {
        let end = span.end.min(source.text.len());
        let start = span.start.min(end);
        let mut annotation = AnnotationKind::Primary.span(start..end);
        if let Some(label) = &diagnostic.label {
            annotation = annotation.label(label.as_str());
        }
        group = group.element(
            Snippet::source(source.text.as_str())
                .path(source.path.as_str())
                .annotation(annotation),
        );
    } else {
        group = group.element(annotate_snippets::Origin::path(source.path.as_str()));
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_shows_place_label_and_help() {
        let source = Source {
            path: "spec.yaml".to_owned(),
            text: "stages:\n  - {open: {rate_rpz: 8/s}}\n".to_owned(),
        };
        let at = source.text.find("rate_rpz").unwrap();
        let diagnostic = Diagnostic::error("spec::unknown-field", "unknown field `rate_rpz`")
            .at(at..at + 8)
            .label("did you mean `rate`?")
            .help("an open stage takes `rate`");
        insta::assert_snapshot!(render(&[diagnostic], &source, Style::Plain));
    }
}
