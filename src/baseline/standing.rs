//! What stands beside the sessions of a baseline: what was accepted, and the release that was pinned.

use super::accept::{Accept, AcceptError};
use super::reference::{BaselineError, Reference};
use super::shelf::Shelf;
use crate::ident::Day;
use crate::verdict::Excuse;

/// An accept of a baseline's environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The name of its file in `accepts/`, without `.yaml`.
    pub stem: String,
    /// Where it lies, for people.
    pub file: String,
    /// What it says.
    pub accept: Accept,
    /// Whether what it accepts has become the baseline.
    pub settled: bool,
}

/// The accepts of a spec by the names of their files without `.yaml`, in their order. One that can't be
/// read is an error: to leave it out would judge by another rule than the one that is written down.
pub fn accepts(shelf: &Shelf, name: &str) -> Result<Vec<(String, Accept)>, BaselineError> {
    let folder = format!("{name}/accepts");
    let mut found = Vec::new();
    for entry in shelf.list(&folder)? {
        let Some(stem) = entry
            .name
            .strip_suffix(".yaml")
            .filter(|_| !entry.is_folder)
        else {
            continue;
        };
        let path = format!("{folder}/{}", entry.name);
        let Some(text) = shelf.read(&path)? else {
            continue;
        };
        let accept = Accept::parse(&text).map_err(|source: AcceptError| BaselineError::Accept {
            path: shelf.path_of(&path),
            source: Box::new(source),
        })?;
        found.push((stem.to_owned(), accept));
    }
    Ok(found)
}

/// The accepts of one environment.
pub(super) fn standing(
    shelf: &Shelf,
    (name, environment): (&str, &str),
    reference: &Reference,
) -> Result<Vec<Standing>, BaselineError> {
    let of_here = accepts(shelf, name)?
        .into_iter()
        .filter(|(_, accept)| accept.environment == environment);
    Ok(of_here
        .map(|(stem, accept)| Standing {
            file: shelf.describe(&format!("{name}/accepts/{stem}.yaml")),
            settled: reference.is_settled(&stem),
            stem,
            accept,
        })
        .collect())
}

/// What of the accepts a judgement excuses, as of the day on which the candidate was measured.
pub fn excuses<'a>(standing: impl IntoIterator<Item = &'a Standing>, today: Day) -> Vec<Excuse> {
    let of_one = |standing: &'a Standing| {
        standing.accept.cells.iter().map(|accepted| Excuse {
            cell: accepted.cell.clone(),
            value: accepted.new,
            until: standing.accept.expires.to_string(),
            file: standing.file.clone(),
            expired: standing.accept.expires.is_over(today),
        })
    };
    standing.into_iter().flat_map(of_one).collect()
}
