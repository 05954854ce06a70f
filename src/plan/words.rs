//! The words that prompts are made of: common, lowercase, most of them one token.

use std::sync::LazyLock;

/// In alphabetical order. A change here changes the text of every prompt, so it only ever grows a
/// new list under a new plan version.
#[rustfmt::skip]
pub(super) const WORDS: &[&str] = &[
    "able", "above", "across", "action", "active", "actual", "adapt", "added", "adjust",
    "advance", "afford", "after", "again", "agent", "agree", "ahead", "alarm", "album", "alert",
    "align", "allow", "almost", "alone", "along", "alpha", "already", "also", "alter", "always",
    "amount", "ample", "angle", "annual", "answer", "apart", "appeal", "apple", "apply", "april",
    "arch", "area", "argue", "arise", "army", "arrive", "article", "ask", "aspect", "assist",
    "attempt", "author", "autumn", "average", "aware", "away", "axis", "back", "badge", "bake",
    "balance", "ball", "band", "bank", "barrel", "base", "basic", "basket", "batch", "beach",
    "beam", "bear", "beat", "become", "before", "begin", "behind", "believe", "bell", "belong",
    "below", "bench", "benefit", "beside", "best", "better", "beyond", "bicycle", "bird", "black",
    "blend", "block", "blue", "board", "boat", "body", "bold", "bond", "book", "border", "bottle",
    "bottom", "bound", "bowl", "branch", "brave", "bread", "break", "breeze", "brick", "bridge",
    "brief", "bright", "bring", "broad", "brother", "brown", "brush", "build", "bundle", "busy",
    "butter", "button", "cabin", "cable", "call", "calm", "camera", "camp", "canal", "candle",
    "canvas", "capital", "captain", "carbon", "care", "careful", "carry", "case", "cast",
    "castle", "cause", "center", "century", "certain", "chain", "chair", "chalk", "chance",
    "change", "chapter", "charge", "chart", "check", "cheese", "cherry", "chest", "chief",
    "child", "choice", "choose", "circle", "city", "claim", "class", "clean", "clear", "clerk",
    "climb", "clock", "close", "cloth", "cloud", "coach", "coast", "coffee", "cold", "collect",
    "color", "column", "come", "common", "compare", "complete", "concert", "connect", "consider",
    "contain", "content", "control", "cook", "copper", "copy", "coral", "core", "corner",
    "correct", "cost", "cotton", "could", "count", "country", "course", "court", "cover", "craft",
    "create", "credit", "crew", "crop", "cross", "crowd", "crown", "current", "curve", "custom",
    "cycle", "daily", "damp", "dance", "danger", "dark", "data", "dawn", "deal", "decide", "deep",
    "degree", "deliver", "demand", "dense", "depart", "depend", "depth", "desert", "design",
    "desk", "detail", "develop", "device", "differ", "dinner", "direct", "discuss", "distance",
    "divide", "doctor", "dollar", "domain", "door", "double", "doubt", "down", "draft", "draw",
    "dream", "dress", "drift", "drink", "drive", "drop", "during", "duty", "each", "eager",
    "early", "earn", "earth", "east", "easy", "echo", "edge", "editor", "effect", "effort",
    "eight", "either", "elder", "elect", "element", "else", "empty", "enable", "end", "energy",
    "engine", "enjoy", "enough", "enter", "entire", "equal", "escape", "even", "evening", "event",
    "ever", "every", "evidence", "exact", "example", "except", "exist", "expand", "expect",
    "expert", "explain", "explore", "express", "extend", "extra", "fabric", "face", "fact",
    "factor", "fair", "faith", "family", "famous", "farm", "fashion", "father", "favor",
    "feature", "feel", "fence", "field", "figure", "file", "fill", "final", "find", "fine",
    "finger", "finish", "fire", "firm", "first", "fish", "five", "flag", "flame", "flat", "fleet",
    "flight", "float", "floor", "flow", "flower", "focus", "fold", "follow", "food", "foot",
    "force", "forest", "form", "formal", "fortune", "forward", "found", "four", "frame", "free",
    "fresh", "friend", "front", "fruit", "fuel", "full", "future", "gain", "gallery", "garden",
    "gate", "gather", "general", "gentle", "giant", "give", "glad", "glass", "global", "goal",
    "gold", "good", "grain", "grand", "grant", "grass", "great", "green", "ground", "group",
    "grow", "guard", "guess", "guest", "guide", "habit", "half", "hall", "hand", "handle",
    "happen", "happy", "harbor", "hard", "harvest", "have", "head", "health", "hear", "heart",
    "heat", "heavy", "height", "help", "hero", "hidden", "high", "hill", "history", "hold",
    "holiday", "home", "honest", "honor", "hope", "horse", "hotel", "hour", "house", "human",
    "hundred", "hurry", "idea", "image", "impact", "import", "inch", "include", "income",
    "indeed", "index", "industry", "inside", "instant", "intend", "invite", "iron", "island",
    "item", "join", "journey", "judge", "juice", "jump", "just", "keep", "kettle", "key", "kind",
    "king", "kitchen", "knee", "know", "label", "labor", "ladder", "lake", "lamp", "land",
    "language", "large", "last", "late", "laugh", "launch", "layer", "lead", "leaf", "learn",
    "leather", "leave", "left", "legal", "lemon", "length", "lesson", "letter", "level",
    "library", "lift", "light", "limit", "line", "linen", "link", "list", "listen", "little",
    "live", "local", "lock", "long", "look", "loose", "loud", "lucky", "lunch", "machine",
    "magnet", "main", "major", "make", "manner", "many", "maple", "marble", "march", "margin",
    "mark", "market", "master", "match", "matter", "maybe", "meadow", "meal", "mean", "measure",
    "meet", "member", "memory", "mention", "metal", "method", "middle", "might", "mild", "mile",
    "milk", "mind", "minor", "minute", "mirror", "mixed", "mobile", "model", "modern", "moment",
    "monday", "money", "month", "moon", "moral", "more", "morning", "most", "mother", "motion",
    "motor", "mountain", "mouth", "move", "much", "museum", "music", "must", "name", "narrow",
    "nation", "native", "nature", "near", "neat", "need", "nerve", "nest", "network", "never",
    "next", "nice", "night", "nine", "noble", "noise", "normal", "north", "note", "notice",
    "novel", "number", "object", "observe", "ocean", "offer", "office", "often", "olive", "once",
    "only", "open", "option", "orange", "orbit", "order", "origin", "other", "outer", "output",
    "over", "owner", "oxygen", "pack", "page", "paint", "pair", "palace", "panel", "paper",
    "parent", "park", "part", "party", "pass", "past", "patch", "path", "pattern", "pause",
    "peace", "pearl", "pencil", "people", "pepper", "perfect", "period", "permit", "person",
    "phase", "phone", "photo", "piano", "picture", "piece", "pilot", "pine", "pipe", "pitch",
    "place", "plain", "plan", "planet", "plant", "plate", "play", "plenty", "pocket", "poem",
    "point", "polite", "pond", "pool", "popular", "port", "position", "possible", "potato",
    "power", "practice", "prefer", "prepare", "present", "press", "pretty", "price", "print",
    "prize", "problem", "process", "produce", "profit", "program", "project", "promise", "proof",
    "proper", "protect", "proud", "provide", "public", "pull", "pulse", "pupil", "purple",
    "purpose", "push", "quarter", "queen", "question", "quick", "quiet", "quite", "radio", "rail",
    "rain", "raise", "range", "rapid", "rate", "rather", "reach", "react", "ready", "real",
    "reason", "recent", "record", "reduce", "reflect", "region", "regular", "relate", "release",
    "remain", "remember", "remote", "repair", "repeat", "reply", "report", "require", "rescue",
    "respect", "rest", "result", "return", "review", "reward", "ribbon", "rice", "rich", "ride",
    "right", "ring", "ripe", "rise", "river", "road", "rock", "role", "roof", "room", "root",
    "rope", "rough", "round", "route", "royal", "rule", "safe", "sail", "salad", "salt", "same",
    "sample", "sand", "save", "scale", "scene", "school", "science", "score", "screen", "sea",
    "search", "season", "seat", "second", "section", "seed", "select", "send", "sense", "serve",
    "service", "settle", "seven", "shade", "shape", "share", "sharp", "sheet", "shelf", "shell",
    "shift", "shine", "ship", "shirt", "shop", "shore", "short", "should", "show", "side",
    "signal", "silent", "silk", "silver", "similar", "simple", "since", "single", "sister",
    "site", "size", "skill", "sleep", "slope", "small", "smart", "smile", "smooth", "snow",
    "social", "soft", "soil", "solid", "solve", "some", "song", "soon", "sound", "source",
    "south", "space", "spare", "speak", "special", "speed", "spend", "spirit", "split", "spoon",
    "sport", "spread", "spring", "square", "stable", "staff", "stage", "stair", "stamp", "stand",
    "star", "start", "state", "station", "stay", "steam", "steel", "step", "still", "stone",
    "storm", "story", "street", "strong", "student", "study", "style", "subject", "success",
    "sugar", "suggest", "summer", "supply", "support", "sure", "surface", "sweet", "swift",
    "symbol", "system", "table", "take", "talk", "task", "taste", "teach", "team", "temple",
    "term", "test", "text", "thank", "theme", "theory", "there", "thick", "thin", "think",
    "third", "thread", "three", "through", "ticket", "tide", "timber", "time", "title", "today",
    "together", "tone", "tool", "topic", "total", "touch", "toward", "tower", "town", "track",
    "trade", "train", "travel", "tree", "trend", "trial", "tribe", "trip", "true", "trust",
    "truth", "turn", "twelve", "type", "under", "union", "unit", "until", "update", "upper",
    "urban", "usage", "useful", "usual", "valid", "valley", "value", "vary", "vast", "vehicle",
    "very", "view", "village", "visit", "visual", "voice", "volume", "wait", "walk", "wall",
    "want", "warm", "watch", "water", "wave", "weather", "week", "weight", "welcome", "west",
    "wheat", "wheel", "where", "while", "white", "whole", "wide", "willow", "wind", "window",
    "winter", "wise", "wish", "within", "without", "wonder", "wood", "wool", "word", "work",
    "world", "worth", "write", "yard", "year", "yellow", "yield", "young", "zone",
];

/// The list by number of letters: words are drawn in shares that are those of the list in any stretch of
/// a text.
///
/// Tokens of a word depend on its letters above all, and words drawn from the whole list at will scatter
/// by the root of their number: 60 of them by 3.7 tokens where a token has five letters, which a prefix
/// that all requests share would have in all of them. The shares are those of an additive sequence by
/// the golden ratio, which is nowhere further than 4 words off; which word of that length it is,
/// chance decides.
pub(super) struct Spellings(u64);

/// 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

static BY_LETTERS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut words = WORDS.to_vec();
    words.sort_by_key(|word| word.len());
    words
});

impl Spellings {
    /// A sequence that begins there.
    pub(super) const fn from(start: u64) -> Self {
        Self(start)
    }

    /// The next word; `below(n)` chooses from 0..n.
    pub(super) fn word(&mut self, below: impl FnOnce(u64) -> u64) -> &'static str {
        let words = &*BY_LETTERS;
        let place = (u128::from(self.0) * words.len() as u128) >> 64;
        self.0 = self.0.wrapping_add(GOLDEN);
        let letters = words[place as usize].len();
        let first = words.partition_point(|word| word.len() < letters);
        let after = words.partition_point(|word| word.len() <= letters);
        words[first + below((after - first) as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_distinct_and_plain() {
        assert!(WORDS.is_sorted());
        assert!(WORDS.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(WORDS.len() > 512);
        assert!(
            WORDS
                .iter()
                .all(|word| word.bytes().all(|b| b.is_ascii_lowercase()))
        );
    }

    #[test]
    fn a_stretch_has_the_lists_share_of_long_words() {
        let is_long = |word: &str| word.len() > 5;
        let long = WORDS.iter().filter(|word| is_long(word)).count();
        let share = long as f64 / WORDS.len() as f64;
        for start in 0..64 {
            let mut spellings = Spellings::from(start << 58);
            let mut seen = 0;
            for n in 1..2000_u32 {
                seen += u32::from(is_long(spellings.word(|n| n - 1)));
                let off = f64::from(seen) - share * f64::from(n);
                assert!(off.abs() < 4.0, "{off} of {n} from {start}");
            }
        }
    }

    #[test]
    fn every_word_comes_up() {
        let mut spellings = Spellings::from(0);
        let mut next = 0;
        let drawn: std::collections::BTreeSet<&str> = (0..200_000)
            .map(|_| {
                spellings.word(|n| {
                    next += 1;
                    next % n
                })
            })
            .collect();
        assert_eq!(drawn.len(), WORDS.len());
    }
}
