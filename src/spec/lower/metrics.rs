//! `metrics` of a target: where its engines' metrics are.

use std::collections::BTreeMap;

use super::target::base_url;
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{Fields, wrong_type};
use crate::spec::metrics::MetricsPlace;
use crate::spec::node::{Kind, Node};
use crate::spec::place::TargetPlace;
use crate::spec::values;

const PATH: &str = "metrics: /metrics";
const LIST: &str = "metrics: [http://gpu-1:9090/metrics, http://gpu-2:9090/metrics]";

/// Of the target at this place, where that could be read.
pub(super) fn lower(
    fields: &Fields<'_>,
    place: Option<&TargetPlace>,
    out: &mut Diagnostics,
) -> Option<MetricsPlace> {
    fields.or(
        "metrics",
        MetricsPlace::Usual,
        out,
        |node, out| match &node.kind {
            Kind::Scalar(scalar) => match scalar.text.trim() {
                "off" => Some(MetricsPlace::Off),
                text if text.starts_with('/') => path(node, text, out).map(MetricsPlace::Path),
                text if text.contains("://") => {
                    let url = url(node, out)?;
                    urls(node, vec![url], place, out)
                }
                _ => {
                    wrong_type(
                        node,
                        "`metrics`",
                        "a path, a URL, a list of URLs or `off`",
                        PATH,
                        out,
                    );
                    None
                }
            },
            Kind::Sequence(_) => {
                let nodes = values::items(node, "`metrics`", LIST, out)?;
                let all: Vec<Option<String>> = nodes.iter().map(|node| url(node, out)).collect();
                urls(node, all.into_iter().collect::<Option<_>>()?, place, out)
            }
            Kind::Null | Kind::Mapping(_) => {
                wrong_type(
                    node,
                    "`metrics`",
                    "a path, a URL, a list of URLs or `off`",
                    PATH,
                    out,
                );
                None
            }
        },
    )
}

fn path(node: &Node, text: &str, out: &mut Diagnostics) -> Option<String> {
    let wrong = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '?' | '#');
    if text.contains(wrong) || text.starts_with("//") {
        out.error(
            "spec::bad-url",
            &node.span,
            "`metrics` is no path below the target's URL: it has spaces, a query, a fragment or a host in it",
            format!("write it like `{PATH}`"),
        );
        return None;
    }
    Some(text.to_owned())
}

fn url(node: &Node, out: &mut Diagnostics) -> Option<String> {
    let text = values::text(node, "a URL of `metrics`", LIST, out)?;
    match base_url(text) {
        // The API's path, which is no part of a base URL, is not expected here.
        Ok(_) => Some(text.trim().to_owned()),
        Err(fault) => {
            out.error(
                "spec::bad-url",
                &node.span,
                format!("a URL of `metrics` {fault}"),
                format!(
                    "write it like `{LIST}`; neither key nor header of the target goes to another origin"
                ),
            );
            None
        }
    }
}

/// Each replica with its own.
fn urls(
    node: &Node,
    urls: Vec<String>,
    place: Option<&TargetPlace>,
    out: &mut Diagnostics,
) -> Option<MetricsPlace> {
    let mut seen = urls.clone();
    seen.sort_unstable();
    if seen.windows(2).any(|pair| pair[0] == pair[1]) {
        out.error(
            "spec::duplicate-name",
            &node.span,
            "`metrics` has a URL twice",
            "name each replica's once, or what it counts would be counted twice",
        );
        return None;
    }
    let replicas = match place? {
        TargetPlace::Urls(urls) => urls.as_slice(),
        TargetPlace::Launched { url, .. } => std::slice::from_ref(url),
        TargetPlace::Sim { .. } => {
            out.error(
                "spec::conflicting-fields",
                &node.span,
                "the embedded engine of a `sim` takes any free port, and its metrics are below its own URL",
                "leave `metrics` out, or say `off`",
            );
            return None;
        }
    };
    if replicas.len() != urls.len() {
        out.error(
            "spec::contradiction",
            &node.span,
            format!(
                "`metrics` has {} and the target {}",
                counted(urls.len(), "URL"),
                counted(replicas.len(), "replica")
            ),
            "name one URL for each of `urls`, in their order, or a path that all of them have",
        );
        return None;
    }
    let replicas = replicas
        .iter()
        .map(|url| url.trim_end_matches('/').to_owned());
    let by_replica: BTreeMap<String, String> = replicas.zip(urls).collect();
    Some(MetricsPlace::Urls(by_replica))
}

fn counted(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}
