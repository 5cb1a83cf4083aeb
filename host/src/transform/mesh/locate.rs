//! Finds the triangle that a point lies in, by a grid of bins.

use super::{corners, twice_area};
use glam::DVec2;

/// How far outside a triangle, as a fraction of its height, a point may lie because of round-off and still count as on
/// its edge.
const EDGE: f64 = 1e-9;
/// The most bins that triangles may touch on average.
const MOST: usize = 32;

/// Returns the number of bins in a box of bins.
fn area([low, high]: [[usize; 2]; 2]) -> usize {
    (high[0] - low[0] + 1) * (high[1] - low[1] + 1)
}

/// Where a point lies in a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The number of the triangle.
    pub triangle: usize,
    /// Its corners' weights, which sum to 1.
    pub weights: [f64; 3],
}

impl Place {
    /// Returns the point with these weights in a triangle with these corners.
    pub fn among(&self, [a, b, c]: [DVec2; 3]) -> DVec2 {
        let [u, v, w] = self.weights;
        a * u + b * v + c * w
    }
}

/// Finds triangles by a grid of bins, about as many as there are triangles.
#[derive(Debug, Clone)]
pub struct Locator {
    triangles: Vec<[DVec2; 3]>,
    /// The box around all triangles: its lower corner and its size.
    low: DVec2,
    extent: DVec2,
    /// The number of bins along x, and along y.
    side: usize,
    /// For each bin, the index of its first triangle in `members`; at the end, the length of `members`.
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Locator {
    /// Makes the bins for triangles, one at least, with corners at these points.
    pub fn new(points: &[DVec2], triangles: &[[u32; 3]]) -> Self {
        let triangles: Vec<_> = triangles.iter().map(|triangle| corners(points, triangle)).collect();
        let all = || triangles.iter().flatten().copied();
        let (low, high) = (all().fold(DVec2::INFINITY, DVec2::min), all().fold(DVec2::NEG_INFINITY, DVec2::max));
        let side = (triangles.len() as f64).sqrt().ceil() as usize;
        let extent = (high - low).max(DVec2::splat(f64::MIN_POSITIVE));
        let mut new = Self { triangles, low, extent, side, starts: Vec::new(), members: Vec::new() };
        // Overlapping triangles, which a file may contain, could fill memory.
        while new.side > 1 && new.boxes().map(area).sum::<usize>() > MOST * new.triangles.len() {
            new.side /= 2;
        }
        new.fill();
        new
    }

    /// Returns the bins that the box around each triangle touches: the first and the last along x and y.
    fn boxes(&self) -> impl Iterator<Item = [[usize; 2]; 2]> {
        self.triangles.iter().map(|corners| {
            let low = corners.iter().copied().fold(DVec2::INFINITY, DVec2::min);
            let high = corners.iter().copied().fold(DVec2::NEG_INFINITY, DVec2::max);
            [self.bin(low), self.bin(high)]
        })
    }

    fn fill(&mut self) {
        let mut bins = vec![Vec::new(); self.side * self.side];
        for (number, [low, high]) in (0..).zip(self.boxes()) {
            for y in low[1]..=high[1] {
                (low[0]..=high[0]).for_each(|x| bins[x + self.side * y].push(number));
            }
        }
        self.starts.push(0);
        for bin in bins {
            self.members.extend(bin);
            self.starts.push(self.members.len() as u32);
        }
    }

    /// Returns the bin of a point, or the nearest one.
    fn bin(&self, point: DVec2) -> [usize; 2] {
        // A cast from float to integer clamps.
        let at = (point - self.low) / self.extent * self.side as f64;
        [(at.x as usize).min(self.side - 1), (at.y as usize).min(self.side - 1)]
    }

    /// Returns the triangle that a point lies in or, within round-off, on the edge of. Of several, it is the one in
    /// which the point lies deepest.
    pub fn find(&self, point: DVec2) -> Option<Place> {
        let [x, y] = self.bin(point);
        let bin = x + self.side * y;
        let members = &self.members[self.starts[bin] as usize..self.starts[bin + 1] as usize];
        let places = members.iter().map(|&triangle| self.place(triangle as usize, point));
        let depth = |place: &Place| place.weights.into_iter().fold(f64::INFINITY, f64::min);
        let deeper = |a: Place, b: Place| if depth(&b) > depth(&a) { b } else { a };
        // The weights of a point that is NaN are NaN, and so not in the range.
        places.filter(|place| (-EDGE..=1.0).contains(&depth(place))).reduce(deeper)
    }

    /// Returns the weights of a point in a triangle; they are negative outside it.
    fn place(&self, triangle: usize, point: DVec2) -> Place {
        let [a, b, c] = self.triangles[triangle];
        let whole = twice_area([a, b, c]);
        let (v, w) = (twice_area([a, point, c]) / whole, twice_area([a, b, point]) / whole);
        Place { triangle, weights: [1.0 - v - w, v, w] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_found_in_and_on_triangles_and_nowhere_else() {
        let points = [(0.0, 0.0), (4.0, 0.0), (0.0, 4.0), (4.0, 4.0), (10.0, 0.0)].map(DVec2::from);
        let locator = Locator::new(&points, &[[0, 1, 2], [1, 3, 2], [1, 4, 3]]);
        let find = |x: f64, y: f64| locator.find(DVec2::new(x, y));
        assert_eq!(find(1.0, 2.0), Some(Place { triangle: 0, weights: [0.25, 0.25, 0.5] }));
        assert_eq!(find(3.0, 3.0).map(|place| place.triangle), Some(1));
        assert_eq!(find(6.0, 1.0).map(|place| place.triangle), Some(2));
        assert!([(2.0, 2.0), (0.0, 0.0), (10.0, 0.0), (4.0, 4.0)].iter().all(|&(x, y)| find(x, y).is_some()));
        let outside = [(-0.1, 1.0), (9.0, 3.0), (1e300, 0.0), (f64::NAN, 0.0), (f64::NEG_INFINITY, 1.0)];
        assert!(outside.iter().all(|&(x, y)| find(x, y).is_none()));
    }
}
