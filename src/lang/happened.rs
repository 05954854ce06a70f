//! Sentences of what happened in a stage on purpose, and of what crept in it over hours.

use super::{Phrase, phrases};

phrases! {
    // Events.
    EVENT_DONE: "{0} ({1}), planned at {2}, done at {3}", "{0}（{1}），计划于 {2}，执行于 {3}";
    EVENT_NEVER: "{0} ({1}), planned at {2}, never begun", "{0}（{1}），计划于 {2}，从未开始";
    EVENT_DID_FAIL: "{0}: failed, {1}", "{0}：失败，{1}";
    EVENT_SAID: "{0}; it said {1}", "{0}；其输出为 {1}";
    EVENT_FOLLOWED: "{0}: {1}", "{0}：{1}";
    NOTHING_LOST: "no request was lost", "没有丢失请求";
    LOST: "{0} requests lost until the next event or the window's end ({1})",
        "到下一事件或窗口结束为止丢失 {0} 个请求（{1}）";
    ATTAINMENT_KEPT: "attainment stayed as before", "SLO 达成率保持不变";
    ATTAINMENT_BACK: "attainment was back {0} after it", "SLO 达成率在其后 {0} 恢复";
    RECOVERY_UNKNOWN: "recovery unknown: {0}", "恢复情况未知：{0}";
    BEFORE_FIRST: "{0} ({1} before the first event)", "{0}（首个事件之前为 {1}）";
    GOODPUT_WHILE: "goodput {0} over the {1} that it lasted, {2} before", "持续的 {1} 内有效吞吐为 {0}，此前为 {2}";
    REMAINED: "{0}, so {1} remained", "{0}，即剩余 {1}";
    FLIGHT_AFTER: "in flight {0} before, {1} at most after", "在途请求此前为 {0}，之后最多 {1}";
    NO_BACKLOG: "{0}, no backlog", "{0}，没有积压";
    BACKLOG_GONE: "{0}, the backlog gone {1} after its end", "{0}，积压在其结束后 {1} 消除";
    BACKLOG_UNKNOWN: "{0}, {1}", "{0}，{1}";
    BURSTS: "bursts: {0}, in flight {1} before the first and {2} at most; the backlog of {3} was gone before the next burst or the window's end",
        "突发：{0} 次，在途请求首次之前为 {1}，最多 {2}；其中 {3} 次的积压在下一次突发或窗口结束之前消除";
    BURSTS_DRAINED: "{0}, {1} after the burst's end at the median, {2} at the longest",
        "{0}，突发结束后中位 {1}、最长 {2}";

    // Soaks.
    SOAK_ENGINE_LEAK: "the engine's memory creeps up and does not level off", "引擎的内存持续上升且没有趋稳";
    SOAK_FRAGMENTATION: "the same load gets slower while the KV cache has less room", "相同负载变慢，同时 KV 缓存的可用空间减少";
    SOAK_SLOWDOWN: "the same load gets slower, and the KV cache does not say why", "相同负载变慢，而 KV 缓存说明不了原因";
    SOAK_TAIL_DRIFT: "the slowest requests get slower, the usual ones don't", "最慢的请求变慢，而一般的请求没有";
    SOAK_CLIENT_LEAK: "the client's own memory creeps up, which is no fault of the engine", "客户端自身的内存持续上升，这不是引擎的问题";
    SOAK_FOUND: "{0} {1}: {2}", "{0} {1}：{2}";
    SOAK_MOVED: "{0} {1} [{2}, {3}] over {4} in {5} batches", "{0} 在 {4}、{5} 批内变化 {1} [{2}, {3}]";
    SOAK_BY: "{0} ({1})", "{0}（{1}）";
    SOAK_QUIET: "nothing crept by more than {0} in {1} windows", "{1} 个窗口内没有指标的漂移超过 {0}";
    SOAK_SEEN: "{0}: {1}", "{0}：{1}";
    SOAK_UNSEEN: "{0}; unknown: {1}", "{0}；未知：{1}";
    SOAK_PAUSED: "cut off after {0} ({1} windows) and gone on with {2} later: windows on either side are not held against each other; {3}",
        "运行 {0}（{1} 个窗口）后中断，{2} 后继续：两侧的窗口不相互比较；{3}";
    SOAK_RAN_ON: "the engine ran on", "引擎一直在运行";
    SOAK_ANEW: "the engine was started anew ({0}), so nothing that creeps is claimed across it",
        "引擎已重新启动（{0}），因此不对跨越中断的漂移下结论";
    SOAK_UNKNOWN_RUN: "whether the engine ran on is unknown ({0}), so nothing that creeps is claimed across it",
        "引擎是否一直在运行未知（{0}），因此不对跨越中断的漂移下结论";
    SOAK_TTFT_P50: "TTFT p50", "TTFT p50";
    SOAK_TTFT_P99: "TTFT p99", "TTFT p99";
    SOAK_TPOT_P50: "TPOT p50", "TPOT p50";
    SOAK_OUTPUT: "output throughput", "输出吞吐";
    SOAK_ENGINE_MEMORY: "engine memory", "引擎内存";
    SOAK_KV_USAGE: "KV cache in use", "KV 缓存占用";
    SOAK_KV_BLOCKS: "usable KV blocks", "可用 KV 块";
    SOAK_PREEMPTIONS: "preemptions", "抢占次数";
    SOAK_CLIENT_MEMORY: "client memory", "客户端内存";
}
