//! JSON Schemas of the values that files hold as text.
//!
//! The shapes of files derive their schemas from the types that read and write them; what is
//! written as text says here of which form the text is.

/// Gives a type that is written as text its JSON Schema: a string of this pattern.
macro_rules! text {
    ($type:ident, $pattern:literal) => {
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "pattern": $pattern})
            }
        }
    };
}
pub(crate) use text;
