//! Text that remembers who wrote it: ours prints as it stands, the rest is made harmless.

use serde::{Deserialize, Deserializer, Serialize};

use super::escape;
use crate::lang::{Lang, Phrase, Piece, Said, say};

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
    /// A sentence of ours in whichever language it is printed in.
    Phrase(Phrased),
}

/// A phrase with what fills its gaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
struct Phrased {
    /// Which phrase.
    code: String,
    /// What fills its gaps, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    args: Vec<Text>,
    /// Whether its first letter is a capital.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    capital: bool,
}

/// A piece of a text in one language, for whoever prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Words of ours.
    Words(String),
    /// A value.
    Quoted(String),
    /// A sentence from elsewhere.
    Prose(String),
    /// Code of ours within a sentence.
    Code(String),
}

impl Text {
    /// Starts with words of ours.
    pub fn of(words: &'static str) -> Self {
        Self::default().words(words)
    }

    /// A sentence of ours, with what fills its gaps.
    pub fn say(phrase: Phrase, args: impl IntoIterator<Item = Self>) -> Self {
        Self(vec![Span::Phrase(Phrased {
            code: phrase.code().to_owned(),
            args: args.into_iter().collect(),
            capital: false,
        })])
    }

    /// One without gaps.
    pub fn word(phrase: Phrase) -> Self {
        Self::say(phrase, [])
    }

    /// A sentence that a file keeps: ours in any language, or somebody else's as it was written.
    pub fn said(said: &Said) -> Self {
        match said.phrase() {
            Some((phrase, args)) => {
                Self::say(phrase, args.iter().map(|arg| Self::default().prose(arg)))
            }
            None => Self::default().prose(said),
        }
    }

    /// A list of texts.
    pub fn list(texts: impl IntoIterator<Item = Self>) -> Self {
        Self::between(texts, say::LIST)
    }

    /// Texts that follow each other in one sentence.
    pub fn commas(texts: impl IntoIterator<Item = Self>) -> Self {
        Self::between(texts, say::COMMAS)
    }

    /// Texts as parts of one sentence.
    pub fn clauses(texts: impl IntoIterator<Item = Self>) -> Self {
        Self::between(texts, say::CLAUSES)
    }

    fn between(texts: impl IntoIterator<Item = Self>, separator: Phrase) -> Self {
        let mut out = Self::default();
        for (i, text) in texts.into_iter().enumerate() {
            if i > 0 {
                out = out.then(Self::word(separator));
            }
            out = out.then(text);
        }
        out
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
        match self.0.first_mut() {
            Some(Span::Words(first)) => capitalise(first),
            Some(Span::Phrase(phrased)) => phrased.capital = true,
            _ => {}
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

    /// For a terminal or a plain file, in English: one line.
    pub fn plain(&self) -> String {
        self.plain_in(Lang::En)
    }

    /// The same in a language.
    pub fn plain_in(&self, lang: Lang) -> String {
        self.parts(lang)
            .into_iter()
            .map(|part| match part {
                Part::Words(text) => text,
                Part::Quoted(text) | Part::Prose(text) => escape::plain(&text),
                Part::Code(text) => format!("`{}`", escape::plain(&text)),
            })
            .collect()
    }

    /// Its pieces in a language; words that touch are one piece.
    pub(super) fn parts(&self, lang: Lang) -> Vec<Part> {
        let mut out = Vec::new();
        for span in &self.0 {
            match span {
                Span::Words(words) => push(&mut out, words),
                Span::Quoted(text) => out.push(Part::Quoted(text.clone())),
                Span::Prose(text) => out.push(Part::Prose(text.clone())),
                Span::Phrase(phrased) => extend(&mut out, phrased.parts(lang)),
            }
        }
        out
    }

    /// Appends a piece as it was serialised.
    pub(super) fn push_piece(&mut self, kind: &str, text: &str) -> bool {
        match kind {
            "words" => self.push_words(text),
            "quoted" => self.0.push(Span::Quoted(text.to_owned())),
            "prose" => self.0.push(Span::Prose(text.to_owned())),
            _ => return false,
        }
        true
    }

    /// Appends a phrase as it was serialised.
    pub(super) fn push_phrase(&mut self, code: &str, args: Vec<Self>, capital: bool) {
        let code = code.to_owned();
        self.0.push(Span::Phrase(Phrased {
            code,
            args,
            capital,
        }));
    }

    fn push_words(&mut self, words: &str) {
        if let Some(Span::Words(last)) = self.0.last_mut() {
            last.push_str(words);
        } else {
            self.0.push(Span::Words(words.to_owned()));
        }
    }
}

impl Phrased {
    fn parts(&self, lang: Lang) -> Vec<Part> {
        let mut out = Vec::new();
        let arg = |i: usize| {
            self.args
                .get(i)
                .map_or_else(Vec::new, |arg| arg.parts(lang))
        };
        let Some(phrase) = Phrase::by_code(&self.code) else {
            // That of a newer version.
            out.push(Part::Quoted(self.code.clone()));
            for i in 0..self.args.len() {
                push(&mut out, " ");
                extend(&mut out, arg(i));
            }
            return out;
        };
        for piece in phrase.pieces(lang) {
            match piece {
                Piece::Words(words) => push(&mut out, words),
                Piece::Code(code) => out.push(Part::Code(code.to_owned())),
                Piece::CodeGap(i) => {
                    let text = self.args.get(i).map(|arg| arg.plain_in(lang));
                    out.push(Part::Code(escape::cut(&text.unwrap_or_default(), QUOTED)));
                }
                Piece::Gap(i) => extend(&mut out, arg(i)),
                Piece::Plural { gap, one, many } => {
                    let is_one = self.args.get(gap).is_some_and(|n| n.plain_in(lang) == "1");
                    push(&mut out, if is_one { one } else { many });
                }
            }
        }
        if self.capital
            && let Some(Part::Words(first)) = out.first_mut()
        {
            capitalise(first);
        }
        out
    }
}

fn extend(out: &mut Vec<Part>, parts: Vec<Part>) {
    for part in parts {
        match part {
            Part::Words(words) => push(out, &words),
            part => out.push(part),
        }
    }
}

fn capitalise(words: &mut String) {
    if let Some(initial) = words.get(..1) {
        let initial = initial.to_ascii_uppercase();
        words.replace_range(..1, &initial);
    }
}

fn push(out: &mut Vec<Part>, words: &str) {
    match out.last_mut() {
        Some(Part::Words(last)) => last.push_str(words),
        _ if words.is_empty() => {}
        _ => out.push(Part::Words(words.to_owned())),
    }
}

impl Text {
    /// What fills a gap of a phrase in a file: its words touch words of ours, so they neither begin nor end
    /// with a mark that could make markup of both.
    fn in_gap(mut self) -> Self {
        let mark = |c: char| ":()[]-=+".contains(c);
        for span in &mut self.0 {
            if let Span::Words(words) = span
                && (words.starts_with(mark) || words.ends_with(mark))
            {
                *span = Span::Prose(words.clone());
            }
        }
        self
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
            .map(|next| matches!(next, Span::Prose(_) | Span::Phrase(_)))
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
                Span::Phrase(phrased) => Span::Phrase(Phrased {
                    code: escape::cut(&phrased.code, QUOTED),
                    args: phrased.args.into_iter().map(Self::in_gap).collect(),
                    capital: phrased.capital,
                }),
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
