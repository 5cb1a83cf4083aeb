//! Vector arithmetic for optimizers.

/// The direction of a gradient, of length 1; `None` if the gradient is 0 or not finite.
pub fn direction(gradient: &[f64]) -> Option<Vec<f64>> {
    let steepness = norm(gradient);
    let usable = steepness > 0.0 && steepness.is_finite();
    usable.then(|| gradient.iter().map(|by| by / steepness).collect())
}

/// The point at a distance along a direction.
pub fn along(point: &[f64], direction: &[f64], distance: f64) -> Vec<f64> {
    point.iter().zip(direction).map(|(point, direction)| point + distance * direction).collect()
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub fn norm(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}

pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}
