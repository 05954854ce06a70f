//! Where a commit can be looked at: the pages of known forges.

/// Pages of one repository's commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forge {
    commits: String,
}

/// Why a text leads to no commits; completes the sentence "`x` …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "is no repository of a known forge; write it like `https://github.com/OWNER/NAME` \
     (hosts: github.com, gitlab.com, codeberg.org, bitbucket.org, or a host that begins with `github.` or `gitlab.`)"
)]
pub struct UnknownForge;

impl Forge {
    /// Of a remote's address as git has it: `https://github.com/o/r.git`, `git@github.com:o/r.git`,
    /// `ssh://git@gitlab.com/o/r`. What stands before the host, a token perhaps, is left out.
    pub fn of(remote: &str) -> Result<Self, UnknownForge> {
        let (host, path) = split(remote.trim()).ok_or(UnknownForge)?;
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
        let parts = path.split('/');
        let sound = path.chars().all(allowed)
            && path.contains('/')
            && parts
                .clone()
                .all(|part| !part.is_empty() && !part.starts_with('.'));
        if !sound {
            return Err(UnknownForge);
        }
        let host = host.to_ascii_lowercase();
        let between = match host.as_str() {
            "github.com" | "codeberg.org" => "commit",
            "gitlab.com" => "-/commit",
            "bitbucket.org" => "commits",
            host if host.starts_with("github.") => "commit",
            host if host.starts_with("gitlab.") => "-/commit",
            _ => return Err(UnknownForge),
        };
        Ok(Self {
            commits: format!("https://{host}/{path}/{between}/"),
        })
    }

    /// The page of a commit; `None` of what is none in full.
    pub fn commit(&self, commit: &str) -> Option<String> {
        let full = matches!(commit.len(), 40 | 64);
        let hex = commit.bytes().all(|b| b.is_ascii_hexdigit());
        (full && hex).then(|| format!("{}{commit}", self.commits))
    }
}

/// Host and path.
fn split(remote: &str) -> Option<(&str, &str)> {
    let (authority, path) = match remote.split_once("://") {
        Some(("https" | "http" | "ssh" | "git", rest)) => rest.split_once('/')?,
        Some(_) => return None,
        None => remote.split_once(':')?,
    };
    let host = authority.rsplit('@').next()?;
    let host = host.split(':').next()?;
    let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    (!host.is_empty() && host.chars().all(is_host)).then_some((host, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_lead_to_the_page_of_a_commit() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        for (remote, page) in [
            (
                "https://github.com/o/r.git",
                "https://github.com/o/r/commit/",
            ),
            ("git@github.com:o/r.git", "https://github.com/o/r/commit/"),
            (
                "https://x:ghp_secret@github.com/o/r",
                "https://github.com/o/r/commit/",
            ),
            (
                "ssh://git@gitlab.com:22/g/s/r.git",
                "https://gitlab.com/g/s/r/-/commit/",
            ),
            (
                "https://gitlab.example.org/g/r",
                "https://gitlab.example.org/g/r/-/commit/",
            ),
            (
                "https://bitbucket.org/o/r/",
                "https://bitbucket.org/o/r/commits/",
            ),
        ] {
            let forge = Forge::of(remote).unwrap();
            assert_eq!(forge.commit(commit).unwrap(), format!("{page}{commit}"));
            assert_eq!(forge.commit("main"), None);
            assert_eq!(forge.commit("\"><script>"), None);
        }
    }

    #[test]
    fn what_is_no_known_forge_links_nowhere() {
        for remote in [
            "",
            "/srv/git/r.git",
            "https://example.com/o/r",
            "javascript:alert(1)//github.com/o/r",
            "https://github.com/o",
            "https://github.com/../r",
            "https://github.com/o/r\"onclick=\"x",
            "file:///o/r",
            "https://evil.example@/o/r",
        ] {
            assert_eq!(Forge::of(remote), Err(UnknownForge), "{remote}");
        }
    }
}
