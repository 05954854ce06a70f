//! Runs the model against the real clock, on a thread of its own.
//!
//! The thread works out a step at its ideal start, sleeps until its ideal end and hands the tokens
//! out. Ideal ends add up to a virtual clock, so a late timer delays one step's tokens and never
//! the steps after it. Where nothing is to do, the thread blocks.

use std::collections::HashMap;
use std::io;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::clock::Clock;
use super::engine::{Engine, Facts, Job, Step};
use super::fault::Faults;
use super::metrics::Metrics;
use crate::unit::Nanos;

/// One token on its way to a client.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delivery {
    /// When its step ideally ended.
    pub(super) due: Nanos,
    /// What happened to the job so far.
    pub(super) facts: Facts,
}

enum Command {
    Submit(Job, UnboundedSender<Delivery>),
    Cancel(u64),
    Freeze(Nanos),
    Forget,
    Stop,
}

/// The running engine's other end.
#[derive(Debug)]
pub(super) struct Driver {
    commands: Sender<Command>,
    /// Jobs submitted but not yet in a step.
    waiting: Arc<AtomicUsize>,
}

impl Driver {
    /// Starts the thread.
    pub(super) fn start(
        engine: Engine,
        faults: &Faults,
        clock: Clock,
        metrics: Arc<Mutex<Metrics>>,
    ) -> io::Result<Self> {
        let (commands, inbox) = mpsc::channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let work = Loop {
            engine,
            clock,
            metrics,
            inbox,
            waiting: Arc::clone(&waiting),
            clients: HashMap::new(),
            submitted: 0,
            freeze: faults.freeze_after.map(|after| (after, faults.freeze_for)),
        };
        std::thread::Builder::new()
            .name("sim-engine".to_owned())
            .spawn(move || work.run())?;
        Ok(Self { commands, waiting })
    }

    /// Queues a job; `None` where as many as `limit` wait already.
    pub(super) fn submit(
        &self,
        job: Job,
        limit: Option<NonZeroU32>,
    ) -> Option<UnboundedReceiver<Delivery>> {
        let limit = limit.map_or(usize::MAX, |n| n.get() as usize);
        self.waiting
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |waiting| {
                (waiting < limit).then_some(waiting + 1)
            })
            .ok()?;
        let (client, tokens) = unbounded_channel();
        self.send(Command::Submit(job, client));
        Some(tokens)
    }

    /// Drops a job.
    pub(super) fn cancel(&self, id: u64) {
        self.send(Command::Cancel(id));
    }

    /// Does nothing for so long, from the end of the step under way on.
    pub(super) fn freeze(&self, span: Nanos) {
        self.send(Command::Freeze(span));
    }

    /// Forgets what the prefix cache holds, as an engine does that is started anew.
    pub(super) fn forget(&self) {
        self.send(Command::Forget);
    }

    /// Ends the thread after its current step; all clients' channels close.
    pub(super) fn stop(&self) {
        self.send(Command::Stop);
    }

    fn send(&self, command: Command) {
        // Fails only once the thread has stopped, and then nothing is left to command.
        let _ = self.commands.send(command);
    }
}

struct Loop {
    engine: Engine,
    clock: Clock,
    metrics: Arc<Mutex<Metrics>>,
    inbox: Receiver<Command>,
    waiting: Arc<AtomicUsize>,
    clients: HashMap<u64, UnboundedSender<Delivery>>,
    submitted: u32,
    /// After how many jobs the engine freezes, and how long; until it has.
    freeze: Option<(NonZeroU32, Nanos)>,
}

impl Loop {
    fn run(mut self) {
        while self.take_commands() {
            let Some(step) = self.engine.step() else {
                continue;
            };
            self.waiting.fetch_sub(step.admitted, Ordering::Relaxed);
            self.metrics().begin(&step, &self.engine);
            self.clock.sleep_until(step.end);
            self.deliver(&step);
        }
    }

    /// Takes all commands that are there, and waits for one where the engine is idle. False when
    /// the thread is to end.
    fn take_commands(&mut self) -> bool {
        loop {
            let command = if self.engine.is_idle() {
                self.metrics().gauges(&self.engine);
                match self.inbox.recv() {
                    Ok(command) => command,
                    Err(mpsc::RecvError) => return false,
                }
            } else {
                match self.inbox.try_recv() {
                    Ok(command) => command,
                    Err(mpsc::TryRecvError::Empty) => return true,
                    Err(mpsc::TryRecvError::Disconnected) => return false,
                }
            };
            match command {
                Command::Submit(job, client) => {
                    self.clients.insert(job.id, client);
                    self.engine.submit(job);
                    self.submitted += 1;
                    if let Some((_, span)) = self
                        .freeze
                        .take_if(|(after, _)| self.submitted >= after.get())
                    {
                        self.engine.freeze(span);
                    }
                }
                Command::Cancel(id) => {
                    self.clients.remove(&id);
                    if self.engine.cancel(id) == Some(false) {
                        self.waiting.fetch_sub(1, Ordering::Relaxed);
                    }
                }
                Command::Freeze(span) => self.engine.freeze_until(self.clock.now() + span),
                Command::Forget => self.engine.forget(),
                Command::Stop => return false,
            }
        }
    }

    fn deliver(&mut self, step: &Step) {
        // First, so that who has read an answer to its end finds it counted.
        self.metrics().step(step, &self.engine);
        for emission in &step.emissions {
            let delivery = Delivery {
                due: step.end,
                facts: emission.facts,
            };
            if let Some(client) = self.clients.get(&emission.id) {
                // A client that is gone has its job cancelled by the next commands.
                let _ = client.send(delivery);
            }
            if emission.last {
                self.clients.remove(&emission.id);
            }
        }
    }

    fn metrics(&self) -> std::sync::MutexGuard<'_, Metrics> {
        self.metrics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
