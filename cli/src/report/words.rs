//! Transforms, metrics and intensities in words.

use glam::{DAffine3, DVec3};
use mireg::deform::{Compared, Force, Options};
use mireg::image::Intensities;
use mireg::transform::{Dimension, Kind, Linear, angle, euler_angles, nearest};

/// Describes the intensity range of an image that was used, and the voxels that lie outside.
pub fn intensities(of: &Intensities) -> String {
    format!("{} to {}, {}", of.range.0, of.range.1, left_out(of))
}

/// Describes the voxels of an image that lie outside its intensity range, have no data or belong to a frame.
pub fn left_out(of: &Intensities) -> String {
    let clamped = of.below + of.above;
    let part = 100.0 * of.clamped_fraction();
    let clamped = (clamped > 0).then(|| format!("{clamped} voxels outside ({part:.2} %), clamped to the range"));
    let missing = (of.missing > 0).then(|| format!("{} voxels without data (NaN)", of.missing));
    let framed = (of.framed > 0).then(|| format!("{} pixels in a uniform frame", of.framed));
    let all: Vec<_> = clamped.into_iter().chain(missing).chain(framed).collect();
    if all.is_empty() { "no voxel outside".to_owned() } else { all.join("; ") }
}

/// Describes a linear transform: rotation in degrees, change of volume in percent, and translation in mm.
pub fn motion(transform: &Linear) -> String {
    let shift = shift(transform.translation());
    let turn = angle(&transform.matrix()).to_degrees();
    let size = 100.0 * (transform.matrix().determinant() - 1.0);
    match transform.kind {
        Kind::Translation => shift,
        Kind::Rigid => format!("{turn:.2} degrees and {shift}"),
        Kind::Similarity | Kind::Affine => format!("{turn:.2} degrees, {size:+.2} % volume and {shift}"),
    }
}

fn shift(shift: DVec3) -> String {
    let towards =
        |value: f64, plus: &str, minus: &str| format!("{:.2} {}", value.abs(), if value < 0.0 { minus } else { plus });
    format!(
        "{:.2} mm ({}, {}, {})",
        shift.length(),
        towards(shift.x, "left", "right"),
        towards(shift.y, "back", "front"),
        towards(shift.z, "up", "down"),
    )
}

/// Names the metric that a deformation maximises.
pub fn metric_of(Options { force, extra, .. }: &Options, compared: Compared) -> String {
    let of =
        if compared == Compared::Intensities { String::new() } else { format!(" of {}", self::compared(compared)) };
    match (force.all(), &extra[..]) {
        ([alone], []) if compared != Compared::Both => format!("{}{of}", metric(alone.force)),
        ([_], []) => "mutual information of intensities plus that of local contrast".to_owned(),
        (forces, extra) => {
            let names: Vec<_> = forces.iter().map(|weighted| metric(weighted.force)).collect();
            let channels = if extra.is_empty() { String::new() } else { format!(" in {} channels", extra.len() + 1) };
            format!("weighted sum of information, nats, of {}{of}{channels}", names.join(", "))
        }
    }
}

/// Names what a deformation compared.
pub fn compared(compared: Compared) -> &'static str {
    match compared {
        Compared::Intensities => "intensities",
        Compared::Contrasts => "local contrast",
        Compared::Both => "intensities and local contrast",
    }
}

fn metric(force: Force) -> &'static str {
    match force {
        Force::Mi => "mutual information",
        Force::Nmi => "normalised mutual information",
        Force::Lcc => "mean squared local cross-correlation",
        Force::Ssd => "negative mean squared difference",
    }
}

/// Describes an initial transform: where it is from and, unless it is the identity, its motion.
pub fn initial_transform(from: &str, start: &Linear) -> String {
    if start.to_affine() == DAffine3::IDENTITY { from.to_owned() } else { format!("{from}: {}", motion(start)) }
}

/// Describes a linear transform axis by axis: right-handed rotations about the LPS axes, composed as Rz Rx Ry; the
/// translation of the centre; and the scale along each axis of the fixed image's LPS frame.
pub fn parts(transform: &Linear) -> Vec<(&'static str, String)> {
    let matrix = transform.matrix();
    let degrees = euler_angles(&nearest(&matrix)).map(f64::to_degrees);
    let shift = transform.translation();
    let degree = |value: f64| format!("{value:+.3}°");
    let mm = |value: f64| format!("{value:+.3} mm");
    let percent = |axis: DVec3| format!("{:+.3} %", 100.0 * ((matrix * axis).length() - 1.0));
    let turns = [
        ("rotation about x (left)", degree(degrees.x)),
        ("rotation about y (posterior)", degree(degrees.y)),
        ("rotation about z (superior)", degree(degrees.z)),
    ];
    let shifts = [
        ("translation along x (left)", mm(shift.x)),
        ("translation along y (posterior)", mm(shift.y)),
        ("translation along z (superior)", mm(shift.z)),
    ];
    let sizes = [
        ("scale along x", percent(DVec3::X)),
        ("scale along y", percent(DVec3::Y)),
        ("scale along z", percent(DVec3::Z)),
    ];
    let flat = transform.dimension == Dimension::Two;
    let turns = turns.into_iter().filter(|_| transform.kind > Kind::Translation).skip(if flat { 2 } else { 0 });
    let axes = transform.dimension.axes();
    let sizes = sizes.into_iter().take(axes).filter(|_| transform.kind > Kind::Rigid);
    turns.chain(shifts.into_iter().take(axes)).chain(sizes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use mireg::transform::Rigid;

    #[test]
    fn a_motion_reads_like_a_sentence() {
        let angles = DVec3::new(0.0, 0.0, -90f64.to_radians());
        let rigid = Rigid { angles, translation: DVec3::new(3.0, -4.0, 0.0), centre: DVec3::ONE };
        assert_eq!(motion(&rigid.into()), "90.00 degrees and 5.00 mm (3.00 left, 4.00 front, 0.00 up)");
    }

    #[test]
    fn a_motion_has_the_parts_that_it_can_have() {
        let all = DAffine3::from_scale_rotation_translation(DVec3::splat(1.1), DQuat::from_rotation_z(0.1), DVec3::X);
        let parts = |kind, dimension, map: &DAffine3| parts(&Linear::new(kind, dimension, DVec3::ZERO, map));
        let count = |kind, dimension| parts(kind, dimension, &DAffine3::IDENTITY).len();
        assert_eq!([Kind::Translation, Kind::Rigid, Kind::Affine].map(|kind| count(kind, Dimension::Three)), [3, 6, 9]);
        assert_eq!([Kind::Translation, Kind::Rigid, Kind::Affine].map(|kind| count(kind, Dimension::Two)), [2, 3, 5]);
        let said =
            parts(Kind::Similarity, Dimension::Three, &all).into_iter().map(|(_, value)| value).collect::<Vec<_>>();
        assert_eq!(&said[2..4], ["+5.730°", "+1.000 mm"]);
        assert_eq!(said[8], "+10.000 %");
    }
}
