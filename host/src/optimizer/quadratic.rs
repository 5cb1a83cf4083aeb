//! A quadratic model of the objective, and the step to its maximum.

use super::vectors::{dot, norm};

/// The largest factor by which all second derivatives are rescaled, and the inverse of the smallest.
const RESCALED: f64 = 4.0;
/// A step that is limited to a radius is longer than this fraction of it, unless so many rounds do not find one.
const NEARLY: f64 = 0.9;
const ROUNDS: usize = 40;

/// A model of the value near a point x0, relative to the value there: gradient . (x - x0) - (x - x0)' curvature
/// (x - x0) / 2.
#[derive(Debug, Clone, PartialEq)]
pub struct Quadratic {
    gradient: Vec<f64>,
    /// Minus the matrix of second derivatives, by rows; symmetric.
    curvature: Vec<Vec<f64>>,
}

impl Quadratic {
    /// Makes a model of the gradient, the second derivatives by one parameter, and the mixed second derivatives.
    pub fn new(gradient: Vec<f64>, diagonal: Vec<f64>, mixed: impl IntoIterator<Item = ((usize, usize), f64)>) -> Self {
        let count = gradient.len();
        let mut curvature = vec![vec![0.0; count]; count];
        diagonal.iter().enumerate().for_each(|(i, second)| curvature[i][i] = -second);
        for ((i, j), second) in mixed {
            (curvature[i][j], curvature[j][i]) = (-second, -second);
        }
        Self { gradient, curvature }
    }

    /// Makes a model that bends alike in all directions, whose maximum is `away` from x0.
    pub fn round(gradient: Vec<f64>, away: f64) -> Self {
        let second = -norm(&gradient) / away;
        let diagonal = vec![second; gradient.len()];
        Self::new(gradient, diagonal, [])
    }

    /// The number of parameters.
    pub fn count(&self) -> usize {
        self.gradient.len()
    }

    /// The model with a new gradient and new second derivatives by one parameter. Mixed derivatives are scaled
    /// accordingly.
    pub fn renewed(&self, gradient: Vec<f64>, diagonal: Vec<f64>) -> Self {
        let factor = |i: usize| {
            let ratio = -diagonal[i] / self.curvature[i][i];
            if ratio > 0.0 { ratio.sqrt() } else { 0.0 }
        };
        let factors: Vec<f64> = (0..gradient.len()).map(factor).collect();
        let mut curvature = self.curvature.clone();
        for (i, row) in curvature.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = if i == j { -diagonal[i] } else { *entry * factors[i] * factors[j] };
            }
        }
        Self { gradient, curvature }
    }

    /// Updates the model by the change of the gradient over the last `step`, from `before` to the present one. This is
    /// the update of Broyden, Fletcher, Goldfarb and Shanno, with Powell's damping, so that a concave model stays
    /// concave.
    pub fn learnt(mut self, before: &[f64], step: &[f64]) -> Self {
        let bent = self.bent(step);
        let fall: Vec<f64> = before.iter().zip(&self.gradient).map(|(before, now)| before - now).collect();
        let (expected, seen) = (dot(step, &bent), dot(step, &fall));
        if expected <= 0.0 {
            return self;
        }
        let part = if seen >= 0.2 * expected { 1.0 } else { 0.8 * expected / (expected - seen) };
        let fall: Vec<f64> = fall.iter().zip(&bent).map(|(fall, bent)| part * fall + (1.0 - part) * bent).collect();
        let seen = dot(step, &fall);
        for (i, row) in self.curvature.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                *entry += fall[i] * fall[j] / seen - bent[i] * bent[j] / expected;
            }
        }
        self
    }

    /// Whether the model has a maximum.
    pub fn is_concave(&self) -> bool {
        solve(&self.curvature, 0.0, &self.gradient).is_some()
    }

    /// The model with another gradient.
    pub fn with_gradient(self, gradient: Vec<f64>) -> Self {
        Self { gradient, ..self }
    }

    /// The model with all second derivatives multiplied by one factor, so that it fits the gradient `there`, after a
    /// step, better (Shanno & Phua 1978).
    pub fn rescaled(mut self, there: &[f64], step: &[f64]) -> Self {
        let factor = (dot(&self.gradient, step) - dot(there, step)) / dot(step, &self.bent(step));
        if factor.is_finite() {
            let factor = factor.clamp(1.0 / RESCALED, RESCALED);
            self.curvature.iter_mut().flatten().for_each(|entry| *entry *= factor);
        }
        self
    }

    /// How much the value rises along a step from x0.
    pub fn rise(&self, step: &[f64]) -> f64 {
        dot(&self.gradient, step) - 0.5 * dot(step, &self.bent(step))
    }

    /// By how much the gradient falls along a step.
    fn bent(&self, step: &[f64]) -> Vec<f64> {
        self.curvature.iter().map(|row| dot(row, step)).collect()
    }

    /// The gradient at the point x0 of the model.
    pub fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    /// The step to the maximum within a distance of `longest`. If the model is not concave, or its maximum is further
    /// away, the step solves (curvature + damping) step = gradient with a damping that is found by bisection, so that it
    /// is nearly as long as allowed (Moré & Sorensen 1983). A shorter step therefore means that the maximum is near.
    pub fn step(&self, longest: f64) -> Vec<f64> {
        if let Some(step) = self.damped_step(0.0, longest) {
            return step;
        }
        let steepest = norm(&self.gradient);
        if steepest == 0.0 {
            return vec![0.0; self.count()];
        }
        // This much damping makes the model concave, and the step short enough.
        let largest = || self.curvature.iter().map(|row| dot(row, row)).sum::<f64>().sqrt();
        let (mut low, mut high) = (0.0, steepest / longest + if self.is_concave() { 0.0 } else { largest() });
        let mut step: Vec<f64> = self.gradient.iter().map(|by| by * longest / steepest).collect();
        for _ in 0..ROUNDS {
            let damping = 0.5 * (low + high);
            match self.damped_step(damping, longest) {
                Some(longer) if norm(&longer) > NEARLY * longest => return longer,
                Some(longer) => (step, high) = (longer, damping),
                None => low = damping,
            }
        }
        step
    }

    /// The same, but with the least damping of a series. In directions in which the model hardly bends, the step may be
    /// much shorter than allowed (Levenberg and Marquardt).
    pub fn cautious_step(&self, longest: f64) -> Vec<f64> {
        let mean = self.curvature.iter().enumerate().map(|(i, row)| row[i].abs()).sum::<f64>() / self.count() as f64;
        let steepest = norm(&self.gradient);
        if steepest == 0.0 {
            return vec![0.0; self.count()];
        }
        let mut damping = 0.0;
        for _ in 0..60 {
            if let Some(step) = self.damped_step(damping, longest) {
                return step;
            }
            damping = if damping == 0.0 { 1e-3 * mean.max(1e-12 * steepest) } else { 1.6 * damping };
        }
        self.gradient.iter().map(|g| g * longest / steepest).collect()
    }

    /// The step that solves (curvature + damping) step = gradient; `None` if the damped model is not concave or the step
    /// is longer than `longest`.
    fn damped_step(&self, damping: f64, longest: f64) -> Option<Vec<f64>> {
        solve(&self.curvature, damping, &self.gradient).filter(|step| norm(step) <= longest)
    }
}

/// Solves (matrix + damping) x = right by Cholesky decomposition; `None` if the left side is not positive definite.
fn solve(matrix: &[Vec<f64>], damping: f64, right: &[f64]) -> Option<Vec<f64>> {
    let count = right.len();
    let mut lower = vec![vec![0.0; count]; count];
    for i in 0..count {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
            let rest = matrix[i][j] - known;
            lower[i][j] = match i == j {
                true if rest + damping <= 0.0 => return None,
                true => (rest + damping).sqrt(),
                false => rest / lower[j][j],
            };
        }
    }
    let mut x = right.to_vec();
    for i in 0..count {
        let known: f64 = (0..i).map(|k| lower[i][k] * x[k]).sum();
        x[i] = (x[i] - known) / lower[i][i];
    }
    for i in (0..count).rev() {
        let known: f64 = (i + 1..count).map(|k| lower[k][i] * x[k]).sum();
        x[i] = (x[i] - known) / lower[i][i];
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The model of -(x - 1)^2 - 2 (y + 2)^2 - (x - 1)(y + 2) at the origin.
    fn hill() -> Quadratic {
        Quadratic::new(vec![4.0, -7.0], vec![-2.0, -4.0], [((1, 0), -1.0)])
    }

    #[test]
    fn one_step_leads_to_the_top() {
        let step = hill().step(10.0);
        assert!((step[0] - 3.285_714_285_714_285_7).abs() < 1e-12 && (step[1] + 2.571_428_571_428_571).abs() < 1e-12);
        let curvature = [[2.0, 1.0], [1.0, 4.0]];
        let back = curvature.map(|row| row[0] * step[0] + row[1] * step[1]);
        assert!((back[0] - 4.0).abs() < 1e-12 && (back[1] + 7.0).abs() < 1e-12);
    }

    #[test]
    fn a_step_is_no_longer_than_allowed_and_goes_up() {
        for diagonal in [[-2.0, -4.0], [2.0, -4.0], [0.0, 0.0]] {
            let model = Quadratic::new(vec![4.0, -7.0], diagonal.to_vec(), [((1, 0), -1.0)]);
            for (step, shortest) in [(model.step(0.5), 0.45), (model.cautious_step(0.5), 0.1)] {
                assert!(norm(&step) <= 0.5 && norm(&step) > shortest, "{step:?}");
                assert!(4.0 * step[0] - 7.0 * step[1] > 0.0, "{step:?}");
            }
        }
    }

    #[test]
    fn a_step_that_is_limited_is_nearly_as_long_as_allowed() {
        // One direction bends a million times as much as the other, in which the maximum is a thousand away.
        let model = Quadratic::new(vec![1.0, 1.0], vec![-1e3, -1e-3], []);
        for longest in [1e-2, 1.0, 100.0, 900.0] {
            let length = norm(&model.step(longest));
            assert!(length <= longest && length >= 0.9 * longest, "{length} of {longest}");
        }
        assert!((norm(&model.step(2000.0)) - 1000.0).abs() < 1e-6);
    }

    #[test]
    fn a_model_of_coarser_images_is_rescaled() {
        let coarse = Quadratic::new(vec![4.0, -7.0], vec![-1.0, -2.0], [((1, 0), -0.5)]);
        // The gradient that the hill has after the step.
        assert_eq!(coarse.rescaled(&[2.0, -8.0], &[1.0, 0.0]), hill());
    }

    #[test]
    fn a_model_with_a_saddle_is_not_concave() {
        assert!(hill().is_concave());
        assert!(!Quadratic::new(vec![0.0; 2], vec![1.0, -1.0], []).is_concave());
    }

    #[test]
    fn a_change_of_gradient_along_a_step_is_believed() {
        let step = [1.0, 0.5];
        // The true gradient after the step, in a model without the correlations.
        let ignorant = Quadratic::new(vec![4.0 - 2.5, -7.0 - 3.0], vec![-2.0, -4.0], []);
        let learnt = ignorant.learnt(&[4.0, -7.0], &step);
        let bent = learnt.bent(&step);
        assert!((bent[0] - 2.5).abs() < 1e-12 && (bent[1] - 3.0).abs() < 1e-12, "{bent:?}");
    }

    #[test]
    fn a_newer_diagonal_keeps_the_correlations() {
        let newer = hill().renewed(vec![0.0; 2], vec![-8.0, -16.0]);
        assert_eq!(newer.curvature, [[8.0, 4.0], [4.0, 16.0]]);
    }
}
