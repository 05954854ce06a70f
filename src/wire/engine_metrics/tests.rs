use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;

/// Each engine's exposition, and what is made of it.
const FIXTURES: [(&str, &str); 7] = [
    ("vllm", include_str!("fixtures/vllm.prom")),
    ("vllm-v0", include_str!("fixtures/vllm-v0.prom")),
    ("sglang", include_str!("fixtures/sglang.prom")),
    ("llama.cpp", include_str!("fixtures/llama.cpp.prom")),
    ("tensorrt-llm", include_str!("fixtures/tensorrt-llm.prom")),
    (
        "tensorrt-llm-on-triton",
        include_str!("fixtures/tensorrt-llm-on-triton.prom"),
    ),
    ("tgi", include_str!("fixtures/tgi.prom")),
];

/// One thing a line.
fn told(reading: &EngineReading) -> String {
    let mut lines = vec![format!(
        "{}, prompts whole: {}, started: {:?}",
        reading.engine, reading.prompts_are_whole, reading.started_s
    )];
    for (counter, count) in &reading.counters {
        lines.push(format!("{counter:?} {count}"));
    }
    for (level, LevelReading { value, largest }) in &reading.levels {
        lines.push(format!("{level:?} {value}, largest {largest}"));
    }
    for (span, reading) in &reading.spans {
        lines.push(format!(
            "{span:?} {} in {:.6} s, {} buckets",
            reading.count,
            reading.sum_s,
            reading.buckets.as_slice().len()
        ));
    }
    lines.join("\n")
}

#[test]
fn each_engine_speaks_one_vocabulary() {
    for (name, text) in FIXTURES {
        assert_snapshot!(name, told(&read(text).unwrap()));
    }
}

#[test]
fn counters_are_read_with_and_without_their_ending() {
    for (name, text) in FIXTURES {
        let bare = text.replace("_total", "");
        let read = |text| told(&read(text).unwrap());
        assert_eq!(read(&bare), read(text), "{name}");
    }
}

#[test]
fn a_newer_name_counts_where_both_are_there() {
    let both = "vllm:kv_cache_usage_perc 0.5\nvllm:gpu_cache_usage_perc 0.4\n";
    let level = read(both).unwrap().levels[&Level::KvUsage];
    assert!((level.value - 0.5).abs() < 1e-12);
}

#[test]
fn a_pair_of_counters_is_whole_or_none() {
    let without = "vllm:prefix_cache_hits_total 4\nvllm:prompt_tokens_total 9\n";
    let reading = read(without).unwrap();
    assert_eq!(
        reading.counters,
        BTreeMap::from([(Counter::PromptTokens, 9.0)]),
        "4 of how many?"
    );
    let old = "llamacpp:prompt_tokens_total 100\n";
    let counters = read(old).unwrap().counters;
    assert!(
        !counters.contains_key(&Counter::PrefixQueries),
        "an old build"
    );
}

#[test]
fn label_sets_of_a_histogram_are_added_up() {
    let name = "vllm:time_to_first_token_seconds";
    let text = format!(
        "{name}_bucket{{engine=\"0\",le=\"0.1\"}} 3\n\
         {name}_bucket{{engine=\"0\",le=\"0.5\"}} 5\n\
         {name}_bucket{{engine=\"0\",le=\"+Inf\"}} 6\n\
         {name}_count{{engine=\"0\"}} 6\n\
         {name}_sum{{engine=\"0\"}} 2.5\n\
         {name}_bucket{{engine=\"1\",le=\"0.5\"}} 4\n\
         {name}_bucket{{engine=\"1\",le=\"0.2\"}} 1\n\
         {name}_count{{engine=\"1\"}} 4\n\
         {name}_sum{{engine=\"1\"}} 1.5\n"
    );
    let reading = read(&text).unwrap();
    let ttft = &reading.spans[&Span::Ttft];
    assert_eq!((ttft.count, ttft.sum_s), (10.0, 4.0));
    let common = Bucket {
        at_most_s: 0.5,
        count: 9.0,
    };
    assert_eq!(ttft.buckets.as_slice(), [common]);
}

#[test]
fn what_is_nothing_says_so() {
    assert_eq!(read(""), Err(NoReading::NotPrometheus));
    assert_eq!(read("{\"error\": 404}"), Err(NoReading::NotPrometheus));
    assert_eq!(read("up 1\n"), Err(NoReading::UnknownEngine));
    assert_eq!(
        read("vllm:num_requests_running NaN\nup 1\n"),
        Err(NoReading::UnknownEngine)
    );
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "\\PC{0,80}|(vllm:|tgi_|llamacpp:)?[a-z:_{}=\"\\\\,0-9 \n]{0,80}") {
        let _ = read(&text);
    }

    /// Values that no engine has, at names that are known.
    #[test]
    fn any_number_is_survived(which in 0..FIXTURES.len(), line in any::<prop::sample::Index>(), value in any::<f64>()) {
        let lines: Vec<&str> = FIXTURES[which].1.lines().collect();
        let line = line.index(lines.len());
        let text: Vec<String> = lines.iter().enumerate().map(|(at, text)| match text.rsplit_once(' ') {
            Some((name, _)) if at == line => format!("{name} {value:?}"),
            _ => (*text).to_owned(),
        }).collect();
        if let Ok(reading) = read(&text.join("\n")) {
            prop_assert!(reading.counters.values().all(|count| count.is_finite() && *count >= 0.0));
            prop_assert!(reading.levels.values().all(|level| level.value.is_finite()));
            prop_assert!(reading.spans.values().all(|span| span.sum_s.is_finite() && span.count >= 0.0));
        }
    }

    /// Samples come in any order.
    #[test]
    fn order_says_nothing(which in 0..FIXTURES.len(), seed in any::<u64>()) {
        let mut lines: Vec<&str> = FIXTURES[which].1.lines().collect();
        let ahead = told(&read(FIXTURES[which].1).unwrap());
        lines.sort_by_key(|line| line.bytes().fold(seed, |hash, byte| hash.rotate_left(5) ^ u64::from(byte)));
        prop_assert_eq!(told(&read(&lines.join("\n")).unwrap()), ahead);
    }
}
