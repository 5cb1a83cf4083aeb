//! The arguments of the intensity ranges.

use clap::Args;
use mireg::image::IntensityRange;

#[derive(Args)]
pub struct Ranges {
    /// Intensity range of FIXED: LO,HI; full for all intensities; auto for all but outliers, such as metal or hot voxels. Intensities
    /// beyond the range count as its ends
    #[arg(long, value_name = "LO,HI", default_value = "auto", value_parser = range, allow_hyphen_values = true, help_heading = "Intensities")]
    pub fixed_range: IntensityRange,
    /// Intensity range of MOVING, likewise
    #[arg(long, value_name = "LO,HI", default_value = "auto", value_parser = range, allow_hyphen_values = true, help_heading = "Intensities")]
    pub moving_range: IntensityRange,
}

fn range(text: &str) -> Result<IntensityRange, String> {
    let between = || {
        let (low, high) = text.split_once(',')?;
        let [low, high] = [low, high].map(|end| end.trim().parse::<f32>().ok().filter(|end| end.is_finite()));
        Some((low?, high?)).filter(|(low, high)| low < high)
    };
    match text {
        "auto" => Ok(IntensityRange::Auto),
        "full" => Ok(IntensityRange::Full),
        _ => {
            let (low, high) =
                between().ok_or("auto, full and two numbers are possible, the smaller one first, such as -160,240")?;
            Ok(IntensityRange::Between(low, high))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_names_or_two_numbers() {
        assert_eq!(range("auto"), Ok(IntensityRange::Auto));
        assert_eq!(range("full"), Ok(IntensityRange::Full));
        assert_eq!(range("-160, 240.5"), Ok(IntensityRange::Between(-160.0, 240.5)));
        for text in ["", "1", "2,1", "1,1", "nan,1", "0,inf", "1,2,3", "a,b"] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
