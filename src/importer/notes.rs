//! What an import leaves open, and what to doubt of it, each with its code.

use std::collections::BTreeMap;

use crate::summary::OriginCaveat;

/// Reasons to doubt an imported figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// Answers that count as good are shorter than those of all others.
    ShortAnswers,
    /// The tool may count a stream that ends in an error event as good.
    ErrorsCountedAsGood,
    /// Output tokens are those that were asked for, not those that came.
    RequestedLengthCredited,
    /// A zero that stands for "no data".
    ZeroIsNoData,
    /// The file has no count of failed requests.
    FailedNotCounted,
    /// Counts that contradict each other.
    CountsDisagree,
    /// A percentile above the largest value.
    PercentileAboveMax,
    /// A value that is no finite number.
    NotANumber,
    /// A key that only some versions write, with a colon at its end.
    KeyWithColon,
    /// Warm-up entries were left out.
    WarmUpLeftOut,
    /// In this shape a threshold's `true` means that it failed.
    TrueMeansFailed,
    /// Its rates count failed requests too.
    FailedInThroughput,
    /// Its latencies are of failed requests too.
    FailedInLatencies,
    /// Percentiles are of rounded values.
    Bucketed,
    /// The file says that its run was cut off or is not valid.
    NotWhole,
    /// The file was cut off.
    CutOff,
    /// Its error rate is not the one that its counts give.
    ErrorRateWrong,
    /// Requests have no start times, so their order in time is not known.
    NoStartTimes,
    /// Its figures of token gaps are none.
    GapsNotPerToken,
    /// Figures of one tool that another tool wrote.
    SecondHand,
    /// A figure includes what others leave out.
    OtherMeaning,
    /// An open load with a cap on what is in flight.
    CappedLoad,
}

impl Code {
    /// Every one.
    pub const ALL: [Self; 22] = [
        Self::ShortAnswers,
        Self::ErrorsCountedAsGood,
        Self::RequestedLengthCredited,
        Self::ZeroIsNoData,
        Self::FailedNotCounted,
        Self::CountsDisagree,
        Self::PercentileAboveMax,
        Self::NotANumber,
        Self::KeyWithColon,
        Self::WarmUpLeftOut,
        Self::TrueMeansFailed,
        Self::FailedInThroughput,
        Self::FailedInLatencies,
        Self::Bucketed,
        Self::NotWhole,
        Self::CutOff,
        Self::ErrorRateWrong,
        Self::NoStartTimes,
        Self::GapsNotPerToken,
        Self::SecondHand,
        Self::OtherMeaning,
        Self::CappedLoad,
    ];

    /// The code as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ShortAnswers => "import::short-answers",
            Self::ErrorsCountedAsGood => "import::errors-counted-as-good",
            Self::RequestedLengthCredited => "import::requested-length-credited",
            Self::ZeroIsNoData => "import::zero-is-no-data",
            Self::FailedNotCounted => "import::failed-not-counted",
            Self::CountsDisagree => "import::counts-disagree",
            Self::PercentileAboveMax => "import::percentile-above-max",
            Self::NotANumber => "import::not-a-number",
            Self::KeyWithColon => "import::key-with-colon",
            Self::WarmUpLeftOut => "import::warm-up-left-out",
            Self::TrueMeansFailed => "import::true-means-failed",
            Self::FailedInThroughput => "import::failed-in-throughput",
            Self::FailedInLatencies => "import::failed-in-latencies",
            Self::Bucketed => "import::bucketed",
            Self::NotWhole => "import::not-whole",
            Self::CutOff => "import::cut-off",
            Self::ErrorRateWrong => "import::error-rate-wrong",
            Self::NoStartTimes => "import::no-start-times",
            Self::GapsNotPerToken => "import::gaps-not-per-token",
            Self::SecondHand => "import::second-hand",
            Self::OtherMeaning => "import::other-meaning",
            Self::CappedLoad => "import::capped-load",
        }
    }
}

/// Gathered while a file is read.
#[derive(Debug, Default, Clone)]
pub(super) struct Notes {
    /// What the file does not tell, and why.
    pub(super) lossy: BTreeMap<String, String>,
    /// What to doubt.
    pub(super) caveats: Vec<OriginCaveat>,
}

impl Notes {
    /// Something that the file does not tell.
    pub(super) fn lossy(&mut self, what: &str, why: impl Into<String>) {
        self.lossy.insert(what.to_owned(), why.into());
    }

    /// Takes over those of another part of the same run, each once.
    pub(super) fn take(&mut self, other: Self) {
        self.lossy.extend(other.lossy);
        for caveat in other.caveats {
            if !self.caveats.contains(&caveat) {
                self.caveats.push(caveat);
            }
        }
    }

    /// Something to doubt, once.
    pub(super) fn doubt(&mut self, code: Code, message: impl Into<String>) {
        let caveat = OriginCaveat {
            code: code.as_str().to_owned(),
            message: message.into(),
        };
        if !self.caveats.contains(&caveat) {
            self.caveats.push(caveat);
        }
    }
}
