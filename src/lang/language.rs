//! The languages.

use std::fmt;
use std::str::FromStr;

/// A language of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Simplified Chinese.
    Zh,
}

/// A text that names no language of reports.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no language of reports; there are `en` (English) and `zh` (Chinese)")]
pub struct UnknownLang(String);

impl Lang {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::En, Self::Zh];

    /// Its tag: `en`, `zh`.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }
}

impl FromStr for Lang {
    type Err = UnknownLang;

    fn from_str(text: &str) -> Result<Self, UnknownLang> {
        let found = Self::ALL.into_iter().find(|lang| lang.tag() == text);
        found.ok_or_else(|| UnknownLang(text.to_owned()))
    }
}

impl fmt::Display for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tag())
    }
}
