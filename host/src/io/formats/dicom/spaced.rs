//! Checks the distances between slices.

/// The largest relative deviation of a distance between neighbouring slices from the usual one.
const UNEVEN: f64 = 0.05;
/// Slices closer than this, in mm, are at the same position.
const DOUBLE: f64 = 1e-3;
/// The precision to which positions are printed in files, mm.
pub const PRINTED: f64 = 0.02;

/// The position of a slice along the normal, mm, and its name in messages.
type Height<'a> = (f64, &'a str);

/// Checks that no two of the ordered slices are at the same position.
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
        false => format!(
            "has two slices at the same position, {there}; move the files of one volume to a folder of their own"
        ),
    })
}

/// Checks that the ordered slices, all at different positions, are evenly spaced.
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
