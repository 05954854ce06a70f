use proptest::prelude::*;

use super::super::profile::NoiseLevel;
use super::*;

const TEST: Constants = Constants {
    cost: StepCost {
        base: Nanos::new(200_000),
        per_sequence: Nanos::new(10_000),
        per_prefill_token: Nanos::new(2_000),
        per_kv_token: Nanos::new(1),
    },
    noise: NoiseLevel::NONE,
    max_num_seqs: 8,
    token_budget: 128,
    block_size: 16,
    kv_blocks: 512,
    prefix_cache: true,
};

fn engine(constants: Constants) -> Engine {
    Engine::new(constants, Slower::default(), Machine::default(), 0)
}

/// A job whose prompt shares no token with that of another id.
fn job(id: u64, arrival_us: u64, prompt: u32, output: u32) -> Job {
    let first = u32::try_from(id).unwrap() * 100_000;
    Job {
        id,
        arrival: Nanos::new(arrival_us * 1000),
        run: String::new(),
        prompt: (first..first + prompt).collect(),
        output: (first + 50_000..first + 50_000 + output).collect(),
    }
}

fn run(engine: &mut Engine) -> Vec<Step> {
    std::iter::from_fn(|| engine.step()).collect()
}

fn ids(step: &Step) -> Vec<u64> {
    step.emissions.iter().map(|e| e.id).collect()
}

/// The end of the step that emitted each token of a job.
fn ends(steps: &[Step], id: u64) -> Vec<Nanos> {
    steps
        .iter()
        .flat_map(|s| s.emissions.iter().filter(|e| e.id == id).map(|_| s.end))
        .collect()
}

#[test]
fn a_frozen_engine_does_nothing_for_a_while_and_then_goes_on() {
    let ends = |freeze: Option<u64>| {
        let mut engine = Engine::new(TEST, Slower::default(), Machine::default(), 0);
        engine.submit(job(1, 0, 10, 3));
        let first = engine.step().unwrap().end;
        if let Some(millis) = freeze {
            engine.freeze(Nanos::from_millis(millis));
        }
        (
            first,
            engine.step().unwrap().end,
            engine.step().unwrap().end,
        )
    };
    let (first, second, third) = ends(None);
    let late = Nanos::from_secs(2);
    assert_eq!(ends(Some(2000)), (first, second + late, third + late));
}

#[test]
fn steps_take_what_the_formula_says() {
    let mut engine = engine(TEST);
    engine.submit(job(1, 50, 100, 3));
    let steps = run(&mut engine);
    // Prefill: 200 + 100·2 µs + 100 ns. Decodes: 200 + 10 µs + 101 and 102 ns.
    let spans: Vec<u64> = steps.iter().map(|s| s.end.since(s.start).get()).collect();
    assert_eq!(spans, [400_100, 210_101, 210_102]);
    assert_eq!(steps[0].start, Nanos::new(50_000));
    assert_eq!(steps[1].start, steps[0].end);
    let numbers: Vec<_> = steps.iter().map(|s| s.emissions[0].number).collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert!(steps[2].emissions[0].last && !steps[1].emissions[0].last);
    assert_eq!(steps[2].emissions[0].previous, Some(steps[1].end));
    assert!(engine.is_idle());
    assert!(engine.kv_usage().abs() < 1e-12);
}

#[test]
fn the_worked_number_of_the_formula_holds() {
    let step = Step {
        start: Nanos::ZERO,
        end: Nanos::ZERO,
        running: 3,
        decoding: 2,
        prefill_tokens: 100,
        kv_tokens: 300,
        admitted: 0,
        preempted: 0,
        prefix_queries: 0,
        prefix_hits: 0,
        emissions: Vec::new(),
    };
    let time = |slower| step_time(&TEST.cost, slower, &step).get();
    assert_eq!(time(Slower::default()), 420_300);
    let slower = |prefill, decode, all| Slower {
        prefill,
        decode,
        all,
    };
    assert_eq!(time(slower(0.5, 0.0, 0.0)), 520_300);
    assert_eq!(time(slower(0.0, 0.5, 0.0)), 530_450);
    assert_eq!(time(slower(0.0, 0.0, 1.0)), 840_600);
}

#[test]
fn long_prompts_are_prefilled_in_chunks_while_others_decode() {
    let mut engine = engine(TEST);
    engine.submit(job(1, 0, 10, 5));
    engine.submit(job(2, 1, 300, 1));
    let steps = run(&mut engine);
    // Job 2 arrives during step 0; each later step decodes job 1 and prefills 127 of job 2.
    let contents: Vec<_> = steps
        .iter()
        .map(|s| (s.decoding, s.prefill_tokens))
        .collect();
    assert_eq!(contents, [(0, 10), (1, 127), (1, 127), (1, 46), (1, 0)]);
    assert_eq!(ids(&steps[2]), [1]);
    assert_eq!(ids(&steps[3]), [1, 2]);
}

#[test]
fn requests_are_served_in_order_of_arrival() {
    let mut engine = engine(Constants {
        max_num_seqs: 1,
        ..TEST
    });
    engine.submit(job(3, 30, 10, 2));
    engine.submit(job(1, 10, 10, 2));
    engine.submit(job(2, 20, 10, 2));
    let steps = run(&mut engine);
    let order: Vec<u64> = steps.iter().flat_map(ids).collect();
    assert_eq!(order, [1, 1, 2, 2, 3, 3]);
    let queued = steps[2].emissions[0].facts.queued;
    assert_eq!(queued, steps[2].start.since(Nanos::new(20_000)));
}

#[test]
fn at_most_max_num_seqs_run_together() {
    let mut engine = engine(Constants {
        max_num_seqs: 3,
        ..TEST
    });
    for id in 0..7 {
        engine.submit(job(id, 0, 4, 4));
    }
    engine.step();
    assert_eq!((engine.running(), engine.waiting()), (3, 4));
    let most = run(&mut engine).iter().map(|s| s.emissions.len()).max();
    assert_eq!(most, Some(3));
}

#[test]
fn a_step_takes_no_request_from_its_future() {
    let mut engine = engine(TEST);
    engine.submit(job(1, 0, 10, 3));
    engine.submit(job(2, 5_000, 10, 1));
    let steps = run(&mut engine);
    assert_eq!(steps[3].start, Nanos::new(5_000_000));
    assert_eq!(ids(&steps[3]), [2]);
}

#[test]
fn preemption_frees_the_last_and_it_computes_again_what_it_had() {
    // Four blocks of 16. Job 1 needs 3 in the end (30 + 12 tokens), job 2 needs 2 (20 + 10).
    let mut engine = engine(Constants {
        kv_blocks: 4,
        ..TEST
    });
    engine.submit(job(1, 0, 30, 12));
    engine.submit(job(2, 0, 20, 10));
    let steps = run(&mut engine);
    let preempting: Vec<usize> = (0..steps.len())
        .filter(|n| steps[*n].preempted > 0)
        .collect();
    // Step 0 prefills both; step 3 would compute job 1's 33rd token, in its third block.
    assert_eq!(preempting, [3]);
    assert_eq!(ids(&steps[2]), [1, 2]);
    assert_eq!(ids(&steps[3]), [1]);
    // Job 2 had emitted 3 tokens. It waits for job 1's end, then finds its first block of 16
    // tokens still cached and computes the other 7.
    let back = steps
        .iter()
        .skip(4)
        .find(|s| s.prefill_tokens > 0)
        .expect("job 2 comes back");
    assert_eq!(back.prefill_tokens, 20 + 3 - 16);
    assert_eq!(ends(&steps, 1).len(), 12);
    assert_eq!(ends(&steps, 2).len(), 10);
    let last = steps.last().unwrap().emissions[0];
    assert_eq!((last.id, last.number, last.facts.preemptions), (2, 10, 1));
    assert!(engine.kv_usage().abs() < 1e-12);
}

#[test]
fn only_full_equal_blocks_from_the_start_are_shared() {
    let mut engine = engine(TEST);
    let first = job(1, 0, 40, 1);
    engine.submit(first.clone());
    run(&mut engine);
    let mut cached = |prompt: Vec<u32>, id| {
        engine.submit(Job {
            id,
            prompt,
            ..first.clone()
        });
        run(&mut engine)[0].emissions[0].facts.cached_tokens
    };
    let prompt = first.prompt.clone();
    // 40 tokens are two full blocks of 16.
    assert_eq!(cached(prompt.clone(), 2), 32);
    // 31 common tokens are one full block.
    assert_eq!(cached([&prompt[..31], &[7, 7, 7]].concat(), 3), 16);
    // A shift by one shares nothing.
    assert_eq!(cached([&[7], &prompt[..]].concat(), 4), 0);
    // A prompt that is cached in full still computes its last block.
    assert_eq!(cached(prompt[..32].to_vec(), 5), 16);
}

#[test]
fn a_conversation_finds_its_own_answer_in_the_cache() {
    let mut engine = engine(TEST);
    let first = job(1, 0, 20, 30);
    engine.submit(first.clone());
    run(&mut engine);
    let next = Job {
        id: 2,
        prompt: [&first.prompt[..], &first.output[..], &[1, 2, 3]].concat(),
        ..first
    };
    engine.submit(next);
    // 20 + 29 tokens were computed (the last was only emitted): three full blocks.
    assert_eq!(run(&mut engine)[0].emissions[0].facts.cached_tokens, 48);
}

#[test]
fn a_cancelled_job_leaves_at_once() {
    let mut engine = engine(Constants {
        max_num_seqs: 1,
        ..TEST
    });
    engine.submit(job(1, 0, 10, 100));
    engine.submit(job(2, 0, 10, 100));
    engine.step();
    assert_eq!(engine.cancel(2), Some(false));
    assert_eq!(engine.cancel(1), Some(true));
    assert_eq!(engine.cancel(1), None);
    assert!(engine.is_idle());
    assert!(engine.kv_usage().abs() < 1e-12);
}

#[test]
fn slower_prefill_moves_the_first_token_only_and_slower_decode_the_others() {
    let times = |slower: Slower| {
        let mut engine = Engine::new(TEST, slower, Machine::default(), 0);
        engine.submit(job(1, 0, 100, 3));
        let ends = ends(&run(&mut engine), 1);
        [ends[0], ends[1].since(ends[0]), ends[2].since(ends[1])].map(Nanos::get)
    };
    let normal = times(Slower::default());
    let prefill = times(Slower {
        prefill: 0.5,
        ..Slower::default()
    });
    assert_eq!(prefill[0], normal[0] + 100_000);
    assert_eq!(prefill[1..], normal[1..]);
    let decode = times(Slower {
        decode: 0.1,
        ..Slower::default()
    });
    assert_eq!(decode[0], normal[0]);
    assert_eq!(decode[1], 231_111);
}

#[test]
fn the_demo_profile_bears_its_documented_load() {
    let constants = super::super::Profile::find("demo")
        .and_then(|p| p.constants)
        .unwrap();
    // 800 requests of 64 prompt and 16 output tokens, 80 a second or all at once.
    let serve = |gap_us: u64| {
        let mut engine = engine(constants);
        for id in 0..800 {
            engine.submit(job(id + 1, id * gap_us, 64, 16));
        }
        run(&mut engine)
    };
    let capacity = 800.0 / serve(0).last().unwrap().end.as_secs_f64();
    assert!((200.0..250.0).contains(&capacity), "{capacity}");
    let mut first: Vec<f64> = serve(12_500)
        .iter()
        .flat_map(|s| s.emissions.iter().map(|e| (e, s.end)))
        .filter(|(e, _)| e.number == 1)
        .map(|(e, end)| end.since(e.arrival).as_secs_f64())
        .collect();
    first.sort_by(f64::total_cmp);
    assert!((0.004..0.006).contains(&first[400]), "{}", first[400]);
}

#[test]
fn the_seed_changes_the_time_of_steps_and_not_their_order() {
    let constants = Constants {
        noise: NoiseLevel {
            drift: 0.001,
            jitter: 0.03,
            stalls_per_s: 1.0,
        },
        ..TEST
    };
    let serve = |seed| {
        let mut engine = Engine::new(constants, Slower::default(), Machine::default(), seed);
        for id in 0..20 {
            engine.submit(job(id, 0, 50, 20));
        }
        run(&mut engine)
    };
    let (a, b) = (serve(1), serve(2));
    assert_eq!(a, serve(1));
    assert_ne!(a.last().unwrap().end, b.last().unwrap().end);
    let order = |steps: &[Step]| steps.iter().map(ids).collect::<Vec<_>>();
    assert_eq!(order(&a), order(&b));
}

proptest! {
    #[test]
    fn every_job_gets_all_its_tokens_within_the_limits(
        jobs in prop::collection::vec((0_u64..5_000, 1_u32..200, 1_u32..60), 1..30),
        kv_blocks in 17_usize..40,
        max_num_seqs in 1_usize..6,
        token_budget in 6_usize..200,
    ) {
        let constants = Constants { max_num_seqs, token_budget, kv_blocks, ..TEST };
        let mut engine = engine(constants);
        for (id, (arrival, prompt, output)) in (1..).zip(&jobs) {
            engine.submit(job(id, *arrival, *prompt, *output));
        }
        let steps = run(&mut engine);
        let mut previous = Nanos::ZERO;
        for step in &steps {
            prop_assert!(step.decoding + step.prefill_tokens <= token_budget);
            prop_assert!(step.decoding + step.prefill_tokens > 0);
            prop_assert!(step.running <= max_num_seqs);
            prop_assert!(step.start >= previous && step.end > step.start);
            previous = step.end;
        }
        for (id, (arrival, _, output)) in (1..).zip(&jobs) {
            let tokens: Vec<_> = steps
                .iter()
                .flat_map(|s| s.emissions.iter().filter(|e| e.id == id).map(|e| (s.start, *e)))
                .collect();
            prop_assert_eq!(tokens.len(), *output as usize);
            prop_assert!(tokens.iter().zip(1..).all(|((_, e), n)| e.number == n));
            prop_assert!(tokens.iter().all(|(start, _)| start.get() >= arrival * 1000));
        }
        prop_assert!(engine.kv_usage().abs() < 1e-12);
    }
}

#[test]
fn the_machine_makes_a_run_slower_and_drifts_from_the_start_on() {
    let machine = Machine {
        run_outliers: 1.0,
        drift_per_min: 1.0,
        ..Machine::default()
    };
    let mut engine = Engine::new(TEST, Slower::default(), machine, 0);
    // How much longer a step takes than the 400.1 µs of its formula.
    let mut slower = |id, second: u64, run: &str| {
        engine.submit(Job {
            run: run.to_owned(),
            ..job(id, second * 1_000_000, 100, 1)
        });
        let step = engine.step().unwrap();
        step.end.since(step.start).as_secs_f64() / 400.1e-6
    };
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-4, "{a} {b}");
    close(slower(1, 0, ""), 1.0);
    let first = slower(2, 0, "a");
    assert!((1.0499..1.26).contains(&first), "{first}");
    close(slower(3, 60, "a"), 2.0 * first);
    let second = slower(4, 120, "b") / 4.0;
    assert!((1.0499..1.26).contains(&second), "{second}");
    assert!((second - first).abs() > 1e-3, "{second} {first}");
}
