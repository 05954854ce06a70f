//! What runs took of the machine, and what that costs.

use crate::provenance::{Observation, Pin, Why};
use crate::report::spent::line;
use crate::spec::Cost;
use crate::summary::{GpuPart, GpuTime, Paid, Run, Spent};

use super::fixture;

fn run(gpus: Option<&str>, price: Option<(f64, &str)>) -> Run {
    let mut run = fixture::run("a", "0.12.0", 1.0);
    run.elapsed_s = 900.0;
    run.spec.cost = price.map(|(gpu_hour, currency)| Cost {
        gpu_hour,
        currency: currency.to_owned(),
    });
    let observed = match gpus {
        Some(value) => Observation::Seen {
            value: value.to_owned(),
            source: "host".to_owned(),
        },
        None => Observation::Unknown(Why::Remote),
    };
    let pin = Pin {
        declared: None,
        observed,
    };
    run.pins.insert("hardware.count".parse().unwrap(), pin);
    run
}

fn money(runs: &[Run]) -> Paid {
    Spent::of(runs).unwrap().money
}

#[test]
fn money_is_gpus_by_hours_by_price() {
    let usd = Some((3.5, "USD"));
    let runs = [run(Some("2"), usd), run(Some("2"), usd)];
    let spent = Spent::of(&runs).unwrap();
    assert_eq!(spent.gpu_hours(), Some(1.0));
    let GpuTime::Parts(parts) = &spent.gpus else {
        panic!()
    };
    assert_eq!((parts.len(), parts[0].gpus, parts[0].hours), (1, 2, 0.5));
    let currency = "USD".to_owned();
    let amount = 3.5;
    assert_eq!(spent.money, Paid::Amount { amount, currency });
    // Another number of GPUs is a part of its own: 2 × 0.25 × 3.5 + 4 × 0.25 × 3.5.
    let currency = "USD".to_owned();
    let amount = 5.25;
    let unlike = [run(Some("2"), usd), run(Some("4"), usd)];
    assert_eq!(money(&unlike), Paid::Amount { amount, currency });
    assert_eq!(Spent::of([]), None);
}

#[test]
fn without_count_or_price_there_is_no_amount() {
    let usd = Some((3.5, "USD"));
    let why = |paid| match paid {
        Paid::Unknown { why } => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        why(money(&[run(Some("1"), usd), run(None, usd)])),
        "the pin `hardware.count` is unknown (the target is on another machine)"
    );
    assert!(why(money(&[run(Some("two"), usd)])).contains("no number"));
    assert!(why(money(&[run(Some("1"), usd), run(Some("1"), None)])).contains("not every"));
    let euro = Some((3.5, "EUR"));
    assert!(why(money(&[run(Some("1"), usd), run(Some("1"), euro)])).contains("EUR"));
    assert_eq!(money(&[run(None, None)]), Paid::NoPrice);
}

fn said(spent: &Spent) -> String {
    line(spent).plain()
}

#[test]
fn money_says_what_it_is_made_of() {
    let price = Some(Cost {
        gpu_hour: 3.5,
        currency: "USD".to_owned(),
    });
    let of = |gpus, hours| GpuPart {
        gpus,
        hours,
        price: price.clone(),
    };
    let spent = |parts, amount| Spent {
        measured_s: 1800.0,
        gpus: GpuTime::Parts(parts),
        money: Paid::Amount {
            amount,
            currency: "USD".to_owned(),
        },
    };
    assert_eq!(
        said(&spent(vec![of(2, 0.5)], 3.5)),
        "Used: 30 min of measuring, 1.00 GPU hours, 3.50 USD (2 GPUs × 0.50 h × 3.50 USD)"
    );
    assert!(
        said(&spent(vec![of(1, 0.005), of(4, 0.25)], 3.5175))
            .ends_with("3.52 USD (1 GPU × 0.0050 h × 3.50 USD + 4 GPUs × 0.25 h × 3.50 USD)")
    );
}

#[test]
fn no_amount_has_a_reason_and_no_price_none() {
    let why = "the pin `hardware.count` is unknown".to_owned();
    let mut spent = Spent {
        measured_s: 60.0,
        gpus: GpuTime::Unknown { why: why.clone() },
        money: Paid::Unknown { why },
    };
    assert!(said(&spent).contains("; no cost, for the pin `hardware.count` is unknown: "));
    spent.money = Paid::NoPrice;
    assert_eq!(said(&spent), "Used: 60.0 s of measuring");
}
