//! Progress of a run: a bar on a terminal, a line now and then elsewhere, nothing when quiet.

use std::io::Write;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::report::Text;
use crate::unit::scale::{self, Unit};

/// Seconds between two plain lines of one stage.
const LINE_EVERY_S: f64 = 10.0;

/// Steps of a bar per second of the stage.
const STEPS_PER_S: f64 = 10.0;

/// How a stage is doing right now.
#[derive(Debug, Clone, PartialEq)]
pub struct StageProgress {
    /// The stage's name.
    pub name: String,
    /// Its number, from 1.
    pub index: usize,
    /// How many stages there are.
    pub of: usize,
    /// Seconds since it started.
    pub elapsed_s: f64,
    /// Seconds that it is planned to take; `None` where that depends on the target.
    pub expected_s: Option<f64>,
    /// Requests sent.
    pub sent: u64,
    /// Requests completed.
    pub completed: u64,
    /// Requests in flight.
    pub in_flight: u64,
    /// Requests failed.
    pub errors: u64,
    /// Output tokens received per second, lately.
    pub output_tps: f64,
    /// Median TTFT, lately; `None` before the first token.
    pub ttft_p50_s: Option<f64>,
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A live bar per stage.
    Bars,
    /// At most a line in 10 s, and one at each stage's end.
    Lines,
    /// Nothing.
    Quiet,
}

impl Mode {
    /// By whether standard error is a terminal and whether the user wants quiet.
    pub const fn choose(terminal: bool, quiet: bool) -> Self {
        match (quiet, terminal) {
            (true, _) => Self::Quiet,
            (false, true) => Self::Bars,
            (false, false) => Self::Lines,
        }
    }
}

/// Shows progress. A failed write is ignored: progress may never stop a measurement.
#[derive(Debug)]
pub struct Progress<W> {
    mode: Mode,
    out: W,
    bar: Option<ProgressBar>,
    target: fn() -> ProgressDrawTarget,
    last_line_s: f64,
}

impl<W: Write> Progress<W> {
    /// Bars go to standard error, lines to `out`.
    pub fn new(mode: Mode, out: W) -> Self {
        Self {
            mode,
            out,
            bar: None,
            target: ProgressDrawTarget::stderr,
            last_line_s: 0.0,
        }
    }

    /// Says something that stays, such as which run of a pair begins.
    pub fn announce(&mut self, text: &Text) {
        let text = text.plain();
        match (self.mode, &self.bar) {
            (Mode::Quiet, _) => {}
            (Mode::Bars, Some(bar)) => bar.println(text),
            (Mode::Bars | Mode::Lines, _) => {
                let _ = writeln!(self.out, "{text}");
            }
        }
    }

    /// Shows where the stage is; its first update begins it.
    pub fn update(&mut self, stage: &StageProgress) {
        match self.mode {
            Mode::Quiet => {}
            Mode::Bars => {
                let target = self.target;
                let bar = self.bar.get_or_insert_with(|| bar(stage, target()));
                bar.set_position(steps(stage.elapsed_s));
                bar.set_message(figures(stage));
            }
            Mode::Lines => {
                if stage.elapsed_s - self.last_line_s >= LINE_EVERY_S {
                    self.last_line_s = stage.elapsed_s;
                    self.line(stage, "");
                }
            }
        }
    }

    /// Ends the stage: its last figures stay.
    pub fn finish(&mut self, stage: &StageProgress) {
        match self.mode {
            Mode::Quiet => {}
            Mode::Bars => {
                self.update(stage);
                if let Some(bar) = self.bar.take() {
                    bar.abandon();
                }
            }
            Mode::Lines => self.line(stage, "done, "),
        }
        self.last_line_s = 0.0;
    }

    fn line(&mut self, stage: &StageProgress, state: &str) {
        let _ = writeln!(self.out, "{} {state}{}", title(stage), figures(stage));
    }
}

fn bar(stage: &StageProgress, target: ProgressDrawTarget) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(stage.expected_s.map(steps), target);
    let template = match stage.expected_s {
        Some(_) => "{prefix} [{bar:20}] {msg}",
        None => "{prefix} {spinner} {msg}",
    };
    // Both templates are constant and name known keys; a test draws each.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix(title(stage));
    bar
}

fn steps(seconds: f64) -> u64 {
    (seconds * STEPS_PER_S) as u64
}

/// `[2/3] steady`.
fn title(stage: &StageProgress) -> String {
    let name = Text::value(&stage.name).plain();
    format!("[{}/{}] {name}", stage.index, stage.of)
}

/// `45.0 s of 3 min: 412 sent, 398 completed, 14 in flight, 0 failed, 2392 tok/s, TTFT p50 120.0 ms`.
fn figures(stage: &StageProgress) -> String {
    let mut text = scale::elapsed(stage.elapsed_s);
    if let Some(expected) = stage.expected_s {
        text.push_str(" of ");
        text.push_str(&scale::elapsed(expected));
    }
    for (i, (n, what)) in [
        (stage.sent, "sent"),
        (stage.completed, "completed"),
        (stage.in_flight, "in flight"),
        (stage.errors, "failed"),
    ]
    .into_iter()
    .enumerate()
    {
        text.push_str(if i == 0 { ": " } else { ", " });
        text.push_str(&scale::count(n));
        text.push(' ');
        text.push_str(what);
    }
    text.push_str(", ");
    text.push_str(&scale::value(Unit::TokensPerSecond, stage.output_tps));
    if let Some(ttft) = stage.ttft_p50_s {
        text.push_str(", TTFT p50 ");
        text.push_str(&scale::value(Unit::Seconds, ttft));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Mutex;

    use indicatif::TermLike;

    use super::*;

    fn at(elapsed_s: f64) -> StageProgress {
        StageProgress {
            name: "steady".to_owned(),
            index: 2,
            of: 3,
            elapsed_s,
            expected_s: Some(180.0),
            sent: (elapsed_s * 8.0) as u64,
            completed: (elapsed_s * 7.9) as u64,
            in_flight: 14,
            errors: 0,
            output_tps: 2392.0,
            ttft_p50_s: Some(0.12),
        }
    }

    fn written(mode: Mode) -> String {
        let mut out = Vec::new();
        let mut progress = Progress::new(mode, &mut out);
        progress.announce(&Text::of("pair 1 of 3: baseline"));
        for tenth in 0..=250 {
            progress.update(&at(f64::from(tenth) / 10.0));
        }
        progress.finish(&at(25.0));
        progress.update(&at(1.0));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn plain_lines_come_every_ten_seconds_and_at_the_end() {
        insta::assert_snapshot!(written(Mode::Lines));
    }

    #[test]
    fn quiet_is_silent() {
        assert_eq!(written(Mode::Quiet), "");
        assert_eq!(Mode::choose(true, true), Mode::Quiet);
        assert_eq!(Mode::choose(true, false), Mode::Bars);
        assert_eq!(Mode::choose(false, false), Mode::Lines);
    }

    /// A terminal that keeps what is drawn on it.
    #[derive(Debug)]
    struct Screen;

    static DRAWN: Mutex<String> = Mutex::new(String::new());

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            160
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            DRAWN.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_bar_shows_its_stage_and_live_figures() {
        let mut progress = Progress::new(Mode::Bars, Vec::new());
        progress.target = || ProgressDrawTarget::term_like(Box::new(Screen));
        progress.update(&at(0.0));
        progress.finish(&at(90.0));
        let timed = std::mem::take(&mut *DRAWN.lock().unwrap());
        assert!(
            timed.contains("[2/3] steady [==========>         ] 2 min of 3 min: 720 sent"),
            "{timed}"
        );
        let open_ended = StageProgress {
            expected_s: None,
            ..at(5.0)
        };
        progress.finish(&open_ended);
        let drawn = std::mem::take(&mut *DRAWN.lock().unwrap());
        assert!(drawn.contains("5.0 s: 40 sent"), "{drawn}");
        assert!(progress.out.is_empty());
    }
}
