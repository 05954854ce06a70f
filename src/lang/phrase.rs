//! One sentence in every language, with gaps.

use super::Lang;

/// A sentence, or a part of one, in every language.
///
/// Its texts have gaps: `{0}` is filled as it is, `` `{0}` `` as code, and `{0?pair:pairs}` is the first word
/// where gap 0 is filled with `1`, else the second. What stands between backticks is code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phrase {
    code: &'static str,
    en: &'static str,
    zh: &'static str,
}

/// A piece of a phrase's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// Words as they stand.
    Words(&'static str),
    /// Words as code.
    Code(&'static str),
    /// What fills a gap.
    Gap(usize),
    /// The same as code.
    CodeGap(usize),
    /// One of two words, by whether a gap is filled with `1`.
    Plural {
        /// The gap.
        gap: usize,
        /// For one.
        one: &'static str,
        /// For any other number.
        many: &'static str,
    },
}

impl Phrase {
    /// Declared by the catalogues alone.
    pub(super) const fn new(code: &'static str, en: &'static str, zh: &'static str) -> Self {
        Self { code, en, zh }
    }

    /// What it goes by in files.
    pub const fn code(self) -> &'static str {
        self.code
    }

    /// The phrase of a code; `None` where this version has none.
    pub fn by_code(code: &str) -> Option<Self> {
        super::all().find(|phrase| phrase.code == code).copied()
    }

    /// Its text with gaps.
    pub const fn text(self, lang: Lang) -> &'static str {
        match lang {
            Lang::En => self.en,
            Lang::Zh => self.zh,
        }
    }

    /// Its text in pieces.
    pub fn pieces(self, lang: Lang) -> impl Iterator<Item = Piece> {
        pieces(self.text(lang))
    }

    /// Its English text with these in its gaps.
    pub(super) fn filled(self, args: &[String]) -> String {
        let arg = |i: usize| args.get(i).map_or("", String::as_str);
        let piece = |piece: Piece| match piece {
            Piece::Words(words) => words.to_owned(),
            Piece::Code(code) => format!("`{code}`"),
            Piece::Gap(i) => arg(i).to_owned(),
            Piece::CodeGap(i) => format!("`{}`", arg(i)),
            Piece::Plural { gap, one, many } => if arg(gap) == "1" { one } else { many }.to_owned(),
        };
        self.pieces(Lang::En).map(piece).collect()
    }
}

/// A text in pieces.
pub(super) fn pieces(text: &'static str) -> impl Iterator<Item = Piece> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = first(rest)?;
        rest = after;
        Some(piece)
    })
}

fn first(text: &'static str) -> Option<(Piece, &'static str)> {
    if text.is_empty() {
        return None;
    }
    if let Some(code) = text.strip_prefix('`') {
        let (code, rest) = code.split_once('`')?;
        return Some(match gap(code) {
            Some((Piece::Gap(i), "")) => (Piece::CodeGap(i), rest),
            _ => (Piece::Code(code), rest),
        });
    }
    if text.starts_with('{') {
        return gap(text);
    }
    let end = text.find(['`', '{']).unwrap_or(text.len());
    let (words, rest) = text.split_at(end);
    Some((Piece::Words(words), rest))
}

/// `{0}` or `{0?one:many}` at the start of a text.
fn gap(text: &'static str) -> Option<(Piece, &'static str)> {
    let (inside, rest) = text.strip_prefix('{')?.split_once('}')?;
    let Some((gap, words)) = inside.split_once('?') else {
        return Some((Piece::Gap(inside.parse().ok()?), rest));
    };
    let (one, many) = words.split_once(':')?;
    let gap = gap.parse().ok()?;
    Some((Piece::Plural { gap, one, many }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_code_and_plurals_are_pieces() {
        let phrase = Phrase::new("X", "`{0}` took {1} {1?run:runs} of `ab`", "");
        let args = |n: &str| ["chat".to_owned(), n.to_owned()];
        assert_eq!(phrase.filled(&args("1")), "`chat` took 1 run of `ab`");
        assert_eq!(phrase.filled(&args("3")), "`chat` took 3 runs of `ab`");
        assert_eq!(
            phrase.pieces(Lang::En).collect::<Vec<_>>()[..3],
            [Piece::CodeGap(0), Piece::Words(" took "), Piece::Gap(1)]
        );
    }
}
