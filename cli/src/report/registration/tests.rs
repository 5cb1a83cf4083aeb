use super::*;
use crate::invocation::Invocation;
use crate::report::Run;
use glam::DVec3;
use mireg::Check;
use mireg::image::{Intensities, IntensityRange};
use mireg::registration::RegistrationSeconds;
use mireg::transform::{self, Dimension, Linear};
use mireg::{Geometry, PixelType};
use rayon::prelude::*;
use std::path::Path;
use std::time::Instant;

/// Returns a volume of noise, which no encoder can compress.
fn noise(size: [usize; 3]) -> Volume {
    let geometry = Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO);
    let voxel = |n: usize| {
        ((n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40)
            as f32
    };
    Volume { geometry, voxels: (0..geometry.voxels()).into_par_iter().map(voxel).collect(), pixel: PixelType::F32 }
}

/// Returns the page of a registration of a volume with itself, with these doubts and this file name.
fn page_of(volume: &Volume, doubts: Vec<Doubt>, file: &str) -> String {
    page_from("header", volume, doubts, file)
}

/// As [`page_of`], with the name of the initialisation.
fn page_from(from: &'static str, volume: &Volume, doubts: Vec<Doubt>, file: &str) -> String {
    let counts: Vec<u32> = noise([1024, 1024, 1]).voxels.iter().map(|&value| value as u32).collect();
    let dimension = Dimension::of(&volume.geometry);
    let found = Registration {
        transform: Linear::identity(transform::Kind::Rigid, dimension, volume.geometry.centre()),
        intensities: [Intensities::of(volume, IntensityRange::Auto); 2],
        moved: None,
        start: Evaluation::default(),
        end: Evaluation::default(),
        values: [0.0; 2],
        histograms: [counts.clone(), counts],
        binned: [(-4.0, 4.0); 2],
        started: Started { from, distance_mm: 0.0, candidates: 1 },
        levels: vec![],
        place: None,
        elsewhere: None,
        better_affine: None,
        rivals: Vec::new(),
        doubts,
        seconds: RegistrationSeconds::default(),
        histogram: "rows",
        backend: "cpu",
        device: "1 thread".into(),
    };
    let options = Options::default();
    let path = Path::new(file);
    let invocation = Invocation::new(Instant::now(), vec!["mireg".into()]);
    let images = [volume; 2];
    let run = Run { invocation: &invocation, fixed: path, moving: path, images, notes: &[], read: 0.0, open: 0.0 };
    let registered = Registered { found: &found, options: &options };
    let pictures = registered.draw(images).unwrap();
    registered.page(&run.report(&registered, &run.spent(0.0)), images, &pictures).unwrap()
}

#[test]
fn what_a_file_is_called_is_text() {
    let page = page_of(&noise([4, 4, 4]), vec![], r#"a/<script>alert("1")<b>&'.nii"#);
    assert!(!page.contains("<script>alert") && !page.contains(r#"alert("1")"#));
    assert_eq!(page.matches("&#60;script&#62;alert(&#34;1&#34;)&#60;b&#62;&#38;&#39;.nii").count(), 6);
}

#[test]
fn the_verdict_comes_first_with_every_doubt() {
    let volume = noise([4, 4, 4]);
    let doubt = |check: Check, grave| Doubt { check, message: format!("something about {check}").into(), grave };
    let first = |doubts| {
        let page = page_of(&volume, doubts, "a.nii");
        page[page.find("<header").unwrap()..page.find("</header>").unwrap()].to_owned()
    };
    assert!(first(vec![]).contains("Passed: no check found anything wrong"));
    let warned = first(vec![doubt(Check::Overlap, false), doubt(Check::Folded, false)]);
    assert!(
        warned.contains("Passed with warnings") && warned.contains("something about overlap. Check that both"),
        "{warned}"
    );
    assert!(warned.contains("something about folded. Where the Jacobian"), "{warned}");
    assert!(first(vec![doubt(Check::Overlap, true)]).contains("Failed: do not use"));
}

#[test]
fn joint_histograms_are_labelled_with_what_they_are_of() {
    let axes = |from| {
        let page = page_from(from, &noise([40, 40, 1]), vec![], "a.png");
        let figure = &page[page.find("Joint histograms</h2>").unwrap()..];
        figure[..figure.find("</section>").unwrap()].to_owned()
    };
    let (intensities, contrasts) = (axes("search"), axes("contrast"));
    assert!(intensities.contains("moving intensity") && !intensities.contains("contrast"), "{intensities}");
    assert!(contrasts.contains("moving contrast") && !contrasts.contains("intensit"), "{contrasts}");
    for axes in [intensities, contrasts] {
        assert!(
            axes.contains(r#"<span class="left">-4</span>"#) && axes.contains(r#"<span class="high">4</span>"#),
            "{axes}"
        );
    }
}

#[test]
fn a_page_can_be_mailed_whatever_the_images() {
    for (size, views) in [([256, 256, 256], 3), ([1000, 900, 1], 1)] {
        let page = page_of(&noise(size), vec![], "a.nii");
        assert!(page.len() < 1_500_000, "{} bytes for {size:?}", page.len());
        assert_eq!(page.matches(r#"class="stack""#).count(), views);
    }
}
