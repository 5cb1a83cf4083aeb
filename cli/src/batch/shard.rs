//! A part of a study, for machines that share a file system.

use std::env;
use std::str::FromStr;

/// One of `of` shards. Every row belongs to exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub number: usize,
    pub of: usize,
}

impl Shard {
    /// Returns whether the row at this index of the table, from 0, belongs to the shard. Neighbouring rows, which often
    /// take equally long, belong to different shards.
    pub fn has(self, place: usize) -> bool {
        place % self.of == self.number - 1
    }

    /// Returns the part by which file names show the shard.
    pub fn name(self) -> String {
        format!("{}-of-{}", self.number, self.of)
    }
}

impl Shard {
    /// Returns the shard of a task of a Slurm array. `variable` returns the value of an environment variable.
    fn of_slurm(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let number = |name: &str| {
            let name = format!("SLURM_ARRAY_TASK_{name}");
            let value = variable(&name).ok_or_else(|| format!("{name} is not set; a task of a Slurm array has it"))?;
            value.parse::<usize>().map_err(|_| format!("{name} is {value}, which is no number"))
        };
        let [id, first, last, step, of] = ["ID", "MIN", "MAX", "STEP", "COUNT"].map(number);
        let (id, first, last, step, of) = (id?, first?, last?, step?.max(1), of?);
        // A task of an array such as 1,3,7 cannot know its index.
        let places = (first..=last).step_by(step);
        let place = places.clone().position(|task| task == id).filter(|_| places.count() == of);
        let place = place.ok_or("the tasks of the array are not evenly spaced; use one such as --array=1-8")?;
        Ok(Self { number: place + 1, of })
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "slurm" {
            return Self::of_slurm(|name| env::var(name).ok());
        }
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let shard =
            parts.map(|(number, of)| Self { number, of }).filter(|shard| (1..=shard.of).contains(&shard.number));
        shard.ok_or("give I/N, with I from 1 to N, or slurm".to_owned())
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

    #[test]
    fn a_task_of_a_slurm_array_has_a_shard_wherever_the_array_begins() {
        let shard = |id: &str, [first, last, step, of]: [&str; 4]| {
            let values = [("ID", id), ("MIN", first), ("MAX", last), ("STEP", step), ("COUNT", of)];
            let value = |name: &str| values.iter().find(|(end, _)| name == format!("SLURM_ARRAY_TASK_{end}"));
            Shard::of_slurm(|name| {
                value(name).filter(|(_, value)| !value.is_empty()).map(|(_, value)| (*value).to_owned())
            })
        };
        for (id, array, is) in [
            ("0", ["0", "3", "1", "4"], "1-of-4"),
            ("3", ["0", "3", "1", "4"], "4-of-4"),
            ("1", ["1", "8", "1", "8"], "1-of-8"),
            ("8", ["1", "8", "1", "8"], "8-of-8"),
            ("5", ["1", "7", "2", "4"], "3-of-4"),
            ("6", ["0", "7", "3", "3"], "3-of-3"),
        ] {
            assert_eq!(shard(id, array).unwrap().name(), is, "{id} of {array:?}");
        }
        // --array=1,3,7, a task of another array, and no array.
        for (id, array) in [("3", ["1", "7", "1", "3"]), ("9", ["1", "8", "1", "8"]), ("", ["1", "8", "1", "8"])] {
            assert!(shard(id, array).is_err(), "{id} of {array:?}");
        }
    }
}
