//! When two spellings are one value.

use super::PinPath;

/// How values of a pin are read.
enum Reading {
    /// Letter by letter: command lines, bodies, texts.
    Verbatim,
    /// Capitals, spaces, `-` and `_` say nothing: `FP8` is `fp8`. A flag is `on` as well as `true`.
    Word,
    /// As a word, without a leading `v`: `v0.11.2` is `0.11.2`.
    Version,
    /// As a word, without the maker's name: `h200` is `NVIDIA H200`.
    Product,
}

fn reading(pin: PinPath) -> Reading {
    match pin.as_str() {
        "engine.args" => Reading::Verbatim,
        "engine.version" | "engine.build" | "hardware.driver" | "client.version" => {
            Reading::Version
        }
        "hardware.gpu" => Reading::Product,
        path if path.starts_with("request.") => Reading::Verbatim,
        _ => Reading::Word,
    }
}

/// Whether two values of a pin are the same but for their spelling.
pub(super) fn same(pin: PinPath, one: &str, other: &str) -> bool {
    one == other || plain(pin, one) == plain(pin, other)
}

/// Whether what is declared holds of what was seen: the same, or of GPUs the words of the product that
/// are declared, in each of them: `H100` of `NVIDIA H100 80GB HBM3`, and not of `NVIDIA L40S`.
pub(super) fn holds(pin: PinPath, declared: &str, seen: &str) -> bool {
    if same(pin, declared, seen) {
        return true;
    }
    let Reading::Product = reading(pin) else {
        return false;
    };
    let declared = plain(pin, declared);
    !declared.is_empty()
        && seen.split(" + ").all(|seen| {
            let seen = format!(" {} ", plain(pin, seen));
            seen.contains(&format!(" {declared} "))
        })
}

/// The value without what says nothing.
fn plain(pin: PinPath, value: &str) -> String {
    let reading = reading(pin);
    if let Reading::Verbatim = reading {
        return value.to_owned();
    }
    let lower = value.to_lowercase();
    let words = lower.split(|c: char| c.is_whitespace() || matches!(c, '-' | '_'));
    let mut words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    match reading {
        Reading::Product => words.retain(|word| *word != "nvidia"),
        Reading::Version => {
            if let [first, ..] = &mut words[..] {
                let number = first.strip_prefix('v');
                let is_number = |rest: &&str| rest.starts_with(|c: char| c.is_ascii_digit());
                *first = number.filter(is_number).unwrap_or(first);
            }
        }
        Reading::Word => {
            if let [only] = &mut words[..] {
                *only = match *only {
                    "true" => "on",
                    "false" => "off",
                    other => other,
                };
            }
        }
        Reading::Verbatim => {}
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pin(path: &str) -> PinPath {
        path.parse().unwrap()
    }

    #[test]
    fn spelling_is_no_difference() {
        assert!(same(pin("precision.weights"), "FP8", "fp8"));
        assert!(same(
            pin("precision.method"),
            "compressed_tensors",
            "compressed-tensors"
        ));
        assert!(same(pin("engine.version"), "v0.11.2", "0.11.2"));
        assert!(same(pin("hardware.gpu"), "h200", "NVIDIA H200"));
        assert!(same(pin("cache.prefix"), "true", "on"));
        assert!(!same(pin("engine.version"), "0.11", "0.11.2"));
        assert!(!same(pin("precision.weights"), "fp8", "fp16"));
        assert!(!same(pin("engine.args"), "serve -b 1", "serve -B 1"));
    }

    #[test]
    fn a_declared_product_holds_of_each_gpu() {
        let gpu = pin("hardware.gpu");
        assert!(holds(gpu, "H100", "NVIDIA H100 80GB HBM3"));
        assert!(holds(gpu, "a100", "NVIDIA A100-SXM4-80GB"));
        assert!(!holds(gpu, "L4", "NVIDIA L40S"));
        assert!(!holds(gpu, "H100", "NVIDIA H100 80GB HBM3 + NVIDIA L40S"));
        assert!(!holds(gpu, "nvidia", "NVIDIA L40S"), "which one?");
        assert!(!holds(pin("engine.name"), "vllm", "vllm nightly"));
    }

    proptest! {
        #[test]
        fn sameness_goes_both_ways(one in "[ vVaA0._-]{0,6}", other in "[ vVaA0._-]{0,6}") {
            for pin in PinPath::all() {
                prop_assert_eq!(same(pin, &one, &other), same(pin, &other, &one));
                prop_assert!(same(pin, &one, &one) && holds(pin, &one, &one));
            }
        }
    }
}
