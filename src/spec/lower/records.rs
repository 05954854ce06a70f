//! `records`: which texts stand in a run's records.

use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{Fields, Shape};
use crate::spec::keep_text::KeepText;
use crate::spec::values;

const SHAPE: Shape = Shape {
    known: &["text"],
    later: &[],
    example: "records: {text: answers}",
};

pub(super) fn lower(fields: &Fields<'_>, out: &mut Diagnostics) -> Option<KeepText> {
    if !fields.has("records") {
        return Some(KeepText::None);
    }
    let fields = fields.section("records", &SHAPE, out)?;
    fields.or("text", KeepText::None, out, |node, out| {
        let options = [
            ("none", KeepText::None),
            ("answers", KeepText::Answers),
            ("all", KeepText::All),
        ];
        values::choice(node, "`text`", &options, &[], out)
    })
}
