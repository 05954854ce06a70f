//! octocrab, as far as it is used: it carries requests to one server, with the token.
//!
//! Its typed models fail on data that GitHub sends (`user: null`), its `update_comment` sends a POST, its
//! repeats of a POST leave two comments, and its own stack adds a second name of the program and a path
//! before that of GraphQL. So requests, answers and repeats are our own.

use http_body_util::{BodyExt as _, Limited};
use octocrab::service::middleware::auth_header::AuthHeaderLayer;
use octocrab::service::middleware::reqwest_connector::ReqwestConnector;
use octocrab::{AuthState, Octocrab, OctocrabBuilder};
use serde_json::Value;

use super::fault::Fault;
use super::request::{Answer, Request, next_of};
use super::said;
use crate::access::causes;
use crate::ident::Secret;
use crate::publish::api_url::ApiUrl;
use crate::publish::outbound::USER_AGENT;

/// Longest answer that is read: a hundred comments of the longest kind are 26 MB.
const LONGEST: usize = 64 << 20;

/// The version of the API that is spoken.
const VERSION: &str = "2022-11-28";

/// The way to one server.
pub(super) struct Transport {
    octo: Octocrab,
    token: Secret,
    api: ApiUrl,
}

impl Transport {
    /// To an API, with a token that goes to no other server.
    pub(super) fn new(http: reqwest::Client, api: &ApiUrl, token: Secret) -> Result<Self, String> {
        let origin: http::Uri = api.origin().parse().map_err(|error| format!("{error}"))?;
        let bearer = format!("Bearer {}", token.expose());
        let mut bearer = http::HeaderValue::from_str(&bearer).map_err(|error| error.to_string())?;
        bearer.set_sensitive(true);
        let auth = AuthHeaderLayer::new(Some(bearer), origin.clone(), origin);
        let built = OctocrabBuilder::new_empty()
            .with_service(ReqwestConnector::new(http))
            .with_layer(&auth)
            .with_auth(AuthState::None)
            .build();
        match built {
            Ok(octo) => Ok(Self {
                octo,
                token,
                api: api.clone(),
            }),
            Err(never) => match never {},
        }
    }

    /// Sends a request once.
    pub(super) async fn send(&self, request: &Request) -> Result<Answer, Fault> {
        let wire = http::Request::builder()
            .method(request.method.as_str())
            .uri(&request.url)
            .header("accept", "application/vnd.github+json")
            .header("user-agent", USER_AGENT)
            .header("x-github-api-version", VERSION);
        let wire = match &request.body {
            Some(body) => wire
                .header("content-type", "application/json")
                .body(body.to_string()),
            None => wire.body(String::new()),
        };
        let wire = wire.map_err(|error| Fault::Odd {
            why: error.to_string(),
        })?;
        let silent = |error: &(dyn std::error::Error + 'static)| Fault::Silent {
            why: self.token.mask(&causes(error)),
            arrived: !is_connect(error),
        };
        let response = self
            .octo
            .execute(wire)
            .await
            .map_err(|error| silent(&error))?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, LONGEST).collect().await;
        let body = body.map_err(|error| silent(&*error))?.to_bytes();
        let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
        let json = serde_json::from_slice::<Value>(&body);
        if !head.status.is_success() {
            let status = head.status.as_u16();
            return Err(said::fault(
                status,
                json.as_ref().ok(),
                &header,
                &self.token,
            ));
        }
        let body = match json {
            Ok(json) => json,
            Err(_) if body.is_empty() => Value::Null,
            Err(error) => {
                return Err(Fault::Odd {
                    why: format!("it is no JSON ({error})"),
                });
            }
        };
        let next = self.next(header("link"))?;
        Ok(Answer { body, next })
    }

    /// The next page, which has to be where the token belongs.
    fn next(&self, link: Option<&str>) -> Result<Option<String>, Fault> {
        match link.and_then(next_of) {
            Some(next) if self.api.is_origin_of(next) => Ok(Some(next.to_owned())),
            Some(_) => Err(Fault::Odd {
                why: "its next page is at another server".to_owned(),
            }),
            None => Ok(None),
        }
    }
}

fn is_connect(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error
            .downcast_ref::<reqwest::Error>()
            .is_some_and(reqwest::Error::is_connect)
        {
            return true;
        }
        cause = error.source();
    }
    false
}
