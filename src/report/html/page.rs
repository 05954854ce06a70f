//! What every page has: its policy, headline and foot.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::plot::Svg;
use crate::report::engine::{SCRIPT, STYLE};
use crate::report::model::Tone;
use crate::report::span::Text;

use super::table::Table;

/// Head and foot of a page.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Page {
    policy: String,
    title: String,
    eyebrow: Text,
    headline: Text,
    tone: Tone,
    footer: Text,
}

impl Page {
    /// With a headline; `about` stands over it.
    pub(super) fn new(about: &'static str, headline: Text, tone: Tone) -> Self {
        Self {
            policy: policy(),
            title: format!("{} · infergate", headline.plain()),
            eyebrow: Text::of("infergate · ").words(about),
            headline,
            tone,
            footer: Text::of("Written by infergate ")
                .quoted(env!("CARGO_PKG_VERSION"))
                .words(". This file is whole: it fetches nothing. Its numbers are those of the run files; definitions ")
                .quoted(crate::metric::DEFINITION)
                .words("."),
        }
    }
}

/// Own style and script by digest, nothing else.
fn policy() -> String {
    let digest = |text: &str| {
        // As it stands between the tags: a template is included without its last line end.
        let text = text.strip_suffix('\n').unwrap_or(text);
        BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()))
    };
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        digest(STYLE),
        digest(SCRIPT)
    )
}

/// A plot with what belongs to it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Figure {
    /// Its place in the page.
    pub(super) id: String,
    /// Its heading.
    pub(super) title: Text,
    /// The heading as an attribute.
    pub(super) label: String,
    /// Whether a gate judges something in it.
    pub(super) gated: bool,
    /// Whether what is newest stands at its right end.
    pub(super) newest: bool,
    /// The plot.
    pub(super) svg: Svg,
    /// What is to be said of it.
    pub(super) notes: Vec<Text>,
    /// Its values.
    pub(super) table: Table,
}
