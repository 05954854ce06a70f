//! The files of a template: read from its folder, and from nowhere else.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::failure::Failure;
use crate::lang::Lang;
use crate::report::template::{Kind, Template};

/// Bytes of one file.
const MOST_BYTES: u64 = 256 << 10;
/// Files that a template may include.
const MOST_FILES: usize = 64;

/// Reads, parses and tries a template.
pub(super) fn read(path: &Path, lang: Lang) -> Result<Template, Failure> {
    let wrong = |why: &str| {
        Failure::usage(format!(
            "cannot use the template `{}`: {why}",
            path.display()
        ))
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let kind = Kind::of(&name).ok_or_else(|| {
        wrong("its name tells how values are made harmless; let it end in `.md.j2`, `.html.j2` or `.txt.j2`")
    })?;
    let source = bounded(path).map_err(|why| wrong(&why))?;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let folder = folder.canonicalize();
    let folder = folder.map_err(|error| wrong(&error.to_string()))?;
    let read = AtomicUsize::new(0);
    let finder = move |name: &str| {
        if read.fetch_add(1, Ordering::Relaxed) >= MOST_FILES {
            return Err(format!("it includes more than {MOST_FILES} files"));
        }
        included(&folder, name)
    };
    Template::parse(&name, source, (kind, lang), Arc::new(finder))
        .map_err(|error| wrong(&error.to_string()))
}

/// A file by the name that a template gives it, from its folder on.
fn included(folder: &Path, name: &str) -> Result<Option<String>, String> {
    let outside = || format!("`{name}` is not in the template's folder, and nothing else is read");
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if name.contains('\\') || !Path::new(name).components().all(plain) {
        return Err(outside());
    }
    // Links may lead outside.
    let Ok(path) = folder.join(name).canonicalize() else {
        return Ok(None);
    };
    if !path.starts_with(folder) {
        return Err(outside());
    }
    bounded(&path)
        .map(Some)
        .map_err(|why| format!("`{name}`: {why}"))
}

fn bounded(path: &Path) -> Result<String, String> {
    let said = |error: std::io::Error| error.to_string();
    // A pipe would be waited for.
    if !path.metadata().map_err(said)?.is_file() {
        return Err("it is no file".to_owned());
    }
    let mut text = String::new();
    let file = File::open(path).map_err(said)?;
    let read = file.take(MOST_BYTES + 1).read_to_string(&mut text);
    match read.map_err(said)? as u64 {
        bytes if bytes > MOST_BYTES => Err("it is larger than 256 KiB".to_owned()),
        _ => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        std::fs::create_dir_all(folder.path().join("own/parts")).unwrap();
        write("secret.md.j2", "secret");
        write("own/parts/row.md.j2", "a part");
        write("own/long.md.j2", &"x".repeat((256 << 10) + 1));
        folder
    }

    fn used(folder: &tempfile::TempDir, source: &str) -> Result<(), String> {
        let path = folder.path().join("own/t.md.j2");
        std::fs::write(&path, source).unwrap();
        read(&path, Lang::En)
            .map(|_| ())
            .map_err(|failure| failure.render())
    }

    #[test]
    fn parts_come_from_the_templates_own_folder_alone() {
        let folder = folder();
        used(&folder, "{% include 'parts/row.md.j2' %}").unwrap();
        let outside = folder.path().join("secret.md.j2");
        for name in [
            "../secret.md.j2",
            "parts/../../secret.md.j2",
            "../../etc/passwd",
            "/etc/passwd",
            "..\\\\secret.md.j2",
            outside.to_str().unwrap(),
        ] {
            for statement in [
                format!("{{% include '{name}' %}}"),
                format!("{{% extends '{name}' %}}"),
                format!("{{% import '{name}' as x %}}"),
            ] {
                let said = used(&folder, &format!("a\n{statement}")).unwrap_err();
                assert!(said.contains("is not in the template's folder"), "{said}");
                assert!(said.contains("line 2"), "{said}");
                assert!(!said.contains("secret\n"), "{said}");
            }
        }
        let said = used(&folder, "{% include 'gone.md.j2' %}").unwrap_err();
        assert!(said.contains("gone.md.j2"), "{said}");
        let said = used(&folder, "{% include 'long.md.j2' %}").unwrap_err();
        assert!(said.contains("larger than 256 KiB"), "{said}");
        let said = used(&folder, "{% include 'parts' %}").unwrap_err();
        assert!(said.contains("it is no file"), "{said}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_leads_nowhere_else() {
        let folder = folder();
        let link = folder.path().join("own/link.md.j2");
        std::os::unix::fs::symlink("../secret.md.j2", &link).unwrap();
        let said = used(&folder, "{% include 'link.md.j2' %}").unwrap_err();
        assert!(said.contains("is not in the template's folder"), "{said}");
        // Within the folder it may.
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("parts/row.md.j2", &link).unwrap();
        used(&folder, "{% include 'link.md.j2' %}").unwrap();
    }

    #[test]
    fn more_files_than_anyone_needs_are_refused() {
        let folder = folder();
        for i in 0..=MOST_FILES {
            std::fs::write(folder.path().join(format!("own/{i}.md.j2")), "x").unwrap();
        }
        let all = "{% for i in range(COUNT) %}{% include i ~ '.md.j2' %}{% endfor %}";
        used(&folder, &all.replace("COUNT", "64")).unwrap();
        let said = used(&folder, &all.replace("COUNT", "65")).unwrap_err();
        assert!(said.contains("more than 64 files"), "{said}");
    }

    #[test]
    fn a_name_says_what_a_template_makes() {
        let folder = folder();
        let path = folder.path().join("own/t.j2");
        std::fs::write(&path, "x").unwrap();
        let said = read(&path, Lang::En).unwrap_err().render();
        assert!(said.contains("let it end in `.md.j2`"), "{said}");
        let said = read(&folder.path().join("gone.md"), Lang::En).unwrap_err();
        assert!(said.render().contains("cannot use the template"));
    }
}
