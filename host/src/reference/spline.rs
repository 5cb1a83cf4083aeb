//! Computes the coefficients of the cubic spline through samples, by solving linear equations.

use ndarray::{Array3, ArrayViewMut1, Axis};

/// The coefficients of the cubic B-splines that add up to the samples. Both are mirrored about the outermost centres.
pub fn coefficients(mut samples: Array3<f64>) -> Array3<f64> {
    for axis in 0..3 {
        samples.lanes_mut(Axis(axis)).into_iter().for_each(solve);
    }
    samples
}

/// Solves the equations of a line, c[k - 1] + 4 c[k] + c[k + 1] = 6 s[k], by Gaussian elimination. They follow from the
/// values of a B-spline, 2/3 at its centre and 1/6 one sample away. At the ends of the line, the missing neighbour
/// equals the other one.
fn solve(mut line: ArrayViewMut1<f64>) {
    let n = line.len();
    if n < 2 {
        return;
    }
    line *= 6.0;
    // The numbers above the diagonal, after it has been scaled to 1.
    let mut above = vec![2.0 / 4.0; n];
    line[0] /= 4.0;
    for k in 1..n {
        let below = if k == n - 1 { 2.0 } else { 1.0 };
        let diagonal = 4.0 - below * above[k - 1];
        above[k] = 1.0 / diagonal;
        line[k] = (line[k] - below * line[k - 1]) / diagonal;
    }
    for k in (0..n - 1).rev() {
        line[k] -= above[k] * line[k + 1];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, array};

    #[test]
    fn a_spline_by_hand() {
        // (1 + 4 * 2 + 3) / 6 in the middle, (2 + 4 * 1 + 2) / 6 and (2 + 4 * 3 + 2) / 6 at the ends.
        let mut line: Array1<f64> = array![8.0 / 6.0, 2.0, 16.0 / 6.0];
        solve(line.view_mut());
        assert!(line.iter().zip([1.0, 2.0, 3.0]).all(|(found, expected)| (found - expected).abs() < 1e-14), "{line}");
    }
}
