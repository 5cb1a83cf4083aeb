//! How far apart slices are.

/// Most by which a distance of neighbouring slices may differ from the usual one, relative to it.
const UNEVEN: f64 = 0.05;
/// Slices closer than this, mm, are at one place.
const DOUBLE: f64 = 1e-3;
/// Positions are printed to this, mm.
pub const PRINTED: f64 = 0.02;

/// Height along the normal, mm, and what messages call the slice.
type Height<'a> = (f64, &'a str);

/// Whether no two of the ordered slices are at one place.
pub fn once(heights: &[Height]) -> Result<(), String> {
    let Some(pair) = heights.windows(2).find(|pair| step(pair) < DOUBLE) else { return Ok(()) };
    let places: Vec<_> = heights.chunk_by(|a, b| b.0 - a.0 < DOUBLE).map(<[_]>::len).collect();
    let there = there(pair);
    let volumes = places.len() > 1 && places.iter().all(|&count| count == places[0]);
    Err(match volumes {
        true => format!(
            "holds {} slices at each of {} places, such as {there}, as of several times, b-values or echoes; convert it to \
             NIfTI, for example with dcm2niix, and give one volume",
            places[0],
            places.len()
        ),
        false => format!("has two slices at one place, {there}; move the files of one volume to a folder of their own"),
    })
}

/// Whether neighbours among the ordered slices, each at its own place, are as far apart as most.
pub fn evenly(heights: &[Height]) -> Result<(), String> {
    let mut steps: Vec<f64> = heights.windows(2).map(step).collect();
    steps.sort_by(f64::total_cmp);
    let usual = steps[(steps.len() - 1) / 2];
    let odd = |pair: &&[Height]| (step(pair) - usual).abs() > (UNEVEN * usual).max(PRINTED);
    let Some(pair) = heights.windows(2).find(odd) else { return Ok(()) };
    let missing = (step(pair) / usual).round() - 1.0;
    let what = if missing > 0.0 { format!("about {missing} missing") } else { "uneven".into() };
    Err(format!(
        "its slices {} are {:.2} mm apart and others {usual:.2} mm ({what}); complete the series, or resample it evenly",
        there(pair),
        step(pair)
    ))
}

fn step(pair: &[Height]) -> f64 {
    pair[1].0 - pair[0].0
}

fn there(pair: &[Height]) -> String {
    let [(below, one), (above, other)] = [pair[0], pair[1]];
    format!("at {below:.2} mm ({one}) and {above:.2} mm ({other})")
}
