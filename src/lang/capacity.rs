//! Sentences of capacity: what a server carries, what a peak needs, what that costs, and what changed.

use super::{Phrase, phrases};

phrases! {
    // Figures.
    CAP_BETWEEN: "{0} [{1}, {2}]", "{0} [{1}, {2}]";
    CAP_SET: "{0} [{1}]", "{0} [{1}]";
    CAP_USERS: "{0} {0?user:users}", "{0} 个用户";
    CAP_UNKNOWN: "unknown", "未知";
    CAP_NO_SWEEP: "no sweep", "没有负载扫描";

    // The headline.
    CAP_OF: "Capacity of {0}: {1}", "{0} 的容量：{1}";
    CAP_NONE_OF: "No capacity of {0}: {1}", "{0} 没有容量数值：{1}";
    CAP_CARRIES: "one replica carries {0} at {1} within the SLO", "单副本在 SLO 内可承载 {0}，{1}";
    CAP_CARRIES_CHANGED: "one replica carries {0}", "单副本承载的请求 {0}";
    CAP_SAME_REPLICAS: "as many replicas", "副本数不变";
    CAP_MORE_REPLICAS: "{0} more for the peak", "峰值需增加 {0} 个副本";
    CAP_FEWER_REPLICAS: "{0} fewer for the peak", "峰值可减少 {0} 个副本";
    CAP_THOUSAND_MORE: "{0} more for a thousand good requests", "每千个合格请求多花 {0}";
    CAP_THOUSAND_LESS: "{0} less for a thousand good requests", "每千个合格请求少花 {0}";
    CAP_NOTHING_COMMON: "the sides have no figure in common", "两侧没有共同的数值";
    CAP_NO_DIFFERENCE: "no difference beyond noise", "没有超出噪声的差异";

    // The line near a verdict.
    CAP_LEAD: "Capacity: {0}", "容量：{0}";
    CAP_LEAD_MORE: "at {0} this change needs {1} more {1?replica:replicas} ({2} → {3})",
        "在 {0} 时，此变更需要多 {1} 个副本（{2} → {3}）";
    CAP_LEAD_FEWER: "at {0} this change needs {1} fewer {1?replica:replicas} ({2} → {3})",
        "在 {0} 时，此变更可少用 {1} 个副本（{2} → {3}）";
    CAP_LEAD_SAME: "at {0} as many replicas are needed ({1})", "在 {0} 时所需副本数不变（{1}）";
    CAP_LEAD_RPS: "one replica carries {0} within the SLO, {1} before: {2}",
        "单副本在 SLO 内承载 {0}，此前为 {1}：{2}";
    CAP_LEAD_BEST: "at its best it brings {0}, {1} before: {2}", "最佳时达到 {0}，此前为 {1}：{2}";
    CAP_LEAD_MORE_COST: "1,000 good requests cost {0} more: {1}", "每 1,000 个合格请求多花 {0}：{1}";
    CAP_LEAD_LESS_COST: "1,000 good requests cost {0} less: {1}", "每 1,000 个合格请求少花 {0}：{1}";
    CAP_LEAD_ONE: "one replica carries {0} within the SLO", "单副本在 SLO 内承载 {0}";
    CAP_LEAD_REPLICAS: "{0} {0?replica:replicas} for {1}", "{1} 需要 {0} 个副本";

    // Rows of a difference.
    CAP_ROW_WITHIN: "load within the SLO", "SLO 内的负载";
    CAP_ROW_RPS: "requests of one replica", "单副本的请求";
    CAP_ROW_KNEE: "knee", "拐点";
    CAP_ROW_ALERT: "alert from", "告警阈值";
    CAP_ROW_BEST: "best over the loads of both", "两侧共有负载中的最佳值";
    CAP_ROW_REPLICAS: "replicas for the peak", "峰值所需副本数";
    CAP_ROW_KV: "requests in the KV cache", "KV 缓存可容纳的请求";
    CAP_ROW_GOOD: "1,000 good requests", "1,000 个合格请求";
    CAP_LESS_BEYOND: "less, beyond noise", "减少，超出噪声";
    CAP_MORE_BEYOND: "more, beyond noise", "增加，超出噪声";
    CAP_IN_NOISE: "{0}: no difference beyond noise", "{0}：没有超出噪声的差异";
    CAP_WHY_NONE: "{0}: {1}", "{0}：{1}";
    CAP_OF_BASELINE: "{0} of the baseline", "基线的{0}";
    CAP_OF_CANDIDATE: "{0} of the candidate", "候选的{0}";
    CAP_OTHER_CURRENCIES: "prices are in {0} and {1}, which are not held against each other",
        "价格分别以 {0} 和 {1} 计，不作比较";
    CAP_INCOMPARABLE: "the sides are not comparable, so their capacities stand beside each other and no change is told",
        "两侧不可比，因此只并列两侧的容量，不说明变化";

    // What the figures hold for.
    CAP_WORKLOAD: "workload: {0} input and {1} output tokens a request; window {2} a step",
        "负载：每个请求 {0} 个输入 token、{1} 个输出 token；每级窗口 {2}";
    CAP_NO_SLO: "SLO: none", "SLO：无";
    CAP_SLO_OF: "SLO of {0}: {1}", "{0} 的 SLO：{1}";
    CAP_SLO_CLAUSE: "{0} ≤ {1}", "{0} ≤ {1}";
    CAP_RUNS: "{0} {0?run:runs} of {1} {1?replica:replicas}", "{1} 个副本，{0} 次运行";
    CAP_BOTH_RUNS: "{0} and {1} runs of {2} {2?replica:replicas}", "{2} 个副本，两侧各 {0} 次和 {1} 次运行";
    CAP_LONGEST_GAP: "longest gap", "最长间隔";

    // What follows.
    CAP_SWEEP: "{0}: {1}", "{0}：{1}";
    CAP_NO_WITHIN: "no load within the SLO: {0}", "没有 SLO 内的负载：{0}";
    CAP_WITHIN: "largest load within the SLO {0}, {1}, {2} of requests good (at least {3} wanted)",
        "SLO 内的最大负载为 {0}，{1}，合格请求占 {2}（要求不低于 {3}）";
    CAP_WITHIN_LEAST: "largest load within the SLO at least {0}, {1}, {2} of requests good (at least {3} wanted)",
        "SLO 内的最大负载至少为 {0}，{1}，合格请求占 {2}（要求不低于 {3}）";
    CAP_MAY_BE: "{0}; may be {1}", "{0}；可能是 {1}";
    CAP_SUSTAINED: "{0}; sustained, for it was measured in an open loop", "{0}；可持续，因为是在开环中测得";
    CAP_VERIFIED: "{0}; sustained, by the open loop of {1} at {2} with {3} good",
        "{0}；可持续，由开环阶段 {1} 以 {2} 验证，合格 {3}";
    CAP_REFUTED: "{0}; not sustained: the open loop of {1} at {2} with {3} good",
        "{0}；不可持续：开环阶段 {1} 以 {2} 运行，合格 {3}";
    CAP_NOT_TRIED: "{0}; not called sustainable, for no open loop was run at that rate",
        "{0}；未称为可持续，因为没有以该速率运行开环阶段";
    CAP_NO_KNEE: "no knee: {0}", "没有拐点：{0}";
    CAP_KNEE: "knee at {0}, the smallest load with {1}; may be {2}; alert from {3} ({4} of it)",
        "拐点在 {0}，即达到{1}的最小负载；可能是 {2}；告警阈值为 {3}（其 {4}）";
    CAP_BY_GOODPUT: "97 % of the best goodput", "最佳有效吞吐 97 % ";
    CAP_BY_THROUGHPUT: "95 % of the largest throughput", "最大吞吐 95 % ";
    CAP_GROWTH: "step of growth: one replica more carries {0}, {1} of input and {2} of output",
        "扩容步长：每增加一个副本可多承载 {0}，输入 {1}，输出 {2}";
    CAP_NO_REPLICAS: "no number of replicas: {0}", "没有副本数：{0}";
    CAP_REPLICAS: "replicas for {0} ({1} in and out): {2}, of {3} by users and {4} by output tokens the larger",
        "承载 {0}（输入与输出合计 {1}）所需副本：{2}，取按用户的 {3} 与按输出 token 的 {4} 中较大者";
    CAP_REPLICAS_RANGE: "{0}; from {1} to {2} by the intervals of what one carries",
        "{0}；按单副本承载量的区间为 {1} 到 {2}";
    CAP_LOSS: "when one is lost, {0} carry {1}: the peak is {2} of that, so it is carried",
        "失去一个副本时，其余 {0} 个可承载 {1}：峰值为其 {2}，因此可以承载";
    CAP_LOSS_NOT: "when one is lost, {0} carry {1}: the peak is {2} of that, so it is NOT carried",
        "失去一个副本时，其余 {0} 个可承载 {1}：峰值为其 {2}，因此无法承载";
    CAP_LOSS_ALL: "when one is lost, {0} carry {1}: nothing is left for the peak",
        "失去一个副本时，其余 {0} 个可承载 {1}：没有余力应对峰值";
    CAP_NO_KV: "no bound by the KV cache: {0}", "没有 KV 缓存给出的上限：{0}";
    CAP_KV: "the KV cache holds {0} requests of {1} tokens ({2})", "KV 缓存可容纳 {0} 个 {1} token 的请求（{2}）";
    CAP_KV_ENGINE: "the engine's {0} blocks of {1} tokens", "引擎的 {0} 个块，每块 {1} token";
    CAP_KV_MODEL: "the model in {0} a GPU, {1} a request", "模型在每个 GPU 上有 {0}，每个请求 {1}";
    CAP_KV_WINDOWS: "the model in {0} a GPU, {1} a request, if the engine frees what a window leaves behind",
        "模型在每个 GPU 上有 {0}，每个请求 {1}（前提是引擎释放滑动窗口之外的部分）";
    CAP_KV_LONGEST: "{0}, and {1} of the longest with {2}", "{0}，最长的 {2} token 请求可容纳 {1} 个";
    CAP_KV_BINDS: "{0}: fewer than the users within the SLO, so that is the capacity",
        "{0}：少于 SLO 内的用户数，因此它就是容量";
    CAP_KV_AMPLE: "{0}: no less than the users within the SLO", "{0}：不少于 SLO 内的用户数";

    // Costs.
    CAP_NO_COST: "no cost: {0}", "没有成本：{0}";
    CAP_PER_TOKEN: "{0} × {1} an hour at {2}: a million output tokens {3} (each as if it bore all of it), a million of both {4}",
        "{0} × {1} 每小时，在 {2} 时：百万输出 token {3}（按其承担全部成本计），两者合计每百万 {4}";
    CAP_PER_TOKEN_INPUT: "{0} × {1} an hour at {2}: a million output tokens {3}, a million input tokens {4} (each as if it bore all of it), a million of both {5}",
        "{0} × {1} 每小时，在 {2} 时：百万输出 token {3}，百万输入 token {4}（各按其承担全部成本计），两者合计每百万 {5}";
    CAP_GOOD: "a good request: {0}, a thousand: {1}", "一个合格请求：{0}，一千个：{1}";
    CAP_FLEET: "{0} {0?replica:replicas} day and night: {1} a day, {2} in {3} days",
        "{0} 个副本昼夜运行：每天 {1}，{3} 天 {2}";
    CAP_FLEET_REQUEST: "{0}; a request of the declared traffic {1}", "{0}；按声明的流量每个请求 {1}";
    CAP_SHARE: "of the tokens {0} has {1}", "{0} 占 token 的 {1}";
    CAP_SHARE_TENANT: "of the tokens tenant {0} has {1}", "租户 {0} 占 token 的 {1}";
    CAP_SHARE_TENANTS: "of the tokens {0} more {0?tenant:tenants} have {1}", "另外 {0} 个租户占 token 的 {1}";
    CAP_SHARE_NO_TENANT: "of the tokens requests without a tenant have {0}", "没有租户的请求占 token 的 {0}";
    CAP_SHARE_DAY: "{0}, {1} a day", "{0}，每天 {1}";
    CAP_LEFT_OUT: "GPUs alone: network, storage, gateway and people are left out",
        "仅含 GPU：不含网络、存储、网关和人力";

    // Risks.
    CAP_BOTTLENECK: "bottleneck: at {0} requests miss {1} first, {2} meet it", "瓶颈：负载为 {0}，请求最先不满足 {1}，{2} 满足";
    CAP_CAUSED: "{0}: {1}", "{0}：{1}";
    CAP_CAUSE_KV: "the KV cache is full and requests are computed again", "KV 缓存已满，请求被重新计算";
    CAP_CAUSE_QUEUE: "they wait in the engine's queue", "它们在引擎队列中等待";
    CAP_CAUSE_PREFILL: "prefill or the queue before it", "prefill 或其之前的排队";
    CAP_CAUSE_DECODE: "decode shares its steps among too many", "decode 的每一步由过多请求分摊";
    CAP_MOST_SEQUENCES: "KV cache: {0} is {1}, and {2} requests of this workload fit",
        "KV 缓存：{0} 为 {1}，而此负载只容得下 {2} 个请求";
    CAP_NO_PREEMPTION: "{0}; no preemption was seen", "{0}；没有看到抢占";
    CAP_PREEMPTIONS: "{0}; {1} preemptions were seen", "{0}；看到 {1} 次抢占";
    CAP_PREEMPTIONS_UNASKED: "{0}; the engine was not asked for preemptions", "{0}；没有向引擎查询抢占次数";
    CAP_LONG_REQUESTS: "long requests: of the longest only {0} fit at once, of {1} users",
        "长请求：最长的请求同时只容得下 {0} 个，而用户有 {1} 个";
    CAP_FAILURE: "failure: the peak is not carried when one replica is lost", "故障：失去一个副本时无法承载峰值";
    CAP_BURSTS: "bursts: over {0} requests only wait longer", "突发：负载超过 {0}，请求只会等待更久";

    // What to try next.
    CAP_ADD_SWEEP: "add a sweep, such as {0}", "请添加负载扫描，例如 {0}";
    CAP_ADD_SLO: "say what a good answer is: {0} in each class", "请说明什么是合格的回答：在每个类别中写 {0}";
    CAP_EXTEND: "extend it beyond {0}", "请扩展到 {0} 以上";
    CAP_REFINE: "measure between its steps at the knee: {0}", "请在拐点附近的各级之间加测：{0}";
    CAP_WARM: "measure again after a longer warm-up", "请在更长的预热之后重新测量";
    CAP_VERIFY: "verify it by an open loop: {0}", "请用开环验证：{0}";
    CAP_LOWER_SEQUENCES: "lower {0} to what fits, or give the cache more memory or fewer bits",
        "请把 {0} 降到容得下的数量，或给缓存更多内存、更少的位数";

    // Steps.
    CAP_SIDE: "{0}, {1}", "{0}，{1}";
    CAP_BEFORE: "before", "变更前";
    CAP_AFTER: "after", "变更后";
    CAP_UNSATURATED: "unsaturated", "未饱和";
    CAP_FLAT: "flat", "已饱和";
    CAP_OVERLOADED: "overloaded", "过载";
    CAP_THROUGHPUT: "{0}, throughput {1}", "{0}，吞吐 {1}";
    CAP_TTFT_CHANGED: "{0}, TTFT {1}", "{0}，TTFT {1}";
    CAP_FAILED: "{0}, {1} failed", "{0}，{1} 失败";
    CAP_BACKLOG: "{0}, backlog grows by {1} of what comes", "{0}，积压按到达量的 {1} 增长";
    CAP_COLD: "cold: measure again after a longer warm-up", "冷启动：请在更长的预热之后重新测量";
    CAP_COLD_TTFT: "{0}, TTFT {1} at first, {2} later", "{0}，TTFT 起初 {1}，之后 {2}";
    CAP_CLIENT_FAULT: "invalid by the client's fault", "因客户端的问题而无效";

    // Charts.
    CAP_CHART: "TTFT p95 over the load of {0}: red", "{0} 各级负载下的 TTFT p95：红色";
    CAP_CHART_BOTH: "TTFT p95 over the load of {0}: grey before, red after",
        "{0} 各级负载下的 TTFT p95：灰色为变更前，红色为变更后";
    CAP_CHART_SLO: "{0}, the SLO green", "{0}，绿色为 SLO";
    CAP_CHART_KNEE: "{0}, a bar at the knee", "{0}，柱为拐点";

    // Why there is no figure.
    CAP_WHY_NO_SWEEP: "no sweep with two valid steps was run", "没有运行至少两级有效的负载扫描";
    CAP_WHY_NO_SLO: "no class has an SLO, so nobody says what a good answer is", "没有类别声明 SLO，因此不知道什么是合格的回答";
    CAP_WHY_NEVER: "at the smallest load, {0}, only {1} of requests were good", "在最小负载 {0} 时，只有 {1} 的请求合格";
    CAP_WHY_NOT_REACHED: "the last step, to {0}, still raised it by {1}, so it lies beyond the sweep",
        "最后一级（到 {0}）仍使其提高 {1}，因此它在扫描范围之外";
    CAP_WHY_NOTHING_GOOD: "no request was completed and good", "没有请求完成且合格";
    CAP_WHY_NO_PEAK: "the spec declares no peak; add {0}", "规格没有声明峰值；请添加 {0}";
    CAP_WHY_NO_PRICE: "the spec has no price; add {0}", "规格没有价格；请添加 {0}";
    CAP_WHY_NO_GPUS: "nobody knows how many GPUs there are; add {0}", "不知道有多少个 GPU；请添加 {0}";
    CAP_WHY_NO_KV: "the engine reports no blocks; `infergate capacity` counts by the model's configuration with {0}",
        "引擎没有报告块数；`infergate capacity` 加上 {0} 可按模型配置计算";
    CAP_WHY_NO_LOAD: "there is no load within the SLO to count by", "没有 SLO 内的负载可作依据";
    CAP_WHY_NO_TOKENS: "no tokens were counted", "没有统计到 token";

    // What the runs can't say.
    CAP_CANT_CAPACITY: "how much more load the server would carry: there is no sweep", "服务器还能多承载多少负载：没有负载扫描";
    CAP_CANT_SLO: "what users would call good: there is no SLO", "用户认为什么是合格：没有 SLO";
    CAP_CANT_LIMIT: "where the limit is: the largest load was still far below it, and throughput grew to the end",
        "极限在哪里：最大负载仍远低于极限，吞吐一直在增长";
    CAP_CANT_ARRIVALS: "whether users who don't wait for each other fare as well: no open loop bore the closed one out",
        "互不等待的用户是否同样顺利：没有开环阶段验证闭环的结果";
    CAP_CANT_WAVES: "what requests of unlike lengths see: all answers of the closed loop are pinned to one length, so its users go on in step, in waves of prompts and of tokens",
        "长短不一的请求会怎样：闭环中所有回答都固定为同一长度，用户因此步调一致，提示与 token 成波到来";
    CAP_CANT_HOURS: "what happens over hours: no stage was long enough for leaks, fragmentation and drift",
        "数小时内会发生什么：没有足够长的阶段来发现泄漏、碎片和漂移";
    CAP_CANT_TENANTS: "whether one tenant takes the place of others: requests had no tenants", "一个租户是否挤占其他租户：请求没有租户";
    CAP_CANT_FIRST_TOKEN: "how long users wait for a first token: answers came whole, so this is throughput alone",
        "用户等待首个 token 多久：回答是整体返回的，因此这里只有吞吐";
    CAP_CANT_SCATTER: "how much runs differ: with fewer than three, 3 % between runs are assumed", "各次运行相差多少：少于三次运行，按运行间 3 % 假定";
    CAP_CANT_BALANCING: "how a balancer deals out requests: one replica was measured", "负载均衡器如何分配请求：只测量了一个副本";

    // How to read it.
    CAP_METHOD_INTERVALS: "intervals are of 95 %, by the scatter of runs and the assumed 3 %; one replica is one server behind the target",
        "区间为 95 %，依据各次运行的离散程度和假定的 3 %；一个副本是目标背后的一台服务器";
    CAP_METHOD_REPLICAS: "replicas by users: peak × time in service / users × redundancy; by tokens: peak × output tokens / (output tok/s) × elasticity × failure; both rounded up",
        "按用户的副本数：峰值 × 服务时间 / 用户数 × 冗余；按 token：峰值 × 输出 token / (输出 tok/s) × 弹性 × 故障；均向上取整";
    CAP_METHOD_SETS: "a load is called another only where no load may be that of both sides, and what follows from it only then",
        "只有在没有任何负载可能同属两侧时，才称负载不同，由此得出的数值也只在此时才称不同";
    PART_CAPACITY: "capacity", "容量";
}
