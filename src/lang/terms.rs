//! What things are called: metrics, states, sides, causes.

use super::{Phrase, phrases};

phrases! {
    // Metrics; names and units are the same everywhere, Chinese says what they are.
    TTFT: "TTFT", "首 token 延迟 TTFT";
    TTFA: "TTFA", "首个回答 token 延迟 TTFA";
    TPOT: "TPOT", "每 token 时间 TPOT";
    ITL: "ITL", "token 间隔 ITL";
    CHUNK_GAP: "chunk gap", "分块间隔";
    MAX_STALL: "max stall", "最长停顿";
    E2E: "E2E", "端到端延迟 E2E";
    GOODPUT: "goodput", "有效吞吐 goodput";
    MAX_GOODPUT: "largest goodput", "最大有效吞吐 max goodput";
    ATTAINMENT: "attainment", "SLO 达成率";
    REQUEST_THROUGHPUT: "request throughput", "请求吞吐";
    OUTPUT_THROUGHPUT: "output throughput", "输出吞吐";
    INPUT_THROUGHPUT: "input throughput", "输入吞吐";
    TOTAL_THROUGHPUT: "total throughput", "总吞吐";
    TOKENS_PER_JOULE: "tokens per joule", "每焦耳 token 数";
    JOULES_PER_GOOD: "energy per good request", "每个合格请求的能耗";
    ERROR_RATIO: "error ratio", "错误率";
    TRUNCATED_RATIO: "truncated ratio", "截断率";
    COLD_READY: "start to ready", "启动到就绪时间";
    COLD_FIRST: "first request", "首个请求";
    COLD_WARM: "first warm request", "预热后的首个请求";
    RECOVERY_TIME: "time to recovery", "恢复时间";
    DRAIN_TIME: "time to drain", "积压消化时间";
    LOST_TO_EVENTS: "requests lost to events", "事件导致的请求损失率";
    VALID_JSON: "valid JSON", "JSON 合法率";
    REGEX_MATCH: "pattern match", "模式匹配率";
    EXACT_MATCH: "exact match", "完全匹配率";
    AGREEMENT: "agreement with the baseline", "与基线的一致率";
    IMPORTED_SCORE: "imported score", "导入的评分";
    ITL_MAX: "largest gap between tokens", "最大 token 间隔";

    // A metric in its place.
    MEAN_OF: "{0} mean", "{0} 均值";
    OF_CLASS: "{0} of {1}", "{1} 的 {0}";
    CELL_IN: "{0} in {1}", "阶段 {1} 中的{0}";
    CELL_OVER_ALL: "{0} over all stages", "所有阶段的{0}";
    SINCE: "{0} since {1}", "{0}（相对 {1}）";

    // Which way a change goes.
    NO_CHANGE: "no change", "无变化";
    SLOWER: "slower", "变慢";
    FASTER: "faster", "变快";
    MORE: "more", "增加";
    LESS: "less", "减少";
    HIGHER: "higher", "升高";
    LOWER: "lower", "降低";

    // States of cells.
    REGRESSED: "regressed", "回退";
    INVALID: "invalid", "无效";
    MISSING: "missing", "缺失";
    INCOMPARABLE: "incomparable", "不可比";
    SUSPECT: "suspect", "疑似回退";
    IMPLAUSIBLE: "implausible", "好得可疑";
    INCONCLUSIVE: "inconclusive", "无定论";
    NOT_RESOLVABLE: "not resolvable", "无法分辨";
    NOT_FINISHED: "not finished", "未测完";
    NEW: "new", "新增";
    ACCEPTED: "accepted", "已接受";
    IMPROVED: "improved", "改进";
    OK: "ok", "正常";

    // Verdicts.
    PASS: "Pass", "通过";
    REGRESSION: "Regression", "性能回退";
    UNDECIDED: "Undecided", "无法判定";
    INVALID_MEASUREMENT: "Invalid", "测量无效";

    // Sides and layers.
    BASELINE: "baseline", "基线";
    CANDIDATE: "candidate", "候选";
    UNKNOWN: "unknown", "未知";
    UNKNOWN_FOR: "unknown, {0}", "未知：{0}";

    // Limits.
    WORSE_BY: "worse by {0}", "变差达 {0}";
    WORSE_BY_AND: "worse by {0} and {1}", "变差达 {0} 且 {1}";
    AT_MOST: "at most {0}", "不高于 {0}";
    AT_LEAST: "at least {0}", "不低于 {0}";

    // How requests end.
    COMPLETED: "completed", "已完成";
    TRUNCATED: "truncated", "被截断";
    INVALID_OUTPUT: "invalid output", "输出不合格";
    HTTP_ERROR: "http error", "HTTP 错误";
    REJECTED: "rejected", "被拒绝";
    CONNECT_ERROR: "connect error", "连接错误";
    TIMEOUT: "timeout", "超时";
    STREAM_ERROR: "stream error", "流错误";
    EMPTY: "empty", "空回答";
    CANCELLED: "cancelled", "已取消";
    UNSENT: "unsent", "未发送";
    UNFINISHED: "unfinished", "未完成";
    COUNTED: "{0} {1}", "{0} {1}";

    // How a stage stood its load.
    STEADY: "steady", "稳定";
    NEAR_OVERLOAD: "near overload", "接近过载";
    OVERLOADED: "overloaded", "过载";

    // Why a pin is unknown.
    NOT_PROBED: "not probed", "未探测";
    NOT_REPORTED: "not reported", "未报告";
    UNREACHABLE: "unreachable", "不可达";
    REMOTE: "the target is on another machine", "被测目标在另一台机器上";
    ENGINE_KNOWS_NOT: "the engine itself does not know: {0}", "引擎自身也不知道：{0}";

    // Causes.
    CAUSE_OUTPUT_LENGTH: "answers have another length: other work, not another speed",
        "回答长度不同：工作量变了，而不是速度变了";
    CAUSE_TOKENIZATION: "the same prompts are another number of tokens (tokenizer or chat template): other work, not another speed",
        "相同的提示对应的 token 数不同（分词器或对话模板）：工作量变了，而不是速度变了";
    CAUSE_TRUNCATION: "the share of answers that are cut at their limit changed",
        "在长度上限处被截断的回答占比发生变化";
    CAUSE_THROTTLING: "the GPU's clocks were held back", "GPU 时钟受到限制";
    CAUSE_THROTTLING_LESS: "the GPU's clocks were held back less", "GPU 时钟所受限制减少";
    CAUSE_CLIENT: "the client was the bottleneck, not the target", "瓶颈在客户端，而不在被测目标";
    CAUSE_CACHE_LESS: "the prefix cache found less", "前缀缓存命中减少";
    CAUSE_CACHE_MORE: "the prefix cache found more", "前缀缓存命中增加";
    CAUSE_DRAFTS_FEWER: "fewer drafted tokens were taken (speculative decoding)",
        "被采纳的草稿 token 减少（投机解码）";
    CAUSE_DRAFTS_MORE: "more drafted tokens were taken (speculative decoding)",
        "被采纳的草稿 token 增加（投机解码）";
    CAUSE_KV: "the KV cache was too small for the load", "KV 缓存不足以承载该负载";
    CAUSE_KV_LESS: "the KV cache was under less pressure", "KV 缓存压力减轻";
    CAUSE_UNIFORM: "everything moved by about the same factor: look at machine, clocks and power before any code",
        "所有指标以大致相同的比例变化：先检查机器、时钟和功耗，再看代码";
    CAUSE_PREFILL: "prompts take longer (prefill)", "提示处理变慢（prefill）";
    CAUSE_PREFILL_LESS: "prompts take less time (prefill)", "提示处理变快（prefill）";
    CAUSE_DECODE: "tokens take longer, all of them (decode)", "所有 token 的生成都变慢（decode）";
    CAUSE_DECODE_LESS: "tokens take less time, all of them (decode)", "所有 token 的生成都变快（decode）";
    CAUSE_QUEUE: "requests wait longer until they are scheduled (queueing)", "请求等待调度的时间变长（排队）";
    CAUSE_QUEUE_LESS: "requests wait less until they are scheduled (queueing)", "请求等待调度的时间变短（排队）";
    CAUSE_INTERFERENCE: "some gaps between tokens are longer, most are not: tokens wait while prompts are computed (interference)",
        "部分 token 间隔变长而多数不变：计算提示时 token 在等待（干扰）";
    CAUSE_INTERFERENCE_LESS: "the long gaps between tokens are shorter, the others are not: prompts hold tokens up less (interference)",
        "较长的 token 间隔变短而其余不变：提示对 token 的阻塞减少（干扰）";
    CAUSE_OUTSIDE: "the time is lost outside the engine: network, gateway or proxy",
        "时间损失在引擎之外：网络、网关或代理";
    CAUSE_OUTSIDE_LESS: "the time is won outside the engine: network, gateway or proxy",
        "时间节省在引擎之外：网络、网关或代理";
    CAUSE_BEFORE_FIRST: "the time before the first token moved and the pace of tokens did not: queue, prompt or the way there, and nothing that was measured tells which",
        "首 token 之前的时间变了而 token 的节奏没变：可能是排队、提示处理或链路，现有测量无法区分";
    CAUSE_UNCLEAR: "nothing that was measured tells why", "现有测量说明不了原因";

    // What shows a cause.
    SIGNAL_TTFT: "mean TTFT", "TTFT 均值";
    SIGNAL_ITL_P50: "ITL p50", "ITL p50";
    SIGNAL_ITL_P95: "ITL p95", "ITL p95";
    SIGNAL_ENGINE_TTFT: "TTFT by the engine", "引擎计的 TTFT";
    SIGNAL_OUTSIDE: "TTFT outside the engine", "引擎之外的 TTFT";
    SIGNAL_QUEUE: "queue time", "排队时间";
    SIGNAL_PREFILL: "prefill time", "prefill 时间";
    SIGNAL_WAITING: "waiting requests", "等待中的请求";
    SIGNAL_RUNNING: "most requests at once", "最大并发请求数";
    SIGNAL_KV: "KV cache in use at most", "KV 缓存最高占用";
    SIGNAL_PREEMPTIONS: "preemptions a request", "每个请求的抢占次数";
    SIGNAL_PREFIX: "prompt tokens found in the prefix cache", "前缀缓存命中的提示 token";
    SIGNAL_DRAFTS: "drafted tokens taken", "被采纳的草稿 token";
    SIGNAL_OUTPUT: "tokens an answer", "每个回答的 token 数";
    SIGNAL_INPUT: "prompt tokens by planned ones", "提示 token 实际与计划之比";
    SIGNAL_CUT: "answers cut", "被截断的回答";
    SIGNAL_CLOCK: "SM clock", "SM 时钟";
    SIGNAL_THROTTLED: "time with clocks held back", "时钟受限的时间";
    SIGNAL_TEMPERATURE: "temperature", "温度";
    SIGNAL_POWER: "power", "功耗";
    SIGNAL_CLIENT_CPU: "CPU of the client", "客户端 CPU";
    SIGNAL_LATENESS: "lateness p99 of the client", "客户端发送延误 p99";
    SIGNAL_LAG: "loop lag p99 of the client", "客户端循环滞后 p99";
    EVIDENCE: "{0} {1} → {2}, {3}", "{0} {1} → {2}，{3}";
    LACK_ENGINE: "the engine's metrics are unknown: {0}", "引擎指标未知：{0}";
    LACK_TIMES: "the engine's metrics don't show the times of queue and prompt",
        "引擎指标没有给出排队和提示处理的时间";
    LACK_GPU: "no GPU was seen: {0}", "没有看到 GPU：{0}";
}
