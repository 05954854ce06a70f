//! Did you mean …?

/// The candidate nearest to a mistyped word, if one is near enough to be meant.
///
/// `suggest("rate_rpz", ["rate_rps", "users"])` is `Some("rate_rps")`.
pub fn suggest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    similar::get_close_matches(word, &candidates, 1, 0.6)
        .first()
        .copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_word_is_suggested_and_a_far_one_is_not() {
        assert_eq!(suggest("clsed", ["closed", "open"]), Some("closed"));
        assert_eq!(suggest("banana", ["closed", "open"]), None);
    }
}
