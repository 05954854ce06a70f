//! Every format, and whatever else a file may hold.

use std::fs;
use std::path::PathBuf;

use super::*;

fn fixture(name: &str) -> Trace {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/trace")
        .join(name);
    parse(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Instants in milliseconds, input and output.
fn rows(trace: &Trace) -> Vec<(u64, u32, u32)> {
    trace
        .rows
        .iter()
        .map(|row| {
            (
                row.at.get() / 1_000_000,
                row.input_tokens,
                row.output_tokens,
            )
        })
        .collect()
}

pub(super) fn csv(header: &str, lines: &[&str]) -> Result<Trace, TraceError> {
    parse(&format!("{header}\n{}\n", lines.join("\n")))
}

pub(super) const AZURE: &str = "TIMESTAMP,ContextTokens,GeneratedTokens";
const ALL: Selection = Selection {
    speed: 1.0,
    from: Nanos::ZERO,
    window: None,
    keep: 1.0,
    limit: None,
};

#[test]
fn azure_traces_are_read() {
    let trace = fixture("azure-conv.csv");
    assert_eq!(
        (trace.format, trace.read, trace.bad),
        (Format::Azure, 300, 0)
    );
    assert_eq!(trace.unsorted, 0);
    // 18:15:46.6805900 and 18:15:50.9951690: not one of the seven digits is lost.
    assert_eq!(trace.rows[1].at, Nanos::new(4_314_579_000));
    assert_eq!(rows(&trace)[..2], [(0, 374, 44), (4314, 396, 109)]);
}

#[test]
fn burstgpt_traces_are_read() {
    let trace = fixture("burstgpt-1.csv");
    assert_eq!(trace.format, Format::BurstGpt);
    assert_eq!(
        rows(&trace),
        [(0, 472, 18), (40_000, 1087, 230), (113_000, 417, 276)]
    );
    let trace = fixture("burstgpt-3.csv");
    assert_eq!(rows(&trace)[..2], [(0, 906, 446), (51_000, 36, 29)]);
}

#[test]
fn mooncake_traces_are_read() {
    let trace = fixture("mooncake-conversation.jsonl");
    assert_eq!((trace.format, trace.read), (Format::Mooncake, 60));
    let [first, .., last] = trace.rows.as_slice() else {
        panic!("60 rows")
    };
    assert_eq!((first.input_tokens, first.output_tokens), (6758, 500));
    assert_eq!(first.blocks, (0..14).collect::<Vec<u64>>());
    assert_eq!(last.at, Nanos::from_secs(15));
}

#[test]
fn our_own_traces_are_read() {
    let trace = fixture("own.jsonl");
    assert_eq!((trace.format, trace.read), (Format::Infergate, 120));
    assert_eq!(trace.rows[1].class.as_deref(), Some("chat"));
    assert_eq!(trace.rows[3].blocks, [7, 8]);
    assert_eq!(trace.rows[1].at, Nanos::from_millis(250));
}

#[test]
fn the_format_is_in_the_content() {
    let plain = csv(
        AZURE,
        &["2023-11-16 18:00:00,10,20", "2023-11-16 18:00:01.5,30,40"],
    );
    let plain = rows(&plain.unwrap());
    assert_eq!(plain, [(0, 10, 20), (1500, 30, 40)]);
    for text in [
        // A byte-order mark, CRLF, no line end at the end.
        "\u{feff}TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:00:00,10,20\r\n\
         2023-11-16 18:00:01.5,30,40",
        // Quoted fields, a comma in one of them, another order, a column more.
        "\"note\",\"GeneratedTokens\",\"TIMESTAMP\",\"ContextTokens\"\n\
         \"a, b\",\"20\",\"2023-11-16 18:00:00\",\"10\"\n,40,2023-11-16 18:00:01.5,30\n",
        // Another spelling, spaces, empty lines, numbers with a point.
        "\ntimestamp , context_tokens, generated tokens\n\n2023-11-16T18:00:00Z, 10.0, 20\n\n\
         2023-11-16T19:00:01.5+01:00, 30, 40\n\n",
        // Seconds in place of dates.
        "Timestamp,Model,Request tokens,Response tokens\n7,x,10,20\n8.5,x,30,40\n",
        "{\"timestamp\": 500, \"input_length\": 10, \"output_length\": 20}\r\n\r\n\
         {\"timestamp\": 2000, \"input_length\": 30, \"output_length\": 40, \"hash_ids\": []}",
        "\u{feff}{\"at_s\": 0.5, \"input_tokens\": 10, \"output_tokens\": 20, \"class\": null}\n\
         {\"at_s\": 2, \"input_tokens\": 30, \"output_tokens\": 40}\n",
    ] {
        assert_eq!(rows(&parse(text).unwrap()), plain, "{text}");
    }
}

#[test]
fn what_is_no_trace_is_refused() {
    for text in ["", "\u{feff}", " \r\n\n"] {
        assert_eq!(parse(text), Err(TraceError::Empty), "{text:?}");
    }
    assert_eq!(csv(AZURE, &[]), Err(TraceError::Empty));
    for text in [
        "a,b,c\n1,2,3\n",
        "# traces\n",
        "{}\n",
        "{\"timestamp\": 0, \"requests\": []}\n",
        "[1, 2]\n",
        // Blocks of 16 tokens and seconds.
        "{\"chat_id\": 1, \"timestamp\": 61.1, \"input_length\": 5, \"output_length\": 1}\n",
    ] {
        assert_eq!(parse(text), Err(TraceError::UnknownFormat), "{text:?}");
    }
    let nothing = csv(AZURE, &["2023-11-16 18:00:00,10,0"]);
    assert_eq!(nothing, Err(TraceError::NothingToReplay { read: 1 }));
}

/// 200 good rows with one in between.
fn among_good(row: &str) -> Trace {
    let mut lines = vec!["2023-11-16 18:00:00,10,20"; 200];
    lines.insert(100, row);
    csv(AZURE, &lines).unwrap()
}

#[test]
fn a_bad_row_is_named_by_its_line() {
    for (row, fault) in [
        (
            "2023-11-16 18:00:00,-5,20",
            "`ContextTokens` is no number of tokens from 0 to 2000000",
        ),
        (
            "2023-11-16 18:00:00,5,2e300",
            "`GeneratedTokens` is no number of tokens from 0 to 2000000",
        ),
        (
            "2023-11-16 18:00:00,5,99999999999999999999",
            "`GeneratedTokens` is no number of tokens from 0 to 2000000",
        ),
        (
            "2023-11-16 18:00:00,nan,5",
            "`ContextTokens` is no number of tokens from 0 to 2000000",
        ),
        (
            "2023-11-16 18:00:00,1.5,5",
            "`ContextTokens` is no number of tokens from 0 to 2000000",
        ),
        ("2023-11-16 18:00:00,5", "no `GeneratedTokens`"),
        ("2023-11-16 18:00:00,,5", "no `ContextTokens`"),
        ("-3,5,5", "`TIMESTAMP` is no time"),
        ("noon,5,5", "`TIMESTAMP` is no time"),
    ] {
        let trace = among_good(row);
        assert_eq!((trace.bad, trace.read, trace.rows.len()), (1, 201, 200));
        assert_eq!(trace.first_bad[0].line, 102, "{row}");
        assert_eq!(trace.first_bad[0].fault.to_string(), fault, "{row}");
    }
    let messy = fixture("messy.jsonl");
    assert_eq!((messy.bad, messy.empty, messy.unsorted), (1, 1, 2));
    assert_eq!(messy.first_bad[0].line, 100);
    assert_eq!(messy.rows.len(), 198);
    assert!(messy.rows.is_sorted_by_key(|row| row.at));
}

#[test]
fn lines_are_counted_with_crlf_and_quoted_line_ends() {
    let mut text = format!("{AZURE},note\r\n");
    for _ in 0..150 {
        text.push_str("2023-11-16 18:00:00,10,20,\"two\r\nlines\"\r\n\r\n");
    }
    text.push_str("2023-11-16 18:00:00,x,20,\r\n");
    let trace = parse(&text).unwrap();
    assert_eq!(trace.first_bad[0].line, 1 + 3 * 150 + 1);
}

#[test]
fn every_field_of_an_object_is_checked() {
    let good = "{\"at_s\": 1, \"input_tokens\": 600, \"output_tokens\": 2}\n".repeat(200);
    for (row, fault) in [
        ("{\"at_s\": 1", "no JSON object"),
        ("[]", "no JSON object"),
        ("{\"input_tokens\": 1, \"output_tokens\": 2}", "no `at_s`"),
        (
            "{\"at_s\": -1, \"input_tokens\": 1, \"output_tokens\": 2}",
            "`at_s` is no time",
        ),
        (
            "{\"at_s\": \"1\", \"input_tokens\": 1, \"output_tokens\": 2}",
            "`at_s` is no time",
        ),
        (
            "{\"at_s\": 1e300, \"input_tokens\": 1, \"output_tokens\": 2}",
            "`at_s` is no time",
        ),
        (
            "{\"at_s\": 1, \"input_tokens\": 1, \"output_tokens\": -2}",
            "`output_tokens` is no number of tokens from 0 to 2000000",
        ),
        (
            "{\"at_s\": 1, \"input_tokens\": 1, \"output_tokens\": 2, \"class\": 3}",
            "`class` is no text",
        ),
        (
            "{\"at_s\": 1, \"input_tokens\": 1, \"output_tokens\": 2, \"prefix\": [-1]}",
            "`prefix` is no list of whole numbers",
        ),
        (
            "{\"at_s\": 1, \"input_tokens\": 512, \"output_tokens\": 2, \"prefix\": [1, 2]}",
            "2 blocks of 512 tokens are more than an input of 512 has",
        ),
    ] {
        let trace = parse(&format!("{good}{row}")).unwrap();
        assert_eq!(trace.bad, 1, "{row}");
        assert_eq!(trace.first_bad[0].line, 201);
        assert_eq!(trace.first_bad[0].fault.to_string(), fault, "{row}");
    }
}

#[test]
fn beyond_one_percent_the_file_is_refused() {
    let of = |bad: usize, good: usize| {
        let lines: Vec<&str> = std::iter::repeat_n("x,1,1", bad)
            .chain(std::iter::repeat_n("1,1,1", good))
            .collect();
        csv(AZURE, &lines)
    };
    assert_eq!(of(1, 99).unwrap().bad, 1);
    let error = of(2, 197).unwrap_err();
    assert_eq!(
        error.to_string(),
        "2 of 199 rows can't be read, 1.01 %, and at most 1 % may: line 2: `TIMESTAMP` is no time; \
         line 3: `TIMESTAMP` is no time"
    );
}

#[test]
fn rows_are_put_in_the_order_of_time() {
    let trace = csv(AZURE, &["5,1,1", "3,2,1", "4,3,1", "3,4,1", "9,5,1"]).unwrap();
    let order: Vec<(u64, u32)> = rows(&trace).iter().map(|row| (row.0, row.1)).collect();
    // Rows of one instant stay in the file's order; all of them stay.
    assert_eq!(order, [(0, 2), (0, 4), (1000, 3), (2000, 1), (6000, 5)]);
    assert_eq!(trace.unsorted, 3);
}

fn every_second(n: u32) -> Trace {
    let lines: Vec<String> = (0..n).map(|i| format!("{i},{},1", i + 1)).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    csv(AZURE, &lines).unwrap()
}

#[test]
fn a_selection_takes_a_window_and_scales_it() {
    let trace = every_second(100);
    let all = trace.select(&ALL).unwrap();
    assert_eq!((all.rows.len(), all.span), (100, Nanos::from_secs(100)));
    let part = trace
        .select(&Selection {
            speed: 4.0,
            from: Nanos::from_secs(10),
            window: Some(Nanos::from_secs(20)),
            ..ALL
        })
        .unwrap();
    assert_eq!((part.rows.len(), part.outside), (20, 80));
    assert_eq!(part.span, Nanos::from_secs(5));
    assert_eq!(part.rows[0].at, Nanos::ZERO);
    assert_eq!(part.rows[0].input_tokens, 11);
    assert_eq!(part.rows[1].at, Nanos::from_millis(250));
    let limited = trace
        .select(&Selection {
            limit: Some(4),
            ..ALL
        })
        .unwrap();
    assert_eq!((limited.rows.len(), limited.beyond_limit), (4, 96));
    assert_eq!(limited.span, Nanos::from_secs(4));
    let beyond = Selection {
        from: Nanos::from_secs(100),
        ..ALL
    };
    assert_eq!(trace.select(&beyond), None);
    // A window that the trace doesn't fill ends with the trace.
    let long = Selection {
        window: Some(Nanos::from_secs(1000)),
        ..ALL
    };
    assert_eq!(trace.select(&long).unwrap().span, Nanos::from_secs(100));
}

#[test]
fn rows_of_one_instant_take_a_second() {
    let trace = csv(AZURE, &["1,1,1", "1,1,1"]).unwrap();
    assert_eq!(trace.select(&ALL).unwrap().span, Nanos::from_secs(1));
}

#[test]
fn thinning_keeps_the_same_rows() {
    let trace = every_second(10_000);
    let kept = |keep: f64| -> Vec<u32> {
        let selected = trace.select(&Selection { keep, ..ALL }).unwrap();
        assert_eq!(selected.thinned as usize + selected.rows.len(), 10_000);
        selected.rows.iter().map(|row| row.number).collect()
    };
    let (quarter, half) = (kept(0.25), kept(0.5));
    assert!((2350..2650).contains(&quarter.len()), "{}", quarter.len());
    assert!((4800..5200).contains(&half.len()), "{}", half.len());
    assert!(quarter.iter().all(|row| half.binary_search(row).is_ok()));
    assert_eq!(quarter, kept(0.25));
    // The first is one that stays in every part, whatever precedes it in the window.
    let late = trace
        .select(&Selection {
            keep: 0.25,
            from: Nanos::from_secs(5000),
            ..ALL
        })
        .unwrap();
    assert!(
        late.rows
            .iter()
            .all(|row| quarter.binary_search(&row.number).is_ok())
    );
}
