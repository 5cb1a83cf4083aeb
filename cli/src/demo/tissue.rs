//! The intensities of each tissue in CT and MR.

/// A material, or a mixture of materials, as both scanners show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tissue {
    /// Attenuation, Hounsfield units.
    pub hu: f32,
    /// T1-weighted signal; 1 for fat.
    pub t1: f32,
}

const fn tissue(hu: f32, t1: f32) -> Tissue {
    Tissue { hu, t1 }
}

pub const AIR: Tissue = tissue(-1000.0, 0.0);
pub const MUSCLE: Tissue = tissue(55.0, 0.42);
pub const FAT: Tissue = tissue(-95.0, 1.0);
pub const BONE: Tissue = tissue(1250.0, 0.04);
pub const MARROW: Tissue = tissue(420.0, 0.6);
pub const DISC: Tissue = tissue(90.0, 0.35);
pub const CSF: Tissue = tissue(6.0, 0.16);
pub const GREY: Tissue = tissue(39.0, 0.53);
pub const WHITE: Tissue = tissue(28.0, 0.78);
pub const FALX: Tissue = tissue(65.0, 0.3);
pub const VITREOUS: Tissue = tissue(10.0, 0.13);
pub const LENS: Tissue = tissue(75.0, 0.45);
pub const LESION: Tissue = tissue(16.0, 0.3);
pub const ENHANCING: Tissue = tissue(52.0, 0.98);
pub const CALCIFIED: Tissue = tissue(220.0, 0.35);

impl Tissue {
    /// Replaces the fraction `coverage`, 0 to 1, by `other`.
    pub fn paint(&mut self, other: Tissue, coverage: f32) {
        self.hu += (other.hu - self.hu) * coverage;
        self.t1 += (other.t1 - self.t1) * coverage;
    }
}
