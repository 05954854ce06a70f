//! `prompt` of a class: one text that each of its requests sends as it is.

use super::rows::{self, Around};
use crate::ident::Digest;
use crate::spec::class::OutputLength;
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{Fields, Noted};
use crate::spec::rows::{FileRow, Rows, RowsKind, RowsSize, Said};
use crate::spec::values;

/// Bytes of text that a token stands for, where nobody has counted.
const BYTES_PER_TOKEN: usize = 4;

/// The text as the only row of a dataset; its answer ends by itself.
pub(super) fn lower(
    fields: &Fields<'_>,
    whole: &str,
    around: &Around<'_>,
    out: &mut Diagnostics,
) -> Result<(Rows, OutputLength), Noted> {
    const EXAMPLE: &str = "prompt: \"Name three rivers as a JSON list.\"";
    rows::refuse(fields, whole, "prompt", out)?;
    let node = fields.get("prompt", out).ok_or(Noted)?;
    let text = values::text(node, "`prompt`", EXAMPLE, out).ok_or(Noted)?;
    if text.is_empty() {
        out.error(
            "spec::empty-prompt",
            &node.span,
            "`prompt` is an empty text",
            format!("write what is sent, like `{EXAMPLE}`"),
        );
        return Err(Noted);
    }
    let Some(most) = rows::most(fields, whole, around, out)? else {
        out.error(
            "spec::missing-field",
            &node.span,
            format!(
                "the answers of {whole} end by themselves, and nothing says where they are cut"
            ),
            "add `max_output: 1024` to the class, or pin `limits.max_model_len`",
        );
        return Err(Noted);
    };
    let row = FileRow {
        input_tokens: text.len().div_ceil(BYTES_PER_TOKEN).max(1) as u32,
        output_tokens: most,
        pinned: false,
        said: Some(Said::Prompt(text.to_owned())),
        expected: None,
    };
    let rows = Rows {
        file: String::new(),
        digest: Digest::of(text.as_bytes()),
        kind: RowsKind::Dataset,
        size: RowsSize::of(std::slice::from_ref(&row)),
        rows: [row].into(),
    };
    Ok((rows, OutputLength::Natural))
}
