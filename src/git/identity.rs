//! Who works in a repository.

use super::error::GitError;
use super::repository::Repository;

impl Repository {
    /// The user that git's configuration names, `NAME <EMAIL>`; `None` where it names none.
    pub fn author(&self) -> Result<Option<String>, GitError> {
        let value = |key: &str| {
            let doing = "read git's configuration";
            let answer = self.ask(doing).with(["config", "--get", key]).answer()?;
            Ok::<_, GitError>(
                Some(answer.text()).filter(|text| answer.code == Some(0) && !text.is_empty()),
            )
        };
        Ok(match (value("user.name")?, value("user.email")?) {
            (Some(name), Some(email)) => Some(format!("{name} <{email}>")),
            (name, email) => name.or(email),
        })
    }
}
