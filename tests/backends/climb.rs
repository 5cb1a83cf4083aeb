//! A flow that climbs without its host gives the bits of one that is led step by step.

use super::flow::{landmarks, level, map, mask};
use super::volumes;
use crate::support::{gpu, gpu_is_absent, stored};
use libtest_mimic::{Failed, Trial};
use mireg::backend::emulated::Emulated;
use mireg::backend::{
    Agreement, Backend, Climb, Compare, Flow, FlowChannel, FlowLevel, FlowStep, Half, Relation, Table, cpu::Cpu,
};

const STEP: FlowStep = FlowStep { half: Half::First, prior_mm: 1.3, smooth_mm: [1.4, 0.7], limit: 0.5, share: 1.0 };
const WEIGHT: f64 = 0.7;

/// Of the fixed and of the moving image.
type Sizes = [[usize; 3]; 2];
const SMALL: Sizes = [[37, 21, 11], [29, 24, 9]];
const FLAT: Sizes = [[35, 23, 1], [33, 25, 1]];
const LARGE: Sizes = [[91, 109, 90], [75, 90, 25]];

pub fn tests() -> Vec<Trial> {
    let mut tests = vec![Trial::test("backends::a_flow_climbs_by_itself_where_it_can", alone)];
    for relation in [Relation::Mi, Relation::Nmi] {
        for bins in [2, 9, 50, 255] {
            tests.push(Trial::test(
                format!("backends::emulator_climbs_{relation:?}_of_{bins}_bins_as_the_cpu"),
                move || {
                    [SMALL, FLAT].into_iter().try_for_each(|sizes| climbs(&Emulated::default(), sizes, bins, relation))
                },
            ));
            let on_gpu =
                move || [SMALL, FLAT, LARGE].into_iter().try_for_each(|sizes| climbs(&*gpu()?, sizes, bins, relation));
            tests.push(
                Trial::test(format!("backends::gpu_climbs_{relation:?}_of_{bins}_bins_as_the_cpu"), on_gpu)
                    .with_ignored_flag(gpu_is_absent()),
            );
        }
    }
    tests
}

/// Climbs of no step, of all steps, and of fewer than there might be.
fn climbs(backend: &dyn Backend, sizes: Sizes, bins: u32, relation: Relation) -> Result<(), Failed> {
    let mut flows = [Cpu.flow()?, backend.flow()?];
    for masked in [false, true] {
        begin(&mut flows, sizes, &[Compare::Joint { bins }], masked)?;
        let [ours, theirs] = &mut flows;
        for (most, until) in [(0, 0), (4, 9), (7, 2)] {
            let expected = led(&mut **ours, relation, bins, most, until)?;
            let values = by_itself(&mut **theirs, relation, most, until)?.ok_or("the flow does not climb")?;
            if values.iter().map(|v| v.to_bits()).ne(expected.iter().map(|v| v.to_bits())) {
                return Err(format!("{relation:?} of {bins} bins: {values:?} and {expected:?}").into());
            }
            if ours.field()? != theirs.field()? {
                return Err(format!("{relation:?} of {bins} bins: other fields after {most} steps").into());
            }
        }
        let moved = ours.field()?.iter().any(|displacement| *displacement != 0.0);
        if moved == masked {
            return Err("a field moves where nothing pulls, or stays where something does".into());
        }
    }
    Ok(())
}

/// Takes flows to a level; masked, no voxel counts.
fn begin(flows: &mut [Box<dyn Flow + '_>; 2], sizes: Sizes, compare: &[Compare], masked: bool) -> Result<(), Failed> {
    let [fixed, moving] = [(sizes[0], 1), (sizes[1], 2)].map(|(size, seed)| volumes(size, seed).swap_remove(1));
    let none = vec![0; fixed.voxels.len()];
    let some = mask(&moving);
    let (stored_fixed, stored_moving) = (stored(&fixed, 1024), stored(&moving, 1024));
    let masks: [&[u8]; 2] = if masked { [&none, &some] } else { [&[], &some] };
    let channel = [FlowChannel { fixed: &stored_fixed, moving: &stored_moving, masks }];
    let map = map(&fixed.geometry, &moving.geometry);
    let landmarks = landmarks(&fixed.geometry);
    let landmarks = if masked { &[] } else { &landmarks[..] };
    let level = FlowLevel { landmarks, ..level(&channel, map, compare, None) };
    flows.iter_mut().try_for_each(|flow| Ok(flow.level(&level)?))
}

/// The values of a climb that the host leads.
fn led(flow: &mut dyn Climb, relation: Relation, bins: u32, most: usize, until: usize) -> Result<Vec<f64>, Failed> {
    let mut values = Vec::new();
    loop {
        let agreements = flow.agreement(Half::Both)?;
        let [Agreement::Joint(counts)] = &agreements[..] else { return Err("no joint histogram".into()) };
        let table = Table::new(relation, counts, bins as usize);
        values.push(table.value);
        if values.len() > most || values.len() > until {
            return Ok(values);
        }
        flow.step(&[Table::together(vec![(table, WEIGHT)])], &STEP)?;
    }
}

/// The values of a climb without the host, if the flow does that.
fn by_itself(flow: &mut dyn Climb, relation: Relation, most: usize, until: usize) -> Result<Option<Vec<f64>>, Failed> {
    let mut values = Vec::new();
    let mut hear = |value| {
        values.push(value);
        Ok(values.len() <= until)
    };
    let climbed = flow.climb((relation, WEIGHT), &STEP, most, &mut hear)?;
    Ok(climbed.then_some(values))
}

/// Neither squared differences nor local means, nor the CPU.
fn alone() -> Result<(), Failed> {
    let joint: &[Compare] = &[Compare::Joint { bins: 9 }];
    let local: &[Compare] = &[Compare::Local { window_mm: 3.0 }];
    let (cpu, emulated) = (&Cpu as &dyn Backend, &Emulated::default() as &dyn Backend);
    for (backend, compare, relation) in
        [(cpu, joint, Relation::Mi), (emulated, joint, Relation::Ssd), (emulated, local, Relation::Mi)]
    {
        let mut flows = [Cpu.flow()?, backend.flow()?];
        begin(&mut flows, SMALL, compare, false)?;
        if by_itself(&mut *flows[1], relation, 2, 2)?.is_some() {
            return Err(format!("{} climbs {relation:?} of {compare:?}", backend.name()).into());
        }
    }
    Ok(())
}
