//! Whether tokens are counted, and are as many as the plan has.

use super::exam::Trial;
use super::finding::{Finding, Topic};
use crate::plan::CalibrationSource;
use crate::sample::{FinishReason, RequestRecord, TokenSource};
use crate::unit::scale;

/// Whether tokens are counted, and as many as came.
pub(super) fn usage(trial: &Trial, ended: &[&RequestRecord], mismatch: f64) -> Finding {
    let Some(tokens) = ended
        .iter()
        .map(|record| reported(record).map(u64::from))
        .sum::<Option<u64>>()
    else {
        return Finding::note(
            Topic::Usage,
            "answers carry no usage",
            "tokens are counted by events, which is too few where an event carries several, and prompts are \
             of assumed length",
            "use an engine and a proxy that take `stream_options: {include_usage: true}`",
        );
    };
    if !trial.streamed {
        return Finding::ok(Topic::Usage, "answers carry their usage");
    }
    let events: u64 = ended.iter().map(|record| record.events.len() as u64).sum();
    let (told, came) = (scale::count(tokens), scale::count(events));
    if events == tokens {
        return Finding::ok(
            Topic::Usage,
            format!("usage counts {told} tokens, and as many events came"),
        );
    }
    if events > tokens {
        let seen = format!("usage counts {told} tokens, and {came} events carried text");
        let why = "an event that is no token makes TPOT and ITL of something else than tokens";
        let remedy = "see which of the two is right; the engine's own token counter decides";
        let off = (events - tokens) as f64 / (tokens as f64).max(1.0);
        return if off > mismatch {
            Finding::trouble(Topic::Usage, seen, why, remedy)
        } else {
            Finding::note(Topic::Usage, seen, why, remedy)
        };
    }
    let each = ended
        .iter()
        .all(|record| record.event_tokens.len() == record.events.len());
    let seen = format!("usage counts {told} tokens, which came in {came} events");
    if each {
        return Finding::ok(Topic::Usage, format!("{seen}, each with its own count"));
    }
    Finding::note(
        Topic::Usage,
        seen,
        "where one event carries several tokens the time between them was not seen: ITL is an average",
        "let the engine send each token by itself, or say how many an event has \
         (`continuous_usage_stats`)",
    )
}

/// Whether answers are as long as was asked for.
pub(super) fn output_length(trial: &Trial, ended: &[&RequestRecord]) -> Option<Finding> {
    let lengths: Vec<(u32, u32)> = ended
        .iter()
        .filter_map(|record| Some((record.planned_output_tokens, reported(record)?)))
        .collect();
    let of = lengths.len();
    let most = lengths.iter().map(|(planned, _)| *planned).max()?;
    let longer = lengths.iter().filter(|(planned, told)| told > planned);
    let shorter = lengths.iter().filter(|(planned, told)| told < planned);
    let (longer, shorter) = (longer.count(), shorter.count());
    if longer > 0 {
        return Some(Finding::trouble(
            Topic::OutputLength,
            format!(
                "{longer} of {of} answers are longer than the {most} tokens that they may have"
            ),
            "`max_tokens` is not honoured, so the work is not what the plan says",
            "see whether a proxy drops `max_tokens`",
        ));
    }
    if !trial.pinned {
        return Some(Finding::ok(
            Topic::OutputLength,
            format!("the model ends its answers, none is longer than {most} tokens"),
        ));
    }
    if shorter > 0 {
        let told = lengths.iter().map(|(_, told)| *told).min().unwrap_or(0);
        let stopped = ended
            .iter()
            .any(|record| record.finish == Some(FinishReason::Stop));
        let how = if stopped {
            ", the model having ended it"
        } else {
            ""
        };
        return Some(Finding::trouble(
            Topic::OutputLength,
            format!(
                "{shorter} of {of} answers are shorter than the {most} tokens asked for (one has {told}{how})"
            ),
            "the spec pins the length of answers, and runs of other lengths are other work",
            "use an engine that honours `ignore_eos`, say it in its own way \
             (`request: {min_tokens: …}`), or let the model end its answers: `output_length: natural`",
        ));
    }
    Some(Finding::ok(
        Topic::OutputLength,
        format!("asked for {most} tokens, answers have {most}"),
    ))
}

/// Whether prompts are as long as was planned.
pub(super) fn input_length(trial: &Trial, ended: &[&RequestRecord], mismatch: f64) -> Finding {
    let planned: u64 = ended
        .iter()
        .map(|record| u64::from(record.planned_input_tokens))
        .sum();
    let counted = ended
        .iter()
        .map(|record| record.input_tokens.map(u64::from))
        .sum::<Option<u64>>();
    let Some(counted) = counted else {
        return Finding::note(
            Topic::InputLength,
            "nothing says how long prompts are for the model",
            "prompts have the planned length only if its tokenizer is a usual one",
            "use an engine that reports `usage.prompt_tokens`",
        );
    };
    let off = counted as f64 / (planned as f64).max(1.0) - 1.0;
    let (planned, told) = (scale::count(planned), scale::count(counted));
    if off.abs() <= mismatch {
        let by = match trial.calibration.source {
            CalibrationSource::Usage => "usage",
            CalibrationSource::Tokenize => "`/tokenize`",
            CalibrationSource::Assumed => "assumption",
        };
        return Finding::ok(
            Topic::InputLength,
            format!("prompts of {planned} planned tokens have {told}, fitted by {by}"),
        );
    }
    Finding::note(
        Topic::InputLength,
        format!("prompts of {planned} planned tokens have {told}"),
        "the work is then not what the plan says, and a run is marked for it",
        "see whether the server adds a system prompt, or cuts what it is sent",
    )
}

/// Tokens of an answer by its usage; `None` where they were counted by events.
fn reported(record: &RequestRecord) -> Option<u32> {
    let by_usage = record.output_source == TokenSource::Usage;
    record.output_tokens.filter(|_| by_usage)
}
