//! Who changes an archive, as its files say.

use std::path::Path;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::git::Repository;

/// The one that the command names, else git's user, else CI's.
pub(super) fn author(named: Option<&str>, context: &Context) -> Result<String, Failure> {
    let named = named.map(str::trim).filter(|name| !name.is_empty());
    let of_git = || Repository::find(Path::new(".")).ok()?.author().ok()?;
    let of_ci = || {
        context
            .variable("GITHUB_ACTOR")
            .or_else(|| context.variable("GITLAB_USER_LOGIN"))
    };
    named
        .map(str::to_owned)
        .or_else(of_git)
        .or_else(of_ci)
        .ok_or_else(|| {
            Failure::usage(
                "nobody says who does this: give `--author \"NAME <EMAIL>\"`, or tell git who you are \
                 (`git config user.name`, `git config user.email`)",
            )
        })
}
