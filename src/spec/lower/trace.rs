//! `trace`: the part of a recorded trace that a stage replays.

use std::collections::BTreeMap;
use std::ops::Range;

use super::length::TEMPLATE_TOKENS;
use super::workload::Classes;
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Shape};
use crate::spec::files::{FileAsk, FileText, Files};
use crate::spec::node::Node;
use crate::spec::replay::{Account, Played, Replay, ReplayRow, ReplayStamp};
use crate::spec::values;
use crate::trace::{self, Selection, Trace};
use crate::unit::{Nanos, Share, scale};

const SHAPE: Shape = Shape {
    known: &["file", "speed", "from", "window", "keep", "limit", "class"],
    later: &["loop", "format"],
    example: "trace: {file: traces/tuesday.csv, window: 30m, limit: 5000}",
};

/// Share of rows that may be cut to the model's length: the tail beyond a p95.
pub(super) const MOST_CLIPPED: f64 = 0.05;

/// What a stage's trace needs from around it.
pub(super) struct Around<'a> {
    pub(super) classes: &'a Classes,
    /// Tokens that the model takes, where they are pinned.
    pub(super) model_len: Option<u32>,
    pub(super) files: Files<'a>,
}

/// Reads the options and resolves the trace; `None` with everything noted.
pub(super) fn lower(
    node: &Node,
    stage: &str,
    whole: &str,
    around: &Around<'_>,
    out: &mut Diagnostics,
) -> Option<Replay> {
    let fields = Fields::open(node, format!("`trace` of {whole}"), &SHAPE, out)?;
    let file = fields.need("file", SHAPE.example, out);
    let name = file.and_then(|node| values::text(node, "`file`", "file: tuesday.csv", out));
    let selection = selection(&fields, out);
    let class = class(&fields, around.classes, out);
    let (file, name, selection, class) = (file?, name?, selection?, class.ok()?);
    let mut reader = Reader {
        name,
        span: &file.span,
        out,
    };
    match reader.ask(stage, around.files)? {
        FileText::Whole(text) => reader.replay(&text, selection, class.as_deref(), around),
        FileText::Replay(stamp) => Some(from_stamp(name, stamp, selection, around.model_len)),
        // Whoever gives files gives a stage's trace to a stage.
        FileText::Rows(_) | FileText::Schema(_) => None,
    }
}

/// Whether a stage leaves its extent to the trace.
pub(super) fn refuse_extent(fields: &Fields<'_>, out: &mut Diagnostics) -> bool {
    let given = ["duration", "requests"]
        .into_iter()
        .find_map(|key| Some((key, fields.key_span(key)?)));
    if let Some((key, span)) = given {
        out.error(
            "spec::conflicting-fields",
            span,
            format!("a trace plays its rows once, so `{key}` says nothing"),
            "remove it; `window` and `limit` of `trace` take a part of the trace",
        );
    }
    given.is_none()
}

fn selection(fields: &Fields<'_>, out: &mut Diagnostics) -> Option<Selection> {
    let speed = fields.or("speed", 1.0, out, |node, out| {
        let speed = values::number(node, "`speed`", "speed: 2.0", out)?;
        if (1e-3..=1e4).contains(&speed) {
            return Some(speed);
        }
        fields::out_of_range(node, "`speed`", "it must be from 0.001 to 10,000", out);
        None
    });
    let from = fields.or("from", Nanos::ZERO, out, |node, out| {
        values::quantity(node, "`from`", "from: 10m", out)
    });
    let window = fields.optional("window", out, |node, out| {
        values::time(node, "`window`", "window: 30m", out)
    });
    let keep = fields.or("keep", 1.0, out, |node, out| {
        match values::quantity(node, "`keep`", "keep: 25%", out)? {
            Share::Percent(keep) if keep > 0.0 && keep <= 1.0 => Some(keep),
            Share::Percent(_) | Share::Points(_) => {
                let rule = "it must be above 0% and at most 100%";
                fields::out_of_range(node, "`keep`", rule, out);
                None
            }
        }
    });
    let limit = fields.optional("limit", out, |node, out| {
        values::whole_number(node, "`limit`", 1..=10_000_000, "limit: 5000", out)
    });
    Some(Selection {
        speed: speed?,
        from: from?,
        window: window.ok()?,
        keep: keep?,
        limit: limit.ok()?,
    })
}

/// The class of rows that name none: the declared one, or the only one.
fn class(
    fields: &Fields<'_>,
    classes: &Classes,
    out: &mut Diagnostics,
) -> Result<Option<String>, fields::Noted> {
    let declared = fields.optional("class", out, |node, out| {
        let name = values::text(node, "`class`", "class: chat", out)?;
        if classes.names().any(|known| known == name) || !classes.all_named() {
            return Some(name.to_owned());
        }
        out.error(
            "spec::unknown-class",
            &node.span,
            format!("there is no class {}", node.describe()),
            format!("classes are {}", fields::list(classes.names())),
        );
        None
    })?;
    let mut names = classes.names();
    Ok(declared.or_else(|| match (names.next(), names.next()) {
        (Some(only), None) => Some(only.to_owned()),
        _ => None,
    }))
}

/// A replay as a run has kept it, without rows.
fn from_stamp(
    name: &str,
    stamp: ReplayStamp,
    selection: Selection,
    model_len: Option<u32>,
) -> Replay {
    Replay {
        file: name.to_owned(),
        digest: stamp.digest,
        selection,
        span: stamp.span_ns,
        classes: stamp.classes,
        model_len,
        rows: [].into(),
        account: Account::default(),
    }
}

/// Resolves one trace, noting at the name of its file what is wrong.
struct Reader<'r> {
    name: &'r str,
    span: &'r Range<usize>,
    out: &'r mut Diagnostics,
}

impl Reader<'_> {
    fn ask(&mut self, stage: &str, files: Files<'_>) -> Option<FileText> {
        let ask = FileAsk {
            reader: crate::spec::files::Reader::Stage(stage),
            file: self.name,
        };
        files(ask)
            .map_err(|reason| {
                self.error(
                    "spec::trace-unreadable",
                    &format!("cannot be read: {reason}"),
                    "its path is relative to the spec; correct it, or copy the trace there",
                );
            })
            .ok()
    }

    fn replay(
        &mut self,
        text: &str,
        selection: Selection,
        class: Option<&str>,
        around: &Around<'_>,
    ) -> Option<Replay> {
        let trace = trace::parse(text)
            .map_err(|error| {
                let help = "correct the file, or convert it to one of these formats";
                self.error("spec::trace-refused", &format!("is refused: {error}"), help);
            })
            .ok()?;
        self.warn_rows(&trace);
        let Some(selected) = trace.select(&selection) else {
            self.error(
                "spec::trace-without-rows",
                "has no row in the part to replay",
                "start earlier, widen `window`, or keep more",
            );
            return None;
        };
        // A class that could not be read is a mistake of its own.
        let names: Vec<&str> = around.classes.names().collect();
        around.classes.workload()?;
        let mut account = Account {
            format: trace.format.name(),
            read: trace.read,
            bad: trace.bad,
            empty: trace.empty,
            outside: selected.outside,
            thinned: selected.thinned,
            beyond_limit: selected.beyond_limit,
            clipped: 0,
        };
        let mut played: BTreeMap<String, Played> = BTreeMap::new();
        let mut rows = Vec::with_capacity(selected.rows.len());
        for row in selected.rows {
            let name = row.class.as_deref().or(class);
            let Some(index) = name.and_then(|name| names.iter().position(|n| *n == name)) else {
                self.refuse_class(row.class.as_deref(), &names);
                return None;
            };
            let (input_tokens, output_tokens) =
                fit(row.input_tokens, row.output_tokens, around.model_len);
            account.clipped +=
                u32::from((input_tokens, output_tokens) != (row.input_tokens, row.output_tokens));
            let part = played.entry(names[index].to_owned()).or_default();
            part.requests += 1;
            part.output_tokens += u64::from(output_tokens);
            let mut blocks = row.blocks;
            blocks.truncate(input_tokens.div_ceil(trace::BLOCK_TOKENS) as usize);
            rows.push(ReplayRow {
                at: row.at,
                class: index as u32,
                input_tokens,
                output_tokens,
                blocks,
            });
        }
        self.check_clipped(account.clipped, rows.len(), around.model_len)?;
        Some(Replay {
            file: self.name.to_owned(),
            digest: trace.digest,
            selection,
            span: selected.span,
            classes: played,
            model_len: around.model_len,
            rows: rows.into(),
            account,
        })
    }

    fn warn_rows(&mut self, trace: &Trace) {
        let rows = scale::count(trace.read.into());
        if trace.bad > 0 {
            let named: Vec<String> = trace
                .first_bad
                .iter()
                .map(|row| format!("line {}: {}", row.line, row.fault))
                .collect();
            self.out.warning(
                "spec::trace-bad-rows",
                self.span,
                format!(
                    "the trace `{}` has {} of {rows} rows that can't be read",
                    self.name, trace.bad
                ),
                format!("they are left out: {}", named.join("; ")),
            );
        }
        if trace.unsorted > 0 {
            self.out.warning(
                "spec::trace-unsorted",
                self.span,
                format!(
                    "the trace `{}` has {} of {rows} rows after a later one",
                    self.name, trace.unsorted
                ),
                "it is replayed in the order of time",
            );
        }
    }

    fn refuse_class(&mut self, named: Option<&str>, names: &[&str]) {
        let list = fields::list(names.iter().copied());
        match named {
            Some(name) => {
                let name: String = name.chars().take(40).collect();
                self.error(
                    "spec::trace-class",
                    &format!("names the class `{name}`, which the workload hasn't"),
                    &format!("classes are {list}"),
                );
            }
            None => self.error(
                "spec::trace-class",
                "has rows without a class, and the workload has more than one",
                &format!("say which with `class`: one of {list}"),
            ),
        }
    }

    /// A tail may be cut to the model's length; more would be another workload.
    fn check_clipped(&mut self, clipped: u32, rows: usize, model_len: Option<u32>) -> Option<()> {
        let (Some(model), 1..) = (model_len, clipped) else {
            return Some(());
        };
        let share = f64::from(clipped) / rows as f64;
        let message = format!(
            "{} of {} rows, {:.1} %, do not fit `limits.max_model_len`, {model}",
            scale::count(clipped.into()),
            scale::count(rows as u64),
            share * 100.0
        );
        if share > MOST_CLIPPED {
            let help = "take another trace, or raise the limit";
            self.error(
                "spec::exceeds-model-length",
                &format!("has too long rows: {message}"),
                help,
            );
            return None;
        }
        self.out.warning(
            "spec::trace-clipped",
            self.span,
            format!(
                "the trace `{}` has a tail that is cut: {message}",
                self.name
            ),
            format!(
                "outputs are cut to half of it, then inputs to what is left but for \
                 {TEMPLATE_TOKENS} tokens of template"
            ),
        );
        Some(())
    }

    fn error(&mut self, code: &'static str, fault: &str, help: &str) {
        let message = format!("the trace `{}` {fault}", self.name);
        self.out.error(code, self.span, message, help);
    }
}

/// Lengths that fit a model together: the output to half of it, then the input to the rest.
pub(super) fn fit(input: u32, output: u32, model: Option<u32>) -> (u32, u32) {
    let Some(model) = model else {
        return (input, output);
    };
    let room = model.saturating_sub(TEMPLATE_TOKENS).max(2);
    if u64::from(input) + u64::from(output) <= u64::from(room) {
        return (input, output);
    }
    let output = output.min((model / 2).clamp(1, room - 1));
    (input.min(room - output), output)
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn a_row_is_cut_to_its_model() {
        assert_eq!(fit(900, 100, None), (900, 100));
        assert_eq!(fit(900, 100, Some(1064)), (900, 100));
        assert_eq!(fit(901, 100, Some(1064)), (900, 100));
        assert_eq!(fit(10, 5000, Some(1064)), (10, 532));
        assert_eq!(fit(u32::MAX, u32::MAX, Some(1064)), (468, 532));
        assert_eq!(fit(5, 5, Some(1)), (1, 1));
    }
}
