//! Checks that smoothing leaves the reference of a field as it is, with the same bits on CPU, emulator and GPU.

use super::climb::{LARGE, SMALL, STEP, Sizes, begin, by_itself, led, relations};
use super::flow::between;
use crate::support::{gpu, gpu_is_absent};
use libtest_mimic::{Failed, Trial};
use mireg::backend::emulated::Emulated;
use mireg::backend::{Backend, Compare, Flow, FlowReference, Relation, cpu::Cpu};

const BINS: u32 = 9;
/// Steps of each climb.
const STEPS: usize = 3;

pub fn tests() -> Vec<Trial> {
    let on_gpu = || [SMALL, LARGE].into_iter().try_for_each(|sizes| agree(&*gpu()?, sizes));
    vec![
        Trial::test("backends::a_reference_is_not_smoothed_away", kept),
        Trial::test("backends::emulator_refers_as_the_cpu", || agree(&Emulated::default(), SMALL)),
        Trial::test("backends::gpu_refers_as_the_cpu", on_gpu).with_ignored_flag(gpu_is_absent()),
    ]
}

/// Returns the planes of a field on a grid of `size` whose displacements jump by 2 voxels in the middle.
fn jump(size: [usize; 3]) -> Vec<f32> {
    let [width, height, depth] = size;
    let plane = |sign: f32| {
        (0..width * height * depth).map(move |n| if n % width < width / 2 { sign } else { -sign }).collect::<Vec<_>>()
    };
    [1.0, -1.0, 1.0].map(plane).concat()
}

fn half([fixed, _]: Sizes) -> [usize; 3] {
    fixed.map(|n| n.div_ceil(2))
}

fn refer_to(flow: &mut dyn Flow, planes: &[f32], sizes: Sizes) -> Result<(), Failed> {
    let (size, [_, smooth_mm]) = (half(sizes), STEP.smooth_mm);
    Ok(flow.refer_to(Some(&FlowReference { planes, size, from: between(size, sizes[0]), smooth_mm }))?)
}

/// Checks that a field that is its own reference stays where nothing pulls, and only with that reference.
fn kept() -> Result<(), Failed> {
    let mut flows = [Cpu.flow()?, Cpu.flow()?];
    begin(&mut flows, SMALL, &[Compare::Joint { bins: BINS }], (true, 1))?;
    let [flow, _] = &mut flows;
    let planes = jump(half(SMALL));
    let mut after = |refers: bool| {
        if refers {
            refer_to(&mut **flow, &planes, SMALL)?;
        }
        flow.take(&planes, half(SMALL), between(half(SMALL), SMALL[0]))?;
        let before = flow.field()?;
        led(&mut **flow, Relation::Mi, BINS, STEPS, STEPS)?;
        flow.refer_to(None)?;
        let changes = before.into_iter().zip(flow.field()?).map(|(before, after)| (after - before).abs());
        Ok::<_, Failed>(changes.fold(0.0, f32::max))
    };
    match [after(false)?, after(true)?, after(false)?] {
        [before, kept, freed] if before > 0.2 && kept < 1e-5 && freed == before => Ok(()),
        changes => Err(format!("the field changes by {changes:?} voxels").into()),
    }
}

/// Compares climbs with a reference, by the host and by the backend itself, and then without it.
fn agree(backend: &dyn Backend, sizes: Sizes) -> Result<(), Failed> {
    let mut flows = [Cpu.flow()?, backend.flow()?];
    begin(&mut flows, sizes, &[Compare::Joint { bins: BINS }], (false, 1))?;
    let planes = jump(half(sizes));
    let mut fields = Vec::new();
    for refers in [true, false] {
        for flow in &mut flows {
            flow.take(&planes, half(sizes), between(half(sizes), sizes[0]))?;
            match refers {
                true => refer_to(&mut **flow, &planes, sizes)?,
                false => flow.refer_to(None)?,
            }
        }
        let [ours, theirs] = &mut flows;
        for by_host in [true, false] {
            led(&mut **ours, Relation::Mi, BINS, STEPS, STEPS)?;
            if by_host {
                led(&mut **theirs, Relation::Mi, BINS, STEPS, STEPS)?;
            } else {
                by_itself(&mut **theirs, &relations(Relation::Mi, 1), STEPS, STEPS)?
                    .ok_or("the flow does not climb")?;
            }
            fields.push(ours.field()?);
            if fields.last() != Some(&theirs.field()?) {
                return Err(format!("other fields (reference: {refers}, steps by the host: {by_host})").into());
            }
        }
    }
    if fields[0] == fields[2] { Err("the reference changes nothing".into()) } else { Ok(()) }
}
