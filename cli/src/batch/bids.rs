//! What makes a study a derivative of BIDS datasets: `dataset_description.json`, a sidecar that says where each moved image is from, and
//! `.bidsignore` for names that BIDS does not know.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{self, Component, Path, PathBuf};

use mireg::{Error, Result};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::names::DESCRIPTION;
use super::record::RECORD;
use super::row::Row;
use crate::files;

/// The sidecar of a moved image, and the names that such an image may have.
pub const SIDECAR: &str = "moved.json";
const MOVED: [&str; 2] = ["moved.nii.gz", "moved.png"];

/// The file that lists names which BIDS validators leave out.
const IGNORED: &str = ".bidsignore";

/// The version of the BIDS specification that is followed.
const VERSION: &str = "1.10.0";

/// The characters of a path that are percent-encoded in a URI.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'+').remove(b':');

/// The datasets that the images of a study are from.
pub struct Datasets {
    /// The folder of each dataset, and its name in BIDS URIs.
    links: BTreeMap<PathBuf, String>,
}

impl Datasets {
    /// Finds the datasets of these rows: folders above the images that have a `dataset_description.json`.
    pub fn of(rows: &[Row]) -> Self {
        let mut roots: HashMap<PathBuf, Option<PathBuf>> = HashMap::new();
        for image in rows.iter().flat_map(|row| &row.images) {
            let folder = absolute(image).parent().map(Path::to_owned).unwrap_or_default();
            roots.entry(folder).or_insert_with_key(|folder| root(folder));
        }
        let mut links: BTreeMap<PathBuf, String> =
            roots.into_values().flatten().map(|root| (root, String::new())).collect();
        let mut taken = HashSet::new();
        for (root, name) in &mut links {
            let plain = root
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
            let mut names = std::iter::once(plain.clone()).chain((2..).map(|n| format!("{plain}-{n}")));
            *name = names.find(|name| !name.is_empty() && taken.insert(name.clone())).unwrap_or_default();
        }
        Self { links }
    }

    /// Refuses an output folder whose `dataset_description.json` was not written by mireg.
    ///
    /// # Errors
    /// [`Error::File`]
    pub fn check(&self, out: &Path) -> Result<()> {
        let path = out.join(DESCRIPTION);
        match !path.exists() || read(&path)["GeneratedBy"][0]["Name"] == "mireg" {
            true => Ok(()),
            false => Err(Error::file(path, "is not mireg's and would be replaced; choose another output folder")),
        }
    }

    /// Writes `dataset_description.json` and `.bidsignore` to `folder`, from where they are moved to `out`. `files` has
    /// the names of the pairs' files, which BIDS does not know. The lines of a `.bidsignore` in `out` are kept.
    ///
    /// # Errors
    /// [`Error::File`]
    pub fn write<'a>(&self, folder: &Path, out: &Path, files: impl Iterator<Item = &'a str>) -> Result<()> {
        let there = fs::read_to_string(out.join(IGNORED)).unwrap_or_default();
        files::write(&folder.join(IGNORED), ignored(there, files))?;
        let links: BTreeMap<_, _> = self.links.iter().map(|(root, name)| (name, file_uri(root))).collect();
        let by = json!({ "Name": "mireg", "Version": env!("CARGO_PKG_VERSION") });
        let text = json!({
            "Name": "Images registered by mireg",
            "BIDSVersion": VERSION,
            "DatasetType": "derivative",
            "GeneratedBy": [by],
            "DatasetLinks": links,
        });
        files::write(&folder.join(DESCRIPTION), format!("{text:#}\n"))
    }

    /// Writes the sidecar of a row's moved image to `folder`, if `files` has such an image. Returns whether it has.
    ///
    /// # Errors
    /// [`Error::File`]
    pub fn describe(&self, row: &Row, files: &BTreeMap<String, u64>, folder: &Path) -> Result<bool> {
        let described = MOVED.iter().any(|&name| files.contains_key(name));
        if described {
            let [fixed, moving] = row.images.each_ref().map(|image| self.uri(image));
            let mut text = json!({
                "Description": "The moving image on the grid of the fixed one",
                "Sources": [moving, fixed],
                "SpatialReference": fixed,
            });
            if let Some(stripped) = self.skull_stripped(&row.images[1]) {
                text["SkullStripped"] = stripped.into();
            }
            files::write(&folder.join(SIDECAR), format!("{text:#}\n"))?;
        }
        Ok(described)
    }

    /// Returns whether an image is skull-stripped, which BIDS requires derivatives of heads to state: what the image's
    /// own sidecar says, and otherwise `false` in a raw dataset, whose images are as they were scanned.
    fn skull_stripped(&self, image: &Path) -> Option<bool> {
        let image = absolute(image);
        let (root, ..) = self.place(&image)?;
        let name = image.file_name()?.to_str()?;
        let sidecar = read(&image.with_file_name(name.split('.').next()?).with_extension("json"));
        let scanned = || read(&root.join(DESCRIPTION))["DatasetType"].as_str().unwrap_or("raw") == "raw";
        sidecar["SkullStripped"].as_bool().or_else(|| scanned().then_some(false))
    }

    /// Returns the BIDS URI of an image, or a file URI if it is in no dataset.
    fn uri(&self, image: &Path) -> String {
        let image = absolute(image);
        match self.place(&image) {
            Some((_, name, path)) => format!("bids:{name}:{}", encoded(path)),
            None => file_uri(&image),
        }
    }

    /// Returns the folder of the dataset that an image is in, the dataset's name, and the path of the image in it.
    fn place<'a>(&self, image: &'a Path) -> Option<(&'a Path, &str, &'a Path)> {
        image.ancestors().find_map(|root| Some((root, &**self.links.get(root)?, image.strip_prefix(root).ok()?)))
    }
}

/// Returns the content of `.bidsignore`: the lines of `there`, and the names of a study's files that they lack.
fn ignored<'a>(there: String, files: impl Iterator<Item = &'a str>) -> String {
    let files: BTreeSet<&str> = files.chain([RECORD]).collect();
    let own = files.iter().map(|name| format!("*/{name}"));
    let own = ["batch*.tsv", "index*.html"].map(str::to_owned).into_iter().chain(own);
    let missing: Vec<String> = own.filter(|line| !there.lines().any(|known| known == line)).collect();
    let there = there.lines().map(str::to_owned);
    there.chain(missing).map(|line| line + "\n").collect()
}

/// Makes a path absolute. Links are not followed, since their targets may have names that BIDS does not know.
fn absolute(path: &Path) -> PathBuf {
    path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the folder of the dataset that a folder is in.
fn root(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|folder| folder.join(DESCRIPTION).exists()).map(Path::to_owned)
}

fn file_uri(path: &Path) -> String {
    format!("file:///{}", encoded(path))
}

fn encoded(path: &Path) -> String {
    let parts = path.components().filter(|part| !matches!(part, Component::RootDir));
    let parts = parts.map(|part| utf8_percent_encode(&part.as_os_str().to_string_lossy(), ENCODED).to_string());
    parts.collect::<Vec<_>>().join("/")
}

/// Reads a JSON file. Returns null if there is none.
fn read(path: &Path) -> Value {
    fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}
