//! Files of a commit, read without checking it out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::commit::Commit;
use super::error::GitError;
use super::repository::Repository;

/// Something that lies in a folder of a commit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeEntry {
    /// Its name, without the folder's.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
}

impl Repository {
    /// The text of a file of a commit, by its path from the top with `/`; `None` where no file lies there.
    pub fn read(&self, commit: &Commit, path: &str) -> Result<Option<String>, GitError> {
        Ok(self.read_all(commit, &[path])?.remove(path))
    }

    /// The texts of files of a commit by their paths, in one go; those that are not there are left out.
    pub fn read_all(
        &self,
        commit: &Commit,
        paths: &[&str],
    ) -> Result<BTreeMap<String, String>, GitError> {
        let doing = format!("read files of commit {}", commit.short());
        // A line is a question, so no path may have a line end in it; git has no such file for us.
        let asked: Vec<&str> = paths
            .iter()
            .copied()
            .filter(|path| !path.contains('\n'))
            .collect();
        let mut questions = String::new();
        for path in &asked {
            let _ = writeln!(questions, "{commit}:{path}");
        }
        let out = self
            .ask(&*doing)
            .with(["cat-file", "--batch"])
            .input(questions)
            .out()?;
        let mut rest = &out[..];
        let mut found = BTreeMap::new();
        for path in asked {
            let header = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
            rest = rest.get(header.len() + 1..).unwrap_or_default();
            let header = String::from_utf8_lossy(header);
            if header.ends_with(" missing") {
                continue;
            }
            let size = header.rsplit(' ').next().and_then(|size| size.parse().ok());
            let content =
                size.and_then(|size: usize| Some((rest.get(..size)?, rest.get(size + 1..)?)));
            let Some((content, after)) = content else {
                return Err(self.strange(doing, &header));
            };
            rest = after;
            if header.split(' ').nth(1) != Some("blob") {
                continue;
            }
            let text = String::from_utf8(content.to_vec()).map_err(|_| GitError::NotText {
                path: path.to_owned(),
                commit: commit.short().to_owned(),
            })?;
            found.insert(path.to_owned(), text);
        }
        Ok(found)
    }

    /// What lies in a folder of a commit (`""` is the top), sorted by name; nothing where there is no such
    /// folder.
    pub fn list(&self, commit: &Commit, folder: &str) -> Result<Vec<TreeEntry>, GitError> {
        let doing = format!("list `{folder}` of commit {}", commit.short());
        let folder = folder.trim_matches('/');
        let mut call = self.ask(&*doing).with(["ls-tree", "-z", "--full-tree"]);
        call = call.with([commit.as_str()]);
        if !folder.is_empty() {
            call = call.with(["--", &format!("{folder}/")]);
        }
        let out = call.out()?;
        let mut found = Vec::new();
        for line in out.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            let line = String::from_utf8_lossy(line);
            let Some((kind, path)) = line.split_once('\t') else {
                return Err(self.strange(doing, &line));
            };
            found.push(TreeEntry {
                name: path.rsplit('/').next().unwrap_or(path).to_owned(),
                is_folder: kind.split(' ').nth(1) == Some("tree"),
            });
        }
        found.sort_unstable();
        Ok(found)
    }
}
