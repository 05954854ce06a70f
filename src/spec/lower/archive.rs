//! `archive`: the branch in which promoted sessions are kept.

use crate::spec::archive::{Archive, ArchivePlace};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{Fields, Noted, Shape};
use crate::spec::node::Node;
use crate::spec::values;

const SHAPE: Shape = Shape {
    known: &["branch", "remote", "repository", "folder"],
    later: &[],
    example: "archive: {branch: infergate-archive}",
};
const BRANCH: &str = "branch: infergate-archive";
const REMOTE: &str = "remote: origin";
const REPOSITORY: &str = "repository: https://github.com/org/perf-archive.git";
const FOLDER: &str = "folder: perf/baselines";

/// Where the spec names one.
pub(super) fn lower(fields: &Fields<'_>, out: &mut Diagnostics) -> Result<Option<Archive>, Noted> {
    fields.optional("archive", out, archive)
}

fn archive(node: &Node, out: &mut Diagnostics) -> Option<Archive> {
    let fields = Fields::open(node, "`archive`", &SHAPE, out)?;
    let branch = fields.need("branch", BRANCH, out).and_then(|node| {
        let text = values::text(node, "`branch`", BRANCH, out)?;
        let parsed = text.parse();
        if let Err(error) = &parsed {
            out.error(
                "spec::bad-name",
                &node.span,
                format!("{} {error}", node.describe()),
                format!("write it like `{BRANCH}`"),
            );
        }
        parsed.ok()
    });
    let remote = fields.optional("remote", out, remote);
    let repository = fields.optional("repository", out, repository);
    let folder = fields.or("folder", String::new(), out, folder);
    let place = match (remote.ok()?, repository.ok()?) {
        (Some(_), Some(_)) => {
            out.error(
                "spec::conflicting-fields",
                fields.key_span("repository").unwrap_or(fields.span()),
                "`archive` has both `remote` and `repository`",
                "keep `remote` where the checkout has one of that name, else `repository`",
            );
            return None;
        }
        (Some(remote), None) => ArchivePlace::Remote(remote),
        (None, Some(repository)) => ArchivePlace::Repository(repository),
        (None, None) => ArchivePlace::Unsaid,
    };
    Some(Archive {
        branch: branch?,
        place,
        folder: folder?,
    })
}

fn remote(node: &Node, out: &mut Diagnostics) -> Option<String> {
    let text = values::text(node, "`remote`", REMOTE, out)?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(allowed) {
        return Some(text.to_owned());
    }
    let help = if text.contains(['/', ':']) {
        format!("a URL or path goes into `{REPOSITORY}`")
    } else {
        format!("write it as `git remote` lists it: `{REMOTE}`")
    };
    let what = format!("{} is not the name of a remote", node.describe());
    out.error("spec::bad-name", &node.span, what, help);
    None
}

fn repository(node: &Node, out: &mut Diagnostics) -> Option<String> {
    let text = values::text(node, "`repository`", REPOSITORY, out)?.trim();
    let authority = text.split_once("://").and_then(|(scheme, rest)| {
        // The user of an ssh URL is no secret.
        (scheme != "ssh").then(|| rest.split('/').next().unwrap_or_default())
    });
    let fault = if text.is_empty() || text.starts_with('-') {
        "is not the URL or path of a repository"
    } else if authority.is_some_and(|authority| authority.contains('@')) {
        "has credentials in it; leave them to git's credential helper"
    } else if text.contains("::") || text.contains(char::is_control) {
        "is not a URL that git itself serves"
    } else {
        return Some(text.to_owned());
    };
    let (what, help) = (
        format!("`repository` {fault}"),
        format!("write it like `{REPOSITORY}`"),
    );
    out.error("spec::bad-url", &node.span, what, help);
    None
}

fn folder(node: &Node, out: &mut Diagnostics) -> Option<String> {
    let text = values::text(node, "`folder`", FOLDER, out)?;
    let plain = |part: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && part.chars().all(allowed)
    };
    let inner = text.strip_suffix('/').unwrap_or(text);
    if inner.split('/').all(plain) {
        return Some(inner.to_owned());
    }
    out.error(
        "spec::bad-name",
        &node.span,
        format!("{} is not a folder of the branch", node.describe()),
        format!("write it from the branch's top, with letters, digits, `-`, `_`, `.` and `/`: `{FOLDER}`"),
    );
    None
}
