//! Whose comments are ours.

use serde::Deserialize;
use serde_json::json;

use super::client::Client;
use super::fault::Fault;

/// Who publishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Author {
    /// By this name.
    Named(String),
    /// Some app whose name is not told.
    SomeBot,
}

/// Somebody on GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct User {
    login: String,
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Viewer {
    viewer: Login,
}

#[derive(Debug, Deserialize)]
struct Login {
    login: String,
}

impl Author {
    /// Asks who the token is. A job's own token may ask by GraphQL alone; where that is not to be had,
    /// people are told by their name and apps are taken for one another.
    pub(super) async fn of(client: &Client) -> Result<Self, Fault> {
        match client
            .graphql::<Viewer>("query { viewer { login } }", json!({}))
            .await
        {
            Ok(answer) => return Ok(Self::Named(answer.viewer.login)),
            Err(fault) if fault.is(401) => return Err(fault),
            Err(_) => {}
        }
        match client.get::<Login>("/user").await {
            Ok(user) => Ok(Self::Named(user.login)),
            Err(fault) if fault.is(401) => Err(fault),
            Err(_) => Ok(Self::SomeBot),
        }
    }

    /// Whether a comment is ours by its author; one whose account is gone has none.
    pub(super) fn wrote(&self, user: Option<&User>) -> bool {
        let Some(User { login, kind }) = user else {
            return false;
        };
        let bot = kind.as_deref() == Some("Bot");
        match self {
            Self::SomeBot => bot,
            // `name[bot]` is an app, `name` a person, and GraphQL leaves the brackets out in places.
            Self::Named(name) => {
                login == name || (bot && login.strip_suffix("[bot]") == Some(name))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_no_app_of_the_same_name() {
        let user = |login: &str, kind: &str| User {
            login: login.to_owned(),
            kind: Some(kind.to_owned()),
        };
        let app = Author::Named("gate[bot]".to_owned());
        assert!(app.wrote(Some(&user("gate[bot]", "Bot"))));
        assert!(!app.wrote(Some(&user("gate", "User"))));
        let bare = Author::Named("gate".to_owned());
        assert!(bare.wrote(Some(&user("gate[bot]", "Bot"))));
        assert!(!bare.wrote(Some(&user("gate[bot]", "User"))));
        assert!(!Author::SomeBot.wrote(Some(&user("mallory", "User"))));
        assert!(Author::SomeBot.wrote(Some(&user("x[bot]", "Bot"))));
        assert!(!app.wrote(None));
    }
}
