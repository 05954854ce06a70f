use super::*;
use crate::wire::engine_metrics::{EngineReading, read};

/// A look and its instant.
type Look = (Nanos, EngineReading);

/// A look at this many milliseconds: tokens generated, requests running, a process that started then.
fn look(at: u64, tokens: u64, running: u64, started: u64) -> Look {
    let text = format!(
        "process_start_time_seconds {started}\n\
         vllm:generation_tokens_total {tokens}\n\
         vllm:num_requests_running {running}\n\
         vllm:kv_cache_usage_perc{{engine=\"0\"}} 0.{running}\n\
         vllm:kv_cache_usage_perc{{engine=\"1\"}} 0.2\n\
         vllm:prefix_cache_queries_total {tokens}\n\
         vllm:prefix_cache_hits_total 1\n\
         vllm:time_to_first_token_seconds_count {tokens}\n\
         vllm:time_to_first_token_seconds_sum {}\n\
         vllm:time_to_first_token_seconds_bucket{{le=\"0.3\"}} {tokens}\n",
        tokens as f64 / 1000.0
    );
    (Nanos::from_millis(at), read(&text).unwrap())
}

fn replica(looks: Vec<Look>) -> ReplicaScrapes {
    let mut replica = ReplicaScrapes::new("http://a/metrics".to_owned());
    for (at, reading) in looks {
        replica.see(at, reading, true);
    }
    replica
}

/// From 1 s to 3 s.
const WINDOW: ScrapedWindow = ScrapedWindow {
    start: Nanos::from_secs(1),
    end: Nanos::from_secs(3),
};

fn seen(replicas: &[ReplicaScrapes]) -> EngineFigures {
    match engine_view(replicas, WINDOW) {
        EngineView::Seen(figures) => *figures,
        EngineView::Unknown { why } => panic!("{why}"),
    }
}

fn steady() -> ReplicaScrapes {
    after(look(0, 7, 0, 5))
}

fn after(first: Look) -> ReplicaScrapes {
    replica(vec![
        first,
        look(1000, 10, 2, 5),
        look(2000, 60, 4, 5),
        look(3000, 110, 4, 5),
        look(3500, 112, 0, 5),
    ])
}

#[test]
fn a_window_is_read_between_its_edges() {
    let figures = seen(&[steady()]);
    assert_eq!(figures.output_tokens, Some(100));
    assert_eq!((figures.scrapes, figures.engine.as_str()), (3, "vllm"));
    assert_eq!(
        figures.running,
        Some(Gauge {
            mean: 3.5,
            max: 4.0
        })
    );
    let kv = figures.kv_usage.unwrap();
    assert!(
        (kv.mean - 0.275).abs() < 1e-12 && (kv.max - 0.4).abs() < 1e-12,
        "{kv:?}"
    );
    assert_eq!(figures.caveats, [""; 0]);
    assert_eq!(figures.waiting, None, "never 0 where nobody says");
    let ttft = figures.ttft.unwrap();
    assert_eq!((ttft.n, ttft.mean_s), (100, 0.001));
    // Not 0.15 s, the middle of the only bucket.
    assert_eq!(ttft.p50_s, Some(0.002));
    let EngineCache::Tokens(cache) = cache_tokens(&[steady()]) else {
        panic!()
    };
    assert_eq!((cache.hits, cache.queries), (0, 105), "of the whole stage");
}

#[test]
fn replicas_are_one_engine() {
    let figures = seen(&[steady(), steady()]);
    assert_eq!(figures.output_tokens, Some(200));
    assert_eq!(
        figures.running,
        Some(Gauge {
            mean: 7.0,
            max: 8.0
        })
    );
    assert!((figures.kv_usage.unwrap().max - 0.4).abs() < 1e-12);
    assert_eq!(figures.ttft.unwrap().n, 200);
    assert!((figures.ttft.unwrap().mean_s - 0.001).abs() < 1e-12);
    let mut silent = replica(vec![look(0, 7, 0, 5)]);
    silent.trouble = Some("/metrics answers 404".to_owned());
    let why = "/metrics answers 404".to_owned();
    assert_eq!(
        engine_view(&[steady(), silent.clone()], WINDOW),
        EngineView::Unknown { why: why.clone() }
    );
    assert_eq!(cache_tokens(&[silent]), EngineCache::Unknown { why });
}

#[test]
fn an_engine_that_began_anew_has_no_differences() {
    let by_count = replica(vec![
        look(1000, 10, 2, 5),
        look(2000, 3, 2, 5),
        look(3000, 99, 2, 5),
    ]);
    let by_clock = replica(vec![look(1000, 10, 2, 5), look(3000, 99, 2, 8)]);
    for began_anew in [by_count, by_clock] {
        let figures = seen(&[steady(), began_anew.clone()]);
        assert_eq!((figures.output_tokens, figures.ttft), (None, None));
        assert!(figures.running.is_some(), "a level is none the worse");
        assert!(figures.caveats[0].contains("anew"), "{:?}", figures.caveats);
        let cache = cache_tokens(&[began_anew]);
        assert!(matches!(cache, EngineCache::Unknown { why } if why.contains("anew")));
    }
    let before = after(look(0, 900, 0, 2));
    assert_eq!(
        seen(&[before]).output_tokens,
        Some(100),
        "not in the window"
    );
}

#[test]
fn a_look_off_the_edge_and_a_gap_are_told() {
    let early = replica(vec![look(800, 10, 2, 5), look(3000, 99, 2, 5)]);
    let figures = seen(&[early]);
    assert_eq!(figures.output_tokens, Some(89));
    assert!(
        figures.caveats[0].contains("0.200 s off"),
        "{:?}",
        figures.caveats
    );
    let long = ScrapedWindow {
        end: Nanos::from_secs(9),
        ..WINDOW
    };
    let mut slow = replica(vec![look(1000, 10, 2, 5), look(9000, 99, 2, 5)]);
    slow.trouble = Some("no answer within 5 s".to_owned());
    let EngineView::Seen(figures) = engine_view(&[slow], long) else {
        panic!()
    };
    assert_eq!(
        figures.caveats,
        [
            "the metrics at http://a/metrics were not read for 8.0 s of the window (no answer \
             within 5 s): levels may have gone up and down meanwhile"
        ]
    );
    let outside = replica(vec![look(0, 1, 1, 5), look(500, 2, 1, 5)]);
    let figures = seen(&[outside]);
    assert_eq!(figures.output_tokens, None);
    assert!(figures.caveats[0].contains("both ends"));
}
