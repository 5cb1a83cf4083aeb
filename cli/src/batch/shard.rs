//! A part of a study, for machines that share a file system.

use std::str::FromStr;

/// Every row belongs to one of `of` shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub number: usize,
    pub of: usize,
}

impl Shard {
    /// Whether the row of this place in the table, from 0, belongs to it. Neighbours, which often take as long as each other, belong to
    /// different ones.
    pub fn has(self, place: usize) -> bool {
        place % self.of == self.number - 1
    }

    /// What the names of its files have.
    pub fn name(self) -> String {
        format!("{}-of-{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let shard =
            parts.map(|(number, of)| Self { number, of }).filter(|shard| (1..=shard.of).contains(&shard.number));
        shard.ok_or("a shard and their number are possible, from 1/4 to 4/4")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_belongs_to_one_shard() {
        let shards: Vec<Shard> = (1..=3).map(|number| format!("{number}/3").parse().unwrap()).collect();
        for place in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.has(place)).count(), 1);
        }
        for text in ["0/3", "4/3", "1", "a/b", "1/0", "-1/3"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
