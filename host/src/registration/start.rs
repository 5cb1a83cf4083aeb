//! The poses from which a registration may start.

use super::Init;
use super::moments::Moments;
use super::rotations::rotations;
use crate::Volume;
use crate::transform::{Dimension, Kind};
use glam::{DAffine3, DMat3, DVec3};
use std::cell::LazyCell;

/// A map to start from, and the [`Init`] that gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Start {
    pub from: &'static str,
    /// Fixed point to moving point, LPS mm.
    pub transform: DAffine3,
}

/// Returns the starts that `init` asks for. Coarse versions of the images are sufficient.
pub fn candidates(init: &Init, dof: Kind, dimension: Dimension, fixed: &Volume, moving: &Volume) -> Vec<Start> {
    let header = || vec![Start { from: "header", transform: DAffine3::IDENTITY }];
    let between = |from, turns: Vec<DMat3>, centres: [DVec3; 2]| -> Vec<Start> {
        turns.into_iter().map(|turn| turned(from, turn, centres)).collect()
    };
    let file = |transform: &DAffine3| Start { from: "file", transform: *transform };
    let still = || vec![DMat3::IDENTITY];
    let geometry = || between("geometry", still(), [fixed.geometry.centre(), moving.geometry.centre()]);
    let moments = LazyCell::new(|| [fixed, moving].map(Moments::of));
    let centres = || moments.each_ref().map(|moments| moments.centre);
    let turns = |turns| if dof == Kind::Translation { still() } else { turns };
    let mass = || between("mass", still(), centres());
    let by_moments = || between("moments", turns(moments[0].rotations_to(&moments[1], dimension)), centres());
    let search = || between("search", turns(rotations(dimension)), centres());
    match init {
        Init::Header => header(),
        Init::Geometry => geometry(),
        Init::Mass => mass(),
        Init::Moments => by_moments(),
        Init::Search => search(),
        Init::Transform(_) | Init::Among(_) => init.given().iter().map(file).collect(),
        Init::Auto => [header(), geometry(), mass(), by_moments(), search()].concat(),
    }
}

/// Returns the start with a rotation that takes the fixed centre to the moving one.
fn turned(from: &'static str, rotation: DMat3, [fixed, moving]: [DVec3; 2]) -> Start {
    Start { from, transform: DAffine3::from_mat3_translation(rotation, moving - rotation * fixed) }
}
