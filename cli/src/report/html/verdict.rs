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
        let advice =
            "Checks do not see everything: make sure below that edges and ventricles, vessels or other landmarks meet.";
        match warnings {
            [] => {
                Self { class: "passed", mark: "✓", headline: "Passed: no check speaks against this result", advice }
            }
            _ => Self { class: "warned", mark: "!", headline: "Passed with warnings: look before you use it", advice },
        }
    }
}

/// Returns what to do about a check that was not passed.
pub fn advice(warning: &Warning) -> &'static str {
    match warning.check {
        Check::Overlap => {
            "Check that both images show the same part of the body and that their headers are right; try --init search."
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
            "Look at the overlay. What surrounds the images may have agreed better than they did: give masks of what is image, or try mireg mesh."
        }
        Check::Mirrored => {
            "See which side is the left one in both images, and correct the header of the image that has it wrong: no rigid or affine map does."
        }
        Check::Start => "Run mireg register, look at its report, and give what is right as --start.",
        Check::Folded => {
            "Where the Jacobian is 0 or less, the field has no inverse and means nothing: see where that is below."
        }
        Check::Stretched => {
            "See below where that is: it may be right where one image shows what the other does not, such as a resection."
        }
        Check::Bent => {
            "See below where volumes change most. Ask for a stiffer field (--smooth), or take the linear registration alone: images with little in common, as PET and SPECT have with CT and MR, cannot guide a soft one."
        }
        Check::Unmatched => {
            "Look there at the overlay. It may be right where one image shows what the other does not, such as a resection; else a part slid along another by more than was found: landmarks (--fixed-points, --moving-points) lead it."
        }
        Check::NoRise => "Check the start, and try another --force or coarser --levels to begin with.",
        Check::Landmarks => {
            "See whether both files list the same landmarks in the same order and frame, and look where the images lead instead."
        }
        Check::Inverse => "Do not take points or labels back through the inverse where a voxel matters.",
    }
}
