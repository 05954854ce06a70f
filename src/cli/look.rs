//! How a report for people is written.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::context::Context;
use super::failure::Failure;
use super::template;
use crate::lang::Lang;
use crate::report::template::{Kind, Template};
use crate::report::{self, json::ReportFile, suite, text::Line};

/// The variable that names the language where no flag does.
const LANG: &str = "INFERGATE_LANG";

/// In which language a text for people is written.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct LangArgs {
    /// Language of the report, `en` or `zh`; JSON is in none [default: what `INFERGATE_LANG` says, else `en`]
    #[arg(long, value_name = "LANG")]
    lang: Option<Lang>,
}

/// How a report for people is written, as it was asked for.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct LookArgs {
    #[command(flatten)]
    lang: LangArgs,

    /// Write the report in Markdown by this template of yours (`.md.j2`), behind the verdict's own line; what it
    /// finds says `infergate schema view`
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
}

/// The same, found.
#[derive(Debug, Clone, Default)]
pub(super) struct Look {
    /// The language.
    pub(super) lang: Lang,
    template: Option<Arc<Template>>,
}

impl LangArgs {
    /// Finds the language.
    pub(super) fn find(&self, context: &Context) -> Result<Lang, Failure> {
        let named = context.variable(LANG).filter(|tag| !tag.is_empty());
        match (self.lang, named) {
            (Some(lang), _) => Ok(lang),
            (None, Some(tag)) => tag
                .parse()
                .map_err(|error| Failure::usage(format!("`{LANG}`: {error}"))),
            (None, None) => Ok(Lang::default()),
        }
    }
}

impl LookArgs {
    /// Finds what was asked for, before anything is measured.
    pub(super) fn find(&self, context: &Context) -> Result<Look, Failure> {
        let look = self.find_any(context)?;
        match look.kind() {
            None | Some(Kind::Markdown) => Ok(look),
            Some(Kind::Html | Kind::Plain) => Err(Failure::usage(
                "`--template`: here a report is Markdown, so the template's name ends in `.md.j2` or `.md`; \
                 `infergate report` takes `.html.j2` and `.txt.j2` too",
            )),
        }
    }

    /// The same where a template may make something else than Markdown.
    pub(super) fn find_any(&self, context: &Context) -> Result<Look, Failure> {
        let lang = self.lang.find(context)?;
        let template = self.template.as_deref();
        let template = template
            .map(|path| template::read(path, lang))
            .transpose()?;
        Ok(Look {
            lang,
            template: template.map(Arc::new),
        })
    }
}

impl Look {
    /// What the template makes, where there is one.
    pub(super) fn kind(&self) -> Option<Kind> {
        self.template.as_ref().map(|template| template.kind())
    }

    /// Reports as Markdown in so many UTF-16 units, or as what the template makes.
    pub(super) fn markdown(&self, reports: &[ReportFile], limit: usize) -> String {
        match &self.template {
            Some(template) => template.page(reports, limit),
            None => report::comment(reports, limit, self.lang).text,
        }
    }

    /// Warns where the template fails on these reports, which then are in their usual form.
    pub(super) fn warn(&self, reports: &[ReportFile], context: &mut Context) {
        if let Some(Err(error)) = self.template.as_ref().map(|own| own.render(reports)) {
            let _ = writeln!(
                context.err,
                "warning: the template failed, so the report is in its usual form: {error}"
            );
        }
    }

    /// Reports as lines for a terminal.
    pub(super) fn lines(&self, reports: &[ReportFile]) -> Vec<Line> {
        match reports {
            [report] => report::text::report(&report.model(), self.lang),
            reports => report::text::suite(&suite::build(reports), self.lang),
        }
    }
}
