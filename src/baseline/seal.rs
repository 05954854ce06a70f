//! What a run file held when it was kept, so that a later change is noticed.

use crate::ident::Digest;

/// The digest of a kept file's text. A checkout may write other line ends, which no JSON text holds
/// itself, so they count as one.
pub(super) fn seal(text: &str) -> Digest {
    if text.contains('\r') {
        Digest::of(text.replace("\r\n", "\n").as_bytes())
    } else {
        Digest::of(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_of_a_checkout_break_no_seal_and_anything_else_does() {
        assert_eq!(seal("{\n}\n"), seal("{\r\n}\r\n"));
        assert_ne!(seal("{\n}\n"), seal("{ \n}\n"));
        assert_eq!(
            seal("{\n}\n"),
            Digest::of(b"{\n}\n"),
            "sha256sum says the same"
        );
    }
}
