//! `run` of two layers: the engine and its front in turn, side by side in one report.

use std::path::Path;

use super::{RunArgs, ending, show};
use crate::archive::save_text;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::interrupt::Interrupt;
use crate::cli::origin::source_of;
use crate::cli::scores;
use crate::cli::sitting::{CliSitting, new_session, open_sitting_in};
use crate::exit::Exit;
use crate::layers::{Layers, side_by_side};
use crate::report;
use crate::session::{Measured, Place, Station};
use crate::spec::{Layer, Spec};
use crate::summary::{Run, RunEnd};

/// One layer: its runs are of the same session, plan and calibration as the other's.
struct Floor {
    sitting: CliSitting,
    station: Station,
}

/// Both.
struct House {
    engine: Floor,
    front: Floor,
}

/// Which layer is measured first in a pair: engine and front, then front and engine, and so on.
const fn order(pair: u32) -> [Layer; 2] {
    if pair.is_multiple_of(2) {
        [Layer::Engine, Layer::EndToEnd]
    } else {
        [Layer::EndToEnd, Layer::Engine]
    }
}

pub(super) async fn run(
    args: &RunArgs,
    layers: &[Spec; 2],
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let [engine, front] = layers;
    if args.shard.is_given() {
        return Err(Failure::usage(
            "a shard measures one layer, and the spec's `targets` name two; give the shards a spec with one `target`",
        ));
    }
    let places = [&engine.target.place, &front.target.place];
    let locks = args.lock.hold(front, &places, false, context, interrupt);
    let _locks = locks.await?;
    let session = new_session(front, context);
    let source = source_of(args.spec.as_deref().unwrap_or(Path::new("")), context);
    let floor = |spec: &Spec, label| {
        let folder = args.out.out.join(&session);
        let mut sitting = open_sitting_in(spec, &folder, session.clone(), context)?;
        sitting.score(scores::of_target(spec)?);
        sitting.stamp(source.clone());
        let station = sitting.station(spec.target.place.clone(), label, context);
        Ok::<_, Failure>(Floor { sitting, station })
    };
    let mut house = House {
        engine: floor(engine, "engine")?,
        front: floor(front, "front")?,
    };
    let taken = take_all(args, &mut house, context, interrupt).await;
    house.front.station.down().await;
    house.engine.station.down().await;
    taken
}

async fn take_all(
    args: &RunArgs,
    house: &mut House,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    // One that is not there, or not what the spec says, is found before the other is loaded.
    for layer in Layer::ALL {
        house.observe(layer, interrupt).await?;
    }
    let (mut exit, mut runs) = (Exit::Pass, Vec::new());
    'pairs: for pair in 0..args.repeats.unwrap_or(1) {
        for layer in order(pair) {
            context.note(&format!(
                "{}, run {} of {}",
                name(layer),
                pair + 1,
                args.repeats.unwrap_or(1)
            ));
            let measured = house.measure(layer, pair, context, interrupt).await?;
            if args.json {
                show(&measured.run, true, context)?;
            }
            context.note(&format!("run file: {}", measured.path.display()));
            exit = exit.worst(ending(&measured.run));
            let whole = measured.run.end == RunEnd::Complete;
            runs.push(measured.run);
            if !whole {
                break 'pairs;
            }
        }
    }
    publish(&runs, &house.front.sitting, args.json, context)?;
    Ok(exit)
}

impl House {
    const fn floor(&mut self, layer: Layer) -> &mut Floor {
        match layer {
            Layer::Engine => &mut self.engine,
            Layer::EndToEnd => &mut self.front,
        }
    }

    /// Brings up the engine where it is the front's turn: the front stands on it.
    async fn below(&mut self, layer: Layer, interrupt: &Interrupt) -> Result<(), Failure> {
        if layer == Layer::EndToEnd {
            self.engine.station.up(interrupt.stop()).await?;
        }
        Ok(())
    }

    async fn observe(&mut self, layer: Layer, interrupt: &Interrupt) -> Result<(), Failure> {
        self.below(layer, interrupt).await?;
        let Floor { sitting, station } = self.floor(layer);
        let target = station.up(interrupt.stop()).await?;
        sitting.observe(target, interrupt).await?;
        Ok(())
    }

    async fn measure(
        &mut self,
        layer: Layer,
        pair: u32,
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> Result<Measured, Failure> {
        self.below(layer, interrupt).await?;
        let Floor { sitting, station } = self.floor(layer);
        let target = station.up(interrupt.stop()).await?;
        let place = Some(Place { pair, side: None });
        let measured = sitting.measure(target, place, true, context, interrupt);
        let measured = measured.await?;
        self.front.station.rest().await;
        self.engine.station.rest().await;
        // Both get the same text, fitted by the first run of the two.
        let calibration = measured.run.prompt_calibration;
        for floor in [&mut self.engine, &mut self.front] {
            floor.sitting.go_on_with(calibration);
        }
        Ok(measured)
    }
}

/// A layer by its name in `targets`.
const fn name(layer: Layer) -> &'static str {
    match layer {
        Layer::Engine => "engine",
        Layer::EndToEnd => "front",
    }
}

/// Shows both layers side by side, and keeps that beside the runs.
fn publish(
    runs: &[Run],
    sitting: &CliSitting,
    json: bool,
    context: &mut Context,
) -> Result<(), Failure> {
    let Some(layers) = side_by_side(runs) else {
        context.note("only one layer was measured, so there is nothing to put beside it");
        return Ok(());
    };
    let model = report::layers::build(&layers);
    let page = sitting.folder().join("layers.md");
    save_text(&page, &report::layers::markdown(&model))?;
    save_text(&sitting.folder().join("layers.json"), &as_json(&layers)?)?;
    if !json {
        let text = context.paint(&report::layers::text(&model));
        context.print(&text);
    }
    context.note(&format!("report: {}", page.display()));
    Ok(())
}

/// Both layers as JSON.
pub(in crate::cli) fn as_json(layers: &Layers) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(layers);
    text.map(|text| text + "\n").map_err(|error| {
        Failure::new(
            Exit::Invalid,
            format!("cannot write the layers as JSON: {error}"),
        )
    })
}
