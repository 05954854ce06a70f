//! Text that remembers who wrote it: ours prints as it stands, the rest is made harmless.

use serde::{Deserialize, Deserializer, Serialize};

use super::escape;

/// Most characters of a value that someone else wrote.
const QUOTED: usize = 200;
/// Most characters of a sentence or command; a command that is cut is a wrong command.
const LONG: usize = 4000;

/// A line of text in pieces. Only this type's constructors make pieces, so what is not ours cannot
/// pass as ours; and what was read from a file passes as ours only where it is harmless.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Text(Vec<Span>);

/// The engine tells these apart by the names under which they serialise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Span {
    /// Ours: words of this program, figures and units.
    Words(String),
    /// A value that someone else wrote, or a name: printed as code.
    Quoted(String),
    /// A sentence that may hold what someone else wrote.
    Prose(String),
}

impl Text {
    /// Starts with words of ours.
    pub fn of(words: &'static str) -> Self {
        Self::default().words(words)
    }

    /// A value on its own.
    pub fn value(text: &str) -> Self {
        Self::default().quoted(text)
    }

    /// A figure on its own.
    pub fn just(figure: impl Into<String>) -> Self {
        Self::default().figure(figure)
    }

    /// Appends words of ours.
    #[must_use]
    pub fn words(mut self, words: &'static str) -> Self {
        self.push_words(words);
        self
    }

    /// Appends a number with its unit; anything that isn't plainly one is quoted.
    #[must_use]
    pub fn figure(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        if escape::is_figure(&text) {
            self.push_words(&text);
            self
        } else {
            self.quoted(&text)
        }
    }

    /// Appends a value, name or path, at most 200 characters of it.
    #[must_use]
    pub fn quoted(mut self, text: &str) -> Self {
        self.0.push(Span::Quoted(escape::cut(text, QUOTED)));
        self
    }

    /// Appends a command line.
    #[must_use]
    pub fn command(mut self, text: &str) -> Self {
        self.0.push(Span::Quoted(escape::cut(text, LONG)));
        self
    }

    /// Appends a sentence from elsewhere.
    #[must_use]
    pub fn prose(mut self, text: &str) -> Self {
        self.0.push(Span::Prose(escape::cut(text, LONG)));
        self
    }

    /// Appends another text.
    #[must_use]
    pub fn then(mut self, other: Self) -> Self {
        for span in other.0 {
            match span {
                Span::Words(words) => self.push_words(&words),
                span => self.0.push(span),
            }
        }
        self
    }

    /// With a capital first letter, where the first piece is words of ours.
    #[must_use]
    pub fn capitalised(mut self) -> Self {
        if let Some(Span::Words(first)) = self.0.first_mut()
            && let Some(initial) = first.get(..1)
        {
            let initial = initial.to_ascii_uppercase();
            first.replace_range(..1, &initial);
        }
        self
    }

    /// Texts with a separator between; empty where there are none.
    pub fn join(texts: impl IntoIterator<Item = Self>, separator: &'static str) -> Self {
        let mut out = Self::default();
        for (i, text) in texts.into_iter().enumerate() {
            if i > 0 {
                out.push_words(separator);
            }
            out = out.then(text);
        }
        out
    }

    /// Without a single piece.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// For a terminal or a plain file: one line.
    pub fn plain(&self) -> String {
        self.0
            .iter()
            .map(|span| match span {
                Span::Words(text) => text.clone(),
                Span::Quoted(text) | Span::Prose(text) => escape::plain(text),
            })
            .collect()
    }

    fn push_words(&mut self, words: &str) {
        if let Some(Span::Words(last)) = self.0.last_mut() {
            last.push_str(words);
        } else {
            self.0.push(Span::Words(words.to_owned()));
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    /// Whoever wrote the file, its words print as they stand only where they could not be more than
    /// words; else they are a sentence from elsewhere.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spans = Vec::<Span>::deserialize(deserializer)?;
        // Words that touch are one piece, so that none can be harmless in halves.
        let mut text = Self::default().then(Self(spans));
        let open_ended: Vec<bool> = text
            .0
            .iter()
            .skip(1)
            .map(|next| matches!(next, Span::Prose(_)))
            .chain([false])
            .collect();
        for (span, open_ended) in text.0.iter_mut().zip(open_ended) {
            *span = match std::mem::replace(span, Span::Words(String::new())) {
                // A bracket and a parenthesis that touch would be a link.
                Span::Words(words)
                    if escape::is_harmless(&words) && !(open_ended && words.ends_with(']')) =>
                {
                    Span::Words(words)
                }
                Span::Words(text) | Span::Prose(text) => Span::Prose(escape::cut(&text, LONG)),
                Span::Quoted(text) => Span::Quoted(escape::cut(&text, LONG)),
            };
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_figure_is_quoted() {
        let text = Text::of("p95 ").figure("12.5 ms").words(" ").figure("<b>");
        assert!(matches!(text.0.last(), Some(Span::Quoted(_))));
        assert_eq!(text.plain(), "p95 12.5 ms <b>");
    }

    #[test]
    fn values_are_cut() {
        let text = Text::value(&"x".repeat(500));
        assert_eq!(text.plain().chars().count(), 201);
    }
}
