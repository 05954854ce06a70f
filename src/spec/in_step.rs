//! Closed loops whose users go on in step with each other.

use super::class::{Class, Length, OutputLength};
use super::model::Spec;
use super::stage::{Arrival, Stage};
use super::think::Think;

impl Spec {
    /// Closed stages whose users go on in step with each other: none thinks, and all answers have one pinned
    /// length. Of 32 such users all wait for prompts at once, and then all decode.
    pub fn in_step(&self) -> Vec<String> {
        let mut lengths = self.workload.classes.iter().map(Class::one_output);
        let first = lengths.next().flatten();
        if first.is_none() || !lengths.all(|length| length == first) {
            return Vec::new();
        }
        let in_step = |stage: &&Stage| match stage.arrival {
            Arrival::Closed { users, think, .. } => users > 1 && think == Think::NONE,
            Arrival::Open { .. } | Arrival::Trace(_) => false,
        };
        let stages = self.stages.iter().filter(in_step);
        stages.map(|stage| stage.name.clone()).collect()
    }
}

impl Class {
    /// The length of all of its answers, where the plan pins them to one.
    fn one_output(&self) -> Option<u32> {
        let is_pinned = self.output_length == OutputLength::Pinned;
        let mut lengths = self.lengths.iter().map(|bucket| bucket.output);
        match lengths.next() {
            Some(Length::Fixed(one))
                if is_pinned && self.rows.is_none() && self.cancel.is_none() =>
            {
                lengths
                    .all(|other| other == Length::Fixed(one))
                    .then_some(one)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::diag::Source;
    use crate::spec;

    fn in_step(classes: &str, stages: &str) -> Vec<String> {
        let text = format!(
            "infergate: 1\nname: waves\ntarget: {{sim: test, api: chat}}\n\
             workload:\n  classes:\n    - {{name: chat, {classes}}}\n\
             stages:\n  - {{name: sweep, {stages}, requests: 600, warmup: 8}}\n"
        );
        let source = Source {
            path: "waves.yaml".to_owned(),
            text,
        };
        let parsed = spec::parse(&source, &|_| None, &|_| Err("none".to_owned()));
        parsed.unwrap().spec.in_step()
    }

    #[test]
    fn users_with_answers_of_one_length_go_on_in_step() {
        let closed = "closed: {users: [1, 4, 8]}";
        let fixed = "input: 64, output: 32";
        assert_eq!(
            in_step(fixed, closed),
            ["sweep@4", "sweep@8"],
            "one user waits for nobody"
        );
        assert!(in_step("input: 64, output: {uniform: [16, 48]}", closed).is_empty());
        assert!(in_step("input: 64, output_length: natural, max_output: 32", closed).is_empty());
        assert!(in_step(fixed, "closed: {users: [4, 8], think: 1s}").is_empty());
        assert!(in_step(fixed, "open: {rate: [4/s, 8/s]}").is_empty());
        let two = "input: 64, output: 32}\n    - {name: mail, input: 64, output: 16";
        assert!(in_step(two, closed).is_empty());
    }
}
