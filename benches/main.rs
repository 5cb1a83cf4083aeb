//! Measures the parts of mireg: `cargo bench` takes less than a minute; `cargo bench -- metric` measures one topic.

mod files;
mod metric;
mod pyramid;
mod subject;

use criterion::{Criterion, criterion_group, criterion_main};
use std::time::Duration;

fn brief() -> Criterion {
    let brief = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(300));
    brief.measurement_time(Duration::from_secs(1))
}

criterion_group! {
    name = benches;
    config = brief();
    targets = metric::evaluations, metric::entropies, pyramid::levels, files::read_and_write
}
criterion_main!(benches);
