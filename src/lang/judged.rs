//! Sentences of comparisons and verdicts: caveats, advice, reasons. Files keep them.

use super::{Phrase, phrases};

phrases! {
    // Caveats.
    REPEATS_LEFT_OUT: "{0} of {1} repeats left out: a gated cell has no valid value there",
        "{1} 次重复中剔除了 {0} 次：其中有门禁项没有有效值";
    ASSUMED_NOISE: "assumed noise: no archived session says how much runs scatter on this machine",
        "噪声为假定值：没有存档会话能说明本机各次运行的离散程度";
    NOISIER_THAN_ASSUMED: "this session is noisier than assumed: only its own scatter counts",
        "本次会话的噪声高于假定值：只按其自身的离散程度计算";
    NOISIER_THAN_ARCHIVE: "this session is noisier than the archive: archive prior dropped",
        "本次会话的噪声高于存档：不再采用存档给出的先验";
    OTHER_WORK: "`{0}` did other work on the candidate: {1}",
        "`{0}` 在候选侧所做的工作不同：{1}";
    LEVEL_CHANGED: "the baseline of `{0}` has changed its level: of its {1} sessions only the newest {2} count",
        "`{0}` 的基线水平已发生变化：其 {1} 个会话中只计最新的 {2} 个";
    NEEDLESS_ACCEPT: "`{0}` keeps its own limit: `{1}`, which accepts it as worse, can go",
        "`{0}` 已满足自身限值：将其作为变差而接受的 `{1}` 可以删除";
    DRIFT_BY_GATE: "drift from a pinned release is judged by `gate` against stored sessions alone",
        "相对固定版本的漂移只由 `gate` 对照存储的会话来判定";
    NOT_PINNED: "no release is pinned here, so its drift is not judged: `infergate baseline pin SESSION --as LABEL`",
        "此处没有固定任何版本，因此不判定漂移：`infergate baseline pin SESSION --as LABEL`";
    OTHER_RELEASE_WORKLOAD: "the pinned release ran another workload, so its drift is not judged",
        "固定版本运行的是另一种负载，因此不判定漂移";
    UNKNOWN_PINS: "unknown on both sides, so they may differ (declare under `pins` what you know): {0}",
        "两侧均未知，因此可能不同（请在 `pins` 下声明已知的值）：{0}";
    CONFOUNDED: "confounded: {0} changed at once, so no change can be traced to one of them",
        "因素混杂：{0} 同时改变，无法把变化归因于其中任何一个";
    INTERRUPTED_BASELINE: "{0} interrupted run(s) of the baseline left out",
        "剔除了基线的 {0} 次被中断的运行";
    INTERRUPTED_CANDIDATE: "{0} interrupted run(s) of the candidate left out",
        "剔除了候选的 {0} 次被中断的运行";
    ON_BOTH_SIDES: "{0} run(s) on both sides left out",
        "剔除了同时出现在两侧的 {0} 次运行";
    CACHE_APART: "in stage `{0}` the prefix cache found {1} of the prompt tokens on the baseline's side and {2} on the candidate's, so they did not compute the same",
        "在阶段 `{0}` 中，前缀缓存在基线侧命中 {1} 的提示 token，在候选侧命中 {2}，两侧的计算量因此不同";
    DEFINITIONS_DIFFER: "metrics are defined differently: `{0}` against `{1}`",
        "两侧的指标定义不同：`{0}` 与 `{1}`";
    WORKLOADS_DIFFER: "the workloads differ ({0} against {1}): measure both sides with one spec",
        "两侧的负载不同（{0} 与 {1}）：请用同一份规格测量两侧";
    CACHES_DIFFER: "the cache regimes differ ({0} against {1}): measure both sides with one `cache`",
        "两侧的缓存方式不同（{0} 与 {1}）：请用同一个 `cache` 设置测量两侧";
    TRACES_DIFFER: "the traces differ ({0} against {1}): measure both sides with one seed",
        "两侧的请求轨迹不同（{0} 与 {1}）：请用同一个随机种子测量两侧";
    ENGINE_JUDGED: "the spec names two layers, of which the engine is judged here and the front was not measured: `infergate run SPEC --repeats 3` measures both in turn and says what lies between them",
        "规格中有两层，这里判定的是引擎，前端没有测量：`infergate run SPEC --repeats 3` 会依次测量两层并说明二者之间的差距";
    FRONT_JUDGED: "the spec names two layers, of which the front is judged here and the engine was not measured: `infergate run SPEC --repeats 3` measures both in turn and says what lies between them",
        "规格中有两层，这里判定的是前端，引擎没有测量：`infergate run SPEC --repeats 3` 会依次测量两层并说明二者之间的差距";
    SETTINGS_DIFFER: "the workloads differ in `{0}` ({1} against {2}): measure both sides alike",
        "两侧负载的 `{0}` 不同（{1} 与 {2}）：请以相同方式测量两侧";
    DOUBT_OF_BASELINE: "baseline, {0} of `{1}`: {2}: {3}",
        "基线，{0} 的 `{1}`：{2}：{3}";
    DOUBT_OF_CANDIDATE: "candidate, {0} of `{1}`: {2}: {3}",
        "候选，{0} 的 `{1}`：{2}：{3}";
    VERSIONS_OF_TOOL: "the files are of {0} {1}: what it measures may have changed between them",
        "这些文件来自 {0} {1}：它所测量的内容在这些版本之间可能已发生变化";
    KNOWN_OF_ONE_SIDE: "known of one side's workload alone, so it may differ: {0}",
        "只知道一侧负载的这些设置，因此两侧可能不同：{0}";

    // Advice.
    MEASURE_ALIKE: "measure both sides alike, or list the pins that may differ under `under_test`",
        "请以相同方式测量两侧，或把允许不同的锁定项列入 `under_test`";
    TAKE_TURNS: "let both sides take turns on one machine",
        "请让两侧在同一台机器上交替运行";
    MORE_SESSIONS: "measure and promote more sessions of the baseline, or let it run beside the candidate with `infergate ab`",
        "请测量并晋升更多基线会话，或用 `infergate ab` 让基线与候选一起运行";
    NEXT_LOOK: "the next look needs {0} repeats in all",
        "下一次检视共需要 {0} 次重复";
    RAISE_REPEATS: "raise `repeats.max` or the tolerance, or quieten the machine, to decide the open cells",
        "若要判定悬而未决的指标项，请提高 `repeats.max` 或容差，或降低机器上的干扰";
    LENGTHEN_WARMUP: "lengthen `warmup` of stage `{0}`, or lower its load if it never settles",
        "请延长阶段 `{0}` 的 `warmup`；若始终无法稳定，请降低其负载";
    LOWER_RATE: "lower the rate: under overload latency depends on the stage's length alone",
        "请降低请求速率：过载时延迟只取决于阶段的时长";
    CHECK_WORK: "check that the candidate did the same work before believing the improvement",
        "在相信这一改进之前，请确认候选做了同样的工作";
    FIX_UNMEASURED: "fix what the unmeasured cells name, then measure again",
        "请先修复未测得的指标项所指出的问题，然后重新测量";
    NEEDS_VALUES: "`{0}` rests on {1} values a run and needs {2}: lengthen the stage or gate a lower percentile",
        "`{0}` 每次运行只有 {1} 个值，而需要 {2} 个：请延长该阶段，或改用较低的百分位作为门禁";
    TOO_FINE: "the tolerance of `{0}` is not resolvable on this machine: the smallest that is, is {1} {2}",
        "`{0}` 的容差在本机上无法分辨：可分辨的最小容差为 {1} {2}";

    // What a design lacks.
    NO_TURNS: "the runs of both sides did not take turns, and the baseline has fewer than {0} stored sessions",
        "两侧的运行没有交替进行，且基线存储的会话少于 {0} 个";
    FEW_SESSIONS: "the baseline has {0} of the {1} sessions that a verdict needs",
        "判定需要 {1} 个基线会话，目前只有 {0} 个";
    FEW_SESSIONS_SINCE: "the baseline has {0} of the {1} sessions that a verdict needs since its level changed",
        "判定需要 {1} 个基线会话，自其水平变化以来只有 {0} 个";
    FEW_FOR_FIRM: "the baseline has {0} of the {1} sessions that a firm verdict needs",
        "确定的判定需要 {1} 个基线会话，目前只有 {0} 个";
    FEW_FOR_FIRM_SINCE: "the baseline has {0} of the {1} sessions that a firm verdict needs since its level changed",
        "确定的判定需要 {1} 个基线会话，自其水平变化以来只有 {0} 个";
    OLD_SESSION: "the newest session of the baseline is {0} days old",
        "基线最新的会话已是 {0} 天前";
    SAME_RUN: "both sides are the same run",
        "两侧是同一次运行";

    // What a trade asks.
    TRADE: "up to {0} % if `{1}` is better by {2} %", "若 `{1}` 改善 {2} %，则至多变差 {0} %";

    // Why a cell has no value.
    NO_BASELINE: "there is no baseline",
        "没有基线";
    BASELINE_LOST: "the baseline's target was lost",
        "基线的被测目标已丢失";
    DEFINED_DIFFERENTLY: "`{0}` is defined differently: `{1}`: {2}; `{3}`: {4}",
        "`{0}` 的定义不同：`{1}`：{2}；`{3}`：{4}";
    OTHER_LIMITS: "`{0}` counts requests by other limits on either side: {1} and {2}; give both the same, as in `infergate import --slo`",
        "`{0}` 两侧按不同的限值计数请求：{1} 与 {2}；请让两侧相同，例如 `infergate import --slo`";
    NO_COMPLETE_RUN: "no run is complete",
        "没有一次运行是完整的";

    // What soaks found.
    SOAK_ON_BOTH: "the soak `{0}` finds `{1}` on both sides",
        "长稳阶段 `{0}` 在两侧均发现 `{1}`";
    SOAK_ON_CANDIDATE: "the candidate's soak `{0}` finds `{1}`, and the baseline's does not: that is no pass, whatever the cells say; `infergate report RUN` shows the evidence",
        "候选的长稳阶段 `{0}` 发现 `{1}`，而基线没有：无论指标项如何，这都不算通过；`infergate report RUN` 会给出证据";

    // What a policy decides.
    POLICY: "{0} in the spec decides",
        "由规格中的 {0} 决定";
}
