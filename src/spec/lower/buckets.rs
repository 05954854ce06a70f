//! The lengths of a class: one pair, or buckets of them.

use std::ops::Range;

use super::length;
use super::workload::weight;
use crate::spec::class::{Bucket, Length, OutputLength, PrefixSharing};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{Fields, Shape};
use crate::spec::values;

const BUCKET: Shape = Shape {
    known: &["weight", "input", "output"],
    later: &[],
    example: "{weight: 3, input: {uniform: [1, 512]}, output: 200}",
};
/// What the lengths of a class have to go with.
pub(super) struct Lengths {
    pub(super) prefix: Option<PrefixSharing>,
    /// Tokens that the model takes, where they are pinned.
    pub(super) model: Option<u32>,
    pub(super) output_length: OutputLength,
}

impl Lengths {
    /// The one pair of a class, or its buckets.
    pub(super) fn of(
        &self,
        fields: &Fields<'_>,
        whole: &str,
        out: &mut Diagnostics,
    ) -> Option<Vec<Bucket>> {
        const EXAMPLE: &str = "buckets: [{weight: 3, input: 500, output: 200}]";
        if ["pairs", "dataset", "prompt"]
            .iter()
            .any(|key| fields.has(key))
        {
            return None;
        }
        self.refuse(fields, whole, out);
        let class = fields;
        if !fields.has("buckets") {
            return self.pair(fields, fields, whole, out).map(|pair| vec![pair]);
        }
        let natural = self.output_length == OutputLength::Natural;
        for key in ["input", "output"] {
            if let Some(place) = fields
                .key_span(key)
                .filter(|_| !(natural && key == "output"))
            {
                out.error(
                    "spec::conflicting-fields",
                    place,
                    format!("{whole} has both `buckets` and `{key}`"),
                    "each bucket has an input and an output of its own",
                );
            }
        }
        let items = values::items(fields.get("buckets", out)?, "`buckets`", EXAMPLE, out)?;
        let buckets: Vec<Option<Bucket>> = items
            .iter()
            .map(|item| {
                let whole = format!("a bucket of {whole}");
                let fields = Fields::open(item, whole.as_str(), &BUCKET, out)?;
                let weight = fields.or("weight", 1.0, out, weight);
                self.refuse(&fields, &whole, out);
                let pair = self.pair(&fields, class, &whole, out);
                Some(Bucket {
                    weight: weight?,
                    ..pair?
                })
            })
            .collect();
        buckets.into_iter().collect()
    }

    /// `input` and `output` of a class or bucket; of a natural length, `max_output` of the class.
    fn pair<'n>(
        &self,
        fields: &Fields<'n>,
        class: &Fields<'n>,
        whole: &str,
        out: &mut Diagnostics,
    ) -> Option<Bucket> {
        let mut side = |key: &str, example: &str| {
            let node = fields.need(key, example, out)?;
            let length = length::lower(node, &format!("`{key}` of {whole}"), out)?;
            Some((length, &node.span))
        };
        let input = side("input", "input: {lognormal: {p50: 1400, p95: 3500}}");
        let output = match self.output_length {
            OutputLength::Pinned => side("output", "output: {uniform: [300, 800]}"),
            OutputLength::Natural => self.most(class, input?.0, whole, out),
        };
        let ((input, input_span), (output, output_span)) = (input?, output?);
        let pair = length::Pair {
            input,
            output,
            prefix: self.prefix,
            input_span,
            output_span,
        };
        let (input, output) = pair.fit(whole, self.model, out)?;
        Some(Bucket {
            weight: 1.0,
            input,
            output,
        })
    }

    /// The most tokens of a natural answer: `max_output`, or what the input leaves of the model.
    fn most<'n>(
        &self,
        class: &Fields<'n>,
        input: Length,
        whole: &str,
        out: &mut Diagnostics,
    ) -> Option<(Length, &'n Range<usize>)> {
        const EXAMPLE: &str = "max_output: 1024";
        if class.has("max_output") {
            let node = class.get("max_output", out)?;
            let most = length::tokens(node, "`max_output`", out)?;
            return Some((Length::Fixed(most), &node.span));
        }
        let Some(model) = self.model else {
            out.error(
                "spec::missing-field",
                class.span(),
                format!("{whole} has a natural output length and no `max_output`"),
                format!("add one like `{EXAMPLE}`, or pin `limits.max_model_len`"),
            );
            return None;
        };
        // Where nothing is left, the input does not fit, which is found next.
        let most = length::room_for_output(input, self.prefix, model).max(1);
        Some((Length::Fixed(most), class.span()))
    }

    /// Notes fields that have no meaning with this output length.
    fn refuse(&self, fields: &Fields<'_>, whole: &str, out: &mut Diagnostics) {
        let (key, words, help) = match self.output_length {
            OutputLength::Pinned => (
                "max_output",
                "pinned",
                "`output` says how long answers are; or set `output_length: natural`",
            ),
            OutputLength::Natural => (
                "output",
                "natural",
                "the model decides where an answer ends; `max_output` says where it is cut",
            ),
        };
        if let Some(place) = fields.key_span(key) {
            out.error(
                "spec::conflicting-fields",
                place,
                format!("{whole} has a {words} output length and `{key}`"),
                help,
            );
        }
    }
}
