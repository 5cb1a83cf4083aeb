//! Lends runs device memory that already holds the voxels of an image.

use crate::Volume;
use cuda_std::global::DeviceSlice;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The images whose device memory is lent at present.
pub struct Loans(Mutex<Vec<Arc<Lent>>>);

struct Lent {
    /// The address of the voxels on the host. They are borrowed during the loan, so nothing else can have this address.
    host: usize,
    device: DeviceSlice<f32>,
}

impl Loans {
    pub const fn none() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The device memory that holds these voxels, if it is lent.
    pub fn of(&self, voxels: &[f32]) -> Option<DeviceSlice<f32>> {
        let lent = self.all();
        let found = lent.iter().find(|lent| (lent.host, lent.device.len()) == (voxels.as_ptr() as usize, voxels.len()));
        found.map(|lent| lent.device)
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Lent>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The voxels of an image in the memory of a device.
pub struct Resident<'d> {
    loans: &'d Loans,
    voxels: DeviceSlice<f32>,
    _memory: Box<dyn Send + 'd>,
}

impl<'d> Resident<'d> {
    /// Takes ownership of `memory`, in which `voxels` lie.
    pub fn new(loans: &'d Loans, voxels: DeviceSlice<f32>, memory: impl Send + 'd) -> Self {
        Self { loans, voxels, _memory: Box::new(memory) }
    }

    /// Does `work`. All runs on the device meanwhile that use the voxels of `volume` find them in its memory and do not
    /// upload them again.
    pub fn lending<T>(&self, volume: &Volume, work: impl FnOnce() -> T) -> T {
        let lent = Arc::new(Lent { host: volume.voxels.as_ptr() as usize, device: self.voxels });
        self.loans.all().push(Arc::clone(&lent));
        let _loan = Loan { loans: self.loans, lent };
        work()
    }
}

/// Ends the loan when dropped, also if the work panics.
struct Loan<'d> {
    loans: &'d Loans,
    lent: Arc<Lent>,
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        self.loans.all().retain(|lent| !Arc::ptr_eq(lent, &self.lent));
    }
}
