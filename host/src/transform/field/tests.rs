use super::*;
use glam::{DAffine3, DMat3, Vec3Swizzles};

/// An oblique grid with anisotropic voxels.
fn grid(size: [usize; 3]) -> Geometry {
    Geometry {
        size,
        spacing: DVec3::new(1.5, 2.0, 2.5),
        origin: DVec3::new(-12.0, 20.0, 5.0),
        direction: DMat3::from_rotation_z(0.4) * DMat3::from_rotation_x(-0.7),
    }
}

fn flat() -> Geometry {
    let direction = DMat3::from_rotation_z(0.4);
    Geometry { size: [14, 12, 1], spacing: DVec3::new(1.5, 2.0, 1.0), origin: DVec3::new(-12.0, 20.0, 0.0), direction }
}

fn affine() -> DAffine3 {
    let matrix = DMat3::from_rotation_y(0.2) * DMat3::from_diagonal(DVec3::new(1.2, 0.9, 1.1));
    DAffine3::from_mat3_translation(matrix, DVec3::new(3.0, -2.0, 1.0))
}

/// Waves of a few mm.
fn wave(point: DVec3) -> DVec3 {
    let sine = |v: DVec3| v.to_array().map(libm::sin).into();
    let turned: DVec3 = sine(point.yzx() / 9.0 + DVec3::new(0.3, 0.7, 1.1));
    point + 2.5 * turned
}

fn points(grid: &Geometry) -> impl Iterator<Item = DVec3> + use<> {
    let map = grid.index_to_world();
    let last = DVec3::from_array(grid.size.map(|n| n as f64 - 1.0));
    (0..200).map(move |n| {
        let part = DVec3::new(0.618, 0.755, 0.57) * f64::from(n);
        map.transform_point3(part.fract() * last)
    })
}

#[test]
fn a_linear_map_is_kept_between_voxels() {
    for grid in [grid([9, 8, 7]), grid([5, 1, 4])] {
        let field = Field::of(&grid, |point| affine().transform_point3(point));
        for point in points(&grid) {
            let there = affine().transform_point3(point);
            assert!(field.transform_point3(point).distance(there) < 2e-6, "{point}");
        }
    }
}

#[test]
fn beyond_the_grid_is_what_is_nearest() {
    let grid = grid([4, 3, 5]);
    let field = Field::of(&grid, wave);
    let (to_mm, last) = (grid.index_to_world(), DVec3::new(3.0, 2.0, 4.0));
    for index in [DVec3::new(-7.0, 1.3, 2.0), DVec3::new(3.4, 5.0, -0.2), DVec3::new(1.0, 1.0, 40.0)] {
        let nearest = to_mm.transform_point3(index.clamp(DVec3::ZERO, last));
        assert!(field.at(to_mm.transform_point3(index)).distance(field.at(nearest)) < 1e-9);
    }
    let corner = DVec3::from_array(field.vectors[59].map(f64::from));
    assert!(field.at(to_mm.transform_point3(DVec3::splat(99.0))).distance(corner) < 1e-12);
}

#[test]
fn it_holds_half_a_voxel_more_than_its_centres() {
    let (grid, flat) = (grid([4, 3, 5]), flat());
    let holds = |grid: &Geometry, index: DVec3| {
        let field = Field::of(grid, |point| point);
        field.map().holds(grid.index_to_world().transform_point3(index))
    };
    assert!(holds(&grid, DVec3::new(-0.4, 2.4, 4.4)) && !holds(&grid, DVec3::new(-0.6, 0.0, 0.0)));
    assert!(!holds(&grid, DVec3::new(0.0, 0.0, 4.6)) && holds(&flat, DVec3::new(1.0, 1.0, 50.0)));
}

#[test]
fn the_way_back_leads_back_inside_and_beyond() {
    for grid in [grid([14, 12, 10]), flat()] {
        let in_plane = |p: DVec3| if grid.is_flat() { wave(p).with_z(p.z) } else { wave(p) };
        let field = Field::of(&grid, in_plane);
        let map = field.map();
        for point in points(&grid).chain(grid.corners()).chain([DVec3::splat(500.0)]) {
            let miss = map.transform_point3(map.back(point)).distance(point);
            assert!(miss < 2e-8, "{point}: {miss}");
        }
        let wider = Geometry { size: grid.size.map(|n| if n > 1 { n + 4 } else { 1 }), ..grid };
        let back = field.inverse(&wider);
        let there = Field::of(&wider, |p| map.transform_point3(back.transform_point3(p)));
        assert!(there.vectors.as_flattened().iter().all(|u| u.abs() < 1e-5));
    }
}

#[test]
fn the_way_back_of_steep_maps_is_found_too() {
    // Voxels along i are 8 mm apart on one side and 0.1 mm on the other, where substitution alone goes astray.
    let grid = Geometry::axis_aligned([21, 4, 4], DVec3::ONE, DVec3::ZERO);
    let steep = |p: DVec3| p.with_x(if p.x < 10.0 { 8.0 * p.x } else { 79.0 + 0.1 * p.x });
    let map = Field::of(&grid, steep);
    let map = map.map();
    for n in 0..=100 {
        let target = steep(DVec3::new(0.2 * f64::from(n), 1.5, 2.5));
        assert!(map.transform_point3(map.back(target)).distance(target) < 1e-6, "{target}");
    }
}

#[test]
fn where_it_folds_the_way_back_is_near_and_finite() {
    let grid = Geometry::axis_aligned([12, 4, 4], DVec3::ONE, DVec3::ZERO);
    let folded = Field::of(&grid, |p| p.with_x(if p.x < 5.5 { p.x } else { 11.0 - p.x }));
    assert!(folded.jacobians().iter().any(|&j| j < 0.0));
    let back = folded.inverse(&grid);
    assert!(back.vectors.as_flattened().iter().all(|u| u.is_finite()));
}

#[test]
fn jacobians_of_linear_and_bent_maps() {
    let expected = affine().matrix3.determinant() as f32;
    let field = Field::of(&grid([6, 5, 4]), |point| affine().transform_point3(point));
    assert!(field.jacobians().iter().all(|j| (j - expected).abs() < 1e-5));

    let flat = flat();
    let shrunk = DAffine3::from_scale(DVec3::new(0.5, 0.8, 1.0));
    let field = Field::of(&flat, |point| shrunk.transform_point3(point));
    assert!(field.jacobians().iter().all(|j| (j - 0.4).abs() < 1e-5));

    // x -> x + 0.01 x^2 has the derivative 1 + 0.02 x, which central differences find exactly, and one-sided ones half a voxel in.
    let grid = Geometry::axis_aligned([10, 3, 3], DVec3::splat(2.0), DVec3::ZERO);
    let jacobians = Field::of(&grid, |p| p.with_x(p.x + 0.01 * p.x * p.x)).jacobians();
    assert!(
        (jacobians[4] - 1.16).abs() < 1e-5 && (jacobians[0] - 1.02).abs() < 1e-5 && (jacobians[9] - 1.34).abs() < 1e-5
    );
}

#[test]
fn one_after_the_other_and_on_another_grid() {
    let grid = grid([14, 12, 10]);
    let (first, next) = (Field::of(&grid, wave), Field::of(&grid, |p| affine().transform_point3(p)));
    let both = first.then(&next);
    for (n, vector) in both.vectors.iter().enumerate() {
        let place = DVec3::new((n % 14) as f64, (n / 14 % 12) as f64, (n / 168) as f64);
        let point = grid.index_to_world().transform_point3(place);
        let there = next.transform_point3(first.transform_point3(point));
        assert!((point + DVec3::from_array(vector.map(f64::from))).distance(there) < 1e-5);
    }
}

#[test]
fn threads_change_no_bit() {
    let field = Field::of(&grid([14, 12, 10]), wave);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| (field.inverse(&field.geometry), field.jacobians()))
    };
    assert!(with(1) == with(5));
}
