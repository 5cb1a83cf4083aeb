//! Images of two dimensions within frames, and on paper of any tone.

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::io::Channel;
use mireg::transform::{Kind, distance};
use mireg::{Geometry, Options, Volume};

use super::place::registered_after;
use super::plane::{placed, scene};
use super::{register, test};
use crate::support::data_dir;

pub fn tests() -> Vec<Trial> {
    vec![
        test("frames_are_left_out", frames_are_left_out),
        test("retinas_on_white_are_found", retinas_on_white_are_found).with_ignored_flag(data_dir().is_none()),
        test("retinas_on_grey_are_found", retinas_on_grey_are_found).with_ignored_flag(data_dir().is_none()),
    ]
}

/// Registers two pictures of a scene after `change`, whose arguments are the picture and 0 for the fixed one, 1 for the
/// moving one. `change` keeps the coordinates of what it leaves. Returns the numbers of pixels in frames.
fn registered(dof: Kind, change: impl Fn(&Volume, usize) -> Volume) -> [u64; 2] {
    let maps = [placed(30.0, 25.0, 0.0, 1.0), placed(50.0, 12.0, 0.15, 1.0)];
    let pictures = [scene([240, 180], maps[0], 60.0, 1), scene([240, 180], maps[1], -40.0, 2)];
    let [fixed, moving] = [0, 1].map(|n| change(&pictures[n], n));
    let found = register(&fixed, &moving, &Options { dof, ..Options::default() });
    let apart = distance(&found.transform.to_affine(), &(maps[1].inverse() * maps[0]), &pictures[0].geometry);
    assert!(apart < 1.0 && found.trusted(), "{dof:?}: {apart:.3} px, {:?}", found.doubts);
    found.intensities.map(|intensities| intensities.framed)
}

/// Puts a frame around a picture.
fn framed(picture: &Volume, [left, above]: [usize; 2], colour: f32) -> Volume {
    let [width, height, _] = picture.geometry.size;
    let size = [width + 2 * left, height + 2 * above, 1];
    let origin = picture.geometry.origin - DVec3::new(left as f64, above as f64, 0.0);
    let pixel = |n: usize| {
        let [x, y] = [(n % size[0]).wrapping_sub(left), (n / size[0]).wrapping_sub(above)];
        if x < width && y < height { picture.voxels[y * width + x] } else { colour }
    };
    let geometry = Geometry { size, origin, ..picture.geometry };
    Volume { geometry, voxels: (0..geometry.voxels()).map(pixel).collect(), pixel: picture.pixel }
}

/// Without frames the same pictures are registered as well, so only frames can mislead.
fn frames_are_left_out() {
    assert_eq!(registered(Kind::Rigid, |picture, _| picture.clone()), [0; 2]);
    let margins = [[25, 30], [45, 20]];
    let outside = |[left, above]: [usize; 2]| ((240 + 2 * left) * (180 + 2 * above) - 240 * 180) as u64;
    for colour in [1000.0, -500.0] {
        for dof in [Kind::Rigid, Kind::Affine] {
            let left_out = registered(dof, |picture, n| framed(picture, margins[n], colour));
            // The outermost line of the image goes with a frame, since it may be mixed with it.
            let lines = 2 * (240 + 180) - 4;
            assert_eq!(left_out, margins.map(|margin| outside(margin) + lines));
        }
    }
}

/// Inverted angiograms and colour pictures. Their surrounds match better than what is inside.
fn retinas_on_white_are_found() {
    for pair in ["retina/Retina_101", "retina/Retina_91"] {
        are_found_after(pair, |pixel| 255.0 - pixel);
    }
}

/// Surrounds in the middle of the range.
fn retinas_on_grey_are_found() {
    for pair in ["retina/Retina_27", "retina/Retina_91"] {
        are_found_after(pair, |pixel| if pixel < 12.0 { 128.0 } else { pixel });
    }
}

/// Asserts that the pictures of a pair are registered after every pixel was changed.
fn are_found_after(pair: &str, change: fn(f32) -> f32) {
    let (found, mean) = registered_after(pair, Kind::Affine, Channel::Luma, |mut picture| {
        picture.voxels.iter_mut().for_each(|pixel| *pixel = change(*pixel));
        picture
    });
    assert!(found.trusted() && mean < 5.0, "{pair}: {mean:.2} px, {:?}, {:?}", found.place, found.doubts);
}
