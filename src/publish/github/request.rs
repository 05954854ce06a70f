//! One request to GitHub, and the answer to it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::fault::Fault;
use super::patience::Repeats;

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Method {
    /// Looks.
    Get,
    /// Makes something new.
    Post,
    /// Changes what is there.
    Patch,
}

impl Method {
    /// As it goes over the wire.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
        }
    }
}

/// One request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Request {
    /// What is done.
    pub(super) method: Method,
    /// On what: the whole URL.
    pub(super) url: String,
    /// With what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<Value>,
    /// Whether it may be sent twice.
    #[serde(skip)]
    pub(super) repeats: Repeats,
}

/// An answer that is no error.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    /// Its body; null where it has none.
    pub(super) body: Value,
    /// The URL of the next page, of the same origin as the API.
    pub(super) next: Option<String>,
}

impl Answer {
    /// The fields that are needed of it.
    pub(super) fn read<T: DeserializeOwned>(self) -> Result<T, Fault> {
        serde_json::from_value(self.body).map_err(|error| Fault::Odd {
            why: format!("its JSON is not what was asked for ({error})"),
        })
    }
}

/// The URL of the next page in a `Link` header.
pub(super) fn next_of(link: &str) -> Option<&str> {
    link.split(',').find_map(|part| {
        let (url, parameters) = part.trim().strip_prefix('<')?.split_once('>')?;
        let next = |parameter: &str| matches!(parameter.trim(), r#"rel="next""# | "rel=next");
        parameters.split(';').any(next).then_some(url)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_found_among_links() {
        let link = r#"<https://a/x?page=1>; rel="prev", <https://a/x?page=3>; rel="next", <https://a/x?page=9>; rel="last""#;
        assert_eq!(next_of(link), Some("https://a/x?page=3"));
        assert_eq!(next_of(r#"<https://a/x?page=1>; rel="first""#), None);
        assert_eq!(next_of("nonsense"), None);
    }
}
