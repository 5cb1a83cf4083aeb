//! The results as text.

mod gaussian;
mod histogram;
mod layout;
mod mattes;
mod overview;
pub mod plot;
mod viola;

use super::choices::Axis;
use super::compare::{Over, Reduction};
use super::papers::Quote;
use super::results::Results;
use layout::groups;

/// The end of an overview.
const MORE: &str = "For more: mireg bench --estimator histogram, viola or gaussian; see mireg bench --help\n";

/// Returns all results as text.
pub fn text(results: &Results) -> String {
    if results.overview {
        return [head(results), overview::text(results), MORE.to_owned()].join("\n");
    }
    let parts = [head(results)].into_iter().chain(histogram::blocks(&results.rows)).chain([
        mattes::text(&results.mattes),
        results.numbers.map_or(String::new(), histogram::counting),
        viola::text(&results.viola),
        gaussian::text(&results.gaussian),
        reductions(&results.reductions),
        quotes(&results.papers),
    ]);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

fn head(results: &Results) -> String {
    let Results { version, backend, device, batch, radians, .. } = results;
    let place = format!("mireg {version} on {backend} ({device})\n");
    if results.overview {
        return place;
    }
    let axis = match results.axis {
        Axis::Oblique => "(1, 1, 1)",
        Axis::Z => "z",
    };
    format!(
        "{place}\
         A rotation of {radians} rad about {axis}; medians; a batch is {batch} transforms; - where a method cannot do it.\n"
    )
}

fn reductions(found: &[Reduction]) -> String {
    let line = |reduction: &Reduction| {
        let Reduction { new, old, data, over, interpolation, cases, percent, paper } = reduction;
        let over = match over {
            Over::Bins => "bins",
            Over::Size => "sizes",
        };
        let case = format!("{}, {}, {cases} {over}", data.name(), interpolation.name());
        let paper = paper.map_or("-".into(), |[a, b]| format!("{a:.1} / {b:.1} %"));
        format!("  {:<38} {case:<32} {percent:>6.1} %   {paper:>13}\n", format!("{new} instead of {old}"))
    };
    if found.is_empty() {
        return String::new();
    }
    let title = "Time saved on average, here and in Ledig table 3 (GeForce 8800 GTX / Tesla C1060)\n";
    [title.into()].into_iter().chain(found.iter().map(line)).collect()
}

fn quotes(quotes: &[Quote]) -> String {
    let place = |quotes: Vec<&Quote>| {
        let Quote { paper, place, device, .. } = quotes[0];
        let lines: String = quotes.iter().map(|quote| format!("    {}\n", quote.says)).collect();
        format!("  {paper}, {place}, {device}:\n{lines}")
    };
    if quotes.is_empty() {
        return String::new();
    }
    let places = groups(quotes.iter(), |quote| (quote.paper, quote.place, quote.device));
    ["What the papers print\n".into()].into_iter().chain(places.into_iter().map(place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::results::tests::results;
    use crate::bench::rows::tests::row;

    #[test]
    fn a_block_has_a_line_a_method_and_quantity_and_a_dash_where_it_cannot() {
        let rows = vec![
            row("tiled", 64, Some(25.04e-6)),
            row("mbe", 64, Some(3e-3)),
            row("tiled", 256, Some(40e-6)),
            row("mbe", 256, None),
        ];
        let text = text(&results(rows));
        let block: Vec<&str> = text.lines().skip(3).take(8).collect();
        let expected = [
            "random, 8^3 voxels, linear: microseconds",
            "  bins per side                           64      256",
            "  one evaluation tiled                  25.0     40.0",
            "                 mbe                  3000.0        -",
            "  one of a batch tiled                  12.5     20.0",
            "                 mbe                  1500.0        -",
            "  its histogram  tiled                   6.3     10.0",
            "                 mbe                   750.0        -",
        ];
        assert_eq!(block, expected, "{text}");
    }

    #[test]
    fn the_cpu_has_no_clock_of_its_own() {
        let text = text(&results(vec![row("rows", 64, Some(0.012))]));
        assert!(text.contains("milliseconds") && text.contains("12.0") && !text.contains("its histogram"), "{text}");
    }
}
