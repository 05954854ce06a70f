//! A look at a spec's target, without any load.

use super::error::{MeasureError, refuse_contradictions};
use crate::access::Access;
use crate::headroom::TargetLook;
use crate::probe::{ProbeClient, observe};
use crate::provenance::{Observation, Pins};
use crate::spec::{Spec, TargetPlace};

/// Asks the target what it is, each replica of it, as a run does before it loads them.
pub async fn look(spec: &Spec, access: &Access) -> TargetLook {
    let TargetPlace::Urls(urls) = &spec.target.place else {
        return TargetLook::Embedded;
    };
    let mut seen = None;
    for url in urls {
        let answered = match ask(url.trim_end_matches('/'), spec, access).await {
            Ok(answered) => answered,
            Err(error) => {
                return TargetLook::Trouble {
                    why: error.to_string(),
                };
            }
        };
        seen.get_or_insert(answered);
    }
    seen.unwrap_or(TargetLook::Embedded)
}

async fn ask(url: &str, spec: &Spec, access: &Access) -> Result<TargetLook, MeasureError> {
    let probe = ProbeClient::new(url, access)?;
    let observed = observe(&probe, spec).await?;
    refuse_contradictions(&observed.pins)?;
    Ok(TargetLook::Answers {
        model: observed.model,
        engine: engine(&observed.pins),
        metrics: probe.text("/metrics").await.is_ok(),
    })
}

fn engine(pins: &Pins) -> Option<String> {
    let pin = pins.iter().find(|(path, _)| path.as_str() == "engine.name");
    match &pin?.1.observed {
        Observation::Seen { value, .. } => Some(value.clone()),
        Observation::Unknown(_) => None,
    }
}
