//! Where the requests of a run go, and what each of them carries.

use std::collections::BTreeMap;

use crate::access::Access;
use crate::load::Endpoint;
use crate::spec::{Answers, Spec};

/// Where requests of this spec go.
pub(super) fn endpoint(spec: &Spec, bases: &[String], model: String, access: &Access) -> Endpoint {
    Endpoint {
        base_urls: bases.to_vec(),
        api: spec.target.api,
        model,
        access: access.clone(),
        extra: extra(spec),
    }
}

/// Fields of every request's body.
fn extra(spec: &Spec) -> BTreeMap<String, serde_json::Value> {
    let mut extra = spec.request.clone();
    if spec.target.connection.answers == Answers::Whole {
        extra.insert("stream".to_owned(), false.into());
    }
    extra
}

/// A URL without what stands before its host.
pub(super) fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("//") else {
        return url.to_owned();
    };
    let end = rest.find('/').unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}//{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_stay_out_of_files() {
        assert_eq!(
            without_credentials("https://me:secret@host:1/x"),
            "https://host:1/x"
        );
        assert_eq!(without_credentials("http://host/a@b"), "http://host/a@b");
        assert_eq!(without_credentials("http://host"), "http://host");
    }
}
