use std::collections::BTreeMap;

use super::*;
use crate::ident::Secret;
use crate::spec::Api;

fn client(base_url: &str, key: Option<&str>) -> Result<Client, ClientError> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let endpoint = Endpoint {
        base_urls: vec![base_url.to_owned()],
        api: Api::Chat,
        model: "tiny".to_owned(),
        access: Access {
            key: key.map(|key| Secret::new(key.to_owned())),
            ..Access::default()
        },
        extra: BTreeMap::new(),
    };
    assert!(!format!("{endpoint:?}").contains("sk-"));
    Client::new(&endpoint, Nanos::from_secs(1))
}

#[test]
fn urls_are_http() {
    for url in [
        "http://127.0.0.1:8000",
        "https://host/prefix/",
        "http://[::1]:80",
    ] {
        let client = client(url, None).unwrap();
        assert!(
            client.shared.places[0]
                .0
                .request
                .path()
                .ends_with("/v1/chat/completions"),
            "{url}"
        );
        assert!(
            !client.shared.places[0].0.request.path().contains("//"),
            "{url}"
        );
    }
    for url in ["127.0.0.1:8000", "ftp://host", "", "http://"] {
        assert!(
            matches!(client(url, None), Err(ClientError::Url { .. })),
            "{url}"
        );
    }
}

#[test]
fn texts_lose_the_key_and_stay_short() {
    let client = client("http://localhost", Some("sk-1234")).unwrap();
    assert_eq!(client.clean("bad key sk-1234!"), "bad key [masked]!");
    assert_eq!(client.clean(&"ü".repeat(600)).chars().count(), 500);
    assert!(!format!("{client:?}").contains("sk-1234"));
    assert!(matches!(
        self::client("http://localhost", Some("sk-\n")),
        Err(ClientError::Key)
    ));
}
