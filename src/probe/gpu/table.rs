//! What `nvidia-smi` prints as CSV without a header: rows of the fields that were asked for.

/// The rows of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Table {
    rows: Vec<Row>,
}

/// One line: a GPU, or a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    values: Vec<(&'static str, String)>,
}

impl Table {
    /// Reads an answer to these fields. Commas inside a value are kept in the last one.
    pub(super) fn parse(fields: &[&'static str], text: &str) -> Self {
        let rows = text.lines().filter_map(|line| Row::parse(fields, line));
        Self {
            rows: rows.collect(),
        }
    }

    /// The rows in order.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }
}

impl Row {
    /// Reads one line; `None` where it has another number of values: a remark, or a broken line.
    pub(super) fn parse(fields: &[&'static str], line: &str) -> Option<Self> {
        let values: Vec<&str> = line.splitn(fields.len(), ',').map(str::trim).collect();
        let complete = values.len() == fields.len() && !line.trim().is_empty();
        let values = fields.iter().zip(values);
        complete.then(|| Self {
            values: values
                .map(|(field, value)| (*field, value.to_owned()))
                .collect(),
        })
    }

    /// A value; `None` where the driver does not say: `[N/A]`, `[Not Supported]`, `[Unknown Error]`.
    pub(super) fn text(&self, field: &str) -> Option<&str> {
        let (_, value) = self.values.iter().find(|(name, _)| *name == field)?;
        let silent = value.is_empty() || value.starts_with('[') || value == "N/A";
        (!silent).then_some(value)
    }

    /// A number, with or without its unit: `700.00`, `700.00 W`.
    pub(super) fn number(&self, field: &str) -> Option<f64> {
        let number = self.text(field)?.split_ascii_whitespace().next()?;
        number.parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// Bytes of a value in MiB.
    pub(super) fn mebibytes(&self, field: &str) -> Option<u64> {
        let value = self.number(field).filter(|value| *value >= 0.0)?;
        Some((value * f64::from(1 << 20)) as u64)
    }

    /// A whole number.
    pub(super) fn index(&self, field: &str) -> Option<u32> {
        self.text(field)?.parse().ok()
    }

    /// A mask of bits: `0x0000000000000004`.
    pub(super) fn mask(&self, field: &str) -> Option<u64> {
        u64::from_str_radix(self.text(field)?.strip_prefix("0x")?, 16).ok()
    }
}

/// The field that an answer complains of: `Field "x" is not a valid field to query.`
pub(super) fn refused(said: &str) -> Option<&str> {
    let (before, _) = said.split_once("\" is not a valid field")?;
    Some(before.rsplit_once('"')?.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_driver_does_not_say_is_absent() {
        let fields = ["index", "power.draw", "utilization.gpu", "mask", "name"];
        let text = "0, 78.28, [N/A], 0x0000000000000044, A, with a comma\n\
                    1, [Unknown Error], [Not Supported], [N/A], N/A\n\
                    a remark\n\n";
        let table = Table::parse(&fields, text);
        let [one, other] = table.rows() else {
            panic!("{table:?}")
        };
        assert_eq!(one.index("index"), Some(0));
        assert_eq!(one.number("power.draw"), Some(78.28));
        assert_eq!(one.number("utilization.gpu"), None);
        assert_eq!(one.mask("mask"), Some(0x44));
        assert_eq!(one.text("name"), Some("A, with a comma"));
        assert_eq!(other.number("power.draw"), None);
        assert_eq!((other.text("name"), other.mask("mask")), (None, None));
        assert_eq!(other.text("unasked"), None);
    }

    #[test]
    fn units_are_read_over() {
        let row = Row::parse(&["memory.total", "power.limit"], "143771 MiB, 700.00 W").unwrap();
        assert_eq!(row.mebibytes("memory.total"), Some(143_771 << 20));
        assert_eq!(row.number("power.limit"), Some(700.0));
    }

    #[test]
    fn a_complaint_names_its_field() {
        let said = "Field \"mig.mode.current\" is not a valid field to query.\n";
        assert_eq!(refused(said), Some("mig.mode.current"));
        assert_eq!(refused("No devices were found"), None);
    }

    proptest! {
        #[test]
        fn any_answer_is_survived(text in "\\PC{0,200}(\n\\PC{0,80}){0,3}") {
            let fields = ["index", "name", "power.draw"];
            for row in Table::parse(&fields, &text).rows() {
                let _ = (row.index("index"), row.mebibytes("name"), row.mask("power.draw"));
            }
            let _ = refused(&text);
        }
    }
}
