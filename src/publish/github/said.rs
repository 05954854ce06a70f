//! What an answer that is an error says.

use std::time::Duration;

use serde_json::Value;

use super::fault::Fault;
use crate::ident::Secret;

/// Most characters of GitHub's words that are passed on.
const LONGEST: usize = 300;

/// The fault that an answer of this status is.
pub(super) fn fault<'a>(
    status: u16,
    json: Option<&Value>,
    header: &dyn Fn(&str) -> Option<&'a str>,
    token: &Secret,
) -> Fault {
    if status >= 500 {
        return Fault::Unavailable { status };
    }
    let said = match json.and_then(said_in) {
        Some(said) => line(&token.mask(&said)),
        None => "without a word".to_owned(),
    };
    limited(status, &said, header).unwrap_or(Fault::Refused { status, said })
}

/// The limit that an answer is, if it is one: by `retry-after`, or until the hour is over.
fn limited<'a>(status: u16, said: &str, header: &dyn Fn(&str) -> Option<&'a str>) -> Option<Fault> {
    if !matches!(status, 403 | 429) {
        return None;
    }
    let fault = |wait| {
        Some(Fault::Limited {
            wait,
            said: format!("{status}, {said}"),
        })
    };
    let seconds = |name: &str| header(name)?.parse::<u64>().ok();
    if let Some(wait) = seconds("retry-after") {
        return fault(Some(Duration::from_secs(wait)));
    }
    if seconds("x-ratelimit-remaining") == Some(0) {
        let now = header("date").and_then(|date| httpdate::parse_http_date(date).ok());
        let now = now.and_then(|now| now.duration_since(std::time::UNIX_EPOCH).ok());
        let reset = seconds("x-ratelimit-reset").map(Duration::from_secs);
        // A second more, for both are cut to whole ones.
        let wait =
            |(reset, now): (Duration, Duration)| reset.saturating_sub(now) + Duration::from_secs(1);
        return fault(reset.zip(now).map(wait));
    }
    if status == 429 || said.contains("rate limit") {
        fault(None)
    } else {
        None
    }
}

/// GitHub's words in an error: its message, and what is wrong with which field.
fn said_in(json: &Value) -> Option<String> {
    let mut said = json.get("message")?.as_str()?.to_owned();
    for error in json
        .get("errors")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let words = match error {
            Value::String(words) => words.clone(),
            error => {
                let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
                [text("field"), text("code"), text("message")]
                    .join(" ")
                    .trim()
                    .to_owned()
            }
        };
        said = format!("{said}: {words}");
    }
    Some(said)
}

/// Somebody else's words on one line, without control characters.
pub(super) fn line(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.trim_end_matches('.')
        .chars()
        .map(plain)
        .take(LONGEST)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The wait of a limit; nothing where it is none.
    fn limit(status: u16, said: &str, headers: &[(&str, &'static str)]) -> Option<Fault> {
        let header = |name: &str| {
            headers
                .iter()
                .find(|(own, _)| *own == name)
                .map(|(_, value)| *value)
        };
        limited(status, said, &header)
    }

    #[test]
    fn a_limit_says_how_long_it_lasts_in_one_of_two_ways() {
        let lasts = |seconds: Option<u64>, said: &str| {
            let wait = seconds.map(Duration::from_secs);
            Some(Fault::Limited {
                wait,
                said: said.to_owned(),
            })
        };
        assert_eq!(
            limit(403, "x", &[("retry-after", "7")]),
            lasts(Some(7), "403, x")
        );
        let hour = [
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", "784111807"),
            ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ];
        assert_eq!(limit(403, "x", &hour), lasts(Some(31), "403, x"));
        assert_eq!(limit(429, "x", &[]), lasts(None, "429, x"));
        assert_eq!(
            limit(403, "a secondary rate limit", &[]),
            lasts(None, "403, a secondary rate limit")
        );
        assert_eq!(
            limit(
                403,
                "Resource not accessible",
                &[("x-ratelimit-remaining", "12")]
            ),
            None
        );
        assert_eq!(limit(422, "x", &[("retry-after", "7")]), None);
    }

    #[test]
    fn what_github_says_is_one_line_without_the_token() {
        let json = json!({"message": "Validation\nFailed for t0ken", "errors": [
            {"field": "body", "code": "custom", "message": "body is too long"}, "::error::x\u{1b}[2J."
        ]});
        let token = Secret::new("t0ken".to_owned());
        let Fault::Refused { said, .. } = fault(422, Some(&json), &|_| None, &token) else {
            panic!("it is a refusal")
        };
        assert_eq!(
            said,
            "Validation Failed for [masked]: body custom body is too long: ::error::x [2J"
        );
    }
}
