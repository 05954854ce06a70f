//! Sentences on the runs behind a report: where they come from, how they went, what they took.

use super::{Phrase, phrases};

phrases! {
    // Method.
    RUNS_ARE: "Runs: {0}", "运行方式：{0}";
    TESTED: "Tested: {0} of {1} gated cells, {2} of {3} others", "已检验：{1} 个门禁项中的 {0} 个，{3} 个其他项中的 {2} 个";
    TESTED_REST: "Tested: {0} of {1} gated cells, {2} of {3} others; the rest could not be, and their states say why",
        "已检验：{1} 个门禁项中的 {0} 个，{3} 个其他项中的 {2} 个；其余无法检验，原因见其状态";
    PROOF_ZERO: "Regressed means worse than the baseline beyond doubt (5 % over all gated cells and looks) with the best estimate over the tolerance; ok means that a change as large as the tolerance is ruled out at 95 %",
        "“回退”指确定比基线差（所有门禁项与各次检视合计 5 %）且最佳估计超出容差；“正常”指在 95 % 置信度下排除了容差大小的变化";
    PROOF_TOLERANCE: "Regressed means worse than the tolerance itself beyond doubt (5 % over all gated cells and looks); ok means that a change as large as the tolerance is ruled out at 95 %",
        "“回退”指确定差于容差本身（所有门禁项与各次检视合计 5 %）；“正常”指在 95 % 置信度下排除了容差大小的变化";
    CHANGE_IS: "Change is candidate divided by baseline, minus one; for shares it is the difference in percentage points. Brackets hold its unadjusted 95 % interval; states follow from tests that are adjusted for the looks and for the number of gated cells",
        "变化为候选除以基线再减一；对占比则为百分点（pp）之差。方括号内是未经校正的 95 % 区间；状态由按检视次数和门禁项数量校正的检验得出";
    PERCENTILES_ARE: "Percentiles interpolate between order statistics (type 7); in gated ones every failed request counts as infinitely slow. n is the number of values over all runs of the side",
        "百分位在次序统计量之间插值（第 7 型）；在门禁百分位中，每个失败的请求都按无限慢计。n 是该侧所有运行的取值个数";
    NOISE: "Noise: the repeats scatter {0} times as much as the prior says (median over the gated cells)",
        "噪声：重复测量的离散程度是先验的 {0} 倍（各门禁项的中位数）";
    BASE: "Base: {0}", "基准来源：{0}";
    FROM_SCHEDULE: "Latencies count from the scheduled instant, so waiting for a slow server is inside them: {0}",
        "延迟从计划时刻算起，因此包含等待慢速服务器的时间：{0}";
    DEFINITIONS: "Definitions: {0}; spec digest {1}; measured by infergate {2}", "指标定义：{0}；规格摘要 {1}；由 infergate {2} 测量";
    BASELINE_RUNS_ARE: "Baseline runs: {0}", "基线运行：{0}";
    CANDIDATE_RUNS_ARE: "Candidate runs: {0}", "候选运行：{0}";
    ANSWERS_DIFFER: "{0}: {1} of {2} pairs of answers differ", "{0}：{2} 对回答中有 {1} 对不同";
    ANSWERS_DIFFER_UNTIL: "{0}: {1} of {2} pairs of answers differ; half of those are alike for at least {3} characters from the start on",
        "{0}：{2} 对回答中有 {1} 对不同；其中一半从开头起至少有 {3} 个字符相同";

    // Where a stored baseline is from.
    BASE_COMMIT: "the baseline is that of commit {0}: {1}", "基线取自提交 {0}：{1}";
    BASE_TREE: "the baseline is that of the working tree: {0}", "基线取自工作区：{0}";
    GATE_DIFFERS: "the candidate's spec has another `gate:` or `under_test:`, which takes effect when it has landed; judged by the base's",
        "候选的规格中 `gate:` 或 `under_test:` 不同，合入后才生效；此处按基准的规格判定";
    NEAREST_BASE_ITSELF: "its newest sessions were measured at {0} itself, the base", "最新的会话就测于基准 {0} 本身";
    NEAREST_TREE_ITSELF: "its newest sessions were measured at {0} itself, what is checked out", "最新的会话就测于当前检出的 {0}";
    NEAREST_BASE: "its newest sessions were measured {0} {0?commit:commits} before the base, at {1}",
        "最新的会话测于基准之前 {0} 个提交，即 {1}";
    NEAREST_TREE: "its newest sessions were measured {0} {0?commit:commits} before what is checked out, at {1}",
        "最新的会话测于当前检出之前 {0} 个提交，即 {1}";
    UNSTAMPED: "{0} {0?session names:sessions name} no commit and {0?counts:count} by the tree that {0?it lies:they lie} in",
        "{0} 个会话没有记录提交，按其所在的目录树计入";
    REWRITTEN: "{0} {0?session is of a commit that is:sessions are of commits that are} not in the base's past (squashed or rebased) and {0?counts:count} by the tree that {0?it lies:they lie} in",
        "{0} 个会话所属的提交不在基准的历史中（被压缩或变基），按其所在的目录树计入";
    ELSEWHERE: "{0} {0?session of a commit that is:sessions of commits that are} not in the base's past {0?is:are} left out",
        "{0} 个会话所属的提交不在基准的历史中，未计入";

    // Where runs are from.
    SOURCE: "Source: {0}", "来源：{0}";
    BASELINE_SOURCE: "Baseline's source: {0}", "基线来源：{0}";
    CANDIDATE_SOURCE: "Candidate's source: {0}", "候选来源：{0}";
    DIRTY: "{0} with local changes", "{0}（含本地改动）";
    TRIAL_MERGE: "a trial merge of {0}", "{0} 的试合并";
    BRANCH: "branch {0}", "分支 {0}";
    PULL_REQUEST: "pull request {0}", "拉取请求 {0}";
    EVENT: "event {0}", "事件 {0}";

    // What they took.
    USED: "Used: {0} of measuring", "用时：测量 {0}";
    USED_HOURS: "{0}, {1} GPU hours", "{0}，{1} GPU 小时";
    USED_MONEY: "{0}, {1} ({2})", "{0}，{1}（{2}）";
    NO_COST: "{0}; no cost, for {1}", "{0}；没有费用，因为 {1}";
    NO_COST_HOW: "{0}: a run has a cost where its spec has both `cost` and `pins: {hardware: {count: 1}}`",
        "{0}：规格中同时有 `cost` 和 `pins: {hardware: {count: 1}}` 时，运行才有费用";
    GPU_HOURS: "{0} {0?GPU:GPUs} × {1} h", "{0} 个 GPU × {1} 小时";
    NETWORK: "Network: a connection takes {0}, a round trip {1}; both are in the latencies",
        "网络：建立连接需 {0}，一次往返需 {1}；两者都包含在延迟之中";
    NETWORK_SIDES: "Network: a round trip takes {0} to the baseline and {1} to the candidate (median of the runs); it is in every latency",
        "网络：到基线一次往返需 {0}，到候选需 {1}（各次运行的中位数）；每个延迟都包含它";

    // Caveats that runs tell.
    SATURATED: "{0} of {1} is {2} in {3} of {4} runs: latencies there depend on the length of the stage",
        "{1}的 {0} 在 {4} 次运行中有 {3} 次{2}：此处的延迟取决于阶段的时长";
    LOST_TARGET: "{0} run {1} lost its target: {2}", "{0}的第 {1} 次运行丢失了被测目标：{2}";
    INVALID_STAGE: "{0} of {1} run {2} is invalid: {3}", "{1}第 {2} 次运行的 {0} 无效：{3}";
    ENGINE_CAVEAT: "{0} of {1} run {2}: {3}", "{1}第 {2} 次运行的 {0}：{3}";
    ENGINE_CAVEAT_TWO: "{0} of {1} run {2}, and alike of another one: {3}", "{1}第 {2} 次运行的 {0}，另有一次类似：{3}";
    ENGINE_CAVEAT_MORE: "{0} of {1} run {2}, and alike of {4} others: {3}", "{1}第 {2} 次运行的 {0}，另有 {4} 次类似：{3}";
    LATE: "requests left late: p99 {0}, allowed {1}; give the client more cores or keep other work off its machine",
        "请求发送过晚：p99 为 {0}，允许 {1}；请给客户端更多核心，或不要在其机器上运行其他任务";
    SENT_SHORT: "only {0} of the offered requests were sent though the in-flight cap was not reached, 99 % are needed; lower the rate or use a faster client machine",
        "在途上限未达到，却只发送了计划请求的 {0}，需要 99 %；请降低速率或使用更快的客户端机器";
    CLIENT_CPU: "the client used {0} of its CPU, 90 % is allowed; give it more cores or lower the rate",
        "客户端使用了其 CPU 的 {0}，允许 90 %；请给它更多核心或降低速率";
    TOKENS_OFF: "tokens are off the plan by {0} (input) and {1} (output), {2} is allowed; check that the model and tokenizer are the pinned ones and that the engine honours {3}",
        "token 数偏离计划 {0}（输入）和 {1}（输出），允许 {2}；请确认模型和分词器与锁定项一致，且引擎支持 {3}";
    NO_REQUESTS: "the window held not one request; lengthen the stage or raise its rate", "窗口内没有任何请求；请延长阶段或提高速率";
    INTERRUPTED: "the run was interrupted before the window ended; run it again", "运行在窗口结束前被中断；请重新运行";
    EVENT_FAILED: "the event {0} did not happen: {1}; the stage is not what the spec asks for",
        "事件 {0} 没有发生：{1}；该阶段不符合规格的要求";
    SHARD: "shard {0}: {1}", "分片 {0}：{1}";

    // What client and engine both counted.
    UNCHECKED: "the client's counts could not be held against the engine's: {0}", "客户端的计数无法与引擎的计数对照：{0}";
    COUNTS_APART: "{0}: {1} by the client and {2} by the engine's own count; somebody else uses the engine, or one of them counts otherwise",
        "{0}：客户端计 {1}，引擎自身计 {2}；可能有其他人在使用该引擎，或其中一方计数方式不同";
    COUNTS_INEXACT: "{0}: {1} by the client and {2} by the engine's own count; they need not be equal, for {3}",
        "{0}：客户端计 {1}，引擎自身计 {2}；二者不必相等，因为 {3}";
    COUNTS_SHARED: "requests: {0} by the client and {1} by the engine's own count; somebody else uses the engine, so neither tokens nor times can be held against its own",
        "请求：客户端计 {0}，引擎自身计 {1}；有其他人在使用该引擎，因此 token 数和时间都无法与之对照";
    FASTER_THAN_CLIENT: "mean {0} is {1} by the client and {2} by the engine's clock, which can't be longer: one of them measures something else",
        "{0} 均值：客户端计 {1}，引擎时钟计 {2}，后者不可能更长：其中一方测的是别的量";
    OUTPUT_TOKENS: "output tokens", "输出 token";
    INPUT_TOKENS: "input tokens", "输入 token";
    REQUESTS: "requests", "请求";

    // Figures of engines and GPUs.
    QUEUE: "queue", "排队";
    PREFILL: "prefill", "prefill";
    DECODE: "decode", "decode";
    RUNNING: "running", "运行中的请求";
    WAITING: "waiting", "等待中的请求";
    WAITING_MAX: "waiting at most", "等待中的请求（最大）";
    KV_CACHE: "KV cache", "KV 缓存占用";
    KV_CACHE_MAX: "KV cache at most", "KV 缓存占用（最高）";
    PREEMPTIONS: "preemptions", "抢占次数";
    PREFIX_HITS: "prefix hits", "前缀缓存命中";
    DRAFTS_TAKEN: "drafted tokens taken", "被采纳的草稿 token";
    GPU_POWER: "GPU {0} power", "GPU {0} 功耗";
    GPU_CLOCK: "GPU {0} SM clock", "GPU {0} SM 时钟";
    GPU_TEMPERATURE: "GPU {0} temperature at most", "GPU {0} 最高温度";
    GPU_HELD_BACK: "GPU {0} held back by {1}", "GPU {0} 受限于{1}";
    BY_POWER_CAP: "the power limit", "功耗上限";
    BY_SOFTWARE_THERMAL: "temperature (software)", "温度（软件）";
    BY_HARDWARE_THERMAL: "temperature (hardware)", "温度（硬件）";
    BY_POWER_BRAKE: "the power brake", "功耗制动";
    BY_HARDWARE: "the hardware", "硬件";
    BY_SYNC_BOOST: "another GPU of its group", "同组的另一个 GPU";
    BY_CLOCKS_SETTING: "a clock setting", "时钟设置";
}
