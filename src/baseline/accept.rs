//! Accepted changes: a file that is reviewed like code says which cells may be worse, up to where and
//! until when.

use serde::{Deserialize, Serialize};

use crate::ident::Day;
use crate::metric::Cell;

/// Format tag of a file in `accepts/`.
pub const ACCEPT_FORMAT: &str = "infergate.accept/1";

/// Days for which an accept holds where nobody says otherwise.
pub const ACCEPT_DAYS: u32 = 90;

/// An accepted change of level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accept {
    /// [`ACCEPT_FORMAT`].
    pub format: String,
    /// When it was written, RFC 3339.
    pub created: String,
    /// The last day on which it excuses anything.
    pub expires: Day,
    /// Who accepts it.
    pub author: String,
    /// Why.
    pub reason: String,
    /// The pull request that brings the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<String>,
    /// The environment's folder in which it holds.
    pub environment: String,
    /// Sessions that showed the new level.
    pub sessions: Vec<String>,
    /// The cells, at least one.
    pub cells: Vec<AcceptedCell>,
}

/// A cell with both its levels, in the metric's unit: seconds, requests a second, a share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptedCell {
    /// The cell as reports name it: `steady/ttft.p95`.
    #[serde(with = "as_text")]
    #[schemars(with = "String")]
    pub cell: Cell,
    /// The baseline's value; none where the limit was absolute and there was no baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<f64>,
    /// The value that is accepted.
    pub new: f64,
}

/// Why a text is no accept.
#[derive(Debug, thiserror::Error)]
pub enum AcceptError {
    /// It does not have the shape of one.
    #[error("{0}")]
    Malformed(String),
    /// It is of another format or of a newer major version.
    #[error("its format is `{found}`, this version reads `{ACCEPT_FORMAT}`; use a newer infergate")]
    OtherFormat {
        /// The format that it names.
        found: String,
    },
    /// It excuses nothing.
    #[error("it names no cell; delete it, or name what it accepts")]
    NoCells,
    /// Nobody says why.
    #[error("its `reason` is empty; say why the change is accepted")]
    NoReason,
    /// A value that no metric has.
    #[error("`{cell}` has {value} as its new value, which no run can measure")]
    Value {
        /// The cell.
        cell: Cell,
        /// What it says.
        value: f64,
    },
}

impl Accept {
    /// Reads the text of an accept.
    pub fn parse(text: &str) -> Result<Self, AcceptError> {
        #[derive(Deserialize)]
        struct Tag {
            format: String,
        }
        let malformed = |error: serde_yaml::Error| {
            let text = error.to_string();
            AcceptError::Malformed(text.lines().next().unwrap_or_default().to_owned())
        };
        let tag: Tag = serde_yaml::from_str(text).map_err(malformed)?;
        if tag.format != ACCEPT_FORMAT {
            return Err(AcceptError::OtherFormat { found: tag.format });
        }
        let accept: Self = serde_yaml::from_str(text).map_err(malformed)?;
        if accept.cells.is_empty() {
            return Err(AcceptError::NoCells);
        }
        if accept.reason.trim().is_empty() {
            return Err(AcceptError::NoReason);
        }
        match accept
            .cells
            .iter()
            .find(|c| !c.new.is_finite() || c.new < 0.0)
        {
            Some(wrong) => Err(AcceptError::Value {
                cell: wrong.cell.clone(),
                value: wrong.new,
            }),
            None => Ok(accept),
        }
    }

    /// As YAML, which [`Accept::parse`] reads back.
    pub fn render(&self) -> String {
        // JSON strings are YAML strings; everything else is a number or a plain word.
        let text = |value: &str| serde_json::Value::from(value).to_string();
        let mut lines = vec![
            format!("format: {}", self.format),
            format!("created: {}", text(&self.created)),
            format!("expires: {}", text(&self.expires.to_string())),
            format!("author: {}", text(&self.author)),
            format!("reason: {}", text(&self.reason)),
        ];
        let request = self.pull_request.iter();
        lines.extend(request.map(|request| format!("pull_request: {}", text(request))));
        lines.push(format!("environment: {}", text(&self.environment)));
        lines.push("sessions:".to_owned());
        let sessions = self.sessions.iter();
        lines.extend(sessions.map(|session| format!("  - {}", text(session))));
        lines.push("cells:".to_owned());
        for cell in &self.cells {
            lines.push(format!("  - cell: {}", text(&cell.cell.to_string())));
            lines.extend(cell.old.map(|old| format!("    old: {old:?}")));
            lines.push(format!("    new: {:?}", cell.new));
        }
        lines.join("\n") + "\n"
    }

    /// The name of its file without `.yaml`: the day, then the words of the reason.
    /// `2026-11-30-vllm-0-32-trades-ttft-for-throughput`.
    pub fn stem(&self) -> String {
        let mut slug = String::new();
        for c in self.reason.chars() {
            if slug.len() >= 48 {
                break;
            }
            if c.is_ascii_alphanumeric() {
                slug.push(c.to_ascii_lowercase());
            } else if !slug.is_empty() && !slug.ends_with('-') {
                slug.push('-');
            }
        }
        let slug = slug.trim_end_matches('-');
        let day = self.created.get(..10).unwrap_or("undated");
        if slug.is_empty() {
            day.to_owned()
        } else {
            format!("{day}-{slug}")
        }
    }
}

/// A cell as the text that names it.
mod as_text {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::metric::Cell;

    pub(super) fn serialize<S: Serializer>(cell: &Cell, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(cell)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Cell, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept() -> Accept {
        Accept {
            format: ACCEPT_FORMAT.to_owned(),
            created: "2026-11-30T08:00:00.000Z".to_owned(),
            expires: "2027-02-28".parse().unwrap(),
            author: "A \"B\" <a@b.example>".to_owned(),
            reason: "vLLM 0.32: trades TTFT\nfor throughput — see #41 # not a comment".to_owned(),
            pull_request: Some("#41".to_owned()),
            environment: "cpu-llama-cpp-0c1d2e3f".to_owned(),
            sessions: vec!["s1".to_owned()],
            cells: vec![
                AcceptedCell {
                    cell: "steady/ttft.p95".parse().unwrap(),
                    old: Some(0.412),
                    new: 0.534,
                },
                AcceptedCell {
                    cell: "*/error_ratio".parse().unwrap(),
                    old: None,
                    new: 0.0,
                },
            ],
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let text = accept().render();
        assert_eq!(Accept::parse(&text).unwrap(), accept(), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_file_that_excuses_in_silence_is_refused() {
        let text = accept().render();
        let says = |from: &str, to: &str| {
            let wrong = text.replace(from, to);
            assert_ne!(wrong, text, "{from}");
            Accept::parse(&wrong).unwrap_err().to_string()
        };
        assert!(says("accept/1", "accept/2").contains("use a newer infergate"));
        assert!(says("expires", "expire").contains("expire"));
        assert!(says("2027-02-28", "2027-02-30").contains("no day"));
        assert!(says("0.534", "-1.0").contains("no run can measure"));
        assert!(!says("0.534", ".nan").is_empty());
        assert!(says("ttft.p95", "ttft").contains("needs a statistic"));
        let no_cells = text.split("cells:").next().unwrap().to_owned() + "cells: []\n";
        assert!(matches!(
            Accept::parse(&no_cells),
            Err(AcceptError::NoCells)
        ));
        assert!(Accept::parse("").is_err());
        assert!(Accept::parse("format: infergate.accept/1").is_err());
    }

    #[test]
    fn its_file_is_named_after_day_and_reason() {
        assert_eq!(
            accept().stem(),
            "2026-11-30-vllm-0-32-trades-ttft-for-throughput-see-41-not"
        );
        let plain = Accept {
            reason: "变慢".to_owned(),
            ..accept()
        };
        assert_eq!(plain.stem(), "2026-11-30");
    }
}
