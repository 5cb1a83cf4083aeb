//! Pairs from patterns of file names, as BIDS names files: `sub-01/ses-2/pet/sub-01_ses-2_pet.nii.gz`.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use glob::MatchOptions;

use super::table::{Line, Table};

/// The entities of BIDS that tell subjects and their sessions apart in file names.
const ENTITIES: [&str; 2] = ["sub", "ses"];

/// The label of each of [`ENTITIES`], if a file name has it.
type Labels<'a> = [Option<&'a str>; 2];

/// Files that a pattern matches.
struct Matched<'a> {
    pattern: &'a str,
    files: Vec<String>,
}

/// Pairs the files that match two patterns. Returns the pairs as a table, or all that is wrong with the files, one line
/// each. Two files are a pair if they have the same labels of those entities that vary on both sides. One fixed file
/// without wildcards is paired with all moving files.
pub fn table(fixed: &str, moving: &str) -> Result<Table, Vec<String>> {
    let (fixed, moving) = match (Matched::new("--fixed", fixed), Matched::new("--moving", moving)) {
        (Ok(fixed), Ok(moving)) => (fixed, moving),
        (fixed, moving) => return Err([fixed.err(), moving.err()].into_iter().flatten().flatten().collect()),
    };
    let (partners, mut faults) = partners(&fixed, &moving);
    faults.extend(without_an_id(&moving.files));
    if !faults.is_empty() {
        return Err(faults);
    }
    let line = |(fixed, moving): (&String, &String)| {
        let id = id(moving);
        Line { name: format!("pair {id}"), cells: vec![id, fixed.clone(), moving.clone()] }
    };
    let columns = ["id", "fixed", "moving"].map(str::to_owned).into();
    Ok(Table { columns, rows: partners.into_iter().map(line).collect(), faults })
}

impl<'a> Matched<'a> {
    /// Finds the files that match a pattern. Returns what is wrong with them, one line each, if anything is.
    fn new(option: &str, pattern: &'a str) -> Result<Self, Vec<String>> {
        // The name of a file that exists is no pattern, even if it has brackets.
        if Path::new(pattern).exists() {
            return Ok(Self { pattern, files: vec![pattern.to_owned()] });
        }
        let how =
            MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };
        let paths =
            glob::glob_with(pattern, how).map_err(|e| vec![format!("{option} {pattern} is no pattern ({})", e.msg)])?;
        let (mut files, mut faults) = (Vec::new(), Vec::new());
        for path in paths {
            match path.map(|path| path.into_os_string().into_string()) {
                Ok(Ok(file)) => files.push(file),
                Ok(Err(file)) => faults.push(format!("{} is not UTF-8; rename it", file.display())),
                Err(e) => faults.push(format!("{} cannot be read ({})", e.path().display(), e.error().kind())),
            }
        }
        if files.is_empty() && faults.is_empty() {
            faults.push(format!("{option} {pattern} matches no file"));
        }
        if faults.is_empty() { Ok(Self { pattern, files }) } else { Err(faults) }
    }

    fn is_one_file(&self) -> bool {
        self.files == [self.pattern]
    }

    /// Returns whether the files may differ in an entity. They do not if the pattern gives its label, as `sub-*/ses-1`
    /// does for the session.
    fn varies(&self, entity: &str) -> bool {
        let said = label(self.pattern, entity).is_some_and(|label| !label.contains(['*', '?', '[']));
        !said && self.files.iter().any(|file| label(file, entity).is_some())
    }
}

/// Pairs fixed and moving files. Also returns what is wrong with files that have no partner or several.
fn partners<'a>(fixed: &'a Matched, moving: &'a Matched) -> (Vec<(&'a String, &'a String)>, Vec<String>) {
    let one = fixed.is_one_file();
    let compared = ENTITIES.map(|entity| !one && fixed.varies(entity) && moving.varies(entity));
    let labels = |file: &'a str| -> Labels<'a> {
        let mut labels = ENTITIES.map(|entity| label(file, entity));
        labels.iter_mut().zip(compared).filter(|(_, compared)| !compared).for_each(|(label, _)| *label = None);
        labels
    };
    let mut of: HashMap<Labels, (Vec<&String>, usize)> = HashMap::new();
    fixed.files.iter().for_each(|file| of.entry(labels(file)).or_default().0.push(file));
    let (mut pairs, mut faults) = (Vec::new(), Vec::new());
    for file in &moving.files {
        let Some((partners, times)) = of.get_mut(&labels(file)) else {
            faults.push(format!("moving {file} has no partner among {}", fixed.pattern));
            continue;
        };
        *times += 1;
        match partners[..] {
            [partner] => pairs.push((partner, file)),
            _ => faults.push(format!("moving {file} has several partners: {}", listed(partners))),
        }
    }
    let alone = fixed.files.iter().filter(|file| of[&labels(file)].1 == 0);
    faults.extend(alone.map(|file| format!("fixed {file} has no partner among {}", moving.pattern)));
    (pairs, faults)
}

/// Returns what is wrong with moving files that have no id, or the id of another one.
fn without_an_id(files: &[String]) -> Vec<String> {
    let mut of: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    files.iter().for_each(|file| of.entry(id(file)).or_default().push(file));
    let faults = of.iter().flat_map(|(id, files)| match (id.as_str(), &files[..]) {
        ("", files) => files.iter().map(|file| format!("moving {file} names no subject, as in sub-01")).collect(),
        (_, [_]) => Vec::new(),
        (id, files) => vec![format!("{id} has several moving images: {}; narrow the pattern", listed(files))],
    });
    faults.collect()
}

fn listed(files: &[&String]) -> String {
    files.iter().map(|file| file.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns the id of the pair of a moving file, such as `sub-01_ses-2`.
fn id(file: &str) -> String {
    let parts = ENTITIES.iter().filter_map(|entity| Some(format!("{entity}-{}", label(file, entity)?)));
    parts.collect::<Vec<_>>().join("_")
}

/// Returns the label of an entity: what follows `sub-` in the last part of a path that begins with it.
fn label<'a>(path: &'a str, entity: &str) -> Option<&'a str> {
    let parts = path.rsplit(['/', '\\', '_']);
    let label = parts.filter_map(|part| part.strip_prefix(entity)?.strip_prefix('-')).next()?;
    label.split('.').next().filter(|label| !label.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_and_sessions_are_found_in_names() {
        assert_eq!(id("sub-01/ses-2/pet/sub-01_ses-2_pet.nii.gz"), "sub-01_ses-2");
        assert_eq!(id("data/sub-old/sub-07.nii.gz"), "sub-07");
        assert_eq!(id("data/ses-b/head.nii.gz"), "ses-b");
        assert_eq!(id("subject-01/a_sub.nii"), "");
    }

    /// Files as if they had matched a pattern. They need not exist.
    fn matched<'a>(pattern: &'a str, files: &[&str]) -> Matched<'a> {
        Matched { pattern, files: files.iter().map(|&file| file.to_owned()).collect() }
    }

    fn paired(fixed: &Matched, moving: &Matched) -> Result<Vec<[String; 2]>, Vec<String>> {
        let (pairs, faults) = partners(fixed, moving);
        let pairs = pairs.into_iter().map(|(fixed, moving)| [fixed.clone(), moving.clone()]).collect();
        if faults.is_empty() { Ok(pairs) } else { Err(faults) }
    }

    #[test]
    fn what_both_sides_have_is_compared() {
        let t1 = matched("sub-*/*_T1w.nii", &["sub-1/sub-1_T1w.nii", "sub-2/sub-2_T1w.nii"]);
        let pet =
            ["sub-1/ses-a/sub-1_ses-a_pet.nii", "sub-1/ses-b/sub-1_ses-b_pet.nii", "sub-2/ses-a/sub-2_ses-a_pet.nii"];
        let pairs = paired(&t1, &matched("sub-*/ses-*/*_pet.nii", &pet)).unwrap();
        assert_eq!(pairs.iter().map(|[fixed, _]| &fixed[..5]).collect::<Vec<_>>(), ["sub-1", "sub-1", "sub-2"]);
        // A session that the pattern names is not compared: a later one is registered with the first.
        let first = matched("sub-*/ses-1/*", &["sub-1/ses-1/t1.nii", "sub-2/ses-1/t1.nii"]);
        let later = matched("sub-*/ses-[23]/*", &["sub-1/ses-2/t1.nii", "sub-1/ses-3/t1.nii", "sub-2/ses-2/t1.nii"]);
        assert_eq!(paired(&first, &later).unwrap().len(), 3);
        // A fixed file without wildcards, such as a template, is paired with all.
        assert_eq!(paired(&matched("sub-0.nii", &["sub-0.nii"]), &later).unwrap().len(), 3);
    }

    #[test]
    fn no_partner_and_several_are_all_told() {
        let fixed = matched("sub-*", &["sub-1_T1w.nii", "sub-2_run-1_T1w.nii", "sub-2_run-2_T1w.nii", "sub-3_T1w.nii"]);
        let moving = matched("sub-*", &["sub-1_pet.nii", "sub-2_pet.nii", "sub-4_pet.nii"]);
        let faults = paired(&fixed, &moving).unwrap_err();
        assert_eq!(faults.len(), 3, "{faults:?}");
        assert!(faults[0].contains("sub-2_pet") && faults[0].contains("run-1") && faults[0].contains("run-2"));
        assert!(faults[1].starts_with("moving sub-4_pet") && faults[2].starts_with("fixed sub-3_T1w"));
        assert_eq!(without_an_id(&matched("*", &["a.nii", "sub-1_a.nii", "sub-1_b.nii", "sub-2.nii"]).files).len(), 2);
    }
}
