//! Where a stage's requests come from, and those under way.

use tokio::task::JoinSet;

use super::open::Pacer;

/// Where requests come from, and those under way.
pub(super) struct Arrivals {
    pacer: Option<Pacer>,
    tasks: JoinSet<()>,
    is_cut: bool,
}

impl Arrivals {
    pub(super) fn new(pacer: Option<Pacer>, tasks: JoinSet<()>) -> Self {
        Self {
            pacer,
            tasks,
            is_cut: false,
        }
    }

    /// Waits until nothing more is sent and nothing is in flight; may be dropped and called again.
    pub(super) async fn over(&mut self) {
        if let Some(pacer) = &mut self.pacer {
            self.tasks = pacer.last_sent().await;
            self.pacer = None;
        }
        if self.is_cut {
            self.tasks.abort_all();
        }
        while self.tasks.join_next().await.is_some() {}
    }

    /// Has arrivals see that the window was halted.
    pub(super) fn wake(&self) {
        if let Some(pacer) = &self.pacer {
            pacer.wake();
        }
    }

    /// Cuts what is in flight.
    pub(super) fn cut(&mut self) {
        self.is_cut = true;
        self.tasks.abort_all();
    }
}
