//! What is measured: methods by images by interpolation by bins.

use mireg::backend::HistogramMethod;
use mireg::error::Setting;
use mireg::{Error, Result};

use super::arguments::Bench;
use super::choices::{Data, Paper};
use crate::arguments::interpolation::Interpolation;

/// Bins per side by default: what registrations use.
const BINS: [u32; 5] = [64, 100, 128, 200, 256];
/// Bins per side of a registration by default.
const USUAL_BINS: u32 = 64;
/// Bins per side of the comparisons of both papers: Ledig table 3 says 10 to 250.
const PAPER_BINS: [u32; 6] = [10, 50, 100, 150, 200, 250];
/// Bins per side where Ledig table 3 varies the size.
pub const LEDIG_BINS: u32 = 100;
/// The smallest side of a cube in Ledig table 3; the largest there is 256.
const LEDIG_SIDE: usize = 16;

/// One pair of images and the bins that it is measured at.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    pub data: Data,
    /// Voxels per side of a synthetic cube.
    pub side: usize,
    pub bins: Vec<u32>,
}

/// All that is to be measured.
#[derive(Debug)]
pub struct Plan {
    pub groups: Vec<Group>,
    pub interpolations: Vec<Interpolation>,
    pub methods: Vec<HistogramMethod>,
}

impl Plan {
    /// Creates the plan that was asked for. What is not given is as in the paper, if one is named, or else suits the
    /// backend.
    ///
    /// # Errors
    /// [`Error::Option`] for methods that the backend does not have.
    pub fn new(arguments: &Bench, backend: &str) -> Result<Self> {
        if arguments.overview() {
            return Ok(Self::overview(arguments, backend));
        }
        let paper = arguments.paper;
        let side = arguments.size.map_or_else(|| default_side(backend), |side| side as usize);
        let bins =
            given(&arguments.bins).unwrap_or_else(|| if paper.is_some() { PAPER_BINS.to_vec() } else { BINS.to_vec() });
        let group = |data| Group { data, side, bins: bins.clone() };
        let mut groups: Vec<Group> = data(arguments).into_iter().map(group).collect();
        if paper == Some(Paper::LedigTable3) {
            groups.extend(sizes(side));
        }
        let interpolations = given(&arguments.interpolation)
            .or(paper.map(Paper::interpolations))
            .unwrap_or_else(|| vec![Interpolation::Linear]);
        Ok(Self { groups, interpolations, methods: methods(arguments, backend)? })
    }

    /// Creates the plan of an overview: a head with default settings, in three sizes or in the one that was asked for.
    fn overview(arguments: &Bench, backend: &str) -> Self {
        let largest = default_side(backend);
        let sides = arguments.size.map_or(vec![largest / 4, largest / 2, largest], |side| vec![side as usize]);
        let group = |side| Group { data: Data::Head, side, bins: vec![USUAL_BINS] };
        let groups = sides.into_iter().map(group).collect();
        Self { groups, interpolations: vec![Interpolation::Linear], methods: vec![HistogramMethod::Auto] }
    }

    /// Returns by what factor the voxels of the registration are longer than those of a clinical scan. The emulator
    /// registers nothing.
    pub fn coarseness(arguments: &Bench, backend: &str) -> Option<f64> {
        let coarse = |side: u32| (128.0 / f64::from(side)).clamp(1.0, 5.0);
        (backend != "emulated").then(|| arguments.size.map_or(1.0, coarse))
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        let bins: usize = self.groups.iter().map(|group| group.bins.len()).sum();
        bins * self.interpolations.len() * self.methods.len()
    }
}

fn given<T: Copy>(list: &[T]) -> Option<Vec<T>> {
    (!list.is_empty()).then(|| list.to_vec())
}

/// Returns the voxels per side at which an evaluation takes milliseconds or less.
pub(super) fn default_side(backend: &str) -> usize {
    match backend {
        "cuda" => 256,
        "cpu" => 128,
        _ => 16,
    }
}

fn data(arguments: &Bench) -> Vec<Data> {
    let asked = given(&arguments.data).or(arguments.paper.map(Paper::data));
    if arguments.fixed.is_none() {
        return asked.unwrap_or_else(|| vec![Data::Random, Data::Constant, Data::Head]);
    }
    let made_up = asked.unwrap_or_default().into_iter().filter(|&data| data != Data::Head);
    made_up.chain([Data::Files]).collect()
}

/// Returns the rows of Ledig table 3 that vary the size, up to `side`.
fn sizes(side: usize) -> Vec<Group> {
    let sides = || std::iter::successors(Some(LEDIG_SIDE), |side| Some(2 * side)).take_while(|&s| s < side);
    let group = |data| move |side| Group { data, side, bins: vec![LEDIG_BINS] };
    let random = sides().map(group(Data::Random));
    random.chain(sides().chain([side]).map(group(Data::Constant))).collect()
}

fn methods(arguments: &Bench, backend: &str) -> Result<Vec<HistogramMethod>> {
    let asked = given(&arguments.histogram).or(arguments.paper.map(Paper::methods));
    match asked {
        Some(methods) if backend == "cpu" && methods != [HistogramMethod::Auto] => Err(Error::option(
            Setting::Histogram,
            "the CPU counts in one way, rows, so there is nothing to choose; use --backend cuda, or leave out --histogram \
             and --paper",
        )),
        Some(methods) => Ok(methods),
        None if backend == "cpu" => Ok(vec![HistogramMethod::Auto]),
        None => Ok(HistogramMethod::ALL.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::arguments::tests::parse;

    fn plan(words: &str, backend: &str) -> Result<Plan> {
        Plan::new(&parse(words), backend)
    }

    #[test]
    fn a_gpu_gets_every_method_and_a_cpu_its_own() {
        assert_eq!(plan("--bins 64", "cuda").unwrap().methods, HistogramMethod::ALL);
        assert_eq!(plan("--bins 64", "cpu").unwrap().methods, [HistogramMethod::Auto]);
        assert!(plan("--histogram mbe", "cpu").is_err() && plan("--paper shams-figure-7", "cpu").is_err());
    }

    #[test]
    fn an_overview_is_of_what_is_usual() {
        let sides = |words| plan(words, "cuda").unwrap().groups.iter().map(|group| group.side).collect::<Vec<_>>();
        assert_eq!((sides(""), sides("--size 20 --axis z")), (vec![64, 128, 256], vec![20]));
        assert_eq!((plan("", "cpu").unwrap().rows(), plan("--bins 64", "cpu").unwrap().rows()), (3, 3));
        assert_eq!(plan("--estimator histogram", "cpu").unwrap().rows(), 15);
    }

    #[test]
    fn images_take_the_place_of_the_head() {
        let data = |arguments| plan(arguments, "cuda").unwrap().groups.iter().map(|g| g.data).collect::<Vec<_>>();
        assert_eq!(data("--fixed a.nii --moving b.nii"), [Data::Files]);
        assert_eq!(data("--fixed a.nii --moving b.nii --paper shams-figure-7"), [Data::Random, Data::Files]);
        assert_eq!(data("--paper ledig-figure-3"), [Data::Head]);
    }

    #[test]
    fn table_3_varies_bins_and_sizes() {
        let plan = plan("--paper ledig-table-3 --size 64", "cuda").unwrap();
        let group = |data, side, bins: &[u32]| Group { data, side, bins: bins.to_vec() };
        let (all, one) = (&PAPER_BINS[..], &[100][..]);
        let expected = [
            group(Data::Random, 64, all),
            group(Data::Head, 64, all),
            group(Data::Random, 16, one),
            group(Data::Random, 32, one),
            group(Data::Constant, 16, one),
            group(Data::Constant, 32, one),
            group(Data::Constant, 64, one),
        ];
        assert_eq!(plan.groups, expected);
        assert_eq!(plan.rows(), (6 + 6 + 5) * 4 * 2);
    }

    #[test]
    fn what_is_asked_for_replaces_what_a_paper_has() {
        let plan = plan("--paper ledig-figure-3 --bins 8,16 --interpolation nearest", "cuda").unwrap();
        assert_eq!((plan.groups[0].bins.as_slice(), plan.interpolations), (&[8, 16][..], vec![Interpolation::Nearest]));
    }
}
