//! What the papers print: the numbers of their tables and texts. None was read off a figure.

use serde::Serialize;

use super::choices::Paper;

/// A line of a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Quote {
    pub paper: &'static str,
    /// Table or section.
    pub place: &'static str,
    pub device: &'static str,
    pub says: &'static str,
}

const LEDIG: &str = "Ledig and Chefd'hotel";
const SHAMS: &str = "Shams and others 2009";
const LIN: &str = "Lin and Medioni";
/// Systems A and B of Ledig, table 1.
const BOTH: &str = "GeForce 8800 GTX / Tesla C1060";
const GTX_8800: &str = "GeForce 8800 GTX, and one core of a quad-core Xeon 2.33 GHz";
const C1060: &str = "Tesla C1060";
const GTX_280: &str = "GTX 280";

const fn quote(paper: &'static str, place: &'static str, device: &'static str, says: &'static str) -> Quote {
    Quote { paper, place, device, says }
}

#[rustfmt::skip]
const QUOTES: [Quote; 20] = [
    quote(LEDIG, "1", BOTH, "sort-count performs similar to warp-tagged around 75 x 75 bins"),
    quote(LEDIG, "3.1", BOTH, "normalising and NMI at 100 x 100 bins, without the histogram: 0.19 / 0.14 ms"),
    quote(LEDIG, "3.1", C1060, "mbe-bc takes up to 35 % less time than warp-tagged on real images"),
    quote(LEDIG, "3.1", C1060, "above 140 x 140 bins mbe-bc with tricubic is faster than warp-tagged with trilinear"),
    quote(LEDIG, "table 3", BOTH, "mbe-bc saves 19.2 / 24.4 % (random, trilinear, 10 to 250 bins)"),
    quote(LEDIG, "table 3", BOTH, "mbe-bc saves 10.9 / 13.6 % (constant, trilinear), 10.7 / 19.6 % (tricubic), 100 bins, sides 16 to 256"),
    quote(LEDIG, "table 3", BOTH, "mbe-bc saves 17.3 / 22.7 % (brain, trilinear), 16.0 / 28.3 % (tricubic), 10 to 250 bins"),
    quote(LEDIG, "table 3", BOTH, "mbe-stl saves 33.0 / 31.6 % (constant, trilinear), 53.0 / 52.1 % (tricubic), 100 bins, sides 16 to 256"),
    quote(LEDIG, "table 3", BOTH, "mbe-stl saves 31.4 / 30.9 % (brain, trilinear), 45.9 / 46.6 % (tricubic), 10 to 250 bins"),
    quote(LEDIG, "table 4", C1060, "rigid registration, 44 x 512 x 512: mbe-bc 1.0 s (trilinear), 1.6 s (tricubic); mbe-stl 1.6 and 3.2 s"),
    quote(LEDIG, "table 4", "2 Xeon QuadCore 2.5 GHz", "rigid registration, 44 x 512 x 512: 1.5 s (trilinear), 15.9 s (tricubic)"),
    quote(LEDIG, "table 4", C1060, "nonrigid registration, 128^3 and 256^3: mbe-bc 2.8 and 23.1 s; mbe-stl 3.1 and 25.0 s"),
    quote(LEDIG, "table 4", "2 Xeon QuadCore 2.5 GHz", "nonrigid registration, 128^3 and 256^3: 9.3 and 127.4 s"),
    quote(SHAMS, "3.6", GTX_280, "transforming an image of the Vanderbilt database: less than 1 ms"),
    quote(SHAMS, "4.1.1", "16 KB of shared memory", "warp-tagged with 4 warps and 10,000 bins in all: 10 launches"),
    quote(SHAMS, "4.1.3", "GTX 8800 or GTX 280", "sort-count performs well from 100 x 100 bins on (figure 7 prints no numbers)"),
    quote(SHAMS, "4.2", GTX_280, "registering a Vanderbilt pair: less than 1 s on average, more than 50 times as fast as MIRIT on a CPU"),
    quote(SHAMS, "table 1", "GTX 8800 or GTX 280", "median error, mm: CT-T1 1.48, CT-T2 1.44, CT-PD 1.48, PET-T1 3.99, PET-T2 3.38, PET-PD 3.78"),
    quote(LIN, "5", GTX_8800, "Viola's mutual information of 1000 samples: 170 times as fast as one CPU core, its derivatives 400 times"),
    quote(LIN, "5", GTX_8800, "less than 3 ms, nearly whatever the number of samples"),
];

/// Returns what a paper prints.
pub fn quotes(paper: Paper) -> Vec<Quote> {
    let of = match paper {
        Paper::LedigFigure3 | Paper::LedigTable3 => LEDIG,
        Paper::ShamsFigure7 => SHAMS,
        Paper::LinSection5 => LIN,
    };
    QUOTES.into_iter().filter(|quote| quote.paper == of).collect()
}
