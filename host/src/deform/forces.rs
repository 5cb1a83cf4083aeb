//! The metrics that drive a deformation: one or several, each with a weight.

use crate::backend::Relation;
use crate::error::Setting;
use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// A metric whose gradient drives a deformation.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Display, EnumMessage, EnumString, IntoStaticStr, VariantArray, serde::Serialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "lowercase")]
pub enum Force {
    /// Mutual information: for images of any two kinds
    Mi,
    /// Normalised mutual information, (H(F) + H(M)) / H(F, M)
    Nmi,
    /// Local cross-correlation: for images of one kind whose brightness differs from place to place
    Lcc,
    /// The sum of squared differences: for images of one kind and brightness
    Ssd,
}

impl Force {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mi => "mi",
            Self::Nmi => "nmi",
            Self::Lcc => "lcc",
            Self::Ssd => "ssd",
        }
    }

    /// Returns the metric as one of a joint histogram, or `None` if it is not.
    pub(super) fn relation(self) -> Option<Relation> {
        match self {
            Self::Mi => Some(Relation::Mi),
            Self::Nmi => Some(Relation::Nmi),
            Self::Ssd => Some(Relation::Ssd),
            Self::Lcc => None,
        }
    }
}

/// A metric and its weight, by which its forces and their precisions are multiplied.
#[derive(Debug, Clone, PartialEq)]
pub struct Weighted {
    pub force: Force,
    /// The weight at each level, coarse to fine; the last number also applies to all further levels.
    pub weights: Vec<f64>,
}

impl Weighted {
    /// Returns the weight at a level.
    pub fn weight(&self, level: usize) -> f64 {
        self.weights.get(level).or(self.weights.last()).copied().unwrap_or(0.0)
    }
}

/// One or more metrics that drive a deformation together. As text: `mi`, `mi,lcc:0.5`, or with weights by level
/// `mi:1/0.5,lcc:0/1`.
#[derive(Debug, Clone, PartialEq)]
pub struct Forces(Vec<Weighted>);

impl Forces {
    /// Combines metrics.
    ///
    /// # Errors
    /// [`Error::Option`] for no metric, for one that is given twice, for weights that are not 0 or more, and for levels
    /// at which all weights are 0.
    pub fn new(all: Vec<Weighted>) -> Result<Self> {
        let refused = |text: String| Err(Error::option(Setting::Force, text));
        for (number, Weighted { force, weights }) in all.iter().enumerate() {
            if all[..number].iter().any(|other| other.force == *force) {
                return refused(format!("{force} is given twice"));
            }
            if weights.is_empty() || weights.iter().any(|weight| !(weight.is_finite() && *weight >= 0.0)) {
                return refused(format!("each weight of {force} is a number of 0 or more"));
            }
        }
        let levels = all.iter().map(|weighted| weighted.weights.len()).max().unwrap_or(1);
        match (0..levels).find(|&level| all.iter().all(|weighted| weighted.weight(level) == 0.0)) {
            Some(level) => refused(format!("no metric is used on level {}: every weight is 0", level + 1)),
            None => Ok(Self(all)),
        }
    }

    /// Returns the metrics in the order in which they were given.
    pub fn all(&self) -> &[Weighted] {
        &self.0
    }

    /// Returns whether a metric is among them.
    pub fn has(&self, force: Force) -> bool {
        self.0.iter().any(|weighted| weighted.force == force)
    }
}

impl Default for Forces {
    fn default() -> Self {
        Force::Mi.into()
    }
}

impl From<Force> for Forces {
    fn from(force: Force) -> Self {
        Self(vec![Weighted { force, weights: vec![1.0] }])
    }
}

impl FromStr for Forces {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::new(text.split(',').map(weighted).collect::<Result<_>>()?)
    }
}

/// Parses a metric and its weights, such as `mi`, `lcc:0.5` or `lcc:0/0/1`.
fn weighted(text: &str) -> Result<Weighted> {
    let (name, weights) = text.split_once(':').unwrap_or((text, "1"));
    let force = name.trim().parse().map_err(|_| {
        let names = Force::VARIANTS.iter().map(|force| force.name()).collect::<Vec<_>>().join(", ");
        Error::option(Setting::Force, format!("'{name}' is no metric; there are {names}"))
    })?;
    let weights = weights.split('/').map(|weight| weight.trim().parse()).collect::<std::result::Result<_, _>>();
    let wrong =
        |_| Error::option(Setting::Force, format!("'{text}' has no weight like lcc:0.5, or lcc:0/0.5/1 by level"));
    Ok(Weighted { force, weights: weights.map_err(wrong)? })
}

impl fmt::Display for Forces {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (number, Weighted { force, weights }) in self.0.iter().enumerate() {
            write!(f, "{}{force}", if number > 0 { "," } else { "" })?;
            if weights[..] != [1.0] {
                let weights: Vec<_> = weights.iter().map(f64::to_string).collect();
                write!(f, ":{}", weights.join("/"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_gives_forces_and_forces_give_text() {
        for text in ["mi", "mi,lcc:0.5", "nmi:2,ssd:1/0.5", "lcc:0/1,mi:1/0"] {
            assert_eq!(text.parse::<Forces>().unwrap().to_string(), text);
        }
        let forces: Forces = "mi:1/0.5,lcc:0/0/3".parse().unwrap();
        let weights = |level| [0, 1].map(|number: usize| forces.all()[number].weight(level));
        assert_eq!([0, 1, 2, 3].map(weights), [[1.0, 0.0], [0.5, 0.0], [0.5, 3.0], [0.5, 3.0]]);
        assert!(forces.has(Force::Lcc) && !forces.has(Force::Ssd));
    }

    #[test]
    fn what_pulls_nowhere_or_has_no_weight_is_refused() {
        for (text, says) in [
            ("", "no metric"),
            ("mi,", "no metric"),
            ("mi,mi:2", "twice"),
            ("mi:-1", "0 or more"),
            ("mi:nan", "0 or more"),
            ("mi:inf", "0 or more"),
            ("mi:", "no weight"),
            ("mi:a", "no weight"),
            ("mi:0", "no metric is used on level 1"),
            ("mi:1/0,lcc:1/0/1", "no metric is used on level 2"),
        ] {
            let line = text.parse::<Forces>().unwrap_err().to_string();
            assert!(line.contains(says), "{text}: {line}");
        }
    }
}
