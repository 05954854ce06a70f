//! `limits` and `cost`.

use crate::provenance::Declared;
use crate::spec::budget::{Budget, Cost, Money};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Noted, Shape};
use crate::spec::model::DeclaredPins;
use crate::spec::node::Node;
use crate::spec::values;

const LIMITS: Shape = Shape {
    known: &["time", "requests", "tokens", "money"],
    later: &[],
    example: "limits: {time: 90m}",
};
const COST: Shape = Shape {
    known: &["gpu_hour", "currency"],
    later: &[],
    example: "cost: {gpu_hour: 3.50, currency: USD}",
};

/// What GPUs cost, where the spec says.
pub(super) fn cost(fields: &Fields<'_>, out: &mut Diagnostics) -> Result<Option<Cost>, Noted> {
    fields.optional("cost", out, |node, out| {
        let fields = Fields::open(node, "`cost`", &COST, out)?;
        let gpu_hour = fields.need("gpu_hour", COST.example, out);
        let gpu_hour =
            gpu_hour.and_then(|node| above_zero(node, "`gpu_hour`", "gpu_hour: 3.50", out));
        let currency = fields.or("currency", String::new(), out, |node, out| {
            let text = values::text(node, "`currency`", "currency: USD", out)?.trim();
            if text.is_empty() || text.chars().any(char::is_control) {
                fields::wrong_type(
                    node,
                    "`currency`",
                    "a currency's name",
                    "currency: USD",
                    out,
                );
                return None;
            }
            Some(text.to_owned())
        });
        Some(Cost {
            gpu_hour: gpu_hour?,
            currency: currency?,
        })
    })
}

/// What a comparison may take. Money needs what an hour costs, and how many GPUs there are.
pub(super) fn limits(
    top: &Fields<'_>,
    cost: Option<&Cost>,
    pins: &DeclaredPins,
    out: &mut Diagnostics,
) -> Result<Option<Budget>, Noted> {
    top.optional("limits", out, |node, out| {
        let fields = Fields::open(node, "`limits`", &LIMITS, out)?;
        let time = fields.optional("time", out, |node, out| {
            values::time(node, "`time`", LIMITS.example, out)
        });
        let count = |key: &str, out: &mut Diagnostics| {
            fields.optional(key, out, |node, out| {
                let bounds = 1..=1_000_000_000_000_u64;
                let what = format!("`{key}`");
                values::whole_number(node, &what, bounds, &format!("{key}: 100000"), out)
            })
        };
        let (requests, tokens) = (count("requests", out), count("tokens", out));
        let money = fields.optional("money", out, |node, out| {
            let most = above_zero(node, "`money`", "money: 20", out)?;
            let missing = match (cost, gpus(pins)) {
                (None, _) => "`cost`, so nobody knows what an hour costs",
                (_, None) => {
                    "`pins.hardware.count` as a number, so nobody knows how many GPUs are paid for"
                }
                (Some(cost), Some(gpus)) => {
                    return Some(Money {
                        most,
                        hour: cost.gpu_hour * f64::from(gpus),
                        currency: cost.currency.clone(),
                    });
                }
            };
            // Where `cost` itself is wrong, that has been said.
            if cost.is_some() || !top.has("cost") {
                out.error(
                    "spec::needs-cost",
                    &node.span,
                    format!("`money` is limited, and the spec has no {missing}"),
                    format!(
                        "add `{}` and `pins: {{hardware: {{count: 1}}}}`",
                        COST.example
                    ),
                );
            }
            None
        });
        let (requests, tokens) = (requests.ok()?, tokens.ok()?);
        Some(Budget {
            time: time.ok()?,
            requests: requests.map(|n| n as f64),
            tokens: tokens.map(|n| n as f64),
            money: money.ok()?,
            place: top.key_span("limits").unwrap_or(&node.span).clone(),
        })
    })
}

/// How many GPUs the spec declares.
fn gpus(pins: &DeclaredPins) -> Option<u32> {
    let path = "hardware.count".parse().ok()?;
    match pins.get(&path)? {
        Declared::Literal(count) => count.parse().ok().filter(|count| *count > 0),
        _ => None,
    }
}

fn above_zero(node: &Node, what: &str, example: &str, out: &mut Diagnostics) -> Option<f64> {
    let value = values::number(node, what, example, out)?;
    if value <= 0.0 {
        fields::out_of_range(node, what, "it must be above zero", out);
        return None;
    }
    Some(value)
}
