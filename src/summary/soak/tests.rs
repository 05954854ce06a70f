use super::*;

/// So many minutes of a level soak; values wobble by half a percent.
fn windows(count: usize) -> Vec<Window> {
    (0..count)
        .map(|i| {
            let wobble = 1.0 + 0.005 * ((i * 7 % 5) as f64 - 2.0) / 2.0;
            Window {
                start_s: 60.0 * i as f64,
                scheduled: 240,
                completed: 240,
                unsent: 0,
                lateness_max_s: 0.0,
                cpu_share: None,
                loop_lag_max_s: None,
                connections: None,
                output_tokens: (60_000.0 * wobble) as u64,
                ttft_p50_s: Some(0.2 * wobble),
                ttft_p99_s: Some(0.6 * wobble),
                tpot_p50_s: Some(0.02 * wobble),
                kv_usage: Some(0.4 * wobble),
                kv_blocks: Some(500.0),
                preemptions: Some(0.0),
                engine_memory_bytes: Some(4e9 * wobble),
                client_memory_bytes: Some(5e7 * wobble),
            }
        })
        .collect()
}

/// What is found where each window was changed by its place, from 0 to 1.
fn found(change: impl Fn(&mut Window, f64)) -> Vec<(SoakCode, Vec<SoakFigure>)> {
    let mut windows = windows(240);
    for (i, window) in windows.iter_mut().enumerate() {
        change(window, i as f64 / 239.0);
    }
    let view = soak_view(Soak::USUAL, &windows, 240.0 * 60.0, Vec::new());
    assert_eq!((view.windows, view.trends.len()), (240, 9));
    let findings = view.findings.into_iter();
    findings.map(|found| (found.code, found.evidence)).collect()
}

fn times(value: &mut Option<f64>, factor: f64) {
    *value = value.map(|value| value * factor);
}

#[test]
fn a_level_soak_finds_nothing() {
    assert_eq!(found(|_, _| {}), []);
    // Getting better is no finding, and a cache that fills does not slow anything down.
    let better = found(|window, t| {
        times(&mut window.ttft_p50_s, 1.0 - 0.2 * t);
        times(&mut window.kv_usage, 1.0 + 0.5 * t);
    });
    assert_eq!(better, []);
}

#[test]
fn a_leak_is_found_and_a_plateau_is_none() {
    let leak = found(|window, t| times(&mut window.engine_memory_bytes, 1.0 + 0.3 * t));
    assert_eq!(
        leak,
        [(SoakCode::EngineLeak, vec![SoakFigure::EngineMemory])]
    );
    let plateau = found(|window, t| {
        times(
            &mut window.engine_memory_bytes,
            1.0 + 0.3 * (3.0 * t).min(1.0),
        );
    });
    assert_eq!(plateau, []);
    let slight = found(|window, t| times(&mut window.engine_memory_bytes, 1.0 + 0.03 * t));
    assert_eq!(slight, [], "within the tolerance");
}

#[test]
fn a_clients_leak_is_not_the_engines() {
    let leak = found(|window, t| {
        window.client_memory_bytes = window.client_memory_bytes.map(|bytes| bytes + 2e8 * t);
    });
    assert_eq!(
        leak,
        [(SoakCode::ClientLeak, vec![SoakFigure::ClientMemory])]
    );
    assert!(SoakCode::ClientLeak.is_clients() && !SoakCode::EngineLeak.is_clients());
    let warm = found(|window, t| {
        window.client_memory_bytes = window.client_memory_bytes.map(|bytes| bytes + 2e7 * t);
    });
    assert_eq!(warm, [], "20 MB are a client that warms up");
}

#[test]
fn what_gets_slower_is_told_by_the_room_in_the_cache() {
    let slow = |window: &mut Window, t: f64| {
        times(&mut window.tpot_p50_s, 1.0 + 0.2 * t);
        window.output_tokens = (window.output_tokens as f64 / (1.0 + 0.2 * t)) as u64;
    };
    let slower = vec![SoakFigure::TpotP50, SoakFigure::OutputThroughput];
    assert_eq!(found(slow), [(SoakCode::Slowdown, slower.clone())]);
    let fragmented = found(|window, t| {
        slow(window, t);
        times(&mut window.kv_blocks, 1.0 - 0.4 * t);
        window.preemptions = Some((20.0 * t).round());
    });
    let narrower = vec![SoakFigure::KvBlocks, SoakFigure::Preemptions];
    let evidence = [narrower, slower].concat();
    assert_eq!(fragmented, [(SoakCode::Fragmentation, evidence)]);
}

#[test]
fn a_tail_that_drifts_alone_is_told_apart() {
    let tail = found(|window, t| times(&mut window.ttft_p99_s, 1.0 + 0.5 * t));
    assert_eq!(tail, [(SoakCode::TailDrift, vec![SoakFigure::TtftP99])]);
    let all = found(|window, t| {
        times(&mut window.ttft_p99_s, 1.0 + 0.5 * t);
        times(&mut window.ttft_p50_s, 1.0 + 0.5 * t);
    });
    assert_eq!(all, [(SoakCode::Slowdown, vec![SoakFigure::TtftP50])]);
}

#[test]
fn a_short_last_window_is_left_out_and_what_is_unknown_says_why() {
    let mut windows = windows(20);
    for window in &mut windows {
        window.kv_blocks = None;
    }
    windows[3].engine_memory_bytes = None;
    for window in &mut windows[5..] {
        window.kv_usage = None;
    }
    let view = soak_view(Soak::USUAL, &windows, 19.0 * 60.0 + 20.0, Vec::new());
    assert_eq!((view.windows, view.window_s), (19, 60.0));
    let seen = |figure| matches!(view.trends[&figure], Course::Seen { .. });
    assert!(seen(SoakFigure::EngineMemory), "one gap is no matter");
    let why = |figure: SoakFigure| match &view.trends[&figure] {
        Course::Absent { why } => why.clone(),
        seen @ Course::Seen { .. } => panic!("{seen:?}"),
    };
    assert_eq!(why(SoakFigure::KvBlocks), "fewer than 8 windows have it");
    assert_eq!(why(SoakFigure::KvUsage), "fewer than 8 windows have it");
    let short = soak_view(Soak::USUAL, &windows[..1], 20.0, Vec::new());
    assert_eq!(short.windows, 1);
    assert!(short.findings.is_empty());
}

fn pause(after_windows: u64) -> Pause {
    Pause {
        after_windows,
        after_s: 60.0 * after_windows as f64,
        lasted_s: 3600.0,
        run: "before".to_owned(),
        engine: crate::sample::AcrossPause::RanOn,
    }
}

#[test]
fn a_step_in_a_pause_is_no_leak_and_a_leak_on_both_sides_of_it_is_one() {
    let mut stepped = windows(240);
    for window in &mut stepped[150..] {
        times(&mut window.engine_memory_bytes, 1.4);
    }
    let codes = |windows: &[Window], pauses: Vec<Pause>| -> Vec<SoakCode> {
        let view = soak_view(Soak::USUAL, windows, 240.0 * 60.0, pauses);
        view.findings.iter().map(|found| found.code).collect()
    };
    assert_eq!(codes(&stepped, Vec::new()), [SoakCode::EngineLeak]);
    assert_eq!(codes(&stepped, vec![pause(150)]), []);
    // Its memory was freed when it began anew in the pause, and creeps up again.
    let mut leaking = windows(240);
    for (i, window) in leaking.iter_mut().enumerate() {
        times(
            &mut window.engine_memory_bytes,
            1.0 + (i % 120) as f64 / 200.0,
        );
    }
    assert_eq!(codes(&leaking, vec![pause(120)]), [SoakCode::EngineLeak]);
    // Windows in which nothing was seen don't move the pause.
    for window in &mut stepped[..40] {
        window.engine_memory_bytes = None;
    }
    assert_eq!(codes(&stepped, vec![pause(150)]), []);
}

#[test]
fn a_client_that_began_anew_has_gained_what_it_gained_at_once() {
    let mut windows = windows(240);
    for (i, window) in windows.iter_mut().enumerate() {
        // 50 MiB in each half: under the floor, and over it together.
        let mib = 100.0 + (i % 120) as f64 * 50.0 / 119.0;
        window.client_memory_bytes = Some(mib * 1024.0 * 1024.0);
    }
    let view = soak_view(Soak::USUAL, &windows, 240.0 * 60.0, vec![pause(120)]);
    assert_eq!(view.findings, []);
    assert_eq!(view.pauses, [pause(120)]);
}
