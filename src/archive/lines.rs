//! JSON with a line for each part that a person looks for, and no more: a run file's pins and stages.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

/// Levels whose parts have lines of their own: the run's fields, its pins and stages, a stage's fields.
const LEVELS: usize = 3;

/// A value as JSON whose first levels are indented and whose inner ones stand on one line.
pub(super) fn in_lines<T: Serialize>(value: &T) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    let lines = Lines {
        pretty: PrettyFormatter::new(),
        depth: 0,
    };
    value.serialize(&mut Serializer::with_formatter(&mut bytes, lines))?;
    bytes.push(b'\n');
    // The serialiser writes UTF-8 alone.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

struct Lines<'a> {
    pretty: PrettyFormatter<'a>,
    depth: usize,
}

impl Lines<'_> {
    const fn is_inner(&self) -> bool {
        self.depth > LEVELS
    }
}

macro_rules! either {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => {$(
        fn $method<W: ?Sized + Write>(&mut self, to: &mut W $(, $argument: $type)*) -> io::Result<()> {
            if self.is_inner() {
                CompactFormatter.$method(to $(, $argument)*)
            } else {
                self.pretty.$method(to $(, $argument)*)
            }
        }
    )*};
}

impl Formatter for Lines<'_> {
    fn begin_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        if self.is_inner() {
            CompactFormatter.begin_array(to)
        } else {
            self.pretty.begin_array(to)
        }
    }

    fn end_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        let inner = self.is_inner();
        self.depth -= 1;
        if inner {
            CompactFormatter.end_array(to)
        } else {
            self.pretty.end_array(to)
        }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        if self.is_inner() {
            CompactFormatter.begin_object(to)
        } else {
            self.pretty.begin_object(to)
        }
    }

    fn end_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        let inner = self.is_inner();
        self.depth -= 1;
        if inner {
            CompactFormatter.end_object(to)
        } else {
            self.pretty.end_object(to)
        }
    }

    either! {
        begin_array_value(first: bool);
        end_array_value();
        begin_object_key(first: bool);
        begin_object_value();
        end_object_value();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn outer_levels_have_lines_and_inner_ones_none() {
        let value = json!({"a": 1, "b": {"c": [{"d": [1, {"e": []}], "f": {}}], "g": {}}, "h": []});
        let text = in_lines(&value).unwrap();
        let expected = "\
{
  \"a\": 1,
  \"b\": {
    \"c\": [
      {\"d\":[1,{\"e\":[]}],\"f\":{}}
    ],
    \"g\": {}
  },
  \"h\": []
}
";
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
