//! What `explain` says of one cell.

use super::{Phrase, phrases};

phrases! {
    CELL_STATE: "{0}: {1}", "{0}：{1}";
    CELL_STATE_UNGATED: "{0}: {1}, not gated", "{0}：{1}，非门禁项";
    STORED_SESSIONS: "stored sessions, oldest first", "存储的会话，从旧到新";
    LEFT_OUT_HERE: "left out: another gated cell has no valid value here", "未计入：另一门禁项在此没有有效值";
    TOLERANCE: "tolerance: {0}", "容差：{0}";
    TAIL: "percentile: a run has {0} values, of which {1} are expected beyond it; 10 are needed to gate",
        "百分位：一次运行有 {0} 个值，预计其中 {1} 个在该百分位之外；作为门禁需要 10 个";
    SCATTER_ASSUMED: "noise: one run scatters by {0} (standard deviation), which is worth {1} degrees of freedom; assumed, for no archived session holds the cell",
        "噪声：单次运行的离散程度为 {0}（标准差），相当于 {1} 个自由度；为假定值，因为没有存档会话包含该指标项";
    SCATTER_LEARNT: "noise: one run scatters by {0} (standard deviation), which is worth {1} degrees of freedom; learnt from {2} runs of {3} sessions",
        "噪声：单次运行的离散程度为 {0}（标准差），相当于 {1} 个自由度；由 {3} 个会话的 {2} 次运行得出";
    LOOKS: "looks: regressed where p over all {0} cells and looks is at most 0.05 and the estimate is over the tolerance; ok where p of over it is at most its share",
        "检视：所有 {0} 个指标项与检视合计的 p 不超过 0.05 且估计超出容差时为“回退”；超出容差的 p 不超过其份额时为“正常”";
    AHEAD: "if further repeats went on like these", "若后续重复与此类似";
    REPEAT: "repeat", "重复";
    REPEATS: "repeats", "重复次数";
    CHANGE: "change", "变化";
    ESTIMATE: "estimate", "估计";
    P_NOT_WORSE: "p not worse", "未变差的 p";
    P_OVER_ALL: "over all", "合计";
    P_OVER: "p of over it", "超出容差的 p";
    P_SHARE: "share", "份额";
    DECIDED: "decided", "判定";
    RESOLVE: "resolve", "可分辨";
    WOULD_BE: "would be", "将判定为";
    OVER: "{0} over", "{0} 超出";
    UNDECIDED_YET: "open", "未定";
    NOISIER: "{0} (noisier than the archive)", "{0}（噪声高于存档）";
}
