//! The report of two layers.

use crate::compare::synthetic;
use crate::layers::tests::{add, runs};
use crate::layers::{Layers, layer, side_by_side};
use crate::metric::Metric;
use crate::report::{layers, text};
use crate::spec::Layer;
use crate::summary::Run;

fn check(name: &str, subject: &Layers) {
    let model = layers::build(subject);
    insta::assert_snapshot!(format!("{name}.md"), layers::markdown(&model));
    insta::assert_snapshot!(format!("{name}.txt"), text::plain(&layers::text(&model)));
}

#[test]
fn a_front_that_adds_a_constant() {
    let runs = runs(3, |run| {
        run.client.target = "https://gate.example".to_owned();
        add(run, Metric::Ttft, 0.04);
        add(run, Metric::E2e, 0.04);
    });
    check("layers_constant", &side_by_side(&runs).unwrap());
}

#[test]
fn a_front_that_holds_answers_back_and_fails_in_a_single_pair() {
    let hold = |run: &mut Run| {
        add(run, Metric::Ttft, 0.99);
        add(run, Metric::E2e, 0.02);
        run.stages[0].pooled.distributions.remove(&Metric::Tpot);
        run.stages[0].pooled.distributions.remove(&Metric::Itl);
        synthetic::fail(run, 50);
        run.stages[0].pooled.rates.completed_rps = 12.0;
    };
    let mut runs = runs(1, hold);
    for run in &mut runs {
        (run.stages[0].users, run.stages[0].rate_rps) = (Some(8), None);
        let engine = layer(run) == Some(Layer::Engine);
        run.stages[0].health.as_mut().unwrap().connections = Some(if engine { 8 } else { 1000 });
    }
    check("layers_buffered", &side_by_side(&runs).unwrap());
}

#[test]
fn a_front_that_slows_tokens_and_queues() {
    let mut runs = runs(3, |run| add(run, Metric::Tpot, 0.001));
    for run in &mut runs {
        let mut busy = run.stages[0].clone();
        (busy.name, busy.rate_rps) = ("busy".to_owned(), Some(80.0));
        run.stages.insert(0, busy);
        if layer(run) == Some(Layer::EndToEnd) {
            add(run, Metric::Ttft, 0.06);
            add(run, Metric::E2e, 0.109);
        }
        run.stages.swap(0, 1);
    }
    check("layers_queueing", &side_by_side(&runs).unwrap());
}
