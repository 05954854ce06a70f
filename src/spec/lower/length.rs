//! Distributions of lengths, and whether they fit the model.

use std::ops::Range;

use crate::spec::class::{Length, PrefixSharing};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Shape};
use crate::spec::node::{Kind, Node};
use crate::spec::values;

/// Tokens of one length at most, where the model's own limit is not pinned.
pub(super) const MOST_TOKENS: u32 = 2_000_000;
/// Tokens that the chat template and special tokens may add to a prompt.
pub(super) const TEMPLATE_TOKENS: u32 = 64;

const SHAPE: Shape = Shape {
    known: &["fixed", "uniform", "lognormal"],
    later: &["gamma", "dataset", "trace"],
    example: "{lognormal: {p50: 250, p95: 800}}",
};
const LOGNORMAL: Shape = Shape {
    known: &["p50", "p95"],
    later: &["mean", "sigma", "min", "max", "p90", "p99"],
    example: "{p50: 250, p95: 800}",
};

/// A length: `512`, `{fixed: 512}`, `{uniform: [300, 800]}` or `{lognormal: {p50: 250, p95: 800}}`.
pub(super) fn lower(node: &Node, what: &str, out: &mut Diagnostics) -> Option<Length> {
    if node.scalar().is_some() {
        return tokens(node, what, out).map(Length::Fixed);
    }
    if !matches!(node.kind, Kind::Mapping(_)) {
        let expected = "a number of tokens or a distribution";
        fields::wrong_type(node, what, expected, SHAPE.example, out);
        return None;
    }
    let fields = Fields::open(node, what, &SHAPE, out)?;
    if fields
        .entries()
        .iter()
        .any(|entry| SHAPE.later.contains(&entry.key.as_str()))
    {
        return None;
    }
    match fields.exactly_one(SHAPE.known, SHAPE.example, out)? {
        "fixed" => tokens(fields.get("fixed", out)?, what, out).map(Length::Fixed),
        "uniform" => uniform(fields.get("uniform", out)?, what, out),
        _ => lognormal(fields.get("lognormal", out)?, what, out),
    }
}

/// A number of tokens.
pub(super) fn tokens(node: &Node, what: &str, out: &mut Diagnostics) -> Option<u32> {
    values::whole_number(node, what, 1..=MOST_TOKENS, "512", out)
}

fn uniform(node: &Node, what: &str, out: &mut Diagnostics) -> Option<Length> {
    const EXAMPLE: &str = "{uniform: [300, 800]}";
    let Kind::Sequence(ends) = &node.kind else {
        fields::wrong_type(node, what, "a lowest and a highest length", EXAMPLE, out);
        return None;
    };
    let [low, high] = ends.as_slice() else {
        fields::wrong_type(node, what, "a lowest and a highest length", EXAMPLE, out);
        return None;
    };
    let (low, high) = (tokens(low, what, out), tokens(high, what, out));
    let (low, high) = (low?, high?);
    if low > high {
        out.error(
            "spec::out-of-range",
            &node.span,
            format!("{what}: the lowest length {low} is above the highest {high}"),
            format!("write it like `{EXAMPLE}`"),
        );
        return None;
    }
    Some(Length::Uniform { low, high })
}

fn lognormal(node: &Node, what: &str, out: &mut Diagnostics) -> Option<Length> {
    let fields = Fields::open(node, format!("`lognormal` of {what}"), &LOGNORMAL, out)?;
    let mut read = |key: &str| {
        let node = fields.need(key, LOGNORMAL.example, out)?;
        let value = values::number(node, &format!("`{key}`"), LOGNORMAL.example, out)?;
        if !(1.0..=f64::from(MOST_TOKENS)).contains(&value) {
            let rule = format!("it must be from 1 to {MOST_TOKENS}");
            fields::out_of_range(node, &format!("`{key}`"), rule, out);
            return None;
        }
        Some(value)
    };
    let (p50, p95) = (read("p50"), read("p95"));
    let (p50, p95) = (p50?, p95?);
    if p95 <= p50 {
        out.error(
            "spec::out-of-range",
            &node.span,
            format!("{what}: p95 {p95} is not above p50 {p50}"),
            format!("for one length write `{{fixed: {p50}}}`"),
        );
        return None;
    }
    Some(Length::Lognormal {
        p50,
        p95,
        max: MOST_TOKENS,
    })
}

/// Tokens that a request has at the least.
fn least_input(prefix: Option<PrefixSharing>) -> u32 {
    prefix.map_or(1, |prefix| prefix.tokens + PrefixSharing::BEYOND)
}

/// Tokens that an input leaves to the output in a model of this many: half of them where it has a
/// tail.
pub(super) fn room_for_output(input: Length, prefix: Option<PrefixSharing>, model: u32) -> u32 {
    let room = model.saturating_sub(TEMPLATE_TOKENS);
    match input {
        Length::Lognormal { .. } => room.min(model / 2),
        Length::Fixed(_) | Length::Uniform { .. } => {
            room.saturating_sub(input.largest().max(least_input(prefix)))
        }
    }
}

/// A class's two lengths, with the places that a mistake about them points at.
pub(super) struct Pair<'n> {
    pub(super) input: Length,
    pub(super) output: Length,
    pub(super) prefix: Option<PrefixSharing>,
    pub(super) input_span: &'n Range<usize>,
    pub(super) output_span: &'n Range<usize>,
}

impl Pair<'_> {
    /// Clips log-normal tails so that every request fits a model of this many tokens.
    ///
    /// A log-normal output may take what the input leaves, and half of the model's length where the
    /// input has a tail too; the input takes the rest. Fixed and uniform lengths are never changed.
    pub(super) fn fit(
        self,
        what: &str,
        model: Option<u32>,
        out: &mut Diagnostics,
    ) -> Option<(Length, Length)> {
        let Some(model) = model else {
            return Some((self.input, self.output));
        };
        let room = model.saturating_sub(TEMPLATE_TOKENS);
        let needed = least_input(self.prefix);
        let for_output = room_for_output(self.input, self.prefix, model);
        let output = clip(self.output, for_output);
        let for_input = output
            .map(|output| room.saturating_sub(output.largest()))
            .filter(|&tokens| tokens >= needed);
        let input = for_input.and_then(|tokens| clip(self.input, tokens));
        match (input, output) {
            (Some(input), Some(output)) => Some((input, output)),
            (_, output) => {
                let (part, span) = if output.is_some() {
                    ("input", self.input_span)
                } else {
                    ("output", self.output_span)
                };
                out.error(
                    "spec::exceeds-model-length",
                    span,
                    format!("the {part} of {what} does not fit `limits.max_model_len`, {model}"),
                    format!(
                        "input, output and {TEMPLATE_TOKENS} tokens of template must fit together; \
                         shorten one, or raise the limit"
                    ),
                );
                None
            }
        }
    }
}

/// The length with its tail cut at `most`; `None` where more than a tail would go.
pub(super) fn clip(length: Length, most: u32) -> Option<Length> {
    match length {
        Length::Fixed(_) | Length::Uniform { .. } => (length.largest() <= most).then_some(length),
        Length::Lognormal { p50, p95, max } => {
            (p95 <= f64::from(most)).then_some(Length::Lognormal {
                p50,
                p95,
                max: max.min(most),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(input: Length, output: Length, model: u32) -> Option<(Length, Length)> {
        let pair = Pair {
            input,
            output,
            prefix: None,
            input_span: &(0..1),
            output_span: &(1..2),
        };
        pair.fit("class `a`", Some(model), &mut Diagnostics::default())
    }

    #[test]
    fn tails_are_clipped_to_the_model() {
        let tailed = |p50, p95| Length::Lognormal {
            p50,
            p95,
            max: MOST_TOKENS,
        };
        let (input, output) = fit(tailed(1400.0, 3500.0), tailed(250.0, 800.0), 16_384).unwrap();
        assert_eq!(output.largest(), 8192);
        assert_eq!(input.largest(), 16_384 - 64 - 8192);
        let (_, output) = fit(Length::Fixed(1000), tailed(250.0, 800.0), 2064).unwrap();
        assert_eq!(output.largest(), 1000);
    }

    #[test]
    fn what_is_no_tail_must_fit() {
        assert!(fit(Length::Fixed(900), Length::Fixed(100), 1064).is_some());
        assert!(fit(Length::Fixed(901), Length::Fixed(100), 1064).is_none());
        assert!(fit(Length::Fixed(901), Length::Fixed(100), 10).is_none());
    }
}
