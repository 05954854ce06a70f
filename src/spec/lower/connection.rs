//! The part of `target` that says how it is spoken to: keys, headers, certificates, HTTP.

use std::path::PathBuf;

use crate::ident::Secret;
use crate::spec::class::Class;
use crate::spec::connection::{
    Answers, Compression, HttpVersion, IdentityFiles, KeySource, TargetConnection,
};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{Fields, Shape, wrong_type};
use crate::spec::gate::Gate;
use crate::spec::model::SloClause;
use crate::spec::node::{Entry, Kind, Node};
use crate::spec::values;
use crate::spec::variables::is_variable_name;

const TLS: Shape = Shape {
    known: &["ca", "cert", "key"],
    later: &[],
    example: "tls: {ca: certs/ca.pem, cert: certs/client.pem, key: certs/client.key}",
};

const HEADERS: &str = "headers: {x-team: perf, x-route: \"${ROUTE}\"}";

/// Headers that are ours to write.
const OURS: [&str; 9] = [
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "proxy-authorization",
    "transfer-encoding",
    "user-agent",
    "x-request-id",
];

pub(super) fn lower(fields: &Fields<'_>, out: &mut Diagnostics) -> Option<TargetConnection> {
    let key = key(fields, out);
    let headers = fields.optional("headers", out, headers).ok();
    let headers = headers.map(Option::unwrap_or_default);
    if let (Ok(Some(_)), Some(headers)) = (&key, &headers)
        && headers.iter().any(|(name, _)| name == "authorization")
    {
        out.error(
            "spec::conflicting-fields",
            fields.key_span("headers").unwrap_or(fields.span()),
            "`headers` has `authorization`, which the API key goes into",
            "keep one of them",
        );
    }
    let tls = tls(fields, out);
    let http = fields.or("http", HttpVersion::Http1, out, |node, out| {
        let options = [("1.1", HttpVersion::Http1), ("2", HttpVersion::Http2)];
        values::choice(node, "`http`", &options, &["3"], out)
    });
    let compression = fields.or("compression", Compression::None, out, |node, out| {
        let options = [("none", Compression::None), ("gzip", Compression::Gzip)];
        values::choice(node, "`compression`", &options, &["br", "zstd"], out)
    });
    let answers = fields.or("streaming", Answers::Streamed, out, |node, out| {
        let streams = values::boolean(node, "`streaming`", "streaming: false", out)?;
        Some(if streams {
            Answers::Streamed
        } else {
            Answers::Whole
        })
    });
    let (ca, identity) = tls?;
    Some(TargetConnection {
        key: key.ok()?,
        headers: headers?,
        ca,
        identity,
        http: http?,
        compression: compression?,
        answers: answers?,
    })
}

/// Refuses limits on what a whole answer does not show.
pub(super) fn refuse_unseen(
    fields: &Fields<'_>,
    classes: &[Class],
    gate: Option<&Gate>,
    out: &mut Diagnostics,
) {
    let Some(field) = streaming(fields, out) else {
        return;
    };
    let clauses = classes.iter().flat_map(|class| {
        let unseen = class.slo.keys().filter(|clause| **clause != SloClause::E2e);
        unseen.map(|clause| format!("`{}` in the SLO of `{}`", clause.name(), class.name))
    });
    let cells = gate.into_iter().flat_map(|gate| &gate.cells);
    let cells = cells
        .filter(|cell| cell.cell.metric.metric().needs_stream())
        .map(|cell| format!("the cell `{}`", cell.cell));
    let unseen: Vec<String> = clauses.chain(cells).collect();
    if !unseen.is_empty() {
        out.error(
            "spec::contradiction",
            &field.key_span,
            format!(
                "a whole answer has no token instants, so nothing measures {}",
                unseen.join(", ")
            ),
            "keep to `e2e`, rates and shares, or let answers stream",
        );
    }
}

/// The field that says so, of the target or of one of two.
fn streaming<'n>(fields: &Fields<'n>, out: &mut Diagnostics) -> Option<&'n Entry> {
    fn within(node: &Node) -> &[Entry] {
        match &node.kind {
            Kind::Mapping(entries) => entries,
            Kind::Null | Kind::Scalar(_) | Kind::Sequence(_) => &[],
        }
    }
    let named = |entries: &'n [Entry]| entries.iter().find(|entry| entry.key == "streaming");
    let target = fields.get("target", out).map(within);
    let layers = fields.get("targets", out).map(within);
    let layers = layers
        .into_iter()
        .flatten()
        .map(|entry| within(&entry.value));
    target.into_iter().chain(layers).find_map(named)
}

fn key(
    fields: &Fields<'_>,
    out: &mut Diagnostics,
) -> Result<Option<KeySource>, crate::spec::fields::Noted> {
    if fields.has("api_key_env") && fields.has("api_key_file") {
        fields.exactly_one(
            &["api_key_env", "api_key_file"],
            "api_key_env: TARGET_API_KEY",
            out,
        );
    }
    let variable = fields.optional("api_key_env", out, variable)?;
    let file = fields.optional("api_key_file", out, |node, out| {
        path(node, "`api_key_file`", "secrets/key", out)
    })?;
    Ok(variable
        .map(KeySource::Env)
        .or_else(|| file.map(KeySource::File)))
}

/// The name of a variable. What was given instead may be the key itself, so it is not repeated.
fn variable(node: &Node, out: &mut Diagnostics) -> Option<String> {
    let text = values::text(node, "`api_key_env`", "TARGET_API_KEY", out)?;
    if !is_variable_name(text) {
        out.error(
            "spec::bad-name",
            &node.span,
            "`api_key_env` must be the name of an environment variable",
            "give the name and never the key: `api_key_env: TARGET_API_KEY`",
        );
        return None;
    }
    Some(text.to_owned())
}

fn path(node: &Node, what: &str, example: &str, out: &mut Diagnostics) -> Option<PathBuf> {
    let text = values::text(node, what, example, out)?.trim();
    if text.is_empty() {
        wrong_type(node, what, "a file's path", example, out);
        return None;
    }
    Some(text.into())
}

/// Headers by lowercase name. A value may be a secret, so it is never shown.
fn headers(node: &Node, out: &mut Diagnostics) -> Option<Vec<(String, Secret)>> {
    let Kind::Mapping(entries) = &node.kind else {
        wrong_type(node, "`headers`", "a mapping", HEADERS, out);
        return None;
    };
    let mut headers: Vec<(String, Secret)> = Vec::with_capacity(entries.len());
    let mut good = true;
    for entry in entries {
        let name = entry.key.to_ascii_lowercase();
        let before = headers.len();
        let refuse = |code, message: String, help: &str, out: &mut Diagnostics| {
            out.error(code, &entry.key_span, message, help.to_owned());
        };
        if !is_token(&name) {
            refuse(
                "spec::bad-name",
                "`headers` has a name that is no header's".to_owned(),
                HEADERS,
                out,
            );
        } else if OURS.contains(&name.as_str()) {
            refuse(
                "spec::reserved-field",
                format!("the header `{name}` is written by infergate itself"),
                "leave it out",
                out,
            );
        } else if headers.iter().any(|(other, _)| *other == name) {
            refuse(
                "spec::duplicate-field",
                format!("`headers` has `{name}` twice"),
                "keep one; names are the same in upper and lower case",
                out,
            );
        } else if let Some(text) = values::text(&entry.value, "a header's value", "perf", out) {
            if text.chars().all(|c| matches!(c, ' '..='~')) {
                headers.push((name, Secret::new(text.trim().to_owned())));
            } else {
                refuse(
                    "spec::bad-value",
                    format!("the value of `{name}` has characters that a header does not take"),
                    "use plain ASCII without line ends",
                    out,
                );
            }
        }
        good &= headers.len() > before;
    }
    good.then_some(headers)
}

/// Whether a text is a token of RFC 9110, section 5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

type Tls = (Option<PathBuf>, Option<IdentityFiles>);

fn tls(fields: &Fields<'_>, out: &mut Diagnostics) -> Option<Tls> {
    let section = fields.section("tls", &TLS, out)?;
    let mut file = |key: &str, example: &str| {
        section.optional(key, out, |node, out| {
            path(node, &format!("`{key}`"), example, out)
        })
    };
    let ca = file("ca", "certs/ca.pem");
    let cert = file("cert", "certs/client.pem");
    let key = file("key", "certs/client.key");
    let (ca, cert, key) = (ca.ok()?, cert.ok()?, key.ok()?);
    let identity = match (cert, key) {
        (Some(cert), Some(key)) => Some(IdentityFiles { cert, key }),
        (None, None) => None,
        (cert, _) => {
            let (has, lacks) = if cert.is_some() {
                ("cert", "key")
            } else {
                ("key", "cert")
            };
            out.error(
                "spec::missing-field",
                section.key_span(has).unwrap_or(section.span()),
                format!("`tls` has `{has}` and no `{lacks}`"),
                format!(
                    "a client proves who it is by both; write it like `{}`",
                    TLS.example
                ),
            );
            return None;
        }
    };
    Some((ca, identity))
}
