//! A look at a spec's target, without any load.

use super::error::refuse_contradictions;
use super::replicas::Replicas;
use crate::access::Access;
use crate::headroom::TargetLook;
use crate::provenance::{Observation, Pins};
use crate::spec::{Spec, TargetPlace};

/// Asks the target what it is, as a run does before it loads it. `access` is what the target asks for.
pub async fn look(spec: &Spec, access: &Access) -> TargetLook {
    let TargetPlace::Urls(urls) = &spec.target.place else {
        return TargetLook::Embedded;
    };
    let trouble = |why: String| TargetLook::Trouble { why };
    let replicas = match Replicas::new(urls, access) {
        Ok(replicas) => replicas,
        Err(error) => return trouble(error.to_string()),
    };
    let observed = match replicas.observe(spec).await {
        Ok(observed) => observed,
        Err(error) => return trouble(error.to_string()),
    };
    if let Err(error) = refuse_contradictions(&observed.pins) {
        return trouble(error.to_string());
    }
    TargetLook::Answers {
        model: observed.model,
        engine: engine(&observed.pins),
        metrics: replicas.first().text("/metrics").await.is_ok(),
    }
}

fn engine(pins: &Pins) -> Option<String> {
    let pin = pins.iter().find(|(path, _)| path.as_str() == "engine.name");
    match &pin?.1.observed {
        Observation::Seen { value, .. } => Some(value.clone()),
        Observation::Unknown(_) => None,
    }
}
