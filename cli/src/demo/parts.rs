//! The parts of the head that are simple shapes, in the order in which they replace each other. Left and right differ on
//! purpose, as they do in people. mm, x to the left, y to the back, z up, 0 in the middle of the brain.

use glam::{Vec3, vec3};

use super::shapes::{coverage, ellipsoid, rod};
use super::tissue::*;

/// An ellipsoid: centre, radii, material.
pub struct Ellipsoid(Vec3, Vec3, Tissue);
/// A rounded rod: ends, radius, material.
pub struct Rod(Vec3, Vec3, f32, Tissue);

const fn blob(centre: [f32; 3], radii: [f32; 3], tissue: Tissue) -> Ellipsoid {
    Ellipsoid(Vec3::from_array(centre), Vec3::from_array(radii), tissue)
}

const fn bar(a: [f32; 3], b: [f32; 3], radius: f32, tissue: Tissue) -> Rod {
    Rod(Vec3::from_array(a), Vec3::from_array(b), radius, tissue)
}

/// Jaw, cheek bones, spine, airways.
pub const NECK_AND_FACE_RODS: [Rod; 13] = [
    bar([0.0, 22.0, -84.0], [0.0, 26.0, -220.0], 13.0, MARROW),
    bar([46.0, -10.0, -48.0], [43.0, -22.0, -92.0], 6.0, BONE),
    bar([-47.0, -9.0, -48.0], [-43.0, -22.0, -91.0], 6.5, BONE),
    bar([43.0, -22.0, -92.0], [20.0, -70.0, -106.0], 7.0, BONE),
    bar([-43.0, -22.0, -91.0], [-19.0, -71.0, -106.0], 7.0, BONE),
    bar([20.0, -70.0, -106.0], [-19.0, -71.0, -106.0], 7.5, BONE),
    bar([60.0, -14.0, -34.0], [50.0, -66.0, -38.0], 4.0, BONE),
    bar([-61.0, -13.0, -34.0], [-50.0, -67.0, -37.0], 3.6, BONE),
    bar([24.0, -66.0, -72.0], [-24.0, -67.0, -72.0], 8.0, BONE),
    bar([0.0, -26.0, -48.0], [0.0, -4.0, -220.0], 9.0, AIR),
    bar([0.0, 43.0, -50.0], [0.0, 46.0, -220.0], 14.0, BONE),
    bar([0.0, 43.0, -45.0], [0.0, 46.0, -220.0], 10.0, CSF),
    bar([0.0, 40.0, -45.0], [0.0, 45.0, -220.0], 5.5, WHITE),
];

/// Orbits, sinuses, nose, ear bones: over the skull.
pub const BASE: [Ellipsoid; 25] = [
    blob([48.0, 26.0, -36.0], [19.0, 13.0, 13.0], BONE),
    blob([-49.0, 27.0, -36.0], [18.0, 14.0, 12.0], BONE),
    blob([58.0, 34.0, -43.0], [8.0, 9.0, 11.0], AIR),
    blob([-57.0, 33.0, -45.0], [6.0, 7.0, 8.0], AIR),
    blob([66.0, 12.0, -37.0], [16.0, 3.0, 3.0], AIR),
    blob([-67.0, 12.0, -37.0], [16.0, 3.0, 3.0], AIR),
    blob([5.0, -88.0, 2.0], [24.0, 10.0, 15.0], BONE),
    blob([13.0, -88.0, 3.0], [11.0, 6.0, 11.0], AIR),
    blob([-9.0, -88.0, 1.0], [8.0, 5.0, 8.0], AIR),
    blob([28.0, -58.0, -50.0], [17.0, 19.0, 19.0], BONE),
    blob([-28.0, -58.0, -50.0], [16.0, 18.0, 18.0], BONE),
    blob([28.0, -58.0, -50.0], [14.5, 16.5, 16.5], AIR),
    blob([-28.0, -58.0, -51.0], [12.0, 14.0, 14.0], AIR),
    blob([28.0, -56.0, -18.0], [20.0, 27.0, 18.5], BONE),
    blob([-28.0, -56.0, -18.0], [20.0, 27.0, 18.5], BONE),
    blob([28.0, -60.0, -18.0], [18.0, 29.0, 16.5], FAT),
    blob([-28.0, -60.0, -18.0], [18.0, 29.0, 16.5], FAT),
    blob([0.0, -60.0, -24.0], [11.0, 23.0, 13.0], BONE),
    blob([5.0, -60.0, -24.0], [4.0, 20.0, 10.0], AIR),
    blob([-5.0, -60.0, -25.0], [3.5, 18.0, 9.0], AIR),
    blob([2.0, -22.0, -32.0], [15.0, 12.0, 11.0], BONE),
    blob([5.0, -22.0, -32.0], [9.0, 10.0, 9.0], AIR),
    blob([-8.0, -21.0, -32.0], [4.5, 8.0, 7.0], AIR),
    blob([5.5, -64.0, -52.0], [3.5, 28.0, 15.0], AIR),
    blob([-6.0, -63.0, -52.0], [3.0, 27.0, 16.0], AIR),
];

/// Eyes, over the orbits.
pub const EYES: [Ellipsoid; 6] = [
    blob([31.0, -72.0, -18.0], [13.0, 13.0, 13.0], MUSCLE),
    blob([-31.0, -71.5, -17.0], [13.0, 13.0, 13.0], MUSCLE),
    blob([31.0, -72.0, -18.0], [11.6, 11.6, 11.6], VITREOUS),
    blob([-31.0, -71.5, -17.0], [11.6, 11.6, 11.6], VITREOUS),
    blob([31.0, -81.0, -18.0], [4.5, 2.2, 4.5], LENS),
    blob([-31.0, -80.5, -17.0], [4.5, 2.2, 4.5], LENS),
];

/// Optic nerves and eye muscles.
pub const ORBIT_RODS: [Rod; 6] = [
    bar([31.0, -60.0, -18.0], [7.0, -28.0, -14.0], 2.2, WHITE),
    bar([-31.0, -59.5, -17.0], [-7.0, -28.0, -14.0], 2.2, WHITE),
    bar([42.0, -64.0, -18.0], [18.0, -38.0, -16.0], 2.4, MUSCLE),
    bar([-42.0, -64.0, -17.0], [-18.0, -38.0, -16.0], 2.4, MUSCLE),
    bar([30.0, -64.0, -5.5], [16.0, -38.0, -13.0], 2.2, MUSCLE),
    bar([-30.0, -64.0, -4.5], [-16.0, -38.0, -13.0], 2.2, MUSCLE),
];

/// Deep grey matter, ventricles, stem and what is wrong with this patient.
pub const DEEP: [Ellipsoid; 24] = [
    blob([11.0, 12.0, 6.0], [8.0, 14.0, 9.0], GREY),
    blob([-11.0, 12.0, 6.0], [8.5, 14.0, 9.0], GREY),
    blob([25.0, -4.0, 4.0], [5.0, 17.0, 10.0], GREY),
    blob([-25.0, -5.0, 4.0], [5.5, 17.0, 10.0], GREY),
    blob([14.0, -19.0, 11.0], [4.5, 12.0, 8.0], GREY),
    blob([-14.0, -19.0, 11.0], [5.0, 12.0, 8.0], GREY),
    blob([9.5, -10.0, 19.0], [6.0, 26.0, 6.5], CSF),
    blob([-8.5, -9.0, 19.0], [4.6, 24.0, 5.5], CSF),
    blob([22.0, 32.0, 10.0], [7.0, 20.0, 8.5], CSF),
    blob([-20.0, 30.0, 10.0], [5.0, 15.0, 7.0], CSF),
    blob([36.0, 8.0, -16.0], [3.0, 15.0, 3.0], CSF),
    blob([-35.0, 7.0, -16.0], [2.4, 13.0, 2.6], CSF),
    blob([0.0, 4.0, 1.0], [2.4, 13.0, 11.0], CSF),
    blob([0.0, 17.0, -26.0], [11.0, 11.0, 19.0], WHITE),
    blob([0.0, 9.0, -26.0], [15.0, 10.0, 13.0], WHITE),
    blob([0.0, 32.0, -30.0], [7.0, 4.5, 9.0], CSF),
    blob([0.0, -14.0, -18.0], [9.0, 7.0, 4.0], CSF),
    blob([0.0, -16.0, -20.0], [5.0, 4.0, 3.0], GREY),
    blob([0.0, 28.0, 4.0], [3.0, 4.0, 3.0], CALCIFIED),
    blob([21.0, 27.0, 9.0], [1.8, 4.0, 2.2], CALCIFIED),
    blob([-36.0, 24.0, 34.0], [21.0, 19.0, 17.0], LESION),
    blob([-36.0, 24.0, 34.0], [12.5, 11.5, 11.0], ENHANCING),
    blob([-36.0, 24.0, 34.0], [9.5, 8.5, 8.5], LESION),
    blob([-33.0, 21.0, 37.0], [2.0, 2.5, 2.0], CALCIFIED),
];

/// Nose, ears and chin: added to the outline of the head as centre and radii.
pub const OUTLINE: [(Vec3, Vec3); 6] = [
    (vec3(0.0, -96.0, -44.0), vec3(13.0, 17.0, 18.0)),
    (vec3(0.0, -70.0, -106.0), vec3(27.0, 25.0, 19.0)),
    (vec3(84.0, 16.0, -30.0), vec3(7.0, 14.0, 29.0)),
    (vec3(-85.0, 17.0, -32.0), vec3(8.0, 15.0, 31.0)),
    (vec3(31.0, -72.0, -18.0), vec3(15.0, 15.0, 15.0)),
    (vec3(-31.0, -71.5, -17.0), vec3(15.0, 15.0, 15.0)),
];

/// Paints `parts` over `tissue` at `p`, each grown by `growth` mm.
pub fn paint_ellipsoids(tissue: &mut Tissue, p: Vec3, parts: &[Ellipsoid], growth: f32) {
    for Ellipsoid(centre, radii, material) in parts {
        // Most points are far from most parts; this saves their square roots.
        if (p - centre).abs().cmplt(radii + 4.0).all() {
            tissue.paint(*material, coverage(ellipsoid(p, *centre, *radii) - growth));
        }
    }
}

/// Paints `parts` over `tissue` at `p`.
pub fn paint_rods(tissue: &mut Tissue, p: Vec3, parts: &[Rod]) {
    for Rod(a, b, radius, material) in parts {
        tissue.paint(*material, coverage(rod(p, *a, *b, *radius)));
    }
}
