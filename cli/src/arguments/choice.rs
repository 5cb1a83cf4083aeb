//! Parsers of arguments that name one of the library's choices.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use mireg::metric::Metric;
use strum::{EnumMessage, VariantArray};

use crate::report::Kind;
use crate::report::outputs::{self, Output};

/// Parses the names of the variants of `T`. The help lists them with their documentation.
pub fn choice<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantArray + EnumMessage + Into<&'static str> + Copy + Send + Sync,
{
    let named = |&choice: &T| (choice.into(), choice.get_documentation().map(str::to_owned), choice);
    among(T::VARIANTS.iter().map(named).collect())
}

/// Parses the name of a metric, and returns the metric with its defaults.
pub fn metric() -> impl TypedValueParser<Value = Metric> {
    among(Metric::all().into_iter().map(|metric| (metric.key(), Some(metric.summary().to_owned()), metric)).collect())
}

/// Parses the names of the results of a kind of run. The help lists them with their files.
pub fn outputs<K: Kind>() -> impl TypedValueParser<Value = Output> {
    among(outputs::choices::<K>().into_iter().map(|(output, files)| (output.into(), Some(files), output)).collect())
}

/// Parses the names of `choices`. The help lists them with their texts.
fn among<T: Copy + Send + Sync + 'static>(
    choices: Vec<(&'static str, Option<String>, T)>,
) -> impl TypedValueParser<Value = T> {
    let value = |(name, text, _): &(&'static str, Option<String>, T)| {
        let value = PossibleValue::new(*name);
        match text {
            Some(text) => value.help(text.replace('\n', " ").trim_end_matches('.').to_owned()),
            None => value,
        }
    };
    let names = PossibleValuesParser::new(choices.iter().map(value));
    names.try_map(move |name| {
        choices.iter().find(|choice| choice.0 == name).map(|choice| choice.2).ok_or("is not a name")
    })
}
