//! Judgements where there is nothing to hold the candidate against: why, and what the spec's policy makes of
//! it. It is never a pass by itself, whatever the candidate's own figures say.

use super::model::{Design, Headline, Judgement, NextLook, Verdict};
use crate::exit::Exit;
use crate::lang::{Said, of_judged};
use crate::spec::Policy;
use crate::stats::moderated::Evidence;

/// What a spec says of such a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ruling {
    /// What it makes of it.
    pub policy: Policy,
    /// What the field is called in a spec.
    pub name: &'static str,
}

impl Ruling {
    /// The exit code, and the field with its word where it changes one.
    pub fn exit(self) -> (Exit, Option<Said>) {
        let word = |word: &str| {
            Some(Said::new(
                of_judged::POLICY,
                [format!("`{}: {word}`", self.name)],
            ))
        };
        match self.policy {
            Policy::Undecided => (Exit::Undecided, None),
            Policy::Pass => (Exit::Pass, word("pass")),
            Policy::Fail => (Exit::Regression, word("fail")),
        }
    }
}

impl Judgement {
    /// The same where nothing of it was held against a baseline. What the candidate broke by itself stays
    /// broken; what it kept is no pass.
    #[must_use]
    pub fn without_ground(mut self, why: String, ruling: Ruling) -> Self {
        if self.verdict == Verdict::Pass {
            self.verdict = Verdict::Undecided;
        }
        let (exit, policy) = ruling.exit();
        self.exit = self.exit.worst(exit);
        self.policy = policy.or(self.policy);
        self.unjudged = Some(why);
        self
    }

    /// Of a candidate that was not measured, or of one that nothing was asked of; `gated` cells would have
    /// been judged.
    pub fn of_nothing(gated: u32, why: String, ending: (Exit, Option<Said>)) -> Self {
        let (exit, policy) = ending;
        Self {
            verdict: match exit {
                Exit::Invalid | Exit::Usage => Verdict::Invalid,
                Exit::Pass | Exit::Regression | Exit::Undecided => Verdict::Undecided,
            },
            exit,
            policy,
            headline: Headline {
                gated,
                unmeasured: gated,
                ..Headline::default()
            },
            design: Design::Unpaired {
                baseline: 0,
                candidate: 0,
            },
            proof: Evidence::default(),
            noise_ratio: None,
            shift: None,
            base: None,
            levels: Vec::new(),
            diagnoses: Vec::new(),
            pins: Vec::new(),
            findings: Vec::new(),
            caveats: Vec::new(),
            advice: Vec::new(),
            next: NextLook::Stop,
            unjudged: Some(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruling(policy: Policy) -> Ruling {
        Ruling {
            policy,
            name: "no_baseline",
        }
    }

    fn judged(verdict: Verdict, exit: Exit) -> Judgement {
        Judgement {
            verdict,
            ..Judgement::of_nothing(2, String::new(), (exit, None))
        }
    }

    #[test]
    fn without_a_ground_nothing_passes_by_itself() {
        for (verdict, exit, policy, wanted) in [
            (
                Verdict::Pass,
                Exit::Pass,
                Policy::Undecided,
                Exit::Undecided,
            ),
            (Verdict::Pass, Exit::Pass, Policy::Pass, Exit::Pass),
            (Verdict::Pass, Exit::Pass, Policy::Fail, Exit::Regression),
            (
                Verdict::Undecided,
                Exit::Undecided,
                Policy::Pass,
                Exit::Undecided,
            ),
            (
                Verdict::Regression,
                Exit::Regression,
                Policy::Pass,
                Exit::Regression,
            ),
            (Verdict::Invalid, Exit::Invalid, Policy::Pass, Exit::Invalid),
        ] {
            let told = judged(verdict, exit).without_ground("none".to_owned(), ruling(policy));
            assert_eq!(told.exit, wanted, "{verdict:?} {policy:?}");
            assert_ne!(told.verdict, Verdict::Pass);
            assert_eq!(told.policy.is_some(), policy != Policy::Undecided);
        }
    }

    #[test]
    fn nothing_measured_is_never_a_pass() {
        let of = |exit| Judgement::of_nothing(3, "not reached".to_owned(), (exit, None));
        assert_eq!(of(Exit::Undecided).verdict, Verdict::Undecided);
        assert_eq!(of(Exit::Usage).verdict, Verdict::Invalid);
        assert_eq!(of(Exit::Pass).verdict, Verdict::Undecided);
        assert_eq!(of(Exit::Invalid).headline.unmeasured, 3);
    }
}
