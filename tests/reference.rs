//! Checks that the backends agree with the independent f64 reference, and the reference with results worked out by
//! hand.

mod chain;
mod counts;
mod itk;
mod known;
mod mattes;
mod partial_volume;
mod real;
mod scene;
mod viola;

use approx::{abs_diff_ne, relative_eq};
use gpu::math::entropy::Entropies;
use libtest_mimic::Trial;
use mireg::reference::Similarity;

pub fn tests() -> Vec<Trial> {
    [
        known::tests(),
        counts::tests(),
        chain::tests(),
        partial_volume::tests(),
        mattes::tests(),
        itk::tests(),
        real::tests(),
        viola::tests(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Fails unless both have about the same number of counts and every number agrees to `tolerance`. The tolerance is
/// relative for numbers above 1 nat and absolute for smaller ones, because an entropy is a difference of numbers of
/// about ln N. The NMI has the relative errors of the sums of which it is computed.
fn agree(found: &Entropies, expected: &Similarity, tolerance: f64, overlap: u64) -> Result<(), String> {
    let nats = [
        ("H(F)", found.fixed, expected.fixed_entropy),
        ("H(M)", found.moving, expected.moving_entropy),
        ("H(F, M)", found.joint, expected.joint_entropy),
        ("MI", found.mi, expected.mi),
    ];
    for (name, found, expected) in nats {
        if !relative_eq!(found, expected, epsilon = tolerance, max_relative = tolerance) {
            return Err(format!("{name} is {found:e}, not {expected:e}"));
        }
    }
    let ratios =
        [("eta2(M|F)", found.ratios[0], expected.ratios[0]), ("eta2(F|M)", found.ratios[1], expected.ratios[1])];
    for (name, found, expected) in ratios {
        if abs_diff_ne!(found, expected, epsilon = tolerance) {
            return Err(format!("{name} is {found:e}, not {expected:e}"));
        }
    }
    let of_nmi = match expected.joint_entropy {
        0.0 => 0.0,
        joint => tolerance * expected.nmi / joint.min(1.0),
    };
    if abs_diff_ne!(found.nmi, expected.nmi, epsilon = of_nmi) {
        return Err(format!("NMI is {:e}, not {:e}", found.nmi, expected.nmi));
    }
    // The tolerance follows from that of the NMI, since ECC = 2 - 2 / NMI.
    if abs_diff_ne!(found.ecc(), expected.ecc, epsilon = 2.0 * of_nmi) {
        return Err(format!("ECC is {:e}, not {:e}", found.ecc(), expected.ecc));
    }
    if found.counts.abs_diff(expected.overlap) > overlap {
        return Err(format!("{} samples overlap, not {}", found.counts, expected.overlap));
    }
    Ok(())
}
