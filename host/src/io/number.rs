//! Formats numbers as text that reads back to the last bit.

/// The shortest decimal number that reads back as `value`.
pub fn shortest(value: f64) -> String {
    if value != 0.0 && !(1e-5..1e16).contains(&value.abs()) { format!("{value:e}") } else { value.to_string() }
}

/// `values` in [`shortest`] form, separated by spaces.
pub fn joined(values: impl IntoIterator<Item = f64>) -> String {
    values.into_iter().map(shortest).collect::<Vec<_>>().join(" ")
}
