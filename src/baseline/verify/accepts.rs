//! Accepts: whether they can be read, and how long they hold.

use std::collections::BTreeMap;

use super::environment::Kept;
use super::finding::{Gravity, Verification};
use super::{foreign, listed, text_of};
use crate::baseline::accept::Accept;
use crate::baseline::shelf::Shelf;
use crate::ident::Day;

/// Days before its last on which an accept is said to expire.
const EXPIRING_DAYS: i64 = 14;

/// The accepts of a spec by the names of their files without `.yaml`.
pub(super) fn read_accepts(
    shelf: &Shelf,
    folder: &str,
    found: &mut Verification,
) -> BTreeMap<String, Accept> {
    let mut accepts = BTreeMap::new();
    for (file, is_folder) in listed(shelf, folder, found) {
        let path = format!("{folder}/{file}");
        let Some(stem) = file.strip_suffix(".yaml").filter(|_| !is_folder) else {
            foreign(&path, found);
            continue;
        };
        let Some(text) = text_of(shelf, &path, found) else {
            continue;
        };
        match Accept::parse(&text) {
            Ok(accept) => {
                found.accepts += 1;
                accepts.insert(stem.to_owned(), accept);
            }
            Err(error) => {
                let remedy = "mend it; until then it excuses nothing and `gate` refuses to judge";
                found.add((Gravity::Error, "corrupt"), path, error.to_string(), remedy);
            }
        }
    }
    accepts
}

/// Which of them excuse nothing any more, or soon.
pub(super) fn judge_accepts(
    name: &str,
    accepts: &BTreeMap<String, Accept>,
    kept: &[Kept],
    today: Day,
    found: &mut Verification,
) {
    for (stem, accept) in accepts {
        let path = format!("{name}/accepts/{stem}.yaml");
        let folder = format!("{name}/{}", accept.environment);
        let Some(of) = kept.iter().find(|kept| kept.folder == folder) else {
            let what = format!("its environment `{}` holds nothing", accept.environment);
            found.add(
                (Gravity::Error, "dangling"),
                path,
                what,
                "delete it, or mend `environment`",
            );
            continue;
        };
        let left = accept.expires.days_left(today);
        if of.reference.is_settled(stem) {
            let what = "what it accepts is the baseline by now";
            found.add(
                (Gravity::Note, "accept-settled"),
                path,
                what,
                "delete it when you like",
            );
        } else if left <= 0 {
            let what = format!("it expired on {} and excuses nothing", accept.expires);
            let remedy = "promote sessions of the new level, fix the regression, or accept it anew";
            found.add((Gravity::Error, "accept-expired"), path, what, remedy);
        } else if left <= EXPIRING_DAYS {
            let what = match left - 1 {
                0 => "its last day is today".to_owned(),
                1 => "its last day is tomorrow".to_owned(),
                days => format!("its last day is {}, in {days} days", accept.expires),
            };
            let remedy = "promote five sessions of the new level, or fix the regression";
            found.add((Gravity::Warning, "accept-expiring"), path, what, remedy);
        }
    }
}
