//! Where files stand in the repository, whatever folder a command was called in.

use std::path::{Component, Path, PathBuf};

use crate::cli::context::Context;

/// The repository's root and the folder in which paths are read.
#[derive(Debug, Clone, Default)]
pub(super) struct Root {
    root: PathBuf,
    here: PathBuf,
}

impl Root {
    /// That of this job: CI says where it put the repository, else the folder is taken for it.
    pub(super) fn of(context: &Context) -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        let names = [
            "GITHUB_WORKSPACE",
            "CI_PROJECT_DIR",
            "BUILDKITE_BUILD_CHECKOUT_PATH",
        ];
        let named = names
            .iter()
            .find_map(|name| context.variable(name).filter(|value| !value.is_empty()));
        let root = named.map_or_else(|| here.clone(), PathBuf::from);
        Self { root, here }
    }

    /// A path relative to the root, with `/` between its parts; `None` where it is outside of it.
    pub(super) fn path(&self, path: &str) -> Option<String> {
        let mut parts: Vec<String> = Vec::new();
        for part in self.here.join(Path::new(path)).components() {
            match part {
                Component::ParentDir => {
                    parts.pop()?;
                }
                Component::Normal(part) => parts.push(part.to_str()?.to_owned()),
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
        }
        let root = self.root.components().filter_map(|part| match part {
            Component::Normal(part) => part.to_str(),
            _ => None,
        });
        let root: Vec<&str> = root.collect();
        let below =
            parts.len() > root.len() && parts.iter().zip(&root).all(|(part, root)| part == root);
        below.then(|| parts[root.len()..].join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_repositorys_whatever_the_folder() {
        let root = Root {
            root: PathBuf::from("/w/engine"),
            here: PathBuf::from("/w/engine/bench"),
        };
        assert_eq!(root.path("spec.yaml").as_deref(), Some("bench/spec.yaml"));
        assert_eq!(
            root.path("./a/../../gate/chat.yaml").as_deref(),
            Some("gate/chat.yaml")
        );
        assert_eq!(
            root.path("/w/engine/gate.yaml").as_deref(),
            Some("gate.yaml")
        );
        for outside in [
            "../../other/spec.yaml",
            "/etc/passwd",
            "..",
            "/w/engines/spec.yaml",
        ] {
            assert_eq!(root.path(outside), None, "{outside}");
        }
    }
}
