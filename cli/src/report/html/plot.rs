//! The metric over evaluations or iterations: lines in the coordinates of an SVG.

/// Size of the whole plot.
pub const WIDTH: f64 = 760.0;
pub const HEIGHT: f64 = 240.0;
/// Space for the labels of the axes, and for the titles.
pub const LEFT: f64 = 64.0;
pub const TOP: f64 = 28.0;
pub const BOTTOM: f64 = 26.0;

/// A plot with one band for each level. All bands have the same width and share the vertical axis.
pub struct Plot {
    pub bands: Vec<Band>,
    pub ticks: Vec<Tick>,
    /// What the horizontal axis counts, such as iterations.
    pub unit: &'static str,
}

/// The data of a level's line.
pub struct Curve {
    pub title: String,
    pub steps: usize,
    /// Value by step.
    pub points: Vec<(usize, f64)>,
}

/// The band of a level.
pub struct Band {
    pub left: f64,
    pub middle: f64,
    /// Grid of the level, mm.
    pub title: String,
    pub steps: usize,
    /// The points of the line.
    pub points: String,
}

/// A value of the vertical axis.
pub struct Tick {
    pub y: f64,
    pub label: String,
}

impl Plot {
    /// Creates a plot with a band for each curve, from the coarsest level to the finest.
    pub fn new(curves: Vec<Curve>, unit: &'static str) -> Self {
        // A value of 0 stands for a transform with too little overlap.
        let values =
            || curves.iter().flat_map(|curve| &curve.points).map(|point| point.1).filter(|&value| value != 0.0);
        let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let (low, high) = if low < high { (low, high) } else { (0.0, 1.0) };
        let y = |value: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - (value.clamp(low, high) - low) / (high - low));
        let width = (WIDTH - LEFT) / curves.len().max(1) as f64;
        let band = |(n, curve): (usize, &Curve)| {
            let left = LEFT + width * n as f64;
            Band {
                left,
                middle: left + width / 2.0,
                title: curve.title.clone(),
                steps: curve.steps,
                points: curve.stairs(|part| left + width * part, y),
            }
        };
        let tick = |(value, label)| Tick { y: y(value), label };
        Self {
            bands: curves.iter().enumerate().map(band).collect(),
            ticks: ticks(low, high).into_iter().map(tick).collect(),
            unit,
        }
    }
}

impl Curve {
    /// Returns the points of the line: a staircase, as each value holds until the next one.
    fn stairs(&self, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> String {
        let part = |step: usize| x(step as f64 / self.steps.max(1) as f64);
        let ends = self.points.iter().skip(1).map(|point| point.0).chain([self.steps]);
        let stair = |(&(step, value), end): (&(usize, f64), usize)| {
            let y = y(value);
            format!("{:.1},{y:.1} {:.1},{y:.1}", part(step), part(end))
        };
        self.points.iter().zip(ends).map(stair).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the title of a level of this spacing.
pub fn title(mm: f64) -> String {
    format!("{} mm", (mm * 100.0).round() / 100.0)
}

/// Returns the title of a level by the smallest spacing of its grid. The third axis of a 2-D image is left out.
pub fn grid(spacing_mm: &[f64; 3], flat: bool) -> String {
    let axes = if flat { 2 } else { 3 };
    title(spacing_mm[..axes].iter().copied().fold(f64::INFINITY, f64::min))
}

/// Returns about four round values, with as many digits as are needed to tell them apart.
fn ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let rough = (high - low) / 4.0;
    let decade = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * decade).find(|&step| step >= rough).unwrap_or(rough);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    // An end that is a round value but for round-off has a tick, too.
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|n| n as f64 * step).map(|value| (value, format!("{value:.digits$}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    fn level(title: &str, steps: usize, points: &[(usize, f64)]) -> Curve {
        Curve { title: title.into(), steps, points: points.to_vec() }
    }

    #[test]
    fn every_level_has_its_stairs() {
        let plot = Plot::new(
            vec![
                level("8 mm", 10, &[(1, 0.0), (2, 1.0), (5, 1.1)]),
                level(&grid(&[4.0, 4.0, 8.0], false), 4, &[(1, 1.2)]),
            ],
            "iterations",
        );
        assert_eq!(plot.bands[0].points, "98.8,214.0 133.6,214.0 133.6,214.0 238.0,214.0 238.0,121.0 412.0,121.0");
        assert_eq!(plot.bands[1].points, "499.0,28.0 760.0,28.0");
        assert_eq!((plot.bands[1].title.as_str(), plot.bands[1].left), ("4 mm", 412.0));
        assert_eq!(grid(&[4.0, 4.0, 1.0], true), "4 mm");
        let labels: Vec<_> = plot.ticks.iter().map(|tick| tick.label.as_str()).collect();
        assert_eq!(labels, ["1.00", "1.05", "1.10", "1.15", "1.20"]);
    }

    #[test]
    fn nothing_traced_is_a_plot_without_lines() {
        let plot = Plot::new(vec![level("1 mm", 0, &[])], "iterations");
        assert_eq!(plot.bands[0].points, "");
    }
}
