//! What happened to one request, and the metrics of it.

mod answer;
mod cache;
mod finish;
mod gpu;
mod gpu_looks;
mod happened;
mod mark;
mod moved;
mod pause;
pub(crate) mod record;
mod stage;
mod timeline;

pub use answer::{AnswerRecord, Examiner, Heard};
pub use cache::{CacheTokens, EngineCache};
pub use finish::FinishReason;
pub use gpu::{GpuSample, Throttle};
pub use gpu_looks::{GpuLooks, GpuStretch, Range};
pub use happened::{EventOutcome, Happened};
pub use mark::{SoakMark, WindowLook};
pub use moved::Move;
pub use pause::{AcrossPause, EngineTrack, Pause};
pub use record::{Outcome, OutcomeKind, RequestRecord, TimeoutPhase, TokenSource};
pub use stage::{ClockSkew, EngineQueue, Pulse, StageEnd, StageObservation, StopReason};
pub use timeline::{Absent, Timeline, WeightedGap};
