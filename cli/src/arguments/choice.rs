//! Arguments that are one of the library's choices.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use strum::{EnumMessage, VariantArray};

/// Takes the names of `T`, and lists them in the help with what their documentation says.
pub fn choice<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantArray + EnumMessage + Into<&'static str> + Copy + Send + Sync,
{
    let value = |&choice: &T| {
        let value = PossibleValue::new(choice.into());
        match choice.get_documentation() {
            Some(text) => value.help(text.replace('\n', " ").trim_end_matches('.').to_owned()),
            None => value,
        }
    };
    let names = PossibleValuesParser::new(T::VARIANTS.iter().map(value));
    names.try_map(|name| T::VARIANTS.iter().copied().find(|&choice| choice.into() == name).ok_or("is not a name"))
}
