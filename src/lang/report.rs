//! The sentences of a comparison's report.

use super::{Phrase, phrases};

phrases! {
    // Between the parts of a list, and of a sentence.
    LIST: ", ", "、";
    COMMAS: ", ", "，";
    CLAUSES: "; ", "；";
    SENTENCES: "{0}. {1}", "{0}。{1}";
    AND_MORE: "{0} and {1} more", "{0} 等，另有 {1} 个";

    // The headline.
    IN_SPEC: "{0} in {1}: {2}", "{0}（{1}）：{2}";
    SAME_SIDES: "both sides are the same run, so nothing was judged", "两侧是同一次运行，因此未作判定";
    SIDES_INCOMPARABLE: "the sides are not comparable, so none of the {0} gated cells was judged",
        "两侧不可比，因此 {0} 个门禁项均未判定";
    NO_BASELINE_SO: "there is no baseline, so {0}", "没有基线，因此{0}";
    NO_RELEASE: "{0}; none could be held against a release, as the gate asks",
        "{0}；门禁要求对照固定版本，但没有一项能够对照";
    IN_SPECS: "{0} in {1} of {2} specs: {3}", "{0}（{2} 份规格中的 {1} 份）：{3}";
    SPECS_PASS: "{0} of {1} specs pass", "{1} 份规格中 {0} 份通过";
    NO_REPORT: "Undecided: there is no report", "无法判定：没有报告";
    NOTHING_JUDGED: "nothing was judged", "未作任何判定";
    NOTHING_COUNTED: "no gated cell could be counted", "没有可计数的门禁项";
    ALL_GATED: "all {0} gated cells", "全部 {0} 个门禁项";
    OF_GATED: "{0} of {1} gated {1?cell:cells}", "{1} 个门禁项中 {0} 个";
    SOME: "{0}", "{0} 个";
    BEYOND: "{0} {1?is beyond its limit:are beyond their limits}", "{0}超出限值";
    UNMEASURED: "{0} {1?was:were} not measured", "{0}未测得";
    NOT_JUDGED: "{0} {1?was:were} not judged", "{0}未判定";
    OPEN: "{0} {1?is:are} undecided", "{0}无法判定";
    EXCUSED: "{0} {1?is:are} worse and accepted for now", "{0}变差但暂时接受";
    WITHIN: "{0} {1?is within its limit:are within their limits}", "{0}在限值内";
    BETTER: "{0} ({1} better)", "{0}（其中 {1} 个更优）";

    // Below it.
    UNIFORM_PAIRS: "All {0} latencies and rates moved alike, by {1} to {2} of their time: a machine, clock or power limit does that, one code path seldom (both sides took turns, so look for what differs between them: another GPU, clock or host)",
        "全部 {0} 个延迟和速率指标变化一致，耗时变化 {1} 至 {2}：这通常来自机器、时钟或功耗限制，很少来自单一代码路径（两侧交替运行，因此请查找二者之间的差异：不同的 GPU、时钟或主机）";
    UNIFORM_STORED: "All {0} latencies and rates moved alike, by {1} to {2} of their time: a machine, clock or power limit does that, one code path seldom (the baseline was measured at another time: let both sides take turns with {3})",
        "全部 {0} 个延迟和速率指标变化一致，耗时变化 {1} 至 {2}：这通常来自机器、时钟或功耗限制，很少来自单一代码路径（基线是在其他时间测量的：请用 {3} 让两侧交替运行）";
    ACCEPTED_UNTIL: "{0} is accepted until {1}, see {2}", "{0} 在 {1} 之前被接受，见 {2}";
    ACCEPTED_ONCE: "{0} was accepted until {1}, see {2}: that has expired and excuses nothing",
        "{0} 曾被接受至 {1}，见 {2}：已过期，不再有效";
    EXIT_BY_POLICY: "Exit {0} by the spec's policy: {1}", "按规格的策略以 {0} 退出：{1}";
    NOT_COUNTED: "Not counted, for want of samples or history: {0}", "因样本或历史不足未计入：{0}";
    UNTRUSTED_CANDIDATE: "Figures come from a job that is not trusted, whose code could have written any; the baseline, the limits and this verdict are of this repository",
        "数据来自不受信任的作业，其代码可能写入任意数值；基线、限值和本判定属于本仓库";
    UNTRUSTED: "Figures come from a job that is not trusted, whose code could have written any; the limits and this verdict are of this repository",
        "数据来自不受信任的作业，其代码可能写入任意数值；限值和本判定属于本仓库";
    GOT_WORSE: "The baseline itself got worse before this candidate came: {0} between {1} and {2}; the candidate is held against the {3} {3?session:sessions} since then, and none of that is charged to it",
        "在此候选之前，基线自身已变差：{0}，发生在 {1} 与 {2} 之间；候选只与此后的 {3} 个会话比较，上述变化不计在候选上";
    GOT_BETTER: "The baseline itself got better before this candidate came: {0} between {1} and {2}; the candidate is held against the {3} {3?session:sessions} since then, and none of that is charged to it",
        "在此候选之前，基线自身已变好：{0}，发生在 {1} 与 {2} 之间；候选只与此后的 {3} 个会话比较，上述变化不计在候选上";
    COMMIT: "commit {0}", "提交 {0}";
    SESSION: "session {0}", "会话 {0}";

    // One finding.
    CHANGED: "{0} {1} {2}", "{1} {0} {2}";
    UNCHANGED: "unchanged {0}", "无变化 {0}";
    IN_ATTAINMENT: "{0} in attainment", "（SLO 达成率）{0}";
    OF_ATTAINMENT: "{0} attainment", "SLO 达成率{0}";
    IS: "{0} is {1}", "{0} {1}";
    IS_VALUE: "{0} is {1}", "{0} 为 {1}";
    IS_STATE: "{0} is {1}", "{0}：{1}";
    IS_MISSING: "{0} is missing", "缺少 {0}";
    NOT_MEASURED: "{0} could not be measured", "{0} 未能测得";
    NOT_COMPARED: "{0} was not compared", "{0} 未作比较";
    FELL: "{0} fell to zero", "{0} 降为零";
    INFINITE: "{0} is ∞: too many requests failed for it to have a value", "{0} 为 ∞：失败的请求过多，得不到数值";
    WITH_LIMIT: "{0}, limit: {1}", "{0}，限值：{1}";
    N_VALUES: "{0} (n {1})", "{0} (n {1})";
    WITH: "{0} with {1}", "{0}（{1}）";
    PAIRS: "{0} {0?pair:pairs}", "{0} 对";
    CANDIDATE_RUNS: "{0} candidate {0?run:runs}", "{0} 次候选运行";
    RUNS: "{0} {0?run:runs}", "{0} 次运行";
    ALL_OF_THEM: "All of them", "以上全部";
    MORE_CELLS: "… and {0} more, which do not fit here", "……另有 {0} 项，此处放不下";
    SHARE: "{0} ({1} of {2})", "{0}（{1} / {2}）";

    MORE_WITHIN: "… and {0} more within their limits", "……另有 {0} 项在限值内";
    VISIBLE_FROM: "{0} (visible from {1})", "{0}（可分辨自 {1}）";

    // Why a cell has its state.
    WORTH_A_LOOK: "worth a look: worse than chance explains (one such call in ten is false)",
        "值得一看：变差超出偶然（这类提示每十个约有一个是误报）";
    WORSE_BY_ESTIMATE: "worse than its limit by estimate, not yet beyond doubt", "按估计已超出限值，但尚不能确定";
    TOO_GOOD: "too good to be believed unseen: look at what ran", "好得令人难以置信：请检查实际运行的内容";
    CANNOT_TELL: "within its limit or beyond it: these repeats cannot tell", "在限值内还是超出限值：这些重复次数无法分辨";
    LIMIT_TOO_FINE: "the limit is finer than these repeats can resolve on this machine",
        "该限值比这些重复次数在本机上所能分辨的更细";
    STOPPED_AT_FIRST: "sampling stopped at the first regression", "出现首个回退后即停止采样";
    NOT_IN_BASELINE: "not in the baseline", "基线中没有";
    BREAKS_LIMIT: "breaks its limit beyond doubt", "确定超出限值";
    BEYOND_TOLERANCE: "worse than the baseline beyond doubt, and by more than your tolerance at 95 %",
        "确定比基线差，且在 95 % 置信度下超出容差";
    BEYOND_ZERO: "worse than the baseline beyond doubt, and the best estimate is over your tolerance",
        "确定比基线差，且最佳估计超出容差";
    CANDIDATE_FAILED: "the candidate's requests failed or were shed, the baseline's were not",
        "候选的请求失败或被丢弃，而基线没有";
    BOTH_FAILED: "too many requests failed on both sides", "两侧失败的请求都过多";
    INHERITED: "inherited: the baseline breaks this limit as well", "沿袭问题：基线同样超出该限值";
    CLIENT_FAULT: "the client was at fault: {0}", "问题出在客户端：{0}";
    NO_VALUE: "no value: {0}", "没有数值：{0}";
    FEW_VALUES: "{0} values a run, {1} are needed for this percentile", "每次运行 {0} 个值，该百分位需要 {1} 个";
    ZERO_ON_CANDIDATE: "zero on every candidate run and not on the baseline", "每次候选运行均为零，而基线不是";
    WORK_CHANGED: "the sides did different work: tokens or completions differ", "两侧的工作量不同：token 数或完成数不同";
    BELOW_ROUND_TRIP: "shorter than a round trip to the target, so something before it answered",
        "短于到被测目标的往返时间，说明在它之前已有其他组件作答";
    ON_THIS_RUN: "judged on this run alone, without a baseline", "没有基线，仅凭本次运行判定";
    ADVISORY: "advisory only: {0}", "仅供参考：{0}";
    TRADED: "traded, {0}: it is, by {1}", "已按约定置换（{0}）：成立，改善 {1}";
    TRADE_NOT_SHOWN: "the trade does not hold, {0}: that is not beyond doubt, estimate {1}",
        "置换不成立（{0}）：改善尚不能确定，估计为 {1}";
    TRADE_UNKNOWN: "the trade does not hold, {0}: nothing can be said of that cell",
        "置换不成立（{0}）：对该指标项无法作出结论";
    INFORMATIONAL: "informational by the spec", "规格声明为仅供参考";
    CANDIDATE_OVERLOADED: "overloaded: the candidate completes only {0} of what it is sent and its backlog grows, the baseline keeps up; it lost capacity",
        "过载：候选只完成了所收请求的 {0}，积压不断增长，而基线跟得上；候选的容量下降了";
    BASELINE_OVERLOADED: "overloaded: the baseline does not keep up with this load, the candidate does, so there is no change to measure; lower the rate",
        "过载：基线跟不上该负载而候选跟得上，因此没有可测量的变化；请降低请求速率";
    BOTH_OVERLOADED: "both sides overloaded: lower the rate", "两侧均过载：请降低请求速率";
    ACCEPTED_UP_TO: "accepted up to {0} and the tolerance beyond, until {1}, see {2}",
        "在 {1} 之前接受至 {0} 外加容差，见 {2}";
    BEYOND_ACCEPTED: "{0} accepts {1} and the tolerance beyond, and it is not shown to be within that",
        "{0} 接受至 {1} 外加容差，但未能证明在此范围内";
    ACCEPT_EXPIRED: "the accept {0} expired on {1}: promote sessions of the new level, fix it, or accept it anew",
        "接受文件 {0} 已于 {1} 过期：请晋升新水平的会话、修复问题，或重新接受";
    NOT_SETTLED: "not settled: the first {0} of {1} requests are still warm-up", "尚未稳定：{1} 个请求中的前 {0} 个仍属预热";

    // Tables and their titles.
    NOT_JUDGED_TITLE: "Not judged, for there is no baseline", "没有基线，未判定";
    NOT_COMPARED_TITLE: "Not compared", "未作比较";
    NOT_MEASURED_TITLE: "Not measured", "未测得";
    NEITHER_TITLE: "Not measured or not compared", "未测得或未作比较";
    OBSERVED_BEYOND: "{0} beyond {0?its limit:their limits}", "{0} 个超出限值";
    FAILED_REQUESTS: "failed requests", "失败的请求";
    NOT_GOOD: "not good, in all", "不合格合计";
    BLOCKS: "blocks the comparison", "阻止比较";
    UNDER_TEST_ROLE: "under test", "被测";
    CAVEAT_ROLE: "caveat", "需留意";
    OVER_STEPS: "{0} p95 over the steps of {1}", "{1} 各级负载下的 {0} p95";
    AT_RATE: "{0} at {1}", "{0}（{1} 时）";
    SLO_LINE: "The amber line is the SLO, {0}", "琥珀色线为 SLO：{0}";
    SLO_ABOVE: "The SLO is far above the chart: {0}", "SLO 远高于图表范围：{0}";
    AXIS_STEPS: "step of the sweep", "负载级别";

    // What was compared.
    MODEL: "model {0}", "模型 {0}";
    WEIGHTS: "weights {0}", "权重 {0}";
    ENGINE: "engine {0}", "引擎 {0}";
    ON: "on {0}", "硬件 {0}";
    NOTHING_DIFFERS: "Nothing under test differs: this is an A/A comparison, and a change is noise or the machine's",
        "被测项没有差异：这是 A/A 比较，任何变化都来自噪声或机器";
    CONFOUNDED_PINS: "Confounded: {0} pins under test differ, so no change can be laid to one of them: {1}",
        "因素混杂：{0} 个被测锁定项不同，无法把变化归因于其中一个：{1}";
    UNDER_TEST: "Under test: {0}", "被测：{0}";
    NOT_COMPARABLE: "Not comparable: {0} is {1} in the baseline, {2} in the candidate, and not under test",
        "不可比：{0} 在基线中为 {1}，在候选中为 {2}，且不在被测项之列";
    DIFFERS_AS_WELL: "Differs as well, a caveat: {0}", "另有差异，需留意：{0}";
    INTERLEAVED: "{0} interleaved {0?pair:pairs} of runs in one session, looked at after {1} pairs",
        "一个会话中的 {0} 对交替运行，在第 {1} 对之后检视";
    INTERLEAVED_STOPPING: "{0} interleaved {0?pair:pairs} of runs in one session, looked at after {1} pairs, stopping once all is decided",
        "一个会话中的 {0} 对交替运行，在第 {1} 对之后检视，全部可判定即停止";
    STORED: "{0} candidate {0?run:runs} against {1} stored {1?session:sessions}, looked at after {2} candidate runs",
        "{0} 次候选运行对照 {1} 个存储的会话，在第 {2} 次候选运行之后检视";
    ONE_RUN: "one run on both sides, so there is no change to see", "两侧是同一次运行，因此看不出变化";
    NO_BASE: "{0} candidate {0?run:runs}, no baseline", "{0} 次候选运行，没有基线";
    UNPAIRED: "{0} baseline {0?run:runs} and {1} candidate {1?run:runs}, neither interleaved nor stored sessions: drift of the machine cannot be told from a change",
        "{0} 次基线运行和 {1} 次候选运行，既非交替也非存储的会话：无法区分机器漂移与真实变化";

    // What was left out.
    LEFT_OUT: "Left out to fit: {0}; all of it is in the job's {1} and {2}",
        "为适应长度而省略：{0}；完整内容见作业的 {1} 和 {2}";
    ROWS_ABOVE: "rows of the tables above", "上方表格中的部分行";
    DOES_NOT_FIT: "the report does not fit here, see report.md of the job", "此处放不下报告，见作业的 report.md";
    TEMPLATE_FAILED: "The template {0} failed, so this is the report in its usual form: {1}", "模板 {0} 渲染失败，因此这里是常规形式的报告：{1}";
    TEMPLATE_UNFIT: "What the template {0} makes takes {1} of the {2} UTF-16 units that fit here, so this is the report in its usual form",
        "模板 {0} 的输出需要 {1} 个 UTF-16 单元，而此处只容纳 {2} 个，因此这里是常规形式的报告";
    EVERYTHING: "everything", "全部";
    PART_EQUAL_PINS: "equal pins", "相同的锁定项";
    PART_ENGINES: "what the engines say", "引擎自身的指标";
    PART_SWEEPS: "latency over the steps of sweeps", "各级负载下的延迟";
    PART_OBSERVED: "cells that are not gated", "非门禁指标项";
    PART_OUTCOMES: "how requests ended", "请求的结束方式";
    PART_METHOD: "method", "方法";
    PART_WITHIN: "gated cells within their limits", "在限值内的门禁项";
    PART_PINS: "differing pins", "不同的锁定项";
    PART_DIFF: "the diff of the pins", "锁定项的差异对照";
    PART_GOODPUT: "why goodput moved", "有效吞吐变化的原因";
    PART_WHY: "why figures moved", "数值变化的原因";
    PART_CAVEATS: "caveats", "注意事项";
    PART_ADVICE: "what to do", "建议";
    PART_REPORTS: "the reports of each spec", "各规格的报告";
}
