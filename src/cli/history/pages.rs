//! Pages of the archive: one file, or a folder with a page a spec.

use std::path::Path;

use super::super::context::Context;
use super::super::failure::Failure;
use crate::archive::save_text;
use crate::history::History;
use crate::report::html::{Forge, history, index};

/// Writes one file where the path ends with `.html`, else a folder with `index.html` and a page a spec.
pub(super) fn write(
    path: &Path,
    histories: &[History],
    forge: Option<&Forge>,
    context: &mut Context,
) -> Result<(), Failure> {
    let now = context.now();
    if path
        .extension()
        .is_some_and(|extension| extension == "html")
        && !path.is_dir()
    {
        save_text(path, &history(histories, forge, &now))?;
        context.note(&format!("wrote `{}`", path.display()));
        return Ok(());
    }
    for one in histories {
        // A spec's name is safe as a file's.
        let file = path.join(format!("{}.html", one.name));
        save_text(&file, &history(std::slice::from_ref(one), forge, &now))?;
    }
    let file = path.join("index.html");
    save_text(&file, &index(histories))?;
    let pages = histories.len();
    context.note(&format!(
        "wrote `{}` and {pages} page{}",
        file.display(),
        if pages == 1 { "" } else { "s" }
    ));
    Ok(())
}
