//! The CPU backend.

pub(crate) use super::flow::cpu::{MiddleFields, Side, of as flow_of};
pub use super::gaussian::cpu::smooth;
pub use super::histogram::cpu::entropies;

use super::flow::cpu::FlowOnCpu;
use super::flow::{Flow, FlowPair};
use super::histogram::cpu::HistogramOnCpu;
use super::histogram::{Evaluator, HistogramMethod, Pair};
use super::interface::Backend;
use super::mattes::cpu::MattesOnCpu;
use super::mattes::{MattesPair, SmoothEvaluator};
use super::search::Search;
use super::viola::cpu::ViolaOnCpu;
use super::viola::{ViolaEvaluator, ViolaPair};
use super::{gaussian, resample};
use crate::{Result, Volume};
use gpu::math::interpolate::Interpolator;
use gpu::params::Affine;

/// The CPU backend. It works on the thread pool that it is called from (see [`crate::threads`]).
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu;

impl Backend for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn device(&self) -> String {
        match rayon::current_num_threads() {
            1 => "1 thread".into(),
            n => format!("{n} threads"),
        }
    }

    fn load<'a>(&'a self, pair: Pair<'a>, method: HistogramMethod) -> Result<Box<dyn Evaluator + 'a>> {
        Ok(Box::new(HistogramOnCpu::new(pair, method)?))
    }

    fn load_mattes<'a>(&'a self, pair: MattesPair<'a>) -> Result<Box<dyn SmoothEvaluator + 'a>> {
        Ok(Box::new(MattesOnCpu::new(pair)?))
    }

    fn load_viola<'a>(&'a self, pair: ViolaPair<'a>) -> Result<Box<dyn ViolaEvaluator + 'a>> {
        Ok(Box::new(ViolaOnCpu::new(pair)?))
    }

    fn flow<'a>(&'a self) -> Result<Box<dyn Flow + 'a>> {
        Ok(Box::new(FlowOnCpu::default()))
    }

    fn search(&self, search: &Search) -> Result<Vec<f32>> {
        Ok(super::search::cpu::displacements(search))
    }

    fn flow_pair<'a>(&'a self) -> Result<Box<dyn FlowPair + 'a>> {
        Ok(Box::new(FlowOnCpu::pair()))
    }

    fn resample(&self, moving: &Volume, size: [usize; 3], affine: &Affine, how: Interpolator) -> Result<Vec<f32>> {
        resample::cpu::resample(moving, size, affine, how)
    }

    fn keeping<'a>(&'a self, _: &[&'a Volume]) -> Box<dyn Backend + 'a> {
        Box::new(Self)
    }

    fn smooth(&self, planes: &mut [f32], size: [usize; 3], sigmas: [f64; 3]) -> Result<()> {
        gaussian::cpu::smooth(planes, size, sigmas);
        Ok(())
    }
}
