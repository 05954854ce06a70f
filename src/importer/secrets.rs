//! Keeps secrets of other tools' files out of everything that is made of them.

use std::collections::BTreeSet;

use crate::ident::Secret;

/// Names of fields whose values are never shown, in lower case without `_` and `-`.
const NAMES: [&str; 10] = [
    "apikey",
    "authorization",
    "secret",
    "password",
    "passwd",
    "credential",
    "accesstoken",
    "authtoken",
    "hftoken",
    "bearer",
];
/// Starts of well-known keys.
const STARTS: [&str; 9] = [
    "sk-",
    "hf_",
    "ghp_",
    "gho_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "AKIA",
    "eyJ",
];
/// Shortest value that is masked wherever it stands: shorter ones are words.
const SHORTEST: usize = 6;

/// Secrets that stand in a file.
#[derive(Debug, Default)]
pub(super) struct Secrets(Vec<Secret>);

impl Secrets {
    /// These values of fields that are called like one.
    pub(super) fn of(found: BTreeSet<String>) -> Self {
        let mut found: Vec<String> = found.into_iter().collect();
        // Longest first, so that one within another leaves no rest.
        found.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Self(found.into_iter().map(Secret::new).collect())
    }

    /// A text of the file without secrets: those that stand in it, what follows their names, credentials in
    /// URLs, and well-known keys.
    pub(super) fn clean(&self, text: &str) -> String {
        let known = self
            .0
            .iter()
            .fold(text.to_owned(), |text, secret| secret.mask(&text));
        let mut out = String::with_capacity(known.len());
        let mut masks_next = false;
        for word in
            known.split_inclusive(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | ','))
        {
            let end = word
                .trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | ','))
                .len();
            let (body, rest) = word.split_at(end);
            let named = is_name(body.trim_end_matches([':', '=']));
            if masks_next && !body.is_empty() && !matches!(body, ":" | "=") {
                if body.eq_ignore_ascii_case("bearer") || body.eq_ignore_ascii_case("basic") {
                    out.push_str(body);
                } else {
                    out.push_str(Secret::MASK);
                    masks_next = false;
                }
            } else {
                out.push_str(&clean_word(body));
                masks_next |= named || body.eq_ignore_ascii_case("bearer");
            }
            out.push_str(rest);
        }
        out
    }
}

/// What is masked of the value of such a field; `None` of what is too short to be told from a word.
pub(super) fn worth_masking(text: &str) -> Option<&str> {
    let bare = text.strip_prefix("Bearer ").unwrap_or(text).trim();
    (bare.len() >= SHORTEST).then_some(bare)
}

/// Whether a field is called like a secret.
pub(super) fn is_name(key: &str) -> bool {
    let letters = || {
        let letters = key.bytes().rev().filter(u8::is_ascii_alphanumeric);
        letters.map(|byte| byte.to_ascii_lowercase())
    };
    NAMES.iter().any(|name| {
        let mut letters = letters();
        name.bytes().rev().all(|byte| letters.next() == Some(byte))
    })
}

/// One word: a URL without its credentials and its query, `key=value` without the value, a known key not at all.
fn clean_word(word: &str) -> String {
    if let Some((name, value)) = word.split_once(['=', ':'])
        && is_name(name)
        && !value.is_empty()
    {
        return format!("{}{}", &word[..=name.len()], Secret::MASK);
    }
    let bare = word.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let looks = STARTS.iter().any(|start| bare.starts_with(start)) && bare.len() >= 16;
    if looks {
        return Secret::MASK.to_owned();
    }
    match word.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", without_credentials(rest)),
        None => word.to_owned(),
    }
}

fn without_credentials(rest: &str) -> String {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let path = path.split(['?', '#']).next().unwrap_or("");
    format!("{host}{path}")
}

#[cfg(test)]
mod tests {
    use crate::importer::document::Document;

    #[test]
    fn no_secret_stays_in_a_text() {
        let file = r#"{"auth_config": {"api_key": "plain-value-1"}, "x": [{"Authorization": "Bearer abcdef123"}]}"#;
        let secrets = Document::read(&file).unwrap().secrets;
        for (text, clean) in [
            ("http://user:pw@host:8000/v1?key=1", "http://host:8000/v1"),
            ("refused plain-value-1 there", "refused [masked] there"),
            ("token abcdef123", "token [masked]"),
            ("--api-key xyz --model m", "--api-key [masked] --model m"),
            (
                "Authorization: Bearer qqq",
                "Authorization: Bearer [masked]",
            ),
            ("api_key=zzz", "api_key=[masked]"),
            ("'sk-0123456789abcdef0123'", "'[masked]'"),
            ("meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B"),
        ] {
            assert_eq!(secrets.clean(text), clean);
        }
    }
}
