//! Every integration test of mireg, in one binary. A topic is a module with a function `tests`.
//!
//! Tests on real volumes look for `MIREG_DATA` (or `../shared/data` beside the repository), tests on a GPU for a driver, tests against
//! readers of others for `MIREG_PYTHON`, a Python that has them; where those are absent they report themselves as ignored.

mod accuracy;
mod backends;
mod batch;
mod cli;
mod deform;
mod demo;
mod io;
mod links;
mod mesh;
mod reference;
mod registration;
mod report;
mod stop;
mod support;

fn main() {
    let arguments = libtest_mimic::Arguments::from_args();
    let topics = [
        accuracy::tests(),
        backends::tests(),
        batch::tests(),
        cli::tests(),
        deform::tests(),
        demo::tests(),
        io::tests(),
        links::tests(),
        mesh::tests(),
        reference::tests(),
        registration::tests(),
        report::tests(),
        stop::tests(),
    ];
    libtest_mimic::run(&arguments, topics.into_iter().flatten().collect()).exit();
}
