//! The measured window of a running stage, as all its parts see it.

use tokio::sync::watch;

use crate::unit::Nanos;

/// What is known of the window by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Bounds {
    /// Where it starts, once that is settled.
    pub(super) start: Option<Nanos>,
    /// Where it ends, once that is settled.
    pub(super) end: Option<Nanos>,
    /// Nothing more is to be sent: the stage was stopped.
    pub(super) halted: bool,
}

impl Bounds {
    /// Whether an instant lies in it, as far as is known.
    pub(super) fn contains(&self, at: Nanos) -> bool {
        self.start.is_some_and(|start| start <= at) && self.end.is_none_or(|end| at < end)
    }

    /// How much of a span lies in it, as far as is known.
    pub(super) fn overlap(&self, from: Nanos, to: Nanos) -> Nanos {
        let Some(start) = self.start else {
            return Nanos::ZERO;
        };
        let to = self.end.map_or(to, |end| to.min(end));
        to.since(from.max(start))
    }
}

/// The window that arrivals open and close, and that others watch.
#[derive(Debug)]
pub(super) struct Window(watch::Sender<Bounds>);

impl Window {
    /// A window that is settled by schedule, or not at all yet.
    pub(super) fn new(start: Option<Nanos>, end: Option<Nanos>) -> Self {
        Self(watch::Sender::new(Bounds {
            start,
            end,
            halted: false,
        }))
    }

    /// What is known now.
    pub(super) fn bounds(&self) -> Bounds {
        *self.0.borrow()
    }

    /// To be woken when more is known.
    pub(super) fn watch(&self) -> watch::Receiver<Bounds> {
        self.0.subscribe()
    }

    /// Settles the start, and the end where it follows from it; false where the stage was halted
    /// meanwhile, which holds.
    pub(super) fn open(&self, start: Nanos, end: Option<Nanos>) -> bool {
        self.0.send_if_modified(|bounds| {
            if !bounds.halted {
                bounds.start = Some(start);
                bounds.end = end;
            }
            !bounds.halted
        })
    }

    /// Settles the end, unless the stage was halted meanwhile.
    pub(super) fn close(&self, end: Nanos) {
        self.0.send_if_modified(|bounds| {
            if !bounds.halted {
                bounds.end = Some(end);
            }
            !bounds.halted
        });
    }

    /// Stops the stage at this instant, which the window does not outlast.
    pub(super) fn halt(&self, at: Nanos) {
        self.0.send_modify(|bounds| {
            let end = bounds.end.map_or(at, |end| end.min(at));
            bounds.end = Some(end);
            bounds.start = Some(bounds.start.map_or(end, |start| start.min(end)));
            bounds.halted = true;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(secs: u64) -> Nanos {
        Nanos::from_secs(secs)
    }

    #[test]
    fn spans_count_as_far_as_they_overlap() {
        let window = Window::new(None, None);
        assert_eq!(window.bounds().overlap(secs(1), secs(9)), Nanos::ZERO);
        window.open(secs(2), None);
        assert_eq!(window.bounds().overlap(secs(1), secs(9)), secs(7));
        window.close(secs(5));
        assert_eq!(window.bounds().overlap(secs(1), secs(9)), secs(3));
        assert_eq!(window.bounds().overlap(secs(6), secs(9)), Nanos::ZERO);
        assert_eq!(window.bounds().overlap(secs(0), secs(1)), Nanos::ZERO);
        assert!(window.bounds().contains(secs(2)) && !window.bounds().contains(secs(5)));
    }

    #[test]
    fn a_halt_before_the_window_leaves_an_empty_one() {
        let window = Window::new(Some(secs(5)), Some(secs(9)));
        window.halt(secs(3));
        let bounds = window.bounds();
        assert_eq!((bounds.start, bounds.end), (Some(secs(3)), Some(secs(3))));
        assert!(!window.open(secs(4), None));
        window.close(secs(8));
        assert_eq!(window.bounds(), bounds, "a halt holds");
        let window = Window::new(Some(secs(5)), Some(secs(9)));
        window.halt(secs(7));
        let bounds = window.bounds();
        assert_eq!((bounds.start, bounds.end), (Some(secs(5)), Some(secs(7))));
    }
}
