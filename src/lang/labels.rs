//! Words that stand in the templates of reports, which find them by name: `t.beyond`.

use super::Lang;

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    /// What templates call it.
    pub name: &'static str,
    en: &'static str,
    zh: &'static str,
}

impl Label {
    /// In a language.
    pub const fn text(self, lang: Lang) -> &'static str {
        match lang {
            Lang::En => self.en,
            Lang::Zh => self.zh,
        }
    }
}

macro_rules! labels {
    ($($name:ident: $en:literal, $zh:literal;)*) => {
        $(
            #[doc = concat!("The label ", stringify!($name), ".")]
            #[allow(non_upper_case_globals, reason = "templates call them so")]
            pub const $name: Label = Label { name: stringify!($name), en: $en, zh: $zh };
        )*
        /// All of them.
        pub const LABELS: &[Label] = &[$($name),*];
    };
}

labels! {
    // Between words.
    stop: ".", "。";
    colon: ": ", "：";
    semicolon: "; ", "；";
    comma: ", ", "，";
    open: " (", "（";
    close: ")", "）";
    // Sections.
    measured: "Measured", "测量对象";
    beyond: "Beyond their limits", "超出限值";
    undecided: "Undecided", "无法判定";
    why: "Why", "原因";
    goodput: "Why goodput moved", "有效吞吐为何变化";
    goodput_note: "Requests that missed each clause of their SLO; one request can miss several.", "未满足各项 SLO 条款的请求；同一请求可能不满足多项。";
    advice: "What to do", "建议";
    within: "Gated cells within their limits", "在限值内的门禁项";
    observed: "Cells that are not gated", "非门禁指标项";
    outcomes: "How requests ended", "请求的结束方式";
    chart_note: "Grey is the baseline, red the candidate; a line ends where a step's p95 is infinite.", "灰色为基线，红色为候选；某级负载的 p95 为无限大时折线到此为止。";
    engines: "What the engines say", "引擎自身的指标";
    pins: "Pins", "锁定项";
    differing: "differing", "不同";
    others: "others", "其余";
    pins_diff: "What differs in the pins, as a diff", "锁定项差异对照（diff）";
    caveats: "Caveats and method", "注意事项与方法";
    caveat: "Caveat", "注意";
    reproduce: "How to reproduce", "如何复现";
    // Heads of tables.
    cell: "Cell", "指标项";
    baseline: "Baseline", "基线";
    candidate: "Candidate", "候选";
    change: "Change [95 % interval]", "变化 [95 % 区间]";
    limit: "Limit", "限值";
    visible: "Visible from", "可分辨自";
    state: "State", "状态";
    stage: "Stage", "阶段";
    missed: "Missed", "未满足";
    side: "Side", "侧";
    runs: "Runs", "运行";
    scheduled: "Scheduled", "计划";
    sent: "Sent", "已发送";
    completed: "Completed", "已完成";
    not_completed: "Not completed", "未完成";
    good: "Good", "合格";
    step: "Step", "负载级别";
    figure: "Figure", "指标";
    pin: "Pin", "锁定项";
    value: "Value", "值";
    role: "Role", "作用";
    // Of capacity.
    capacity: "Capacity", "容量";
    before: "Before", "变更前";
    after: "After", "变更后";
    follows: "What follows", "结论";
    risks: "Risks", "风险";
    try_next: "What to try next", "后续建议";
    cost: "Cost", "成本";
    cant_say: "What these runs can't say", "这些运行不能说明的";
    load: "Load", "负载";
    output: "Output", "输出";
    goodput_rate: "Goodput", "有效吞吐";
    // Of a terminal.
    short_change: "change [95 %]", "变化 [95 %]";
    missed_slo: "requests that missed their SLO", "未满足 SLO 的请求";
}
