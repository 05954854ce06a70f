//! What the target and its machine say about themselves, before any load.
//!
//! Parsers are pure functions on captured answers (`answer`); a source that does not answer
//! leaves its pins unknown with a reason and never stops a run. Only a target that cannot be
//! reached at all, or that answers no model, does.

mod answer;
mod cache;
mod calibrate;
mod client;
mod host;
mod machine;
mod models;
mod power;
mod queue;
mod scrape;
mod skew;

use std::collections::BTreeMap;

pub use answer::{EngineAnswers, Seen};
pub use cache::cache_counters;
pub use calibrate::calibrate;
pub use client::{ProbeClient, ProbeError};
pub use host::host_pins;
pub use machine::{CpuTicks, cpu_ticks, limits};
pub use models::models;
pub use power::{free_disk, power};
pub use queue::drained;
pub use scrape::metrics_seen;
pub use skew::skew;

use crate::provenance::{Observation, Pin, PinPath, Pins, Why};
use crate::spec::{Answers, Spec};

/// What was seen of a target.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// The name to put into requests.
    pub model: String,
    /// Pins, declared ones included.
    pub pins: Pins,
}

/// Asks the target what it is and merges that with what the spec declares.
///
/// # Errors
///
/// [`ProbeError`] where the target does not answer, or names no model and the spec neither.
pub async fn observe(client: &ProbeClient, spec: &Spec) -> Result<Observed, ProbeError> {
    let models = client.get("/v1/models").await;
    let models = match models {
        // Where nothing answers, or the key is wrong, load would only fail again and again.
        Err(
            error @ (ProbeError::Unreachable { .. }
            | ProbeError::Status {
                status: 401 | 403, ..
            }),
        ) => return Err(error),
        // Without a name in the spec this answer was needed.
        Err(error) if spec.target.model.is_none() => return Err(error),
        other => other.ok(),
    };
    let answers = EngineAnswers {
        models,
        version: client.get("/version").await.ok(),
        props: client.get("/props").await.ok(),
    };
    let model = match (&spec.target.model, answers.first_model()) {
        (Some(model), _) => model.clone(),
        (None, Some(model)) => model,
        (None, None) => {
            return Err(ProbeError::NoModel {
                base: client.base().to_owned(),
            });
        }
    };
    let mut seen = answers.pins(&model);
    if client.is_local() {
        seen.extend(host_pins());
    }
    seen.extend(spec_pins(spec));
    Ok(Observed {
        model,
        pins: merge(spec, &seen),
    })
}

/// Pins that follow from the spec itself.
fn spec_pins(spec: &Spec) -> Vec<Seen> {
    let sampling = serde_json::to_string(&spec.request).unwrap_or_default();
    [
        ("request.api", spec.target.api.name().to_owned()),
        (
            "request.streaming",
            (spec.target.connection.answers == Answers::Streamed).to_string(),
        ),
        ("request.sampling", sampling),
        (
            "layer",
            serde_json::to_value(spec.target.layer)
                .ok()
                .and_then(|layer| layer.as_str().map(str::to_owned))
                .unwrap_or_default(),
        ),
        ("client.version", env!("CARGO_PKG_VERSION").to_owned()),
    ]
    .into_iter()
    .filter_map(|(path, value)| Seen::new(path, value, "spec"))
    .collect()
}

/// Declared and seen pins as one map: what is declared and not seen is unknown with a reason.
fn merge(spec: &Spec, seen: &[Seen]) -> Pins {
    let mut pins: BTreeMap<PinPath, Pin> = seen
        .iter()
        .map(|seen| {
            let observed = Observation::Seen {
                value: seen.value.clone(),
                source: seen.source.to_owned(),
            };
            (
                seen.pin,
                Pin {
                    declared: None,
                    observed,
                },
            )
        })
        .collect();
    for (path, declared) in &spec.pins {
        let pin = pins.entry(*path).or_insert(Pin {
            declared: None,
            observed: Observation::Unknown(Why::NotReported),
        });
        pin.declared = Some(declared.clone());
    }
    pins
}
