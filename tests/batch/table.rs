//! Errors in tables: all are named, and large tables are checked quickly.

use std::fs;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use super::{batch, study, test};

pub fn tests() -> Vec<Trial> {
    vec![
        test("names_all_that_is_wrong_with_a_table", names_all_that_is_wrong_with_a_table),
        test("ten_thousand_rows_are_checked_soon", ten_thousand_rows_are_checked_soon),
    ]
}

fn names_all_that_is_wrong_with_a_table() {
    let folder = study(2);
    let table = "id,fixed,moving,dof,bins,composite,init\n\
        a,f.nii.gz,m0.nii,rigid,,,auto\n\
        A,f.nii.gz,m1.nii,,,,\n\
        b/c,f.nii.gz,m1.nii,,,,\n\
        d,none.nii,,,,,\n\
        e,f.nii.gz,m0.nii,rigd,1,,\n\
        f,f.nii.gz\n\
        g,f.nii.gz,m0.nii,,,,none.tfm\n\
        ,f.nii.gz,m0.nii,,,,\n";
    let path = folder.path().join("in/pairs.csv");
    let told = |table: &str, more: &[&str]| {
        fs::write(&path, table).unwrap();
        batch(folder.path(), 2, more)
    };
    let all = told(&table.replace(",composite", ",seed"), &[]);
    for words in [
        &["row 3", "id A", "row 2"][..],
        &["row 4", "b/c", "'/'"],
        &["row 5", "none.nii", "no such file"],
        &["row 5", "moving is empty"],
        &["row 6", "rigd", "--dof"],
        &["row 6", "--bins", "1"],
        &["row 7", "2 cells", "7 columns"],
        &["row 8", "none.tfm"],
        &["row 9", "the id is empty"],
        &["nothing was registered", "9 faults"],
    ] {
        assert!(all.lines().any(|line| words.iter().all(|word| line.contains(word))), "{words:?} is not in\n{all}");
    }
    assert_eq!(all.lines().count(), 10, "{all}");
    for (table, more, words) in [
        // An option of another command, and an option of the whole study.
        (table, &[][..], "column composite is no option of mireg register"),
        ("id,fixed,moving,threads\na,f.nii.gz,m0.nii,2\n", &[], "give --threads to mireg batch"),
        ("id,fixed\na,f.nii.gz\n", &[], "there is no column moving"),
        ("id,fixed,moving,dof,dof\na,f.nii.gz,m0.nii,rigid,rigid\n", &[], "column dof is there twice"),
        ("id,fixed,moving\n", &[], "has no rows"),
        ("id,fixed,moving\na,f.nii.gz,m0.nii\n", &["--", "--dfo", "rigid"], "dfo is no option of mireg register"),
        ("id,fixed,moving\na,f.nii.gz,m0.nii\n", &["--", "--dof"], "--dof has no value"),
    ] {
        let all = told(table, more);
        assert!(all.lines().any(|line| line.contains(words)), "{words} is not in\n{all}");
    }
    fs::remove_file(&path).unwrap();
    assert!(batch(folder.path(), 2, &[]).contains("pairs.csv: no such file"));
    assert!(!folder.path().join("out").exists());
}

fn ten_thousand_rows_are_checked_soon() {
    let folder = study(1);
    let mut table = "id,fixed,moving,dof,levels\n".to_owned();
    (0..10_000).for_each(|n| table += &format!("p{n},f.nii.gz,m0.nii,affine,\"4mm,2mm\"\n"));
    fs::write(folder.path().join("in/pairs.csv"), table + "last,f.nii.gz,none.nii,,\n").unwrap();
    let clock = Instant::now();
    let told = batch(folder.path(), 2, &[]);
    assert!(told.contains("row 10002") && told.lines().count() == 2, "{told}");
    // This takes 2 s on an idle machine; tests run in parallel.
    assert!(clock.elapsed() < Duration::from_secs(6), "{:?}", clock.elapsed());
}
