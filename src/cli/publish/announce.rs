//! `--publish` of commands that measure: said when they begin, told when they end.

use std::io::Write as _;
use std::path::Path;

use clap::Args;

use super::destination::{Destination, JobFiles};
use super::reports::Reports;
use super::root::Root;
use super::{PlaceArgs, To, exit_of, publish};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::look::Look;
use crate::exit::Exit;
use crate::publish::github::Begun;
use crate::publish::{Ending, Key, Post};

/// Whether and where the report is published.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct AnnounceArgs {
    /// Publish the report too, as `infergate publish --to` does; on GitHub a check run says from the start
    /// that a measurement is running
    #[arg(long, value_enum, value_name = "TO")]
    publish: Option<To>,

    /// What tells the report apart from others of the same pull request [default: the spec's name]
    #[arg(long, value_name = "KEY", requires = "publish")]
    publish_key: Option<Key>,

    /// Exit 4 where the report could not be published
    #[arg(long, requires = "publish")]
    require_publish: bool,
}

/// A measurement that was announced; nothing where nobody asked for it.
pub(in crate::cli) struct Announced {
    told: Option<Told>,
    required: bool,
}

struct Told {
    destination: Destination,
    place: PlaceArgs,
    key: Key,
    begun: Begun,
    look: Look,
}

impl AnnounceArgs {
    /// Says that a measurement of the spec or suite of this name begins. Where to is found out before any load; what can't be
    /// reached then is told, and is a mistake only where publishing is required.
    pub(in crate::cli) async fn begin(
        &self,
        name: &str,
        look: &Look,
        context: &mut Context,
    ) -> Result<Announced, Failure> {
        let required = self.require_publish;
        let Some(to) = self.publish else {
            return Ok(Announced {
                told: None,
                required,
            });
        };
        let place = PlaceArgs::of_the_job(false);
        let destination = match Destination::find(Some(to), &place, false, context) {
            Ok(destination) => destination,
            Err(failure) if required => return Err(failure),
            Err(failure) => {
                let text = failure.render();
                let _ = write!(
                    context.err,
                    "warning: nothing will be published: {}",
                    text.trim_start_matches("error: ")
                );
                return Ok(Announced {
                    told: None,
                    required,
                });
            }
        };
        let key = match (&self.publish_key, name.parse()) {
            (Some(key), _) => key.clone(),
            (None, Ok(key)) => key,
            (None, Err(error)) => {
                return Err(Failure::usage(format!(
                    "{error}; give one with `--publish-key`"
                )));
            }
        };
        let nothing = |_: usize| String::new();
        let title = format!("measuring {name}");
        let post = Post {
            key: key.clone(),
            title,
            ending: Ending::Undecided,
            report: &nothing,
            annotations: Vec::new(),
        };
        let begun = destination.begin(&post, &place).await;
        Ok(Announced {
            told: Some(Told {
                destination,
                place,
                key,
                begun,
                look: look.clone(),
            }),
            required,
        })
    }
}

impl Announced {
    /// Publishes how the command ended: the report in its folder where there is one, else why there is none.
    pub(in crate::cli) async fn conclude(
        self,
        outcome: Result<Exit, Failure>,
        folder: &Path,
        context: &mut Context,
    ) -> Result<Exit, Failure> {
        let Some(Told {
            destination,
            mut place,
            key,
            begun,
            look,
        }) = self.told
        else {
            return outcome;
        };
        let read = Reports::read(&[folder.to_owned()], look);
        let lies = read.as_ref().map(Reports::files).unwrap_or_default();
        let files = JobFiles::of(&place, lies, context);
        let done = match (read, &outcome) {
            (Ok(reports), Ok(_)) => {
                let render = |limit: usize| reports.render(limit);
                publish(
                    &destination,
                    &reports.post(key, &render, &Root::of(context)),
                    begun,
                    &place,
                    &files,
                    context,
                )
                .await
            }
            (_, outcome) => {
                let (exit, text) = match outcome {
                    Ok(exit) => (
                        *exit,
                        "there is no report; the spec's policy decides".to_owned(),
                    ),
                    Err(failure) => (failure.exit, failure.render()),
                };
                // A comment stays what it was: it says of which commit it is.
                place.skip.push(super::Skip::Comment);
                let ending = Ending::without_report(exit);
                let render = |limit: usize| fenced(&text, limit);
                let title = format!("{key}: no report ({})", ending.word());
                let post = Post {
                    key,
                    title,
                    ending,
                    report: &render,
                    annotations: Vec::new(),
                };
                publish(&destination, &post, begun, &place, &files, context).await
            }
        };
        outcome.map(|exit| exit_of(exit, &done.posted, self.required))
    }
}

/// A text as a block of code, whatever is in it.
fn fenced(text: &str, limit: usize) -> String {
    let plain = |c: char| if c == '\n' || !c.is_control() { c } else { ' ' };
    let kept: String = text.chars().map(plain).take(limit.min(8_000) / 2).collect();
    let longest = kept.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}text\n{}\n{fence}\n", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_block() {
        assert_eq!(fenced("a\u{1b}b\n", 100), "```text\na b\n```\n");
        assert_eq!(fenced("````\n@all", 100), "`````text\n````\n@all\n`````\n");
    }
}
