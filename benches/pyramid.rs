//! Measures the pyramid of a registration.

use crate::subject::{HEAD, THREADS, ball, on};
use criterion::Criterion;
use mireg::image::pyramid;

/// Measures levels of 4 and 2 mm of a head at 1 mm.
pub fn levels(criterion: &mut Criterion) {
    let head = ball(HEAD, 300.0);
    let mut group = criterion.benchmark_group("pyramid");
    for (name, threads) in THREADS {
        group.bench_function(name, |bencher| {
            on(threads, || bencher.iter(|| pyramid::levels(&head, &[1.0, 2.0, 4.0])));
        });
    }
}
