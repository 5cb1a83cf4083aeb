//! Says in words whether a result can be used.

use crate::report::Warning;
use mireg::Check;

/// The verdict, which is at the top of a page.
pub struct Verdict {
    /// Its colour: `passed`, `warned` or `failed`.
    pub class: &'static str,
    pub mark: &'static str,
    pub headline: &'static str,
    pub advice: &'static str,
}

impl Verdict {
    pub fn new(warnings: &[Warning]) -> Self {
        if warnings.iter().any(|warning| warning.grave) {
            return Self {
                class: "failed",
                mark: "✕",
                headline: "Failed: do not use this result",
                advice: "It is shown so that you can see what went wrong.",
            };
        }
        let advice = "The checks do not find every error: look below whether edges, ventricles, vessels or other landmarks coincide.";
        match warnings {
            [] => Self { class: "passed", mark: "✓", headline: "Passed: no check found anything wrong", advice },
            _ => Self { class: "warned", mark: "!", headline: "Passed with warnings: look before you use it", advice },
        }
    }
}

/// Returns what to do about a check that was not passed.
pub fn advice(warning: &Warning) -> &'static str {
    match warning.check {
        Check::Overlap => {
            "Check that both images show the same part of the body and that their headers are right, or start from a rough alignment."
        }
        Check::Information => "Check that the images are of the same patient and not mostly empty; try a mask.",
        Check::Metric => "Try another start (--init search), or keep the headers' alignment.",
        Check::Rotation => {
            "Compare with how the patient lay; try another start (--init), or a transform with fewer degrees of freedom."
        }
        Check::Volume => {
            "Check the voxel sizes in both headers; try another start (--init), or a transform with fewer degrees of freedom."
        }
        Check::Rival => {
            "More than one alignment explains the images: start from a rough alignment by hand (--init FILE) or use a mask."
        }
        Check::Place => {
            "Look at the overlay. The background may have matched better than the anatomy: give masks of the foreground, or a rough alignment to start from."
        }
        Check::Mirrored => {
            "Check which side is left in both images, and correct the header that has it wrong: no rigid or affine registration can."
        }
        Check::Start => "Run mireg register, look at its report, and give a correct transform as --start.",
        Check::Folded => {
            "Where the Jacobian determinant is 0 or less, the field has no inverse and means nothing: see below where that is."
        }
        Check::Stretched => {
            "See below where that is: it may be right where one image shows what the other does not, such as a resection."
        }
        Check::Bent => {
            "See below where volumes change most. Use a larger --smooth, or the linear registration alone: images with little in common, such as PET or SPECT with CT or MR, cannot guide a local deformation."
        }
        Check::Unmatched => {
            "Look there at the overlay. It may be right where one image shows what the other does not, such as a resection; otherwise a part moved further than was found: guide it by landmarks (--fixed-points, --moving-points)."
        }
        Check::NoRise => "Check the initial alignment; try another --force, or begin with coarser --levels.",
        Check::Landmarks => {
            "Check that both files list the same landmarks in the same order and frame, and look where the images place them."
        }
        Check::Inverse => "Do not transform points or labels by the inverse if errors of a voxel matter.",
    }
}
