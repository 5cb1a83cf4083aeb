//! Parsers of numbers, whose errors say which numbers are expected.

use std::ops::RangeBounds;

/// Returns a parser of the whole numbers in `range`.
pub fn whole<T>(range: impl RangeBounds<u64> + Clone + Send + Sync) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: TryFrom<u64>,
{
    use std::ops::Bound::Included;
    let expected = match (range.start_bound(), range.end_bound()) {
        (Included(least), Included(most)) => format!("it must be a whole number from {least} to {most}"),
        (Included(least), _) => format!("it must be a whole number, {least} or more"),
        _ => "it must be a whole number, 0 or more".to_owned(),
    };
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.and_then(|number| number.try_into().ok()).ok_or_else(|| expected.clone())
    }
}

/// Parses a number.
pub fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "it must be a number, such as 0.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_is_said() {
        let bins = whole::<u32>(2..=1024);
        assert_eq!(bins("64"), Ok(64));
        for text in ["abc", "", "1", "-1", "1025", "6.5"] {
            assert_eq!(bins(text).unwrap_err(), "it must be a whole number from 2 to 1024");
        }
        assert_eq!(whole::<u32>(1..)("4294967296").unwrap_err(), "it must be a whole number, 1 or more");
        assert_eq!(whole::<u64>(..)("0"), Ok(0));
        assert_eq!(whole::<u64>(..)("x").unwrap_err(), "it must be a whole number, 0 or more");
        assert!(number("x").is_err() && number("-0.5") == Ok(-0.5));
    }
}
