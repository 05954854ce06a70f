use super::super::exam::{MetricsSeen, SeenTarget};
use super::super::finding::tests::shown;
use super::*;
use crate::diag::Source;
use crate::provenance::Pins;
use crate::spec;

fn spec(target: &str) -> Spec {
    let text = format!(
        "\
infergate: 1
name: asks
target: {{url: 'http://gpu:1', {target}}}
workload: {{classes: [{{name: chat, input: 40, output: 50}}]}}
stages: [{{name: steady, closed: {{users: 2}}, requests: 100}}]
gate: {{cells: [{{metric: error_ratio, at_most: 10%}}]}}
"
    );
    let path = "spec.yaml".to_owned();
    let source = Source { path, text };
    spec::parse(&source, &|_| None, &|_| Err("none".to_owned()))
        .unwrap()
        .spec
}

fn exam(models: Result<Vec<&str>, Unanswered>) -> Exam {
    Exam {
        replicas: vec![Replica {
            base: "http://gpu:1".to_owned(),
            models: models.map(|names| names.into_iter().map(str::to_owned).collect()),
            metrics: Ok(MetricsSeen {
                engine: "vllm".to_owned(),
                missing: Vec::new(),
            }),
            clock: None,
            certificate_days: None,
            network: None,
        }],
        seen: Ok(SeenTarget {
            model: "tiny".to_owned(),
            pins: Pins::new(),
        }),
        trial: Err("nobody tried".to_owned()),
    }
}

fn of(topic: Topic, spec: &Spec, exam: &Exam) -> String {
    let found = target(spec, exam);
    let found: Vec<Finding> = found.into_iter().filter(|f| f.topic == topic).collect();
    shown(&found)
}

#[test]
fn a_target_that_does_not_answer_says_nothing_else() {
    let said = [
        Unanswered::Unreachable {
            reason: "connection refused".to_owned(),
        },
        Unanswered::Status {
            status: 401,
            text: "no key".to_owned(),
        },
    ]
    .map(|why| shown(&target(&spec("api: chat"), &exam(Err(why)))));
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_model_is_looked_up() {
    let spec_of = |model: &str| spec(&format!("model: {model}"));
    let listed = exam(Ok(vec!["acme/tiny-8b", "acme/large"]));
    let said = [
        of(Topic::Model, &spec_of("acme/large"), &listed),
        of(Topic::Model, &spec_of("acme/tiny-8B"), &listed),
        of(Topic::Model, &spec("api: chat"), &listed),
        of(Topic::Model, &spec("api: chat"), &exam(Ok(vec!["one"]))),
    ];
    insta::assert_snapshot!(said.join("\n"));
    let gone = Unanswered::Status {
        status: 404,
        text: "not found".to_owned(),
    };
    let said = shown(&target(&spec_of("m"), &exam(Err(gone))));
    assert!(
        said.starts_with("note endpoint: `http://gpu:1` answers 404"),
        "{said}"
    );
    assert!(
        said.contains("TROUBLE requests: no request could be tried"),
        "{said}"
    );
}

#[test]
fn metrics_and_clocks_are_told() {
    let spec = spec("api: chat");
    let mut asked = exam(Ok(vec!["one"]));
    let mut said = Vec::new();
    for metrics in [
        Err("/metrics answers 404".to_owned()),
        Ok(MetricsSeen {
            engine: "sglang".to_owned(),
            missing: vec!["its queue".to_owned(), "its prefix cache".to_owned()],
        }),
    ] {
        asked.replicas[0].metrics = metrics;
        said.push(of(Topic::Metrics, &spec, &asked));
    }
    for (least_s, most_s) in [(-1.9, 0.3), (7.2, 9.4), (-12.0, -9.5)] {
        asked.replicas[0].clock = Some(ClockSkew { least_s, most_s });
        said.push(of(Topic::Clock, &spec, &asked));
    }
    insta::assert_snapshot!(said.join("\n"));
}
