"""Tests of the tables and figures of debiasing."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biaslab.core.io import read_tsv, write_tsv
from biaslab.debiasing.analogies import ONCE
from biaslab.debiasing.report import tables
from biaslab.run.area import ALL, Unit
from biaslab.run.reports import Results, open_unit, write_report
from debiasing_data import N_ANALOGIES, N_OCCUPATIONS, write_results
from report_data import report_area

AREA = report_area("debiasing")
NAMES = ("news", "sample")
UNITS = [Unit(name) for name in NAMES]
LACKED_BY_SAMPLE = ("benchmarks", "indirect")


@pytest.fixture(scope="module")
def area(tmp_path_factory) -> Path:
    """Return the area's results with every table and figure; the second embedding has no benchmarks."""
    folder = tmp_path_factory.mktemp("results") / "debiasing"
    for seed, name in enumerate(NAMES):
        write_results(folder / name, seed)
    for name in LACKED_BY_SAMPLE:
        write_tsv(folder / f"sample/{name}.tsv", read_tsv(folder / f"sample/{name}.tsv").iloc[:0])
    path = read_tsv(folder / "sample/lambda_path.tsv").assign(rg65=np.nan, wordsim353=np.nan, msr=np.nan)
    write_tsv(folder / "sample/lambda_path.tsv", path)
    write_report(AREA, UNITS, folder.parent)
    return folder


@pytest.fixture
def news(tmp_path) -> Path:
    """Return the results of an embedding that a test may change."""
    write_results(tmp_path / "debiasing/news", 0)
    return tmp_path / "debiasing/news"


def opened(*folders: Path) -> list[Results]:
    return [open_unit(AREA, Unit(folder.name), folder.parents[1]) for folder in folders]


def test_tables_cover_every_embedding(area):
    for item in AREA.items:
        if item.per == ALL:
            names = NAMES[:1] if set(item.files) & {f"{name}.tsv" for name in LACKED_BY_SAMPLE} else NAMES
            assert list(read_tsv(area / f"tables/{item.stem}.tsv")["embedding"].unique()) == list(names)
    assert (area / "sample/figures/lambda_path.svg").stat().st_size > 0


def test_extremes_are_the_ends_of_the_axis_before_debiasing(area):
    occupations = read_tsv(area / "news" / "occupations.tsv")
    found = tables.extremes(occupations, 5)
    before = occupations[occupations["stage"] == "before"].set_index("word")["projection"]
    assert list(found.loc[found["end"] == "she", "word"]) == list(before.nlargest(5).index)
    assert list(found.loc[found["end"] == "he", "word"]) == list(before.nsmallest(5).index)
    assert list(found["place"]) == [1, 2, 3, 4, 5] * 2
    hard = occupations[occupations["stage"] == "hard"].set_index("word")["projection"]
    np.testing.assert_array_equal(found["hard"], hard[found["word"]])
    every = tables.extremes(occupations, N_OCCUPATIONS)
    assert len(every) == N_OCCUPATIONS
    assert every["word"].is_unique


def test_analogies_of_a_rank_stand_in_one_row(area):
    text = (area / "tables/figure1_analogies.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith(("| news", "| sample"))]
    assert len(rows) == N_ANALOGIES * len(NAMES) * len(ONCE)
    assert all(rows[0].count(f"{stage}\\_she1 – {stage}\\_he1") == 1 for stage in ("before", "soft", "hard"))


def test_benchmarks_tell_the_two_ways_of_solving_analogies_apart(news):
    shown = tables.benchmarks(opened(news)).shown
    msr = shown[shown["Benchmark"] == "MSR analogies"]
    found = list(zip(msr["Unknown words"], msr["Method"], strict=True))
    assert found[0] == ("answerable", "add")
    assert found[-1] == ("answerable", "multiply")
    assert set(shown.loc[shown["Benchmark"] != "MSR analogies", "Method"]) == {""}
    assert list(msr[["Before", "Soft", "Hard"]].iloc[0]) == ["60.0", "60.1", "60.2"]


def test_classifier_shows_mean_and_spread_of_the_folds(news):
    scores = read_tsv(news / "classifier.tsv")["F"]
    shown = tables.classifier(opened(news)).shown.iloc[0]
    assert shown["F (mean ± sd)"] == f"{scores.mean():.3f} ± {scores.std(ddof=1):.3f}"
    assert shown["Learnt from"] == "this project's list"


def test_figures_data_are_what_was_read(area):
    for stem, name in (("figure2_components", "subspace"), ("figure3_words", "axes")):
        drawn, source = area / f"news/figures/{stem}.tsv", area / f"news/{name}.tsv"
        pd.testing.assert_frame_equal(read_tsv(drawn), read_tsv(source))
