//! A look at a spec's target, without any load.

use super::error::refuse_contradictions;
use crate::headroom::TargetLook;
use crate::probe::{ProbeClient, observe};
use crate::provenance::{Observation, Pins};
use crate::spec::{Spec, TargetPlace};

/// Asks the target what it is, as a run does before it loads it. The key is the target's.
pub async fn look(spec: &Spec, key: Option<String>) -> TargetLook {
    let TargetPlace::Url(url) = &spec.target.place else {
        return TargetLook::Embedded;
    };
    let trouble = |why: String| TargetLook::Trouble { why };
    let probe = match ProbeClient::new(url.trim_end_matches('/'), key) {
        Ok(probe) => probe,
        Err(error) => return trouble(error.to_string()),
    };
    let observed = match observe(&probe, spec).await {
        Ok(observed) => observed,
        Err(error) => return trouble(error.to_string()),
    };
    if let Err(error) = refuse_contradictions(&observed.pins) {
        return trouble(error.to_string());
    }
    TargetLook::Answers {
        model: observed.model,
        engine: engine(&observed.pins),
        metrics: probe.text("/metrics").await.is_ok(),
    }
}

fn engine(pins: &Pins) -> Option<String> {
    let pin = pins.iter().find(|(path, _)| path.as_str() == "engine.name");
    match &pin?.1.observed {
        Observation::Seen { value, .. } => Some(value.clone()),
        Observation::Unknown(_) => None,
    }
}
