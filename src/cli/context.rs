//! What a command may touch of the world, passed in so that tests can pass something else.

use std::io::{IsTerminal as _, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::ident::Day;
use crate::ident::Digest;
use crate::report::text::Line;
use crate::term::{self, Style};

/// The world as commands see it.
pub struct Context {
    /// What could be piped on: reports, JSON.
    pub out: Box<dyn Write>,
    /// Everything else.
    pub err: Box<dyn Write>,
    /// Whether `out` may carry colours.
    pub colour: bool,
    /// Whether progress may be drawn on standard error.
    pub draw_progress: bool,
    /// Columns of the terminal behind `out`; `None` where it is none.
    pub columns: Option<usize>,
    /// Say nothing but results and errors.
    pub quiet: bool,
    /// This binary, to start the embedded engine with.
    pub program: PathBuf,
    /// Why text for standard output was lost; a reader that went away loses nothing.
    pub lost: Option<std::io::Error>,
    environment: fn(&str) -> Option<String>,
    now: fn() -> jiff::Timestamp,
}

/// An instant that was named on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instant {
    /// RFC 3339, UTC, to the millisecond.
    pub text: String,
    /// The same as part of a file name.
    pub stamp: String,
    /// The same as the system has it.
    pub time: SystemTime,
}

impl Context {
    /// The process's own world.
    pub fn of_process(quiet: bool) -> Self {
        let colour =
            anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
        Self {
            out: Box::new(anstream::stdout()),
            err: Box::new(anstream::stderr()),
            colour,
            draw_progress: std::io::stderr().is_terminal(),
            columns: term::columns(),
            quiet,
            program: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("infergate")),
            lost: None,
            environment: variable,
            now: system_time,
        }
    }

    /// A variable of the environment; one that is not Unicode is as good as unset.
    pub fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name)
    }

    /// Now, RFC 3339, UTC, to the millisecond.
    pub fn now(&self) -> String {
        format!("{:.3}", (self.now)())
    }

    /// The day in so many days, UTC.
    pub fn day_in(&self, days: u32) -> Option<Day> {
        let ahead = jiff::SignedDuration::from_hours(24 * i64::from(days));
        let then = (self.now)().checked_add(ahead).ok()?;
        Day::of(&format!("{then:.3}"))
    }

    /// Seconds of the system's clock, for how long something took.
    pub fn seconds(&self) -> f64 {
        (self.now)().as_millisecond() as f64 / 1e3
    }

    /// Seconds from an instant until now; 0 where that is still to come.
    pub fn seconds_since(&self, instant: &Instant) -> f64 {
        let since_epoch = instant.time.duration_since(SystemTime::UNIX_EPOCH);
        let then = since_epoch.map_or(0.0, |then| then.as_secs_f64());
        (self.seconds() - then).max(0.0)
    }

    /// Now as part of a file name, to the millisecond: `20261129T191243123Z`.
    pub fn stamp(&self) -> String {
        stamp((self.now)())
    }

    /// An instant as RFC 3339 has it, in the forms that runs need; `None` where it is none.
    pub fn instant(text: &str) -> Option<Instant> {
        let instant: jiff::Timestamp = text.parse().ok()?;
        let since_epoch = Duration::from_nanos(u64::try_from(instant.as_nanosecond()).ok()?);
        Some(Instant {
            text: format!("{instant:.3}"),
            stamp: stamp(instant),
            time: SystemTime::UNIX_EPOCH.checked_add(since_epoch)?,
        })
    }

    /// A text that no other run has: 16 hex digits of time, process and purpose.
    pub fn unique(&self, purpose: &str) -> String {
        let nanos = (self.now)().as_nanosecond();
        let text = format!("{nanos}/{}/{purpose}", std::process::id());
        Digest::of(text.as_bytes()).hex()[..16].to_owned()
    }

    /// A line on standard error, unless quiet. A reader that went away is no reason to stop.
    pub fn note(&mut self, line: &str) {
        if !self.quiet {
            let _ = writeln!(self.err, "{line}");
        }
    }

    /// Report lines as text, coloured by meaning where standard output takes colours.
    pub fn paint(&self, lines: &[Line]) -> String {
        Style::new(self.colour).lines(lines)
    }

    /// Text on standard output.
    pub fn print(&mut self, text: &str) {
        let written = write!(self.out, "{text}").and_then(|()| self.out.flush());
        if let Err(error) = written
            && error.kind() != std::io::ErrorKind::BrokenPipe
        {
            self.lost.get_or_insert(error);
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn stamp(instant: jiff::Timestamp) -> String {
    instant.strftime("%Y%m%dT%H%M%S%3fZ").to_string()
}

fn system_time() -> jiff::Timestamp {
    jiff::Timestamp::now()
}
