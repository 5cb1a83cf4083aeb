//! Checks that no link of the documentation is broken, as can happen when files are renamed or deleted.

use crate::support::trial;
use libtest_mimic::Trial;
use std::fs;
use std::path::Path;

pub fn tests() -> Vec<Trial> {
    vec![trial("links::of_the_documentation_lead_to_files", || {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let pages = ["*.md", "docs/*.md", "benches/peers/*.md", "python/*.md", "toolchain/*.md", "workflows/*.md"];
        let mut seen = 0;
        for page in
            pages.iter().flat_map(|pages| glob::glob(root.join(pages).to_str().expect("UTF-8")).expect("a pattern"))
        {
            let page = page.expect("it can be listed");
            for link in relative(&fs::read_to_string(&page).expect("it can be read")) {
                assert!(page.with_file_name(link).exists(), "{} links to {link}, which is not there", page.display());
                seen += 1;
            }
        }
        assert!(seen > 10, "only {seen} links were found");
    })]
}

/// The files to which a page's links lead, without the parts of them.
fn relative(page: &str) -> impl Iterator<Item = &str> {
    let targets = page.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next());
    targets.filter(|target| !target.is_empty() && !target.contains("://"))
}
