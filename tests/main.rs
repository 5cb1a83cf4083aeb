//! Every integration test of mireg, in one binary. A topic is a module with a function `tests`.
//!
//! Some tests are reported as ignored if what they need is absent: tests on real volumes need `MIREG_DATA` (or
//! `../shared/data` beside the repository), tests on a GPU need a driver, and tests against other programs' readers
//! need `MIREG_PYTHON`, a Python that has them.

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
mod template;

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
        template::tests(),
    ];
    libtest_mimic::run(&arguments, topics.into_iter().flatten().collect()).exit();
}
