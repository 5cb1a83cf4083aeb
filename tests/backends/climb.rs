//! Checks that several steps made on the device without the host (`FieldOptimizer::maximise`) give the same bits as
//! steps that the host makes one by one.

use super::flow::{landmarks, level, map, mask};
use super::volumes;
use crate::support::{gpu, gpu_is_absent, stored};
use libtest_mimic::{Failed, Trial};
use mireg::backend::emulated::Emulated;
use mireg::backend::{
    Agreement, Backend, Compare, FieldOptimizer, Flow, FlowChannel, FlowLevel, FlowStep, Halves, Measured, Relation,
    Table, cpu::Cpu,
};

pub const STEP: FlowStep =
    FlowStep { half: Halves::First, prior_mm: 1.3, smooth_mm: [1.4, 0.7], limit: 0.5, share: 1.0 };
/// The weight of each channel.
const WEIGHTS: [f64; 2] = [0.7, 1.3];

/// Sizes of the fixed and of the moving image.
pub type Sizes = [[usize; 3]; 2];
pub const SMALL: Sizes = [[37, 21, 11], [29, 24, 9]];
const FLAT: Sizes = [[35, 23, 1], [33, 25, 1]];
pub const LARGE: Sizes = [[91, 109, 90], [75, 90, 25]];

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

/// Compares climbs of no step, of all steps, and of fewer steps than allowed, with one channel and with two.
fn climbs(backend: &dyn Backend, sizes: Sizes, bins: u32, relation: Relation) -> Result<(), Failed> {
    let mut flows = [Cpu.flow()?, backend.flow()?];
    for (masked, channels) in [(false, 1), (false, 2), (true, 1), (true, 2)] {
        begin(&mut flows, sizes, &[Compare::Joint { bins }], (masked, channels))?;
        let [ours, theirs] = &mut flows;
        for (most, until) in [(0, 0), (4, 9), (7, 2)] {
            let expected = led(&mut **ours, relation, bins, most, until)?;
            let (relations, theirs) = (relations(relation, channels), &mut **theirs);
            let found = by_itself(theirs, &relations, most, until)?.ok_or("the flow does not climb")?;
            if bits(&found) != bits(&expected) || expected.iter().any(|measured| measured.len() != channels) {
                return Err(format!("{relation:?} of {bins} bins: {found:?} and {expected:?}").into());
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

fn bits(all: &[Vec<Measured>]) -> Vec<[u64; 2]> {
    all.iter().flatten().map(|measured| [measured.value.to_bits(), measured.nats.to_bits()]).collect()
}

/// Returns the same relation for each of `channels` channels.
pub fn relations(relation: Relation, channels: usize) -> Vec<(Relation, f64)> {
    WEIGHTS[..channels].iter().map(|&weight| (relation, weight)).collect()
}

/// Takes flows to a level with this many channels. If masked, no voxel counts.
pub fn begin(
    flows: &mut [Box<dyn Flow + '_>; 2],
    sizes: Sizes,
    compare: &[Compare],
    (masked, channels): (bool, usize),
) -> Result<(), Failed> {
    let [fixed, moving] = [(sizes[0], 1), (sizes[1], 2)].map(|(size, seed)| volumes(size, seed));
    let none = vec![0; fixed[1].voxels.len()];
    let some = mask(&moving[1]);
    // The first channel has the smooth volumes, and the second one the noise.
    let stored = [1, 0].map(|number: usize| [stored(&fixed[number], 1024), stored(&moving[number], 1024)]);
    let masks: [&[u8]; 2] = if masked { [&none, &some] } else { [&[], &some] };
    let channels: Vec<_> =
        stored[..channels].iter().map(|[fixed, moving]| FlowChannel { fixed, moving, masks }).collect();
    let map = map(&fixed[1].geometry, &moving[1].geometry);
    let landmarks = landmarks(&fixed[1].geometry);
    let landmarks = if masked { &[] } else { &landmarks[..] };
    let level = FlowLevel { landmarks, ..level(&channels, map, compare, None) };
    flows.iter_mut().try_for_each(|flow| Ok(flow.level(&level)?))
}

/// Returns the values of a climb whose steps the host makes one by one.
pub fn led(
    flow: &mut dyn FieldOptimizer,
    relation: Relation,
    bins: u32,
    most: usize,
    until: usize,
) -> Result<Vec<Vec<Measured>>, Failed> {
    let mut all = Vec::new();
    loop {
        let table = |agreement: &Agreement| match agreement {
            Agreement::Joint(counts) => Ok(Table::new(relation, counts, bins as usize)),
            Agreement::Local { .. } => Err("no joint histogram"),
        };
        let tables = flow.agreement(Halves::Both)?.iter().map(table).collect::<Result<Vec<_>, _>>()?;
        all.push(tables.iter().map(|table| Measured { value: table.value, nats: table.nats }).collect());
        if all.len() > most || all.len() > until {
            return Ok(all);
        }
        let scores = tables.into_iter().zip(WEIGHTS).map(|of_channel| Table::together(vec![of_channel]));
        flow.step(&scores.collect::<Vec<_>>(), &STEP)?;
    }
}

/// Returns the values of a climb without the host, or `None` if the flow does not do that.
pub fn by_itself(
    flow: &mut dyn FieldOptimizer,
    relations: &[(Relation, f64)],
    most: usize,
    until: usize,
) -> Result<Option<Vec<Vec<Measured>>>, Failed> {
    let mut all = Vec::new();
    let mut hear = |measured: &[Measured]| {
        all.push(measured.to_vec());
        Ok(all.len() <= until)
    };
    let climbed = flow.maximise(relations, &STEP, most, &mut hear)?;
    Ok(climbed.then_some(all))
}

/// Checks that on the CPU, with squared differences and with local correlation, `maximise` does nothing and leaves the
/// steps to the host.
fn alone() -> Result<(), Failed> {
    let joint: &[Compare] = &[Compare::Joint { bins: 9 }];
    let local: &[Compare] = &[Compare::Local { window_mm: 3.0 }];
    let (cpu, emulated) = (&Cpu as &dyn Backend, &Emulated::default() as &dyn Backend);
    for (backend, compare, relation) in
        [(cpu, joint, Relation::Mi), (emulated, joint, Relation::Ssd), (emulated, local, Relation::Mi)]
    {
        let mut flows = [Cpu.flow()?, backend.flow()?];
        begin(&mut flows, SMALL, compare, (false, 1))?;
        if by_itself(&mut *flows[1], &relations(relation, 1), 2, 2)?.is_some() {
            return Err(format!("{} climbs {relation:?} of {compare:?}", backend.name()).into());
        }
    }
    Ok(())
}
