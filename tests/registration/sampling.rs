//! The fraction of voxels that is sampled, and the levels.

use glam::DAffine3;
use libtest_mimic::Trial;
use mireg::registration::Sampling;
use mireg::{Options, Registration};

use super::{GOOD_MM, PAIR, error, register, test};
use crate::cli::{self, mireg};

pub fn tests() -> Vec<Trial> {
    vec![
        test("no_number_of_samples_is_fatal", no_number_of_samples_is_fatal),
        test("enough_samples_are_as_good_as_all", enough_samples_are_as_good_as_all),
        test("a_seed_decides_which_samples", a_seed_decides_which_samples),
        test("levels_as_they_were_asked_for", levels_as_they_were_asked_for),
        test("levels_that_are_refused", levels_that_are_refused),
    ]
}

fn sampled(sampling: Sampling) -> Registration {
    register(&PAIR.ct, &PAIR.mr, &Options { sampling, ..Options::default() })
}

fn no_number_of_samples_is_fatal() {
    for samples in [1, 2, 3, 10, 100] {
        for seed in [1, 2, u64::MAX] {
            let found = sampled(Sampling::Random { samples, seed });
            assert!(found.transform.to_affine().is_finite() && found.end.nmi.is_finite());
        }
        let found = sampled(Sampling::Grid { samples });
        assert!(found.transform.to_affine().is_finite() && found.end.nmi.is_finite());
    }
}

fn enough_samples_are_as_good_as_all() {
    let most = usize::MAX;
    let good = |sampling| {
        let found = sampled(sampling);
        let error = error(&found, &DAffine3::IDENTITY);
        assert!(error < GOOD_MM && found.trusted(), "{sampling:?}: {error:.3} mm, {:?}", found.doubts);
        found.levels.last().unwrap().samples
    };
    let all = good(Sampling::Full);
    assert_eq!(all, PAIR.ct.voxels.len() as u64);
    assert_eq!([good(Sampling::Grid { samples: most }), good(Sampling::Random { samples: most, seed: 1 })], [all; 2]);
    let grid = good(Sampling::Grid { samples: 20_000 });
    assert!(grid > 10_000 && grid <= 20_000, "{grid}");
    for seed in 0..3 {
        let random = good(Sampling::Random { samples: 20_000, seed });
        assert!(random.abs_diff(20_000) < 600, "{random}");
    }
}

fn a_seed_decides_which_samples() {
    let found = |seed| sampled(Sampling::Random { samples: 20_000, seed }).transform.parameters;
    assert_eq!(found(1), found(1));
    assert_ne!(found(1), found(2));
}

fn levels_as_they_were_asked_for() {
    for levels in [vec![8.0, 4.0], vec![16.0, 8.0, 4.0], vec![8.0], vec![4.0]] {
        let found = register(&PAIR.ct, &PAIR.mr, &Options { levels: Some(levels.clone()), ..Options::default() });
        assert_eq!(found.levels.len(), levels.len());
        let counts: Vec<u64> = found.levels.iter().map(|level| level.samples).collect();
        assert!(counts.windows(2).all(|pair| pair[0] < pair[1]), "{counts:?}");
        let error = error(&found, &DAffine3::IDENTITY);
        assert!(error < 2.0 * GOOD_MM, "{levels:?}: {error:.3} mm");
    }
}

fn levels_that_are_refused() {
    let (folder, _) = cli::patient();
    for levels in ["4mm,8mm", "4,4", "0", "-1mm", "nan", "inf", "8mm,,4mm", "coarse"] {
        let arguments =
            ["register", "ct.nii.gz", "mr.nii.gz", "--out", "out", "--quiet", &format!("--levels={levels}")];
        let assert = mireg(folder.path(), &arguments).assert().code(2);
        let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(told.contains("levels") && told.lines().count() == 1, "{levels}: {told}");
        assert!(!folder.path().join("out").exists());
    }
}
