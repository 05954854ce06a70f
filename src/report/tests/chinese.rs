//! The same reports in Chinese: nothing is left in English but names, and what somebody else wrote.

use crate::lang::{Lang, Said, of_judged};
use crate::report::json::ReportFile;
use crate::report::{Sides, comment, text};
use crate::summary::{InvalidReason, Run, Saturation};
use crate::verdict::{Advice, CellState, Judgement, Reason, Verdict};

use super::fixture::{evidence, finding, healthy, judgement, regression, runs};

fn file(judgement: &Judgement, baseline: &[Run], candidate: &[Run]) -> ReportFile {
    let sides = Sides {
        title: "chat-8b",
        baseline,
        candidate,
        reproduce: &["infergate compare infergate-out/chat-8b".to_owned()],
        places: &[],
    };
    ReportFile::new(judgement, &sides)
}

/// What the verdict says of itself, as it says it.
pub(super) fn told(mut judgement: Judgement) -> Judgement {
    let advice = |text: Said, command: Option<&str>| Advice {
        text,
        command: command.map(str::to_owned),
    };
    judgement.caveats = vec![Said::plain(of_judged::ASSUMED_NOISE)];
    judgement.advice = vec![
        advice(Said::plain(of_judged::RAISE_REPEATS), None),
        advice(
            Said::plain(of_judged::TAKE_TURNS),
            Some("infergate ab SPEC --baseline-url A --candidate-url B"),
        ),
    ];
    judgement
}

fn undecided() -> Judgement {
    let mut findings = healthy();
    findings[2] = finding("ttft.p95", CellState::Suspect, 0.3, 0.17);
    findings[4] = finding("e2e.p95", CellState::Inconclusive, 8.5, 0.052);
    findings[4].evidence = Some(evidence(0.11));
    findings[4].reason = Some(Reason::Advisory {
        what: Said::new(of_judged::FEW_FOR_FIRM, ["3", "5"].map(str::to_owned)),
    });
    findings[0].state = CellState::NotResolvable;
    findings.sort_by_key(|f| f.state);
    let mut judgement = judgement(Verdict::Undecided, findings);
    let decides = Said::new(of_judged::POLICY, ["`undecided: pass`".to_owned()]);
    judgement.policy = Some(decides);
    judgement
}

/// Runs of which one was late and overloaded.
fn troubled() -> Vec<Run> {
    let mut runs = runs("c", "0.12.0", 1.31);
    for run in &mut runs {
        run.stages[0].load_state = Some(crate::summary::LoadState {
            state: Saturation::Overloaded,
            completed_by_due: 0.62,
            backlog_growth: 0.38,
        });
    }
    runs[0].stages[0].invalid = vec![InvalidReason::Late {
        p99_s: 0.02,
        limit_s: 0.01,
    }];
    runs
}

fn check(name: &str, file: &ReportFile) {
    // As it is read from disk, where most reports are rendered.
    let file = ReportFile::parse(&file.render()).unwrap();
    let page = comment(std::slice::from_ref(&file), usize::MAX, Lang::Zh).text;
    let lines = text::plain(&text::report(&file.model(), Lang::Zh));
    assert_eq!(english(&page), Vec::<String>::new());
    assert_eq!(english(&lines), Vec::<String>::new());
    insta::assert_snapshot!(format!("{name}.md"), page);
    insta::assert_snapshot!(format!("{name}.txt"), lines);
}

#[test]
fn pass() {
    let judgement = told(judgement(Verdict::Pass, healthy()));
    let (baseline, candidate) = (runs("b", "0.11.0", 1.0), runs("c", "0.12.0", 1.0));
    check("pass", &file(&judgement, &baseline, &candidate));
}

#[test]
fn fail() {
    let baseline = runs("b", "0.11.0", 1.0);
    check("fail", &file(&told(regression()), &baseline, &troubled()));
}

#[test]
fn inconclusive() {
    let baseline = runs("b", "0.11.0", 1.0);
    let candidate = runs("c", "0.12.0", 1.1);
    check(
        "inconclusive",
        &file(&told(undecided()), &baseline, &candidate),
    );
}

#[test]
fn several_specs_and_what_was_left_out() {
    let (baseline, candidate) = (runs("b", "0.11.0", 1.0), runs("c", "0.12.0", 1.31));
    let files = [regression(), undecided()].map(|of| file(&told(of), &baseline, &candidate));
    for limit in [65_000, 3_000, 40] {
        let page = comment(&files, limit, Lang::Zh).text;
        assert_eq!(english(&page), Vec::<String>::new());
        assert!(page.contains("性能回退"), "{page}");
        assert!(page.encode_utf16().count() <= limit);
    }
}

/// Lines with three plain words of English in a row of ASCII: outside of code, which holds names, values and
/// commands; a terminal has commands on lines of their own, and names in tables.
pub(in crate::report) fn english(page: &str) -> Vec<String> {
    let is_word = |word: &&str| word.len() > 1 && word.bytes().all(|c| c.is_ascii_lowercase());
    let is_sentence = |line: &&str| {
        // A line of the pins' diff begins with the name of one.
        let line = line
            .split_once(": ")
            .filter(|(name, _)| name.starts_with([' ', '+', '-']) && name.contains('.'))
            .map_or(*line, |(_, value)| value);
        let prose: Vec<&str> = line.split('`').step_by(2).collect();
        let mut stretches = prose
            .iter()
            .flat_map(|text| text.split(|c: char| !c.is_ascii()));
        stretches.any(|stretch| {
            stretch
                .split([' ', ',', ':', ';', '.'])
                .filter(is_word)
                .count()
                > 2
        })
    };
    let is_command = |line: &str| line.trim_start().starts_with("$ ");
    let lines = page.lines().filter(|line| !is_command(line));
    lines.filter(is_sentence).map(str::to_owned).collect()
}

#[test]
fn an_english_sentence_would_be_found() {
    assert_eq!(english("- 注意：requests left late: p99 20 ms").len(), 1);
    assert_eq!(english("| `a b c d` | 300 ms (n 4,320) | 回退 |").len(), 0);
}
