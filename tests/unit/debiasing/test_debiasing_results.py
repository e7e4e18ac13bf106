"""Tests of the tables and figures of debiasing."""

import shutil

import numpy as np
import pytest

from biaslab.core.io import read_tsv, write_tsv
from biaslab.debiasing.report import tables
from biaslab.run.area import ALL, Unit, load_area
from biaslab.run.plan.reports import write_report
from debiasing_claims_data import write_published

AREA = load_area("debiasing")
NAMES = ("w2vnews", "sample")
UNITS = [Unit(name) for name in NAMES]
LACKED_BY_SAMPLE = ("benchmarks", "indirect")


@pytest.fixture(scope="module")
def area(tmp_path_factory):
    """Return the area's results with every table and figure; the second embedding has no benchmarks."""
    folder = tmp_path_factory.mktemp("results") / "debiasing"
    write_published(folder.parent)
    shutil.copytree(folder / "w2vnews", folder / "sample")
    for name in LACKED_BY_SAMPLE:
        write_tsv(folder / f"sample/{name}.tsv", read_tsv(folder / f"sample/{name}.tsv").iloc[:0])
    path = read_tsv(folder / "sample/lambda_path.tsv").assign(rg65=np.nan, wordsim353=np.nan, msr=np.nan)
    write_tsv(folder / "sample/lambda_path.tsv", path)
    write_report(AREA, UNITS, folder.parent)
    return folder


def test_tables_cover_every_embedding(area):
    for item in AREA.items:
        if item.per == ALL:
            names = NAMES[:1] if set(item.files) & {f"{name}.tsv" for name in LACKED_BY_SAMPLE} else NAMES
            assert list(read_tsv(area / f"tables/{item.stem}.tsv")["embedding"].unique()) == list(names)
    assert (area / "sample/figures/lambda_path.svg").stat().st_size > 0


def test_extremes_are_the_ends_of_the_axis_before_debiasing(area):
    occupations = read_tsv(area / "w2vnews" / "occupations.tsv")
    found = tables.extremes(occupations, 5)
    before = occupations[occupations["stage"] == "before"].set_index("word")["projection"]
    assert list(found.loc[found["end"] == "she", "word"]) == list(before.nlargest(5).index)
    assert list(found.loc[found["end"] == "he", "word"]) == list(before.nsmallest(5).index)
    assert list(found["place"]) == [1, 2, 3, 4, 5] * 2
    hard = occupations[occupations["stage"] == "hard"].set_index("word")["projection"]
    np.testing.assert_array_equal(found["hard"], hard[found["word"]])
    every = tables.extremes(occupations, len(before))
    assert len(every) == len(before)
    assert every["word"].is_unique
