//! What this program says, in every language that it speaks.
//!
//! A sentence is a [`Phrase`]: its text in each language, with numbered gaps. Whoever says it names the phrase
//! and fills the gaps; which language it is in is decided where it is printed. The catalogues hold all of them,
//! and an entry without one of its languages does not compile.

mod capacity;
mod explain;
mod happened;
mod judged;
mod labels;
mod language;
mod phrase;
mod report;
mod said;
mod session;
mod terms;

pub use labels::{LABELS, Label};

/// Words that stand in templates.
pub mod label {
    pub use super::labels::*;
}
pub use language::{Lang, UnknownLang};
pub use phrase::{Phrase, Piece};
pub use said::Said;

/// Of verdicts and comparisons, as they are kept in report files.
pub mod of_judged {
    pub use super::judged::*;
}

/// Of reports of comparisons.
pub mod say {
    pub use super::capacity::*;
    pub use super::explain::*;
    pub use super::happened::*;
    pub use super::report::*;
    pub use super::session::*;
    pub use super::terms::*;
}

/// Declares phrases, each with its text in every language, and the list of them.
macro_rules! phrases {
    ($($name:ident: $en:literal, $zh:literal;)*) => {
        $(
            #[doc = concat!("The phrase ", stringify!($name), ".")]
            pub const $name: Phrase = Phrase::new(stringify!($name), $en, $zh);
        )*
        pub(super) const ALL: &[Phrase] = &[$($name),*];
    };
}
pub(crate) use phrases;

/// Every phrase of the catalogues.
fn all() -> impl Iterator<Item = &'static Phrase> {
    let catalogues = [
        capacity::ALL,
        explain::ALL,
        happened::ALL,
        judged::ALL,
        report::ALL,
        session::ALL,
        terms::ALL,
    ];
    catalogues.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The gaps of a text, each once.
    fn gaps(text: &'static str) -> BTreeSet<usize> {
        let pieces = phrase::pieces(text);
        let gap = |piece: Piece| match piece {
            Piece::Gap(i) | Piece::CodeGap(i) => Some(i),
            Piece::Words(_) | Piece::Code(_) | Piece::Plural { .. } => None,
        };
        pieces.filter_map(gap).collect()
    }

    #[test]
    fn every_phrase_has_a_code_of_its_own_and_the_same_gaps_in_every_language() {
        let mut codes = BTreeSet::new();
        for phrase in all() {
            assert!(codes.insert(phrase.code()), "{} twice", phrase.code());
            assert_eq!(Phrase::by_code(phrase.code()), Some(*phrase));
            let [en, zh] = Lang::ALL.map(|lang| phrase.text(lang));
            assert_eq!(gaps(en), gaps(zh), "{en} | {zh}");
            assert!(gaps(en).into_iter().eq(0..gaps(en).len()), "{en}");
        }
    }

    #[test]
    fn chinese_is_chinese() {
        let is_cjk = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
        for phrase in all() {
            let en: usize = phrase::pieces(phrase.text(Lang::En))
                .map(|piece| match piece {
                    Piece::Words(words) => words
                        .split(|c: char| !c.is_ascii_alphabetic())
                        .filter(|w| !w.is_empty())
                        .count(),
                    _ => 0,
                })
                .sum();
            let zh = phrase.text(Lang::Zh);
            // Names such as TTFT stay what they are.
            assert!(en < 3 || zh.chars().any(is_cjk), "{zh}");
        }
        let is_mark = |c: char| "，。：；（）".contains(c);
        for label in LABELS {
            let zh = label.text(Lang::Zh);
            assert!(zh.chars().any(|c| is_cjk(c) || is_mark(c)), "{zh}");
        }
    }

    /// A text that someone else wrote fills a gap; with words of ours beside it, it must make no markup.
    #[test]
    fn no_phrase_makes_markup_of_what_stands_in_its_gaps() {
        for (phrase, lang) in all().flat_map(|phrase| Lang::ALL.map(|lang| (phrase, lang))) {
            let text = phrase.text(lang);
            let touching = ["]{", "}(", "}[", "!{", ":{", "}:{"];
            for bad in touching {
                assert!(!text.contains(bad), "{text}: {bad}");
            }
            for piece in phrase.pieces(lang) {
                if let Piece::Words(words) = piece {
                    for bad in ["<", "|", "*", "_", "#", "@", "//", "::", "`"] {
                        assert!(!words.contains(bad), "{text}: {bad}");
                    }
                }
            }
        }
    }
}
