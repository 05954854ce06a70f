//! What makes a stage invalid, in words.

use crate::summary::InvalidReason;

/// A client's fault in words.
pub(super) fn fault(reason: &InvalidReason) -> String {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    match reason {
        InvalidReason::Late { p99_s, limit_s } => format!(
            "requests left {:.1} ms late (p99), over the {:.1} ms allowed",
            p99_s * 1e3,
            limit_s * 1e3
        ),
        InvalidReason::SentShort { ratio } => {
            format!("only {} of the offered requests were sent", percent(*ratio))
        }
        InvalidReason::ClientCpu { share } => {
            format!("the client used {} of its CPU", percent(*share))
        }
        InvalidReason::TokensOffPlan {
            input,
            output,
            limit,
        } => format!(
            "tokens are off the plan by {} (input) and {} (output), over the {} allowed",
            percent(*input),
            percent(*output),
            percent(*limit)
        ),
        InvalidReason::NoRequests => "the window held no request".to_owned(),
        InvalidReason::Interrupted => "the run was interrupted".to_owned(),
        InvalidReason::Event { name, why } => format!("the event `{name}` did not happen: {why}"),
        InvalidReason::Shard { index, reason } => format!("shard {index}: {}", fault(reason)),
    }
}
