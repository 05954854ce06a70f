//! A slice of a stage's window, and how a run file holds them: a list a figure.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::sample::WindowLook;

/// A slice of the window.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, schemars::JsonSchema)]
pub struct Window {
    /// Start since the window's start.
    pub start_s: f64,
    /// Requests scheduled in it.
    pub scheduled: u64,
    /// Of those, completed.
    pub completed: u64,
    /// Of those, due while the in-flight cap was reached.
    #[serde(default)]
    pub unsent: u64,
    /// How late the latest of those left.
    #[serde(default)]
    pub lateness_max_s: f64,
    /// CPU time of the client in it, as a share of the cores it may use.
    #[serde(default)]
    pub cpu_share: Option<f64>,
    /// How late the client's event loop woke at most.
    #[serde(default)]
    pub loop_lag_max_s: Option<f64>,
    /// Connections opened in it.
    #[serde(default)]
    pub connections: Option<u64>,
    /// Output tokens received in it.
    pub output_tokens: u64,
    /// Median TTFT of those scheduled in it.
    #[serde(default)]
    pub ttft_p50_s: Option<f64>,
    /// Its 99th percentile, of a soak stage.
    #[serde(default)]
    pub ttft_p99_s: Option<f64>,
    /// Median TPOT, of a soak stage.
    #[serde(default)]
    pub tpot_p50_s: Option<f64>,
    /// Share of the KV cache in use, of a soak stage.
    #[serde(default)]
    pub kv_usage: Option<f64>,
    /// Blocks of it that can be used, of a soak stage.
    #[serde(default)]
    pub kv_blocks: Option<f64>,
    /// Preemptions, of a soak stage.
    #[serde(default)]
    pub preemptions: Option<f64>,
    /// Memory of the engine's processes, of a soak stage.
    #[serde(default)]
    pub engine_memory_bytes: Option<f64>,
    /// Memory of the client at its end, of a soak stage.
    #[serde(default)]
    pub client_memory_bytes: Option<f64>,
}

impl Window {
    /// What the engine's metrics say of it.
    pub fn look(&self) -> WindowLook {
        WindowLook {
            kv_usage: self.kv_usage,
            kv_blocks: self.kv_blocks,
            preemptions: self.preemptions,
            memory_bytes: self.engine_memory_bytes,
        }
    }

    /// With that.
    pub fn take(&mut self, look: WindowLook) {
        self.kv_usage = look.kv_usage;
        self.kv_blocks = look.kv_blocks;
        self.preemptions = look.preemptions;
        self.engine_memory_bytes = look.memory_bytes;
    }
}

/// The slices of a window in a run file: each figure's values in order of time. A figure that is 0 or
/// absent in every slice is left out, but for `scheduled`.
///
/// Sixty slices with their names take 10 kB, these lists 3 kB.
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
pub(super) struct Columns {
    /// Length of a slice; the last one of a soak stage may be shorter. 0 where there are not two.
    slice_s: f64,
    /// Requests scheduled in each.
    scheduled: Vec<u64>,
    /// Of those, completed.
    #[serde(default, skip_serializing_if = "all_zero")]
    completed: Vec<u64>,
    /// Of those, due while the in-flight cap was reached.
    #[serde(default, skip_serializing_if = "all_zero")]
    unsent: Vec<u64>,
    /// How late the latest of those left.
    #[serde(default, skip_serializing_if = "all_zero")]
    lateness_max_s: Vec<f64>,
    /// CPU time of the client, as a share of the cores it may use.
    #[serde(default, skip_serializing_if = "all_absent")]
    cpu_share: Vec<Option<f64>>,
    /// How late the client's event loop woke at most.
    #[serde(default, skip_serializing_if = "all_absent")]
    loop_lag_max_s: Vec<Option<f64>>,
    /// Connections opened.
    #[serde(default, skip_serializing_if = "all_absent")]
    connections: Vec<Option<u64>>,
    /// Output tokens received.
    #[serde(default, skip_serializing_if = "all_zero")]
    output_tokens: Vec<u64>,
    /// Median TTFT of those scheduled in each.
    #[serde(default, skip_serializing_if = "all_absent")]
    ttft_p50_s: Vec<Option<f64>>,
    /// Its 99th percentile, of a soak stage.
    #[serde(default, skip_serializing_if = "all_absent")]
    ttft_p99_s: Vec<Option<f64>>,
    /// Median TPOT, of a soak stage.
    #[serde(default, skip_serializing_if = "all_absent")]
    tpot_p50_s: Vec<Option<f64>>,
    /// Share of the KV cache in use, of a soak stage.
    #[serde(default, skip_serializing_if = "all_absent")]
    kv_usage: Vec<Option<f64>>,
    /// Blocks of it that can be used, of a soak stage.
    #[serde(default, skip_serializing_if = "all_absent")]
    kv_blocks: Vec<Option<f64>>,
    /// Preemptions, of a soak stage.
    #[serde(default, skip_serializing_if = "all_absent")]
    preemptions: Vec<Option<f64>>,
    /// Memory of the engine's processes, of a soak stage.
    #[serde(default, skip_serializing_if = "all_absent")]
    engine_memory_bytes: Vec<Option<f64>>,
    /// Memory of the client, of a soak stage.
    #[serde(default, skip_serializing_if = "all_absent")]
    client_memory_bytes: Vec<Option<f64>>,
}

/// What a run file may hold, for its JSON Schema: lists, or a slice an object, as the first files have it.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "a schema alone")]
pub(super) enum Kept {
    Columns(Box<Columns>),
    Rows(Vec<Window>),
}

fn all_zero<T: Default + PartialEq>(values: &[T]) -> bool {
    values.iter().all(|value| *value == T::default())
}

/// The value of a slice; of a figure that was left out, 0 or absent.
fn at<T: Copy + Default>(values: &[T], index: usize) -> T {
    values.get(index).copied().unwrap_or_default()
}

fn all_absent<T>(values: &[Option<T>]) -> bool {
    values.iter().all(Option::is_none)
}

impl Columns {
    fn of(windows: &[Window]) -> Self {
        fn each<T>(windows: &[Window], figure: impl Fn(&Window) -> T) -> Vec<T> {
            windows.iter().map(figure).collect()
        }
        Self {
            slice_s: windows.get(1).map_or(0.0, |second| second.start_s),
            scheduled: each(windows, |window| window.scheduled),
            completed: each(windows, |window| window.completed),
            unsent: each(windows, |window| window.unsent),
            lateness_max_s: each(windows, |window| window.lateness_max_s),
            cpu_share: each(windows, |window| window.cpu_share),
            loop_lag_max_s: each(windows, |window| window.loop_lag_max_s),
            connections: each(windows, |window| window.connections),
            output_tokens: each(windows, |window| window.output_tokens),
            ttft_p50_s: each(windows, |window| window.ttft_p50_s),
            ttft_p99_s: each(windows, |window| window.ttft_p99_s),
            tpot_p50_s: each(windows, |window| window.tpot_p50_s),
            kv_usage: each(windows, |window| window.kv_usage),
            kv_blocks: each(windows, |window| window.kv_blocks),
            preemptions: each(windows, |window| window.preemptions),
            engine_memory_bytes: each(windows, |window| window.engine_memory_bytes),
            client_memory_bytes: each(windows, |window| window.client_memory_bytes),
        }
    }

    /// The slices; or which list has another length than `scheduled`.
    fn windows(&self) -> Result<Vec<Window>, String> {
        let count = self.scheduled.len();
        let lengths = [
            ("completed", self.completed.len()),
            ("unsent", self.unsent.len()),
            ("lateness_max_s", self.lateness_max_s.len()),
            ("cpu_share", self.cpu_share.len()),
            ("loop_lag_max_s", self.loop_lag_max_s.len()),
            ("connections", self.connections.len()),
            ("output_tokens", self.output_tokens.len()),
            ("ttft_p50_s", self.ttft_p50_s.len()),
            ("ttft_p99_s", self.ttft_p99_s.len()),
            ("tpot_p50_s", self.tpot_p50_s.len()),
            ("kv_usage", self.kv_usage.len()),
            ("kv_blocks", self.kv_blocks.len()),
            ("preemptions", self.preemptions.len()),
            ("engine_memory_bytes", self.engine_memory_bytes.len()),
            ("client_memory_bytes", self.client_memory_bytes.len()),
        ];
        if let Some((name, length)) = lengths.iter().find(|(_, n)| *n != 0 && *n != count) {
            return Err(format!(
                "`{name}` has {length} values, `scheduled` has {count}"
            ));
        }
        let windows = self.scheduled.iter().enumerate();
        Ok(windows
            .map(|(index, &scheduled)| Window {
                start_s: self.slice_s * index as f64,
                scheduled,
                completed: at(&self.completed, index),
                unsent: at(&self.unsent, index),
                lateness_max_s: at(&self.lateness_max_s, index),
                cpu_share: at(&self.cpu_share, index),
                loop_lag_max_s: at(&self.loop_lag_max_s, index),
                connections: at(&self.connections, index),
                output_tokens: at(&self.output_tokens, index),
                ttft_p50_s: at(&self.ttft_p50_s, index),
                ttft_p99_s: at(&self.ttft_p99_s, index),
                tpot_p50_s: at(&self.tpot_p50_s, index),
                kv_usage: at(&self.kv_usage, index),
                kv_blocks: at(&self.kv_blocks, index),
                preemptions: at(&self.preemptions, index),
                engine_memory_bytes: at(&self.engine_memory_bytes, index),
                client_memory_bytes: at(&self.client_memory_bytes, index),
            })
            .collect())
    }
}

/// Writes slices as lists.
pub(super) fn serialize<S: Serializer>(windows: &[Window], to: S) -> Result<S::Ok, S::Error> {
    Columns::of(windows).serialize(to)
}

/// Reads slices from either form.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Window>, D::Error> {
    struct Either;

    impl<'de> Visitor<'de> for Either {
        type Value = Vec<Window>;

        fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
            to.write_str("lists of figures by slice, or a list of slices")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, rows: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(rows))
        }

        fn visit_map<A: MapAccess<'de>>(self, columns: A) -> Result<Self::Value, A::Error> {
            Columns::deserialize(MapAccessDeserializer::new(columns))?
                .windows()
                .map_err(A::Error::custom)
        }
    }

    from.deserialize_any(Either)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Stage {
        #[serde(with = "super")]
        windows: Vec<Window>,
    }

    fn read(windows: &Value) -> Result<Vec<Window>, String> {
        let stage: Result<Stage, _> = serde_json::from_value(json!({ "windows": windows }));
        stage
            .map(|stage| stage.windows)
            .map_err(|error| error.to_string())
    }

    fn rows() -> Value {
        json!([
            {"start_s": 0.0, "scheduled": 4, "completed": 3, "output_tokens": 90, "ttft_p50_s": 0.2},
            {"start_s": 1.5, "scheduled": 0, "completed": 0, "unsent": 0, "output_tokens": 7},
            {"start_s": 3.0, "scheduled": 2, "completed": 2, "lateness_max_s": 0.25, "connections": 1,
             "output_tokens": 0, "ttft_p50_s": 0.1}
        ])
    }

    #[test]
    fn rows_of_older_files_and_their_lists_are_the_same_slices() {
        let windows = read(&rows()).unwrap();
        let written = serde_json::to_value(Stage { windows }).unwrap();
        let expected = json!({
            "slice_s": 1.5,
            "scheduled": [4, 0, 2],
            "completed": [3, 0, 2],
            "lateness_max_s": [0.0, 0.0, 0.25],
            "connections": [null, null, 1],
            "output_tokens": [90, 7, 0],
            "ttft_p50_s": [0.2, null, 0.1]
        });
        assert_eq!(written["windows"], expected);
        assert_eq!(read(&expected), read(&rows()));
        assert_eq!(read(&json!({"slice_s": 0.0, "scheduled": []})), Ok(vec![]));
    }

    #[test]
    fn lists_of_unequal_length_are_refused() {
        let ragged = json!({"slice_s": 1.0, "scheduled": [1, 2], "unsent": [0, 0, 1]});
        let error = read(&ragged).unwrap_err();
        assert_eq!(error, "`unsent` has 3 values, `scheduled` has 2");
        assert!(read(&json!(3)).is_err());
    }
}
