//! Looks at the target's GPUs while a stage runs, on a thread apart from the lanes that send and read.

use tokio::sync::oneshot;

use super::clock::LookClock;
use crate::priority::make_way;
use crate::probe::gpu::{GpuSampler, Visible};
use crate::probe::{Origin, ProbeClient, is_here};
use crate::sample::GpuLooks;
use crate::summary::{GpuView, ScrapedWindow};

/// What looks bring: samples, or why there are none.
type Looks = Result<GpuLooks, String>;

/// Looks at the GPUs that a target may use. They end when this is dropped.
#[derive(Debug)]
pub(super) struct GpuWatch {
    stop: oneshot::Sender<()>,
    done: oneshot::Receiver<Looks>,
}

impl GpuWatch {
    /// Begins to look, and returns when the first look is over.
    ///
    /// # Errors
    ///
    /// Why there is nothing to look at; where it is not to be told, `None`: the embedded engine runs on
    /// no GPU.
    pub(super) async fn start(
        origin: &Origin,
        client: &ProbeClient,
        clock: LookClock,
    ) -> Result<Self, Option<String>> {
        let visible = match origin {
            Origin::Embedded => return Err(None),
            Origin::Launched(visible) => visible.clone(),
            Origin::Elsewhere if is_here(client).await => Visible::from_environment(),
            Origin::Elsewhere => {
                let why = "the target is on another machine, whose GPUs are not seen from here";
                return Err(Some(why.to_owned()));
            }
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let (done_in, done) = oneshot::channel();
        let (first_in, first) = oneshot::channel::<()>();
        let body = move || {
            // Whatever it starts, `nvidia-smi` too, inherits that.
            make_way();
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let Ok(runtime) = runtime else { return };
            runtime.block_on(async {
                let sampler = GpuSampler::start(&visible, move || clock.now()).await;
                drop(first_in);
                let _ = stopped.await;
                let _ = done_in.send(sampler.finish().await);
            });
        };
        let thread = std::thread::Builder::new().name("gpus".to_owned());
        if let Err(error) = thread.spawn(body) {
            return Err(Some(format!("no thread to look at GPUs: {error}")));
        }
        // Ends when the looks have dropped their end.
        let _ = first.await;
        Ok(Self { stop, done })
    }

    /// Ends the looks, and gives what was seen of a window.
    pub(super) async fn finish(self, window: ScrapedWindow) -> GpuView {
        drop(self.stop);
        let looks = self.done.await;
        match looks.unwrap_or_else(|_| Err("the look at the GPUs ended early".to_owned())) {
            Ok(samples) => GpuView::of(&samples, window.start, window.end),
            Err(why) => GpuView::Unknown { why },
        }
    }
}
