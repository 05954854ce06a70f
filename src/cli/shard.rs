//! `run --shard`: one client's part of a run that several share, without a word between them.

use clap::Args;

use super::context::{Context, Instant};
use super::failure::Failure;
use super::sitting::{CliSitting, OutArgs, open_sitting_in};
use crate::ident::Digest;
use crate::load::Appointment;
use crate::plan::Share;
use crate::session::{Part, RunName};
use crate::spec::{Spec, TargetPlace};

/// Which part of a run, and when it begins.
#[derive(Debug, Args)]
pub(super) struct ShardArgs {
    /// Send only this part of the plan: `2/4` is the second of four
    #[arg(long, value_name = "I/N", requires = "start_at")]
    shard: Option<Share>,

    /// When all shards begin, RFC 3339: far enough ahead for every one of them to be up
    #[arg(long, value_name = "TIME", requires = "shard", value_parser = instant)]
    start_at: Option<Instant>,
}

fn instant(text: &str) -> Result<Instant, String> {
    Context::instant(text).ok_or_else(|| {
        "is no instant with its time zone: write 2026-11-29T19:12:00Z, as `date -u +%FT%TZ -d \'+2 min\'` does"
            .to_owned()
    })
}

/// One client's part of a shared run. All that has to be equal in all shards follows from spec and start,
/// so nobody has to hand it out.
#[derive(Debug)]
pub(super) struct Sharing {
    pub(super) part: Part,
    pub(super) name: RunName,
}

impl ShardArgs {
    /// Whether the run is shared.
    pub(super) const fn is_given(&self) -> bool {
        self.shard.is_some()
    }

    /// The sitting of this client's part; `None` where the run is not shared.
    pub(super) fn open(
        &self,
        spec: &Spec,
        out: &OutArgs,
        context: &Context,
    ) -> Result<Option<(CliSitting, Sharing)>, Failure> {
        let (Some(share), Some(start)) = (self.shard, &self.start_at) else {
            return Ok(None);
        };
        if !matches!(spec.target.place, TargetPlace::Urls(_)) {
            return Err(Failure::usage(
                "a shard needs a target that all shards share; start the engine once and name it as `target: {url: ...}`",
            ));
        }
        if let Some(stage) = spec.stages.iter().find(|stage| !stage.events.is_empty()) {
            return Err(Failure::usage(format!(
                "stage `{}` has `events`, which would happen once for each shard; run it by one client, or leave \
                 it out by its `labels`",
                stage.name
            )));
        }
        let begin = Appointment::at(start.time);
        if begin.has_passed() {
            return Err(Failure::usage(format!(
                "`--start-at {}` has passed; name an instant that every shard reaches before it begins",
                start.text
            )));
        }
        let unique = Digest::of_json(&(spec.digest(), &spec.select, &start.text));
        let unique = unique.hex()[..16].to_owned();
        let session = format!("{}-{}-{}", spec.name, start.stamp, &unique[..4]);
        let sitting = open_sitting_in(spec, &out.out.join(&session), session, context)?;
        let timetable = sitting.plan().timetable(share.count());
        let starts = timetable.map_err(|error| Failure::usage(error.to_string()))?;
        let sharing = Sharing {
            part: Part {
                share,
                start_at: start.text.clone(),
                begin,
                starts,
            },
            name: RunName {
                started: start.text.clone(),
                stamp: start.stamp.clone(),
                unique,
                place: None,
            },
        };
        Ok(Some((sitting, sharing)))
    }
}
