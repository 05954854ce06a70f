//! A waker between a connection's halves and the task that polls both.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;

/// Wakes a task, but not while it is polling anyway.
///
/// The two halves of a connection wake each other with each part of an answer. Where one task polls
/// both, that is itself, which would be run once more for nothing: it is polled again on the spot
/// instead.
#[derive(Debug)]
pub(super) struct Relay {
    shared: Arc<Shared>,
    /// The same for as long as the connection lives, so that nobody has to store it anew.
    waker: Waker,
}

#[derive(Debug, Default)]
struct Shared {
    task: AtomicWaker,
    state: AtomicU8,
}

/// Nothing is being polled: a wake goes on to the task.
const IDLE: u8 = 0;
/// The halves are being polled.
const POLLING: u8 = 1;
/// And have been woken meanwhile.
const WOKEN: u8 = 2;

/// How often the halves are polled on the spot: more than they need to hand on what has come.
const AT_ONCE: u32 = 4;

impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let polling =
            self.state
                .compare_exchange(POLLING, WOKEN, Ordering::AcqRel, Ordering::Acquire);
        if polling == Err(IDLE) {
            self.task.wake();
        }
    }
}

impl Relay {
    pub(super) fn new() -> Self {
        let shared = Arc::new(Shared::default());
        Self {
            waker: Arc::clone(&shared).into(),
            shared,
        }
    }

    /// Polls with a context that wakes the task of `context`, as often as that wakes itself.
    pub(super) fn poll<T>(
        &self,
        context: &Context<'_>,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let Shared { task, state } = &*self.shared;
        task.register(context.waker());
        let mut relayed = Context::from_waker(&self.waker);
        for _ in 0..AT_ONCE {
            state.store(POLLING, Ordering::Release);
            let polled = poll(&mut relayed);
            let woken = state.swap(IDLE, Ordering::AcqRel) == WOKEN;
            if polled.is_ready() || !woken {
                return polled;
            }
        }
        // Whoever keeps waking is to be polled in turn with other tasks.
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicU32);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn what_wakes_itself_is_polled_at_once_and_nobody_is_woken() {
        let (relay, count) = (Relay::new(), Arc::new(Count::default()));
        let waker = Waker::from(Arc::clone(&count));
        let context = Context::from_waker(&waker);
        let mut polls = 0;
        let polled = relay.poll(&context, |relayed| {
            polls += 1;
            if polls < 3 {
                relayed.waker().wake_by_ref();
            }
            Poll::<()>::Pending
        });
        assert!(polled.is_pending());
        assert_eq!((polls, count.0.load(Ordering::Relaxed)), (3, 0));
    }

    #[test]
    fn a_wake_between_polls_reaches_the_task() {
        let (relay, count) = (Relay::new(), Arc::new(Count::default()));
        let waker = Waker::from(Arc::clone(&count));
        let mut kept = None;
        let polled = relay.poll(&Context::from_waker(&waker), |relayed| {
            kept = Some(relayed.waker().clone());
            Poll::<()>::Pending
        });
        assert!(polled.is_pending());
        kept.unwrap().wake();
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn who_keeps_waking_waits_for_its_turn() {
        let (relay, count) = (Relay::new(), Arc::new(Count::default()));
        let waker = Waker::from(Arc::clone(&count));
        let mut polls = 0;
        let polled = relay.poll(&Context::from_waker(&waker), |relayed| {
            polls += 1;
            relayed.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        assert!(polled.is_pending());
        assert_eq!((polls, count.0.load(Ordering::Relaxed)), (AT_ONCE, 1));
    }
}
