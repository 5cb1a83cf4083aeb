import pytest
from conftest import WORKFLOWS, Study

SNAKEFILE = WORKFLOWS / "snakemake" / "Snakefile"
SETTINGS = ["chunks=4", "threads=1", "options=--dof translation"]
SNAKEMAKE = ["snakemake", "--snakefile", SNAKEFILE, "--cores", "2", "--config", *SETTINGS]


@pytest.mark.parametrize("study", [20], indirect=True)
def test_one_pair_fails_and_is_mended(study: Study) -> None:
    bad, *good = study.ids
    whole = study.damage(bad)

    first = study.run(*SNAKEMAKE)
    assert first.returncode != 0
    assert "1 of 20 pairs did not pass" in first.stderr and f"{bad}: failed" in first.stderr
    assert study.summary() == {bad: "failed", **dict.fromkeys(good, "done")}
    assert (study.out / "index.html").exists()
    before = study.written()

    # Without changes nothing is run again, and the failure is reported again.
    again = study.run(*SNAKEMAKE)
    assert again.returncode != 0 and f"{bad}: failed" in again.stderr and "rule chunk" not in again.stderr
    assert study.written() == before

    study.mend(bad, whole)
    mended = study.run(*SNAKEMAKE)
    assert mended.returncode == 0, mended.stderr
    assert mended.stderr.count("rule chunk") == 1
    assert study.summary() == dict.fromkeys(study.ids, "done")
    after = study.written()
    assert after.pop(bad) > before.pop(bad) and after == before


@pytest.mark.parametrize("study", [2], indirect=True)
def test_a_wrong_table_is_an_error(study: Study) -> None:
    table = study.folder / "pairs.csv"
    table.write_text(table.read_text().replace("sub-02-mr", "sub-02-pd"))
    ended = study.run(*SNAKEMAKE)
    assert ended.returncode != 0 and "row 3: moving sub-02-pd.nii.gz: no such file" in ended.stderr
    assert not (study.out / "batch.tsv").exists()
