//! What each metric is read from: one table, from which follows what kind of number it is.

use super::{Kind, Metric};

/// What a metric is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A value of each request.
    Requests,
    /// A value of each gap between a request's tokens or events.
    Gaps,
    /// A rate of a stage.
    Rate(Rate),
    /// Requests of a stage that are bad, by all that count.
    Bad(Bad),
    /// The steps of a sweep.
    Sweep,
    /// The power that GPUs drew.
    Energy,
    /// How a launched engine came up.
    ColdStart,
    /// What followed from a stage's events and bursts.
    Aftermath,
    /// Answers that were checked.
    Checks,
    /// Answers that were held against another run's.
    Agreement,
    /// A result file.
    Import,
}

/// A rate of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// Good requests.
    Good,
    /// Completed requests.
    Completed,
    /// Output tokens.
    Output,
    /// Input tokens.
    Input,
    /// Both.
    Total,
}

/// What makes a request bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bad {
    /// It is not good.
    NotGood,
    /// It failed.
    Failed,
    /// It was cut at its length limit.
    Truncated,
    /// It failed after an event.
    Lost,
}

impl Metric {
    /// What it is read from.
    pub const fn source(self) -> Source {
        match self {
            Self::Ttft | Self::Ttfa | Self::Tpot | Self::MaxStall | Self::E2e => Source::Requests,
            Self::Itl | Self::ChunkGap => Source::Gaps,
            Self::Goodput => Source::Rate(Rate::Good),
            Self::MaxGoodput => Source::Sweep,
            Self::RequestThroughput => Source::Rate(Rate::Completed),
            Self::OutputThroughput => Source::Rate(Rate::Output),
            Self::InputThroughput => Source::Rate(Rate::Input),
            Self::TotalThroughput => Source::Rate(Rate::Total),
            Self::Attainment => Source::Bad(Bad::NotGood),
            Self::ErrorRatio => Source::Bad(Bad::Failed),
            Self::TruncatedRatio => Source::Bad(Bad::Truncated),
            Self::TokensPerJoule | Self::JoulesPerGood => Source::Energy,
            Self::ColdReady | Self::ColdFirstRequest | Self::ColdWarmRequest => Source::ColdStart,
            Self::RecoveryTime | Self::DrainTime => Source::Aftermath,
            Self::LostToEvents => Source::Bad(Bad::Lost),
            Self::QualityValidJson | Self::QualityRegex | Self::QualityExact => Source::Checks,
            Self::QualityAgreement => Source::Agreement,
            Self::QualityImported => Source::Import,
        }
    }

    /// What kind of number it is.
    pub const fn kind(self) -> Kind {
        match self.source() {
            Source::Requests | Source::Gaps => Kind::Distribution,
            Source::Rate(_) => Kind::Rate,
            Source::Sweep => Kind::OfSweep,
            Source::Energy => Kind::Energy,
            Source::ColdStart => Kind::OfRun,
            Source::Aftermath => Kind::OfEvents,
            Source::Bad(_) | Source::Checks | Source::Agreement | Source::Import => {
                Kind::Proportion
            }
        }
    }

    /// Whether only a streamed answer shows it: a whole one has a single instant, its end.
    pub const fn needs_stream(self) -> bool {
        matches!(self.source(), Source::Requests | Source::Gaps) && !matches!(self, Self::E2e)
    }

    /// Whether it says what answers are worth and not how they came.
    pub const fn is_quality(self) -> bool {
        matches!(
            self.source(),
            Source::Checks | Source::Agreement | Source::Import
        )
    }
}
