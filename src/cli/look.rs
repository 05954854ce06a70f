//! How a report for people is written.

use clap::Args;

use super::context::Context;
use super::failure::Failure;
use crate::lang::Lang;
use crate::report::{self, json::ReportFile, suite, text::Line};

/// The variable that names the language where no flag does.
const LANG: &str = "INFERGATE_LANG";

/// How a report for people is written, as it was asked for.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct LookArgs {
    /// Language of the report, `en` or `zh`; JSON is in none [default: what `INFERGATE_LANG` says, else `en`]
    #[arg(long, value_name = "LANG")]
    lang: Option<Lang>,
}

/// The same, found.
#[derive(Debug, Clone, Default)]
pub(super) struct Look {
    /// The language.
    pub(super) lang: Lang,
}

impl LookArgs {
    /// Finds what was asked for, before anything is measured.
    pub(super) fn find(&self, context: &Context) -> Result<Look, Failure> {
        let named = context.variable(LANG).filter(|tag| !tag.is_empty());
        let lang = match (self.lang, named) {
            (Some(lang), _) => lang,
            (None, Some(tag)) => tag
                .parse()
                .map_err(|error| Failure::usage(format!("`{LANG}`: {error}")))?,
            (None, None) => Lang::default(),
        };
        Ok(Look { lang })
    }
}

impl Look {
    /// Reports as Markdown in so many UTF-16 units.
    pub(super) fn markdown(&self, reports: &[ReportFile], limit: usize) -> String {
        report::comment(reports, limit, self.lang).text
    }

    /// Reports as lines for a terminal.
    pub(super) fn lines(&self, reports: &[ReportFile]) -> Vec<Line> {
        match reports {
            [report] => report::text::report(&report.model(), self.lang),
            reports => report::text::suite(&suite::build(reports), self.lang),
        }
    }
}
