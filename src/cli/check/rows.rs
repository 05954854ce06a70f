//! What is worth knowing of the files that classes take their requests from.

use crate::spec::{Class, RowsKind, Workload};
use crate::unit::scale;

/// One note for each class with a file.
pub(super) fn notes(workload: &Workload) -> Vec<String> {
    workload.classes.iter().filter_map(note).collect()
}

fn note(class: &Class) -> Option<String> {
    let rows = class.rows.as_ref()?;
    let count = scale::count(rows.size.count.into());
    let order = match rows.kind {
        RowsKind::Dataset => "each once in an order by the seed, then again from the first",
        RowsKind::Pairs => "each as likely as any other",
    };
    let digest = rows.digest.hex();
    let (name, file) = (&class.name, &rows.file);
    Some(format!(
        "class `{name}` takes the {count} rows of `{file}`, {}: {order}",
        &digest[..12]
    ))
}
