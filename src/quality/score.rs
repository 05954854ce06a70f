//! Scores of lm-evaluation-harness: one task's metric with its standard error, from a result file.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ident::Digest;

/// Names that an error lists at the most.
const LISTED: usize = 12;

/// A score of one side, as its file has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Score {
    /// The share of answers that were right, from 0 to 1.
    pub value: f64,
    /// Standard error of it, above 0.
    pub standard_error: f64,
    /// Questions behind it, where the file says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// Digest of the file's text.
    pub file: Digest,
}

/// Which score of a file is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScoreAsk<'a> {
    /// The task or group.
    pub task: &'a str,
    /// The metric, `exact_match` say.
    pub metric: &'a str,
    /// The filter after the metric's comma; `None` takes the only one there is.
    pub filter: Option<&'a str>,
}

/// Why a file has no such score; completes the sentence "`results.json` …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScoreError {
    /// No JSON, or no `results` in it.
    #[error("is no result file of lm-evaluation-harness: {reason}")]
    NoResults {
        /// What is missing.
        reason: String,
    },
    /// No such task.
    #[error("has no task `{task}`; it has {known}")]
    NoTask {
        /// The task.
        task: String,
        /// Those it has.
        known: String,
    },
    /// No such metric.
    #[error("has no `{metric}` of `{task}`; it has {known}")]
    NoMetric {
        /// The task.
        task: String,
        /// The metric, with its filter where one was asked for.
        metric: String,
        /// Those it has.
        known: String,
    },
    /// The metric stands under several filters.
    #[error("has `{metric}` of `{task}` by several filters, {known}: name one as `filter`")]
    SeveralFilters {
        /// The task.
        task: String,
        /// The metric.
        metric: String,
        /// The filters.
        known: String,
    },
    /// No share: a perplexity, say.
    #[error("has {value} as `{metric}` of `{task}`, which is no share from 0 to 1")]
    NoShare {
        /// The task.
        task: String,
        /// The metric as it is called there.
        metric: String,
        /// What stands there.
        value: String,
    },
    /// Nothing says how sure it is.
    #[error("has neither a standard error of `{metric}` of `{task}` nor its number of samples")]
    NoError {
        /// The task.
        task: String,
        /// The metric as it is called there.
        metric: String,
    },
}

impl Score {
    /// Reads one score: `metric,filter` with `metric_stderr,filter` as version 0.4 writes them, or
    /// `metric` with `metric_stderr` as those before it did.
    ///
    /// Where the standard error is missing, not a number (`"N/A"`) or zero, the most that `n` values
    /// from 0 to 1 can have stands for it: `√(p (1 − p) / n)` with `p = (n · value + 1) / (n + 2)`, `n`
    /// from `n-samples`. 0.75 of 400: p = 0.7488, 0.02169.
    pub fn read(text: &str, ask: ScoreAsk<'_>) -> Result<Self, ScoreError> {
        let no_results = |reason: &str| ScoreError::NoResults {
            reason: reason.to_owned(),
        };
        let file: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| no_results(&error.to_string()))?;
        let results = file
            .get("results")
            .and_then(Value::as_object)
            .ok_or_else(|| no_results("it has no `results`"))?;
        let groups = file.get("groups").and_then(Value::as_object);
        let task = results
            .get(ask.task)
            .or_else(|| groups?.get(ask.task))
            .and_then(Value::as_object)
            .ok_or_else(|| ScoreError::NoTask {
                task: ask.task.to_owned(),
                known: listed(results.keys().map(String::as_str)),
            })?;
        let (key, value) = found(task, ask)?;
        let (metric, filter) = key.split_once(',').unzip();
        let value = value
            .as_f64()
            .filter(|value| (0.0..=1.0).contains(value))
            .ok_or_else(|| ScoreError::NoShare {
                task: ask.task.to_owned(),
                metric: key.to_owned(),
                value: value.to_string(),
            })?;
        let error_key = match (metric, filter) {
            (Some(metric), Some(filter)) => format!("{metric}_stderr,{filter}"),
            _ => format!("{key}_stderr"),
        };
        let samples = samples(&file, task, ask.task);
        let stated = task.get(&error_key).and_then(Value::as_f64);
        let standard_error = stated
            .filter(|error| *error > 0.0 && error.is_finite())
            .or_else(|| samples.map(|n| largest_error(value, n)))
            .ok_or_else(|| ScoreError::NoError {
                task: ask.task.to_owned(),
                metric: key.to_owned(),
            })?;
        Ok(Self {
            value,
            standard_error,
            samples,
            file: Digest::of(text.as_bytes()),
        })
    }
}

/// The metric with the name under which the file has it.
fn found<'t>(
    task: &'t Map<String, Value>,
    ask: ScoreAsk<'_>,
) -> Result<(&'t str, &'t Value), ScoreError> {
    let filter_of = |key: &'t str| match key.split_once(',') {
        Some((metric, filter)) => (metric == ask.metric).then_some(filter),
        None => (key == ask.metric).then_some(""),
    };
    let all: Vec<(&str, &str, &Value)> = task
        .iter()
        .filter_map(|(key, value)| Some((key.as_str(), filter_of(key)?, value)))
        .filter(|(_, filter, _)| ask.filter.is_none_or(|wanted| wanted == *filter))
        .collect();
    match all.as_slice() {
        [(key, _, value)] => Ok((key, value)),
        [] => {
            let metrics = task
                .iter()
                .filter(|(key, value)| value.is_number() && !key.contains("_stderr"))
                .map(|(key, _)| key.as_str());
            Err(ScoreError::NoMetric {
                task: ask.task.to_owned(),
                metric: match ask.filter {
                    Some(filter) => format!("{},{filter}", ask.metric),
                    None => ask.metric.to_owned(),
                },
                known: listed(metrics),
            })
        }
        several => Err(ScoreError::SeveralFilters {
            task: ask.task.to_owned(),
            metric: ask.metric.to_owned(),
            known: listed(several.iter().map(|(_, filter, _)| *filter)),
        }),
    }
}

/// Questions that were asked, by `n-samples` or the task itself.
fn samples(file: &Value, task: &Map<String, Value>, name: &str) -> Option<u64> {
    let counted = file.get("n-samples").and_then(|all| all.get(name));
    counted
        .and_then(|counts| counts.get("effective"))
        .or_else(|| task.get("sample_len"))
        .and_then(Value::as_u64)
        .filter(|n| *n > 0)
}

/// The most that the mean of so many values from 0 to 1 can scatter.
fn largest_error(value: f64, n: u64) -> f64 {
    let n = n as f64;
    let p = (n * value + 1.0) / (n + 2.0);
    (p * (1.0 - p) / n).sqrt()
}

fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.len() {
        0 => "none".to_owned(),
        n if n > LISTED => format!("{} and {} more", names[..LISTED].join(", "), n - LISTED),
        _ => names.join(", "),
    }
}

#[cfg(test)]
#[path = "score_tests.rs"]
mod tests;
