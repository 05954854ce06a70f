//! LMDeploy: `/distserve/engine_info`, which one of its two engines has.

use super::answers::Source;
use super::rule::{Read, Rule};

/// By `lmdeploy/serve/openai/endpoints/distserve.py`. No answer tells the version.
pub(super) const RULES: &[Rule] = &[
    Rule::new("parallel.tp", Source::EngineInfo, Read::At("/tp_size")),
    Rule::new("parallel.pp", Source::EngineInfo, Read::At("/pp_size")),
    Rule::new("parallel.ep", Source::EngineInfo, Read::At("/ep_size")),
    Rule::new("parallel.dp", Source::EngineInfo, Read::At("/dp_size")),
    Rule::new(
        "limits.block_size",
        Source::EngineInfo,
        Read::At("/block_size"),
    ),
    Rule::new(
        "limits.kv_blocks",
        Source::EngineInfo,
        Read::At("/num_gpu_blocks"),
    ),
];
