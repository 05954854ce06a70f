//! The clock of what is looked at beside the load of a stage.

use tokio::time::Instant;

use crate::load::LoadEvent;
use crate::sample::StageObservation;
use crate::summary::ScrapedWindow;
use crate::unit::Nanos;

/// Runs from before a stage, and learns from its ticks where the stage's own clock stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct LookClock {
    began: Instant,
    /// When the stage's clock stood at zero.
    origin: Option<Nanos>,
}

impl LookClock {
    /// Begins now.
    pub(super) fn start() -> Self {
        Self {
            began: Instant::now(),
            origin: None,
        }
    }

    /// Since it began.
    pub(super) fn now(&self) -> Nanos {
        Nanos::from(self.began.elapsed())
    }

    /// Takes note of where the stage's clock stands.
    pub(super) fn hear(&mut self, event: &LoadEvent) {
        if let LoadEvent::Tick(live) | LoadEvent::StageEnded { live, .. } = event {
            self.origin = Some(self.now().since(live.elapsed));
        }
    }

    /// When the stage's clock stood at zero, on this clock.
    pub(super) fn origin(&self) -> Nanos {
        self.origin.unwrap_or_default()
    }

    /// The window of the stage that was heard, on this clock.
    pub(super) fn window(&self, observation: &StageObservation) -> ScrapedWindow {
        let origin = self.origin();
        ScrapedWindow {
            start: origin + observation.window_start,
            end: origin + observation.window_end,
        }
    }
}
