//! Ctrl-C and SIGTERM: the first stops what is running, the second ends the process at once.

use crate::load::{Stop, StopSwitch};

/// Whether the user, or the CI, asked to stop.
#[derive(Debug, Clone)]
pub(super) struct Interrupt(Stop);

impl Interrupt {
    /// Watches both signals from now on.
    pub(super) fn listen() -> std::io::Result<Self> {
        let (switch, stop) = StopSwitch::new();
        let heard = stop.clone();
        #[cfg(unix)]
        let mut terminate =
            tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        tokio::spawn(async move {
            loop {
                #[cfg(unix)]
                tokio::select! {
                    _ = tokio::signal::ctrl_c() => {}
                    _ = terminate.recv() => {}
                }
                #[cfg(not(unix))]
                let _ = tokio::signal::ctrl_c().await;
                if heard.is_pressed() {
                    end_now();
                }
                switch.press();
            }
        });
        Ok(Self(stop))
    }

    /// Whether it was asked.
    pub(super) fn asked(&self) -> bool {
        self.0.is_pressed()
    }

    /// Resolves once it is asked.
    pub(super) fn wait(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut stop = self.0.clone();
        async move { stop.pressed().await }
    }

    /// Where the load client hears it.
    pub(super) fn stop(&self) -> Stop {
        self.0.clone()
    }
}

#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "asked twice: nothing is waited for"
)]
fn end_now() -> ! {
    std::process::exit(i32::from(crate::exit::Exit::Invalid.code()))
}
