//! A checkup as lines for a terminal: what the machine drives, whether each stage fits, what was found.

use crate::checkup::Checkup;
use crate::headroom::{Found, Headroom, Machine, Reading, Strain};
use crate::unit::scale::{self, Unit};

use super::findings;
use super::fit::{self, rate, tokens, whole};
use super::model::Tone;
use super::span::Text;
use super::text::Line;

/// The checkup, headline first.
pub fn doctor(checkup: &Checkup) -> Vec<Line> {
    let Headroom {
        requests,
        streams,
        machine,
    } = &checkup.headroom;
    let mut out = Lines::default();
    out.line(Tone::Neutral, &headline(requests, streams));
    out.row(tone(requests), "open loop", &open_loop(requests));
    out.row(tone(streams), "streams", &paced(streams));
    if let Some(least) = &requests.least {
        out.row(Tone::Faint, "timers", &timers(least));
    }
    out.machine(machine);
    if let Some(spec) = &checkup.spec {
        let of = checkup.stages.len();
        let fit = checkup.stages.iter().filter(|stage| stage.fits).count();
        let text = Text::just(scale::count(fit as u64))
            .words(" of ")
            .figure(scale::count(of as u64))
            .words(if of == 1 { " stage of " } else { " stages of " })
            .quoted(spec)
            .words(if fit == 1 { " fits" } else { " fit" })
            .words(" into that");
        out.gap();
        out.line(if fit == of { Tone::Good } else { Tone::Unsure }, &text);
        for stage in &checkup.stages {
            for (tone, text) in fit::stage(stage, machine) {
                out.line(tone, &Text::of("  ").then(text));
            }
        }
    }
    if !checkup.findings.is_empty() {
        out.gap();
        out.0.extend(findings::findings(&checkup.findings));
    }
    out.0
}

#[derive(Default)]
struct Lines(Vec<Line>);

impl Lines {
    fn line(&mut self, tone: Tone, text: &Text) {
        let text = text.plain();
        self.0.push(Line { tone, text });
    }

    fn row(&mut self, tone: Tone, label: &str, text: &Text) {
        let text = format!("  {label:<12}{}", text.plain());
        self.0.push(Line { tone, text });
    }

    fn gap(&mut self) {
        self.line(Tone::Neutral, &Text::default());
    }

    fn machine(&mut self, machine: &Machine) {
        self.row(Tone::Faint, "cores", &cores(machine));
        if let Some(files) = machine.open_files {
            let mut text = Text::just(limit(files.connections()))
                .words(" connections at once, by the limit of ")
                .figure(limit(files.soft))
                .words(" open files");
            if files.hard > files.soft {
                text = text
                    .words(", which `ulimit -n` may raise to ")
                    .figure(limit(files.hard));
            }
            self.row(Tone::Faint, "open files", &text);
        }
        if let Some(ports) = machine.ports {
            let text = Text::just(scale::count(ports.free()))
                .words(" of ")
                .figure(scale::count(ports.range))
                .words(" local ports are free");
            self.row(Tone::Faint, "ports", &text);
        }
        if machine.is_busy() {
            self.row(Tone::Unsure, "other load", &busy(machine));
        }
        if !machine.release {
            let text = Text::of("this is a debug build; one with `--release` drives far more");
            self.row(Tone::Unsure, "build", &text);
        }
        let text = Text::of(
            "the engine ran on the same cores, so a target on another machine leaves this client more",
        );
        self.row(Tone::Faint, "note", &text);
    }
}

fn tone(found: &Found) -> Tone {
    if found.best.is_some() {
        Tone::Neutral
    } else {
        Tone::Bad
    }
}

fn headline(requests: &Found, streams: &Found) -> Text {
    let least = |found: &Found| {
        if found.broke.is_none() {
            "at least "
        } else {
            ""
        }
    };
    match (&requests.best, &streams.best) {
        (Some(open), Some(closed)) => Text::of("This machine's client drives ")
            .words(least(requests))
            .figure(rate(open.load))
            .words(" in an open loop, and ")
            .words(least(streams))
            .figure(whole(closed.load))
            .words(" streams with ")
            .figure(tokens(closed.events_per_s)),
        (Some(open), None) => Text::of("This machine's client drives ")
            .figure(rate(open.load))
            .words(" in an open loop, but no steady stream"),
        (None, Some(closed)) => Text::of("This machine's client drives ")
            .figure(whole(closed.load))
            .words(" streams, but no open loop keeps its schedule"),
        (None, None) => Text::of("This machine's client drives nothing truthfully"),
    }
}

fn open_loop(found: &Found) -> Text {
    let text = match &found.best {
        Some(best) => Text::just(rate(best.load))
            .words(" of 16 tokens each: requests left ")
            .figure(seconds(best.lateness_p99_s))
            .words(" late at p99")
            .then(cpu(best)),
        None => Text::of("none"),
    };
    match &found.broke {
        Some(broke) => text
            .words("; at ")
            .figure(rate(broke.load))
            .words(" ")
            .then(strain(broke)),
        None => text.words("; nothing more was tried"),
    }
}

fn paced(found: &Found) -> Text {
    let text = match &found.best {
        Some(best) => Text::just(whole(best.load))
            .words(" with a token every 10 ms each, ")
            .figure(tokens(best.events_per_s))
            .then(match best.loop_lag_p99_s {
                Some(lag) => Text::of(": the event loop woke ")
                    .figure(seconds(lag))
                    .words(" late at p99"),
                None => Text::default(),
            })
            .then(cpu(best)),
        None => Text::of("none"),
    };
    match &found.broke {
        Some(broke) => text
            .words("; at ")
            .figure(whole(broke.load))
            .words(" ")
            .then(strain(broke)),
        None => text.words("; nothing more was tried"),
    }
}

fn timers(least: &Reading) -> Text {
    let [p50, p99] = scale::row(Unit::Seconds, [least.lateness_p50_s, least.lateness_p99_s]);
    Text::of("at ")
        .figure(rate(least.load))
        .words(" requests leave ")
        .figure(p50)
        .words(" late at the median, ")
        .figure(p99)
        .words(" at p99")
}

fn cores(machine: &Machine) -> Text {
    let mut text = Text::just(scale::mean(machine.cores));
    if let Some(online) = machine.online {
        text = text
            .words(" of ")
            .figure(scale::count(online.into()))
            .words(" may be used");
    }
    if let Some(quota) = machine.quota {
        text = text
            .words(", the control group's quota is ")
            .figure(scale::mean(quota));
    }
    text
}

fn busy(machine: &Machine) -> Text {
    let mut text = Text::default();
    if let Some(load) = machine.load_average {
        text = text
            .words("load average ")
            .figure(format!("{load:.2}"))
            .words(" before the trials; ");
    }
    if let Some(stolen) = machine.stolen.filter(|share| *share > 0.0) {
        text = text
            .figure(scale::value(Unit::Proportion, stolen))
            .words(" of the CPU went to other machines on this host; ");
    }
    text.words("on an idle machine the client drives more, and a run is not disturbed")
}

/// What broke, as the end of `at 5,000 req/s …`.
fn strain(reading: &Reading) -> Text {
    let percent = |share: f64| scale::value(Unit::Proportion, share);
    match reading.strain {
        Some(Strain::Late { p99_s, limit_s }) => Text::of("they left ")
            .figure(seconds(p99_s))
            .words(" late, over ")
            .figure(seconds(limit_s)),
        Some(Strain::SentShort { ratio }) => {
            Text::of("only ").figure(percent(ratio)).words(" were sent")
        }
        Some(Strain::Cpu { share }) => Text::of("the client took ")
            .figure(percent(share))
            .words(" of its CPU, over 90 %"),
        Some(Strain::LoopLag { p99_s }) => Text::of("the event loop woke ")
            .figure(seconds(p99_s))
            .words(" late"),
        Some(Strain::OffPace { tpot_s, pace_s }) => Text::of("tokens came ")
            .figure(seconds(tpot_s))
            .words(" apart and not ")
            .figure(seconds(pace_s)),
        Some(Strain::Failed { share }) => {
            Text::just(percent(share)).words(" did not complete in time")
        }
        Some(Strain::Spoilt) | None => Text::of("the trial was spoilt"),
    }
}

fn cpu(reading: &Reading) -> Text {
    match reading.cpu_share {
        Some(share) => Text::of(", with ")
            .figure(scale::value(Unit::Proportion, share))
            .words(" of its CPU"),
        None => Text::default(),
    }
}

fn seconds(value: f64) -> String {
    scale::value(Unit::Seconds, value)
}

fn limit(count: u64) -> String {
    if count > u64::from(u32::MAX) {
        "any number of".to_owned()
    } else {
        scale::count(count)
    }
}
