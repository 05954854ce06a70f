//! Prompts of one run beside those of another.

use super::*;
use crate::plan::CalibrationSource;

fn prompter(salt: &str) -> Prompter {
    let calibration = PromptCalibration {
        tokens_per_word: 1.0,
        overhead_tokens: 4.0,
        prefix_tokens: 0.0,
        source: CalibrationSource::Usage,
    };
    Prompter::new(42, Salt::new(salt), calibration)
}

fn request(number: u32, prefix: Option<Prefix>) -> PlannedRequest {
    PlannedRequest {
        phase: Phase::Measured,
        number,
        class: 0,
        tenant: None,
        row: None,
        turn: None,
        input_tokens: 104,
        output_tokens: 8,
        output_length: crate::spec::OutputLength::Pinned,
        prefix,
        cancel_after: None,
    }
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn a_prompt_has_its_planned_length() {
    let prompt = prompter("a").prompt("steady", &request(0, None), &[]);
    assert_eq!(words(&prompt.user).len(), 100);
    assert_eq!(prompt.system, None);
}

#[test]
fn another_run_shares_no_beginning_but_the_same_body() {
    let (a, b) = (prompter("a"), prompter("b"));
    let (a, b) = (
        a.prompt("s", &request(0, None), &[]),
        b.prompt("s", &request(0, None), &[]),
    );
    assert_ne!(words(&a.user)[..6], words(&b.user)[..6]);
    assert_eq!(words(&a.user)[6..], words(&b.user)[6..]);
}

#[test]
fn requests_of_a_run_are_unique_but_for_their_shared_prefix() {
    let prompter = prompter("a");
    let group = |group| Some(Prefix { group, tokens: 50 });
    let first = prompter.prompt("s", &request(0, group(1)), &[]);
    let same = prompter.prompt("s", &request(1, group(1)), &[]);
    let other = prompter.prompt("s", &request(2, group(2)), &[]);
    assert_eq!(first.system, same.system);
    assert_ne!(first.system, other.system);
    assert_ne!(first.user, same.user);
    assert_eq!(words(first.system.as_deref().unwrap()).len(), 50);
    assert_eq!(words(&first.user).len(), 50);
}

#[test]
fn a_tenants_groups_are_its_own() {
    let prompter = prompter("a");
    let system = |tenant, number| {
        let request = PlannedRequest {
            tenant,
            ..request(
                number,
                Some(Prefix {
                    group: 1,
                    tokens: 50,
                }),
            )
        };
        prompter.prompt("s", &request, &[]).system.unwrap()
    };
    assert_eq!(system(Some(3), 0), system(Some(3), 1));
    assert_ne!(system(Some(3), 0), system(Some(4), 0));
    assert_ne!(system(Some(0), 0), system(None, 0));
}

#[test]
fn equal_blocks_are_equal_text_and_salted_first() {
    let prompt = |salt, number, input_tokens, blocks: &[u64]| {
        let request = PlannedRequest {
            input_tokens,
            ..request(number, None)
        };
        prompter(salt).prompt("day", &request, blocks).user
    };
    let a = prompt("a", 0, 1504, &[7, 8]);
    let b = prompt("a", 1, 1504, &[7, 9]);
    let (a, b) = (words(&a), words(&b));
    assert_eq!((a.len(), b.len()), (1500, 1500));
    assert_eq!(a[..512], b[..512]);
    assert_ne!(a[512..518], b[512..518]);
    assert_ne!(a[1024..1030], b[1024..1030]);
    // A last block in part is the whole one's beginning.
    let part = prompt("a", 2, 704, &[7, 8]);
    assert_eq!(words(&part), a[..700]);
    // Another run has nothing of it from the first word on.
    let other = prompt("b", 0, 1504, &[7, 8]);
    assert_ne!(words(&other)[..6], a[..6]);
    assert_eq!(words(&other)[6..512], a[6..512]);
}

#[test]
fn a_regime_says_what_is_salted() {
    let system = |salt, cache, number| {
        let prefix = Some(Prefix {
            group: 1,
            tokens: 50,
        });
        let prompter = prompter(salt).under(cache);
        let prompt = prompter.prompt("s", &request(number, prefix), &[]);
        (prompt.system.unwrap(), prompt.user)
    };
    let (cold, warm) = (CacheRegime::Cold, CacheRegime::Warm);
    // Cold: not even two requests of a run share their beginning.
    let (a, b) = (system("a", cold, 0).0, system("a", cold, 1).0);
    assert_ne!(words(&a)[..6], words(&b)[..6]);
    assert_eq!(words(&a)[6..], words(&b)[6..]);
    // Warm: runs share what requests share, and nothing else.
    assert_eq!(system("a", warm, 0).0, system("b", warm, 1).0);
    assert_ne!(
        words(&system("a", warm, 0).1)[..6],
        words(&system("b", warm, 0).1)[..6]
    );
    let before = |salt, cache, number| {
        prompter(salt)
            .under(cache)
            .before("s", &request(number, None))
    };
    assert_eq!(before("a", warm, 0), "");
    assert_ne!(before("a", cold, 0), before("a", cold, 1));
    let realistic = CacheRegime::Realistic;
    assert_eq!(before("a", realistic, 0), before("a", realistic, 1));
    assert_ne!(before("a", realistic, 0), before("b", realistic, 0));
    assert_eq!(words(&before("a", realistic, 0)).len(), 6);
}

#[test]
fn calibration_texts_hold_every_word_twice() {
    let texts = calibration_texts();
    assert_eq!(texts.len(), 12);
    let total: u32 = texts.iter().map(|(words, _)| words).sum();
    assert_eq!(total as usize, 2 * WORDS.len());
    for (count, text) in texts {
        assert_eq!(words(&text).len(), count as usize);
    }
}

#[test]
fn the_text_is_pinned() {
    insta::assert_snapshot!(prompter("a").prompt("steady", &request(0, None), &[]).user);
}

#[test]
fn prompts_of_classes_that_ask_for_quality_are_those_of_every_run() {
    use crate::quality::Quality;
    use crate::spec::Length;
    let class = |quality: Option<Quality>| {
        let mut class = Class::new("a".parse().unwrap(), Length::Fixed(1), Length::Fixed(1));
        class.quality = quality;
        class
    };
    let asks = Quality {
        checks: Vec::new(),
        agreement: true,
    };
    let classes = [class(Some(asks)), class(None)];
    for cache in [CacheRegime::Cold, CacheRegime::Realistic, CacheRegime::Warm] {
        let said = |salt: &str, number: u32, class: u32| {
            let prompter = prompter(salt).under(cache).with_fixed(&classes);
            let request = PlannedRequest {
                class,
                ..request(number, None)
            };
            (
                prompter.prompt("s", &request, &[]),
                prompter.before("s", &request),
            )
        };
        assert_eq!(said("one", 1, 0), said("two", 1, 0));
        assert_ne!(
            said("one", 1, 0).0,
            said("one", 2, 0).0,
            "each is still new in its run"
        );
        assert_eq!(
            said("one", 1, 0).1,
            "",
            "a dataset's prompts stay as they stand"
        );
        assert_ne!(said("one", 1, 1).0, said("two", 1, 1).0);
    }
}
