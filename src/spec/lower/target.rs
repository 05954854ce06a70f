//! `target`: where requests go.

use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Noted, Shape};
use crate::spec::model::{Api, Layer, Target};
use crate::spec::node::Node;
use crate::spec::place::TargetPlace;
use crate::spec::values;

use super::{connection, launch, metrics};

pub(super) const SHAPE: Shape = Shape {
    known: &[
        "url",
        "urls",
        "sim",
        "replicas",
        "launch",
        "api",
        "model",
        "api_key_env",
        "api_key_file",
        "headers",
        "tls",
        "http",
        "compression",
        "streaming",
        "layer",
        "metrics",
    ],
    later: &[],
    example: "target: {url: \"${TARGET_URL}\", api: chat}",
};

/// The baseline side of `ab`: where it is, for it is spoken to as the target is.
const BASELINE: Shape = Shape {
    known: &["url", "urls", "sim", "replicas", "launch"],
    later: &[],
    example: "baseline: {url: \"${BASELINE_URL}\"}",
};

/// APIs that a later version speaks.
const LATER_APIS: &[&str] = &["responses", "embeddings", "rerank"];

const URL: &str = "url: http://localhost:8000";
const REPLICAS: &str = "replicas: 2";
/// Embedded engines of one target at the most.
const MOST_REPLICAS: u32 = 16;

/// A target; where its name says the `layer`, the field may only repeat it.
pub(super) fn lower(
    node: &Node,
    name: &str,
    named: Option<Layer>,
    out: &mut Diagnostics,
) -> Option<Target> {
    let fields = Fields::open(node, format!("`{name}`"), &SHAPE, out)?;
    let place = place(&fields, None, out);
    let api = fields.or("api", Api::Chat, out, |node, out| {
        let options = [Api::Chat, Api::Completions].map(|api| (api.name(), api));
        values::choice(node, "`api`", &options, LATER_APIS, out)
    });
    let model = fields
        .get("model", out)
        .and_then(|node| filled(node, "`model`", "meta-llama/Llama-3.1-8B-Instruct", out));
    let usual = named.unwrap_or(Layer::Engine);
    let layer = fields.or("layer", usual, out, |node, out| {
        let options = Layer::ALL.map(|layer| (layer.name(), layer));
        values::choice(node, "`layer`", &options, &[], out)
    });
    if let (Some(named), Some(layer)) = (named, layer)
        && named != layer
    {
        out.error(
            "spec::contradiction",
            fields.key_span("layer").unwrap_or(fields.span()),
            format!(
                "`{name}` measures the layer `{}` and its `layer` says `{}`",
                named.name(),
                layer.name()
            ),
            "leave `layer` out: the name says it",
        );
    }
    let connection = connection::lower(&fields, out);
    let metrics = metrics::lower(&fields, place.as_ref(), out);
    Some(Target {
        place: place?,
        api: api?,
        model,
        layer: layer?,
        connection: connection?,
        metrics: metrics?,
    })
}

/// The baseline side of `ab`, where the spec names it; a launched one is at the target's URL unless it
/// has its own.
pub(super) fn baseline(
    fields: &Fields<'_>,
    target: Option<&Target>,
    out: &mut Diagnostics,
) -> Result<Option<TargetPlace>, Noted> {
    fields.optional("baseline", out, |node, out| {
        let fields = Fields::open(node, "`baseline`", &BASELINE, out)?;
        let url = target.and_then(|target| match &target.place {
            TargetPlace::Launched { url, .. } => Some(url.clone()),
            TargetPlace::Urls(urls) if urls.len() == 1 => urls.first().cloned(),
            TargetPlace::Urls(_) | TargetPlace::Sim { .. } => None,
        });
        place(&fields, url, out)
    })
}

/// Where a side is; `shared` is the URL of a launch that has none of its own.
fn place(
    fields: &Fields<'_>,
    shared: Option<String>,
    out: &mut Diagnostics,
) -> Option<TargetPlace> {
    let launched = fields.has("launch");
    let launch = fields.optional("launch", out, launch::lower);
    let alone = !["url", "urls", "sim"].iter().any(|key| fields.has(key));
    if let (true, true, Some(url)) = (launched, alone, shared) {
        let launch = Box::new(launch.ok()??);
        return Some(TargetPlace::Launched { url, launch });
    }
    let place = match fields.exactly_one(&["url", "urls", "sim"], URL, out) {
        Some("sim") => fields
            .get("sim", out)
            .and_then(|node| sim(fields, node, out)),
        Some("urls") => fields.get("urls", out).and_then(|node| urls(node, out)),
        Some(_) => fields.get("url", out).and_then(|node| {
            let url = url(node, out)?;
            Some(TargetPlace::Urls(vec![url]))
        }),
        None => None,
    };
    if !fields.has("sim")
        && let Some(span) = fields.key_span("replicas")
    {
        out.error(
            "spec::conflicting-fields",
            span,
            "`replicas` says how often the embedded engine is started, and this is another target",
            "leave `replicas` out, and name each replica in `urls`",
        );
        return None;
    }
    for key in ["urls", "sim"] {
        if launched && fields.has(key) {
            out.error(
                "spec::conflicting-fields",
                fields.key_span("launch").unwrap_or(fields.span()),
                format!("a launch is one server at one `url`, and this has `{key}`"),
                "give the launched engine's `url`, or leave `launch` out",
            );
            return None;
        }
    }
    match (launch.ok()?, place?) {
        (Some(launch), TargetPlace::Urls(urls)) => Some(TargetPlace::Launched {
            url: urls.into_iter().next()?,
            launch: Box::new(launch),
        }),
        (_, place) => Some(place),
    }
}

/// A text that is not blank.
fn filled(node: &Node, what: &str, example: &str, out: &mut Diagnostics) -> Option<String> {
    let text = values::text(node, what, example, out)?.trim();
    if text.is_empty() {
        fields::wrong_type(node, what, "a text that is not empty", example, out);
        return None;
    }
    Some(text.to_owned())
}

fn sim(fields: &Fields<'_>, node: &Node, out: &mut Diagnostics) -> Option<TargetPlace> {
    let text = filled(node, "`sim`", "h100-8b --slower-prefill 30%", out)?;
    let replicas = fields.or("replicas", 1, out, |node, out| {
        values::whole_number(node, "`replicas`", 1..=MOST_REPLICAS, REPLICAS, out)
    });
    Some(TargetPlace::Sim {
        words: text.split_whitespace().map(str::to_owned).collect(),
        replicas: replicas?,
    })
}

fn urls(node: &Node, out: &mut Diagnostics) -> Option<TargetPlace> {
    let example = "urls: [http://gpu-1:8000, http://gpu-2:8000]";
    let nodes = values::items(node, "`urls`", example, out)?;
    let mut urls: Vec<String> = Vec::with_capacity(nodes.len());
    let mut good = true;
    for node in nodes {
        match url(node, out) {
            Some(url) if urls.contains(&url) => {
                out.error(
                    "spec::duplicate-name",
                    &node.span,
                    "`urls` has a URL twice",
                    "name each replica once: all get the same share of requests",
                );
                good = false;
            }
            Some(url) => urls.push(url),
            None => good = false,
        }
    }
    good.then_some(TargetPlace::Urls(urls))
}

fn url(node: &Node, out: &mut Diagnostics) -> Option<String> {
    let text = values::text(node, "`url`", URL, out)?;
    match base_url(text) {
        Ok(url) => Some(url.to_owned()),
        Err(fault) => {
            out.error(
                "spec::bad-url",
                &node.span,
                format!("`url` {fault}"),
                format!("write it like `{URL}`"),
            );
            None
        }
    }
}

/// `http://host:8000` of `http://host:8000/v1/`: the API's path is ours to add.
///
/// An error completes the sentence "`url` …" and never shows the URL.
pub fn base_url(text: &str) -> Result<&str, &'static str> {
    let text = text.trim();
    let rest = text
        .strip_prefix("http://")
        .or_else(|| text.strip_prefix("https://"))
        .ok_or("does not start with `http://` or `https://`")?;
    if rest.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("has spaces in it");
    }
    if rest.contains(['?', '#']) {
        return Err("has a query or fragment, which a base URL cannot have");
    }
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.contains('@') {
        return Err("has credentials in it; name the key's variable in `api_key_env` instead");
    }
    let (host, port) = match authority.rfind(']') {
        Some(end) => authority.split_at(end + 1),
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    if host.is_empty() || host == "[]" {
        return Err("has no host");
    }
    let port_is_good = match port.strip_prefix(':') {
        Some(digits) => digits.parse::<u16>().is_ok_and(|port| port > 0),
        None => port.is_empty(),
    };
    if !port_is_good {
        return Err("has a port that is no number from 1 to 65535");
    }
    let text = text.trim_end_matches('/');
    Ok(text.strip_suffix("/v1").unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::base_url;

    #[test]
    fn the_api_path_and_slashes_go() {
        for text in [
            "http://h:8000",
            "http://h:8000/",
            "http://h:8000/v1",
            "http://h:8000/v1/",
        ] {
            assert_eq!(base_url(text), Ok("http://h:8000"), "{text}");
        }
        assert_eq!(base_url("https://[::1]:80/x"), Ok("https://[::1]:80/x"));
    }

    #[test]
    fn what_is_no_base_url_is_refused() {
        for text in [
            "",
            "h:8000",
            "ftp://h",
            "http://",
            "http:///v1",
            "http://h:x",
            "http://h:0",
            "http://h:99999",
            "http://a b",
            "http://user:key@h",
            "http://h?x=1",
            "http://[]:1",
        ] {
            assert!(base_url(text).is_err(), "{text}");
        }
    }
}
