//! Whether a result can be used, in sentences.

use mireg::registration::Doubt;

/// The first thing that is read.
pub struct Verdict {
    /// Its colour: `passed`, `warned` or `failed`.
    pub class: &'static str,
    pub mark: &'static str,
    pub headline: &'static str,
    pub advice: &'static str,
}

impl Verdict {
    pub fn new(doubts: &[Doubt]) -> Self {
        if doubts.iter().any(|doubt| doubt.grave) {
            return Self {
                class: "failed",
                mark: "✕",
                headline: "Failed: do not use this result",
                advice: "It is shown so that you can see what went wrong.",
            };
        }
        let advice =
            "Checks do not see everything: make sure below that edges and ventricles, vessels or other landmarks meet.";
        match doubts {
            [] => {
                Self { class: "passed", mark: "✓", headline: "Passed: no check speaks against this result", advice }
            }
            _ => Self { class: "warned", mark: "!", headline: "Passed with warnings: look before you use it", advice },
        }
    }
}

/// What to do about a doubt.
pub fn advice(doubt: &Doubt) -> &'static str {
    match doubt.name {
        "overlap" => {
            "Check that both images show the same part of the body and that their headers are right; try --init search."
        }
        "information" => "Check that the images are of the same patient and not mostly empty; try a mask or more bins.",
        "metric" => "Try another start (--init search), or keep the headers' alignment.",
        "rotation" | "volume" => {
            "Compare with how the patient lay; try another start (--init), or fewer degrees of freedom (--dof)."
        }
        "rival" => {
            "More than one alignment explains the images: start from a rough alignment by hand (--init FILE) or use a mask."
        }
        "start" => "Run mireg register, look at its report, and give what is right as --start.",
        _ => "Look at the pictures below before you use the result.",
    }
}
