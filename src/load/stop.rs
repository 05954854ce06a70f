//! The request to stop a run early: from a signal, say.

use tokio::sync::watch;

/// Asks a running stage to stop.
#[derive(Debug)]
pub struct StopSwitch(watch::Sender<bool>);

/// Where a stage hears that it is to stop; clones hear the same switch.
#[derive(Debug, Clone)]
pub struct Stop(Option<watch::Receiver<bool>>);

impl StopSwitch {
    /// A switch that was not pressed, and where it is heard.
    pub fn new() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Stop(Some(receiver)))
    }

    /// Asks to stop: for good, at once, also stages that start later.
    pub fn press(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// A stop that never comes.
    pub const fn never() -> Self {
        Self(None)
    }

    /// Whether the switch was pressed.
    pub fn is_pressed(&self) -> bool {
        self.0.as_ref().is_some_and(|pressed| *pressed.borrow())
    }

    /// Waits until the switch is pressed; for ever where nobody can press it any more.
    pub async fn pressed(&mut self) {
        if let Some(pressed) = &mut self.0
            && pressed.wait_for(|pressed| *pressed).await.is_ok()
        {
            return;
        }
        std::future::pending::<()>().await;
    }
}
