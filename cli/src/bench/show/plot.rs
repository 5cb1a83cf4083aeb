//! Milliseconds by bins: a panel per image and interpolation, a line per method.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::register_font;

use super::layout::groups;
use crate::bench::results::Results;
use crate::bench::rows::HistogramRow;

/// The font, reduced to ASCII, so that no font of the system is needed. See font-licence.txt.
const FONT: &[u8] = include_bytes!("font.ttf");
/// The font family that SVG files name. Letters are spaced by the widths of [`FONT`].
const FAMILY: &str = "DejaVu Sans, sans-serif";

/// Picture elements of a panel, and of the list of methods.
const PANEL: [u32; 2] = [420, 320];
const LEGEND: u32 = 220;
const COLUMNS: usize = 3;

/// A plot in two formats.
pub struct Plot {
    pub svg: String,
    pub png: image::RgbImage,
}

/// Why a picture could not be drawn.
type Failed = Box<dyn std::error::Error>;

impl Plot {
    /// Draws what was measured.
    pub fn new(results: &Results) -> Result<Self, Failed> {
        register_font(FAMILY, FontStyle::Normal, FONT).map_err(|_| "the font cannot be read")?;
        let page = Page::new(&results.rows);
        let (width, height) = page.size();
        let mut svg = String::new();
        page.draw(SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area())?;
        let mut png = image::RgbImage::new(width, height);
        page.draw(BitMapBackend::with_buffer(&mut png, (width, height)).into_drawing_area())?;
        Ok(Self { svg, png })
    }
}

/// What is drawn.
struct Page<'a> {
    /// Rows of the same images and interpolation. If some of these have several numbers of bins, those with a single
    /// one are left out.
    panels: Vec<Vec<&'a HistogramRow>>,
    methods: Vec<&'static str>,
    /// The ends of the axes, bins and milliseconds, which are the same in all panels.
    axes: [[f64; 2]; 2],
}

impl<'a> Page<'a> {
    fn new(rows: &'a [HistogramRow]) -> Self {
        let timed = || rows.iter().filter(|row| row.timing.is_some());
        let mut panels = groups(timed(), |row| (row.data.name(), row.interpolation.name(), row.fixed_size));
        let curve = |panel: &Vec<&HistogramRow>| panel.iter().any(|row| row.bins != panel[0].bins);
        if panels.iter().any(curve) {
            panels.retain(curve);
        }
        let methods = groups(timed(), |row| row.label()).iter().map(|rows| rows[0].label()).collect();
        let ends = |value: fn(&HistogramRow) -> f64, margin: f64| {
            let values = || panels.iter().flatten().map(|row| value(row));
            [values().fold(f64::INFINITY, f64::min) / margin, values().fold(0.0, f64::max) * margin]
        };
        let axes = [ends(|row| f64::from(row.bins), 1.1), ends(milliseconds, 1.5)];
        Self { panels, methods, axes }
    }

    fn columns(&self) -> usize {
        self.panels.len().clamp(1, COLUMNS)
    }

    fn size(&self) -> (u32, u32) {
        let rows = self.panels.len().div_ceil(self.columns()).max(1);
        (PANEL[0] * self.columns() as u32 + LEGEND, PANEL[1] * rows as u32)
    }

    fn draw<B: DrawingBackend>(&self, page: DrawingArea<B, Shift>) -> Result<(), Failed>
    where
        B::ErrorType: 'static,
    {
        page.fill(&WHITE)?;
        let (width, height) = self.size();
        let (left, right) = page.split_horizontally(width - LEGEND);
        let places = left.split_evenly(((height / PANEL[1]) as usize, self.columns()));
        for (place, panel) in places.iter().zip(&self.panels) {
            self.panel(place, panel)?;
        }
        self.legend(&right)?;
        Ok(page.present()?)
    }

    fn panel<B: DrawingBackend>(&self, place: &DrawingArea<B, Shift>, rows: &[&HistogramRow]) -> Result<(), Failed>
    where
        B::ErrorType: 'static,
    {
        let [[left, right], [bottom, top]] = self.axes;
        let [x, y, z] = rows[0].fixed_size;
        let title = format!("{}, {x}x{y}x{z}, {}", rows[0].data.name(), rows[0].interpolation.name());
        let mut chart = ChartBuilder::on(place)
            .margin(10)
            .caption(title, (FAMILY, 19))
            .x_label_area_size(44)
            .y_label_area_size(62)
            .build_cartesian_2d(left..right, (bottom..top).log_scale().with_key_points(ticks(bottom, top)))?;
        let mut mesh = chart.configure_mesh();
        let number = |value: &f64| format!("{value}");
        mesh.label_style((FAMILY, 15)).axis_desc_style((FAMILY, 16)).light_line_style(TRANSPARENT);
        mesh.x_desc("bins per side").x_label_formatter(&number);
        mesh.y_desc("milliseconds per evaluation").y_label_formatter(&number).draw()?;
        for method in groups(rows.iter(), |row| row.label()) {
            let style = self.style(method[0].label());
            let points: Vec<(f64, f64)> = method.iter().map(|row| (f64::from(row.bins), milliseconds(row))).collect();
            chart.draw_series(points.iter().map(|&point| Circle::new(point, 3, style.filled())))?;
            chart.draw_series(LineSeries::new(points, style))?;
        }
        Ok(())
    }

    fn legend<B: DrawingBackend>(&self, place: &DrawingArea<B, Shift>) -> Result<(), Failed>
    where
        B::ErrorType: 'static,
    {
        for (y, method) in (30..).step_by(22).zip(&self.methods) {
            place.draw(&Rectangle::new([(10, y), (34, y + 4)], self.style(method).filled()))?;
            place.draw(&Text::new(*method, (42, y - 6), (FAMILY, 17)))?;
        }
        Ok(())
    }

    fn style(&self, method: &str) -> ShapeStyle {
        let number = self.methods.iter().position(|other| *other == method).unwrap_or(0);
        Palette99::pick(number).stroke_width(2)
    }
}

/// Returns 1, 2 and 5 of each decade, or 1 alone if these are many.
fn ticks(bottom: f64, top: f64) -> Vec<f64> {
    let decades = bottom.log10().floor() as i32..=top.log10().floor() as i32;
    let of = |steps: &[f64]| -> Vec<f64> {
        let all = decades.clone().flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)));
        all.filter(|tick| (bottom..top).contains(tick)).collect()
    };
    let fine = of(&[1.0, 2.0, 5.0]);
    if fine.len() <= 8 { fine } else { of(&[1.0]) }
}

fn milliseconds(row: &HistogramRow) -> f64 {
    row.timing.map_or(f64::NAN, |timing| 1e3 * timing.seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::results::tests::results;
    use crate::bench::rows::tests::row;

    fn plot() -> Plot {
        let seconds = |bins: u32, factor: f64| Some(factor * f64::from(bins) * 1e-6);
        let rows = [10, 50, 100, 250].into_iter().flat_map(|bins| {
            [("tiled", 0.1), ("mbe-bc", 1.0), ("warp-tagged", 3.0)].map(|(name, f)| row(name, bins, seconds(bins, f)))
        });
        Plot::new(&results(rows.chain([row("byte-lanes", 10, None)]).collect())).unwrap()
    }

    #[test]
    fn every_method_that_was_timed_has_a_line_and_a_name() {
        let svg = plot().svg;
        let document = roxmltree::Document::parse(&svg).unwrap();
        let lines = document.descendants().filter(|node| node.has_tag_name("polyline"));
        // Axes are one wide, series two.
        assert_eq!(lines.filter(|line| line.attribute("stroke-width") == Some("2")).count(), 3, "{svg}");
        for name in ["tiled", "mbe-bc", "warp-tagged", "random, 8x8x8, linear", "bins per side"] {
            assert!(svg.lines().any(|line| line.trim() == name), "{name} is not in\n{svg}");
        }
        assert!(!svg.contains("byte-lanes"));
    }

    #[test]
    fn nothing_timed_is_an_empty_picture() {
        let svg = Plot::new(&results(vec![row("byte-lanes", 10, None)])).unwrap().svg;
        assert!(roxmltree::Document::parse(&svg).is_ok() && !svg.contains("polyline"), "{svg}");
    }

    #[test]
    fn every_axis_has_ticks() {
        assert_eq!(ticks(0.9, 9.0), [1.0, 2.0, 5.0]);
        assert_eq!(ticks(0.015, 2000.0), [0.1, 1.0, 10.0, 100.0, 1000.0]);
    }

    #[test]
    fn the_picture_holds_letters() {
        // This corner of the legend holds nothing but text.
        let png = plot().png;
        let dark =
            (png.width() - LEGEND + 42..png.width()).filter(|&x| (20..50).any(|y| png.get_pixel(x, y).0[0] < 100));
        assert!(dark.count() > 10);
    }
}
