//! Local contrasts instead of intensities: where brightness varies over a picture, intensities mislead the
//! registration.

use super::{Pair, found, from_headers, test};
use crate::support::by_place;
use libtest_mimic::Trial;
use mireg::Volume;
use mireg::deform::{Compared, Deformation, Options};

pub fn tests() -> Vec<Trial> {
    vec![
        test("shaded_pictures_are_compared_by_contrasts", shaded_pictures),
        test("exchanged_shaded_pictures_have_the_inverse", exchanged),
        test("other_pictures_are_compared_by_both", || assert_eq!(compared(PLANE, "mi"), Compared::Both)),
        test("squared_differences_and_local_correlation_compare_intensities", || {
            assert_eq!([compared(PLANE, "mi,ssd"), compared(PLANE, "lcc")], [Compared::Intensities; 2]);
        }),
        test("volumes_are_compared_by_both", || {
            assert_eq!([compared(SPACE, "mi"), compared(SPACE, "nmi")], [Compared::Both; 2]);
            assert_eq!([compared(SPACE, "mi,ssd"), compared(SPACE, "mi,lcc")], [Compared::Intensities; 2]);
        }),
        test("shaded_volumes_are_deformed_by_their_contrasts", shaded_volumes),
    ]
}

const PLANE: [usize; 3] = [96, 90, 1];
const SPACE: [usize; 3] = [48, 44, 40];

/// Returns a pair in which the light comes from another side in each image.
fn shaded(size: [usize; 3]) -> Pair {
    let Pair { fixed, moving } = Pair::new(size, |v| 120.0 - v);
    let lit = |image: &Volume, axis: usize| {
        let side = image.geometry.size[axis] as f64 * image.geometry.spacing[axis];
        by_place(image, |_, p, v| v * (0.3 + 1.4 * p[axis] / side) as f32)
    };
    Pair { fixed: lit(&fixed, 0), moving: lit(&moving, 1) }
}

fn compared(size: [usize; 3], force: &str) -> Compared {
    let options = Options { force: force.parse().unwrap(), iterations: Some(vec![1]), ..from_headers() };
    found(&Pair::new(size, |v| 120.0 - v), &options).compared
}

fn shaded_pictures() {
    let pair = shaded(PLANE);
    let found_by = |force: &str| found(&pair, &Options { force: force.parse().unwrap(), ..from_headers() });
    let mean_mm = |found: &Deformation| pair.errors(found)[0];

    let by_contrasts = found_by("mi");
    assert_eq!(by_contrasts.compared, Compared::Contrasts);
    assert!(by_contrasts.trusted(), "{:?}", by_contrasts.doubts);
    // Before, it is 0.71 mm.
    assert!(mean_mm(&by_contrasts) < 0.45, "{:.3} mm", mean_mm(&by_contrasts));
    let by_intensities = found_by("mi,ssd:0");
    assert_eq!(by_intensities.compared, Compared::Intensities);
    assert!(mean_mm(&by_intensities) > 5.0, "{:.3} mm", mean_mm(&by_intensities));
}

fn shaded_volumes() {
    let pair = shaded(SPACE);
    let mean_mm = |force: &str| {
        let found = found(&pair, &Options { force: force.parse().unwrap(), ..from_headers() });
        pair.errors(&found)[0]
    };
    let [both, intensities] = [mean_mm("mi"), mean_mm("mi,ssd:0")];
    assert!(both < 1.0 && both < 0.3 * intensities, "{both:.3} and {intensities:.3} mm");
}

fn exchanged() {
    let Pair { fixed, moving } = shaded(PLANE);
    let options = Options { symmetric: true, smooth_mm: Some(6.0), ..from_headers() };
    super::symmetric::exchanged(&fixed, &moving, &options, &options);
}
