//! Computes the coefficients of the recursive Gaussian [`gpu::math::recursive`] from its standard deviation.

use gpu::math::recursive::{Coefficients, ORDER, State};

/// The standard deviation in voxels at which the method changes. Below it, three poles are placed so that the filter
/// reproduces the first four samples of the Gaussian. From there on, the five poles are those of van Vliet. Here the
/// errors of both are about the same.
const MATCHED: f64 = 0.66;

/// The largest standard deviation in voxels, more than the length of any line. Larger ones are replaced by it, because
/// they would be lost in round-off.
const WIDEST: f64 = 4096.0;

/// Poles with the least square error for a standard deviation of 2 voxels (van Vliet, Young & Verbeek 1998, table 1):
/// real and imaginary part of one pole of each of two conjugate pairs, and the real pole.
const POLES: [[f64; 2]; 3] = [[0.8643, 1.45389], [1.61433, 0.83134], [1.87504, 0.0]];

/// For each section of the cascade, the factors of its last output and of the one before. The last section is of first
/// order.
type Sections = [[f64; 2]; 3];
type Matrix = [State; ORDER];

/// The coefficients of a Gaussian of `sigma` voxels, 0 or more.
pub fn coefficients(sigma: f64) -> Coefficients {
    let sections = if sigma < MATCHED { matched(sigma) } else { scaled(sigma.min(WIDEST)) };
    let [first, second, third] = sections.map(|[a, b]| 1.0 - a - b);
    let [[a, b], [c, d], [e, _]] = sections;
    let filter = Coefficients {
        gain: first * second * third,
        feedback: [a, b, c, d, e],
        steady: [second * third, second * third, third, third, 1.0],
        border: [[0.0; ORDER]; ORDER],
    };
    Coefficients { border: border(&filter), ..filter }
}

/// Van Vliet's poles, raised to the power at which the filter's variance is `sigma` squared.
fn scaled(sigma: f64) -> Sections {
    // If poles scaled like Gaussians, the power would be half of sigma.
    let (mut low, mut high) = (0.25 * sigma, sigma);
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if variance(&sections(middle)) < sigma * sigma { low = middle } else { high = middle }
    }
    sections(0.5 * (low + high))
}

/// The sections of van Vliet's poles, raised to the power 1 / `q`.
fn sections(q: f64) -> Sections {
    POLES.map(|[re, im]| {
        let radius = libm::exp(-libm::log(libm::hypot(re, im)) / q);
        if im == 0.0 { [radius, 0.0] } else { [2.0 * radius * libm::cos(libm::atan2(im, re) / q), -radius * radius] }
    })
}

/// The variance of the response of both passes together.
fn variance(sections: &Sections) -> f64 {
    let of_section = |&[a, b]: &[f64; 2]| {
        let mean = (a + 2.0 * b) / (1.0 - a - b);
        2.0 * ((a + 4.0 * b) / (1.0 - a - b) + mean * mean)
    };
    sections.iter().map(of_section).sum()
}

/// Finds three poles by linear prediction (Levinson's recursion). The response of both passes is the autocorrelation of
/// one pass. With these poles it equals the Gaussian up to a distance of three voxels, and narrow Gaussians are close
/// to 0 beyond.
fn matched(sigma: f64) -> Sections {
    let gaussian = [0.0, 1.0, 2.0, 3.0].map(|x: f64| libm::exp(-0.5 * (x / sigma.max(1e-3)).powi(2)));
    let (mut feedback, mut error) = ([0.0; 3], 1.0);
    for k in 0..3 {
        let known: f64 = (0..k).map(|j| feedback[j] * gaussian[k - j]).sum();
        let reflection = (gaussian[k + 1] - known) / error;
        let before = feedback;
        for j in 0..k {
            feedback[j] = before[j] - reflection * before[k - 1 - j];
        }
        feedback[k] = reflection;
        error *= 1.0 - reflection * reflection;
    }
    let [a, b, c] = feedback;
    // All poles lie inside the unit circle, so between -1 and 1 the polynomial changes its sign at the real pole.
    let (mut low, mut high) = (-1.0, 1.0);
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if ((middle - a) * middle - b) * middle < c { low = middle } else { high = middle }
    }
    let real = 0.5 * (low + high);
    [[a - real, b + real * (a - real)], [0.0; 2], [real, 0.0]]
}

/// The matrix [`Coefficients::border`]. It sums, over all samples beyond the end of the line, the output that the
/// causal pass still has there and the effect of that output on the state of the anticausal pass. Each iteration
/// doubles the number of samples.
fn border(filter: &Coefficients) -> Matrix {
    let after = |mut state: State, sample| {
        filter.advance(&mut state, sample);
        state
    };
    let mut power: Matrix = [[0.0; ORDER]; ORDER];
    for from in 0..ORDER {
        let mut unit = [0.0; ORDER];
        unit[from] = 1.0;
        let column = after(unit, 0.0);
        (0..ORDER).for_each(|to| power[to][from] = column[to]);
    }
    let taken = after([0.0; ORDER], 1.0);
    let mut sum = taken.map(|taken| power[ORDER - 1].map(|given| taken * given));
    // 2^20 samples, more than the widest Gaussian reaches.
    for _ in 0..20 {
        let later = product(&product(&power, &sum), &power);
        (0..ORDER * ORDER).for_each(|i| sum[i / ORDER][i % ORDER] += later[i / ORDER][i % ORDER]);
        power = product(&power, &power);
    }
    sum
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    a.map(|row| std::array::from_fn(|to| (0..ORDER).map(|k| row[k] * b[k][to]).sum()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The response of both passes to an impulse in the middle of a line that is long enough.
    fn response(sigma: f64) -> Vec<f64> {
        let (filter, reach) = (coefficients(sigma), (20.0 * sigma) as usize + 10);
        let mut line = vec![0.0; 2 * reach + 1];
        line[reach] = 1.0;
        for _ in 0..2 {
            let mut state = [0.0; ORDER];
            for sample in &mut line {
                filter.advance(&mut state, *sample);
                *sample = state[ORDER - 1];
            }
            line.reverse();
        }
        line
    }

    #[test]
    fn the_response_has_the_sum_and_the_variance_of_the_gaussian() {
        for sigma in [MATCHED, 0.8, 1.0, 2.0, 5.0, 50.0, 500.0] {
            let line = response(sigma);
            let middle = (line.len() / 2) as f64;
            let sum: f64 = line.iter().sum();
            let variance: f64 = line.iter().enumerate().map(|(i, h)| h * (i as f64 - middle).powi(2)).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sigma}: {sum}");
            assert!((variance / (sigma * sigma) - 1.0).abs() < 1e-6, "{sigma}: {variance}");
        }
    }

    #[test]
    fn a_narrow_one_has_the_gaussians_samples() {
        for sigma in [0.1, 0.3, 0.5, 0.6] {
            let line = response(sigma);
            let gaussian = |x: usize| (-0.5 * (x as f64 / sigma).powi(2)).exp();
            let sum: f64 = 1.0 + 2.0 * (1..20).map(gaussian).sum::<f64>();
            let middle = line.len() / 2;
            for x in 0..4 {
                assert!((line[middle + x] / line[middle] - gaussian(x)).abs() < 1e-12, "{sigma}: {x}");
            }
            assert!((line[middle] * sum - 1.0).abs() < 7e-3, "{sigma}");
        }
    }

    #[test]
    fn the_border_is_what_a_line_that_goes_on_leaves() {
        for sigma in [0.4, 0.7, 1.0, 3.0, 30.0, 300.0] {
            let filter = coefficients(sigma);
            let start = [0.3, -0.2, 0.1, 0.7, -1.0];
            let (mut state, mut outputs) = (start, Vec::new());
            for _ in 0..(50.0 * sigma) as usize + 100 {
                filter.advance(&mut state, 0.0);
                outputs.push(state[ORDER - 1]);
            }
            let mut back = [0.0; ORDER];
            outputs.iter().rev().for_each(|&output| filter.advance(&mut back, output));
            let turned = filter.border.map(|row| (0..ORDER).map(|k| row[k] * start[k]).sum::<f64>());
            for k in 0..ORDER {
                assert!((turned[k] - back[k]).abs() < 1e-7 * back[k].abs(), "{sigma}: {turned:?}, {back:?}");
            }
        }
    }

    #[test]
    fn no_sigma_is_too_wide_or_too_narrow() {
        assert_eq!(coefficients(1e9), coefficients(WIDEST));
        for sigma in [0.0, 1e-300, WIDEST] {
            let filter = coefficients(sigma);
            let numbers = filter.feedback.iter().chain(filter.border.as_flattened()).chain([&filter.gain]);
            assert!(numbers.into_iter().all(|number| number.is_finite()), "{filter:?}");
        }
        assert_eq!(coefficients(0.0).gain, 1.0);
    }
}
