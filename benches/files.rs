//! Reads and writes files of a head at 1 mm, 16-bit, in a temporary folder.

use crate::subject::{HEAD, ball};
use criterion::{Criterion, SamplingMode, Throughput};
use mireg::io;

/// Measures reading and writing the most common formats.
pub fn read_and_write(criterion: &mut Criterion) {
    let head = ball(HEAD, 300.0);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut group = criterion.benchmark_group("files");
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Bytes((head.voxels.len() * head.pixel.bytes()) as u64));
    for name in ["head.nii.gz", "head.nii", "head.mha"] {
        let path = folder.path().join(name);
        let (write, read) =
            (|| io::write(&path, &head).expect("it can be written"), || io::read(&path).expect("it is whole"));
        group.bench_function(format!("write {name}"), |bencher| bencher.iter(write));
        // A filter of benchmarks may have left out the writing.
        write();
        group.bench_function(format!("read {name}"), |bencher| bencher.iter(read));
    }
}
