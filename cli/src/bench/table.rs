//! What was measured, for people: a block an image and interpolation, a column a size and bin count, a line a method.

use super::choices::Axis;
use super::compare::{Over, Reduction};
use super::gaussian;
use super::measure::Timing;
use super::papers::Quote;
use super::results::{Numbers, Results, Row};
use super::viola;
use super::windows;

/// A quantity of a block: its name and how it is read off a timing.
type Quantity = (&'static str, fn(&Timing) -> Option<f64>);

const QUANTITIES: [Quantity; 3] = [
    ("one evaluation", |timing| Some(timing.seconds)),
    ("one of a batch", |timing| Some(timing.batch_seconds)),
    ("its histogram", |timing| timing.histogram_seconds),
];

/// Everything as text.
pub fn text(results: &Results) -> String {
    let blocks = blocks(&results.rows).into_iter().map(|rows| block(&rows));
    let parts = [head(results)].into_iter().chain(blocks).chain([
        windows::text(&results.mattes),
        results.numbers.map_or(String::new(), counting),
        viola::table(&results.viola),
        gaussian::text(&results.gaussian),
        reductions(&results.reductions),
        quotes(&results.papers),
    ]);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

fn counting(Numbers { numbers, bins, seconds }: Numbers) -> String {
    let microseconds = 1e6 * seconds;
    format!(
        "Counting alone, from {numbers} random 16-bit numbers, {bins} bins a side: {microseconds:.1} microseconds\n"
    )
}

fn head(results: &Results) -> String {
    let axis = match results.axis {
        Axis::Oblique => "(1, 1, 1)",
        Axis::Z => "z",
    };
    let Results { version, backend, device, batch, radians, .. } = results;
    format!(
        "mireg {version} on {backend} ({device})\n\
         A rotation of {radians} rad about {axis}; medians; a batch is {batch} transforms; - where a method cannot do it.\n"
    )
}

/// Rows of the same images and interpolation, in the order in which they first come.
pub fn blocks(rows: &[Row]) -> Vec<Vec<&Row>> {
    groups(rows.iter(), |row| (row.data.name(), row.interpolation.name()))
}

/// Items with the same key together, in the order in which keys first come.
pub fn groups<T, K: PartialEq>(items: impl Iterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for item in items {
        let key = key(&item);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn block(rows: &[&Row]) -> String {
    let columns = groups(rows.iter().copied(), |row| (row.fixed_size, row.bins));
    let first = rows[0];
    let one_size = rows.iter().all(|row| row.fixed_size == first.fixed_size);
    let fastest = rows.iter().filter_map(|row| Some(row.timing?.seconds)).fold(f64::INFINITY, f64::min);
    let (unit, scale) = if fastest < 1e-3 { ("microseconds", 1e6) } else { ("milliseconds", 1e3) };

    let size = if one_size { format!(", {} voxels", dimensions(first.fixed_size)) } else { String::new() };
    let mut text = format!("{}{size}, {}: {unit}\n", first.data.name(), first.interpolation.name());
    let heading = |name, of: fn(&Row) -> String| line(name, "", columns.iter().map(|column| of(column[0])));
    if !one_size {
        text += &heading("voxels", |row| dimensions(row.fixed_size));
    }
    text += &heading("bins a side", |row| row.bins.to_string());
    let methods = groups(rows.iter().copied(), |row| row.label());
    for (number, (name, read)) in QUANTITIES.into_iter().enumerate() {
        // Devices without a clock of their own lack a quantity.
        let known = rows.iter().any(|row| row.timing.as_ref().is_some_and(|timing| read(timing).is_some()));
        if number > 0 && !known {
            continue;
        }
        for (line_number, method) in methods.iter().enumerate() {
            let value =
                |column: &Vec<&Row>| read(column.iter().find(|row| row.label() == method[0].label())?.timing.as_ref()?);
            let shown = |column| value(column).map_or("-".into(), |seconds| format!("{:.1}", seconds * scale));
            text += &line(if line_number == 0 { name } else { "" }, method[0].label(), columns.iter().map(shown));
        }
    }
    text + &chosen(rows)
}

/// What `auto` stood for.
fn chosen(rows: &[&Row]) -> String {
    let auto = rows.iter().filter(|row| row.label() == "auto");
    let names: Vec<String> = auto.filter_map(|row| Some(format!("{} at {}", row.counted_by?, row.bins))).collect();
    if names.is_empty() { String::new() } else { format!("  auto took {} bins\n", names.join(", ")) }
}

pub fn line(name: &str, method: &str, values: impl Iterator<Item = String>) -> String {
    let values: String = values.map(|value| format!(" {value:>8}")).collect();
    format!("  {name:<14} {method:<18}{values}\n")
}

pub fn dimensions([x, y, z]: [usize; 3]) -> String {
    if x == y && y == z { format!("{x}^3") } else { format!("{x}x{y}x{z}") }
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
    let places = groups(quotes.iter(), |quote| (quote.paper, quote.place, quote.device));
    ["What the papers print\n".into()].into_iter().chain(places.into_iter().map(place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::results::tests::{results, row};

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
            "  bins a side                             64      256",
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
