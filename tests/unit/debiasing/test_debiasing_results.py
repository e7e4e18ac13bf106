"""Tests of the tables and figures of debiasing."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from typer.testing import CliRunner

from biaslab.audit.claims import read_claims
from biaslab.audit.measure import measure_claims
from biaslab.cli import app
from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv, write_tsv
from biaslab.core.plotting import FIGURE_SUFFIXES
from biaslab.core.tables import TABLE_SUFFIXES
from biaslab.debiasing import area as plan
from biaslab.debiasing.report import figures, tables
from debiasing_data import N_ANALOGIES, N_OCCUPATIONS, write_results

ROOT = Path(__file__).parents[3]
CLAIMS = ROOT / "workflow/resources/claims/debiasing.tsv"
SCHEMA = ROOT / "workflow/schemas/claims.schema.yaml"
NAMES = ("news", "sample")


@pytest.fixture(scope="module")
def area(tmp_path_factory):
    """Return a folder of results with every table and figure, made by the commands."""
    folder = tmp_path_factory.mktemp("debiasing")
    for seed, name in enumerate(NAMES):
        write_results(folder / name, seed)
    places = [str(folder / name) for name in NAMES]
    for arguments in (["tables", *places, "--out", str(folder / "tables")], ["figures", *places]):
        result = CliRunner().invoke(app, ["debiasing", *arguments], catch_exceptions=False)
        assert result.exit_code == 0, result.output
    return folder


def _copy(area, folder, name="news"):
    """Return a copy of an embedding's results that a test may damage."""
    for path in (area / name).glob("*.tsv"):
        write_tsv(folder / path.name, read_tsv(path))
    return folder


def test_every_planned_file_is_written_and_no_other(area):
    planned = {f"{item.stem}{s}" for item in plan.TABLES for s in TABLE_SUFFIXES}
    planned |= {f"{item.stem}{s}" for item in plan.figures(NAMES) for s in FIGURE_SUFFIXES}
    inputs = {f"{name}/{file}.tsv" for name in NAMES for file in tables.COLUMNS}
    written = {path.relative_to(area).as_posix() for path in area.rglob("*") if path.is_file()}
    assert written == planned | inputs


def test_captions_exist():
    captions = {item.caption for item in (*plan.TABLES, *plan.figures(NAMES))}
    folder = ROOT / "workflow/report"
    assert all((folder / f"{caption}.rst").read_text(encoding="utf-8").strip() for caption in captions)


def test_tables_cover_every_embedding(area):
    for item in plan.TABLES:
        assert set(read_tsv(area / f"{item.stem}.tsv")["embedding"]) == set(NAMES), item.stem


def test_extremes_are_the_ends_of_the_axis_before_debiasing(area):
    occupations = read_tsv(area / "news" / "occupations.tsv")
    found = tables.extremes(occupations, 5)
    before = occupations[occupations["stage"] == "before"].set_index("word")["projection"]
    assert list(found.loc[found["end"] == "she", "word"]) == list(before.nlargest(5).index)
    assert list(found.loc[found["end"] == "he", "word"]) == list(before.nsmallest(5).index)
    assert list(found["place"]) == [1, 2, 3, 4, 5] * 2
    hard = occupations[occupations["stage"] == "hard"].set_index("word")["projection"]
    np.testing.assert_array_equal(found["hard"], hard[found["word"]])


def test_no_word_is_at_both_ends(area):
    found = tables.extremes(read_tsv(area / "news" / "occupations.tsv"), N_OCCUPATIONS)
    assert len(found) == N_OCCUPATIONS
    assert found["word"].is_unique


def test_analogies_of_a_rank_stand_in_one_row(area):
    text = (area / "tables/figure1_analogies.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith(("| news", "| sample"))]
    assert len(rows) == N_ANALOGIES * len(NAMES)
    assert all(rows[0].count(f"{stage}\\_she1 – {stage}\\_he1") == 1 for stage in ("before", "soft", "hard"))


def test_shorter_lists_of_analogies_leave_dashes(area):
    data = read_tsv(area / "tables/figure1_analogies.tsv")
    shown = tables.analogies(data[(data["stage"] != "hard") | (data["rank"] < N_ANALOGIES)]).shown
    assert list(shown["Hard"].eq("–")) == ([False] * (N_ANALOGIES - 1) + [True]) * len(NAMES)


def test_benchmarks_tell_the_two_ways_of_solving_analogies_apart(area):
    shown = tables.benchmarks(read_tsv(area / "tables/figure2_benchmarks.tsv")).shown
    msr = shown[(shown["Benchmark"] == "MSR analogies") & (shown["Embedding"] == "news")]
    found = list(zip(msr["Unknown words"], msr["Method"], strict=True))
    assert found[0] == ("answerable", "add")
    assert found[-1] == ("answerable", "multiply")
    assert set(shown.loc[shown["Benchmark"] != "MSR analogies", "Method"]) == {""}
    assert list(msr[["Before", "Soft", "Hard"]].iloc[0]) == ["60.0", "60.1", "60.2"]


def test_classifier_shows_mean_and_spread_of_the_folds(area):
    data = read_tsv(area / "tables/classifier.tsv")
    scores = data.loc[data["embedding"] == "news", "F"]
    shown = tables.classifier(data).shown.iloc[0]
    assert shown["F (mean ± sd)"] == f"{scores.mean():.3f} ± {scores.std(ddof=1):.3f}"
    assert shown["Learnt from"] == "this project's list"


def test_association_tests_that_cannot_be_measured_show_dashes(area):
    data = read_tsv(area / "tables/weat.tsv")
    shown = tables.association_tests(data.assign(effect_size=np.nan)).shown
    assert set(shown["Effect size"]) == {"–"}


def test_lost_words_are_listed_by_list(area):
    shown = tables.lost_words(read_tsv(area / "tables/lost_words.tsv")).shown
    assert list(shown["Words"][:2]) == ["Mary, John", "NA"]


def test_an_embedding_without_benchmarks_and_lost_words_has_tables_and_figures(area, tmp_path):
    folder = _copy(area, tmp_path / "bare")
    for name in ("benchmarks", "lost_words", "indirect"):
        write_tsv(folder / f"{name}.tsv", read_tsv(folder / f"{name}.tsv").iloc[:0])
    path = read_tsv(folder / "lambda_path.tsv").assign(rg65=np.nan, wordsim353=np.nan, msr=np.nan)
    write_tsv(folder / "lambda_path.tsv", path)
    tables.write_tables({"bare": folder}, tmp_path / "tables")
    figures.write_figures(folder)
    assert read_tsv(tmp_path / "tables/figure2_benchmarks.tsv").empty
    assert (folder / "figures/lambda_path.svg").stat().st_size > 0


def test_figures_are_drawn_and_repeat(area, tmp_path):
    figures.write_figures(_copy(area, tmp_path / "news"))
    for item in plan.figures(["news"]):
        with Image.open(area / f"{item.stem}.png") as image:
            assert np.ptp(np.asarray(image.convert("L"))) > 200  # ink on white
        assert (tmp_path / f"{item.stem}.svg").read_bytes() == (area / f"{item.stem}.svg").read_bytes()


def test_figures_data_are_what_was_read(area):
    for stem, name in (("figure2_components", "subspace"), ("figure3_words", "axes")):
        drawn, source = area / f"news/figures/{stem}.tsv", area / f"news/{name}.tsv"
        pd.testing.assert_frame_equal(read_tsv(drawn), read_tsv(source))


def test_missing_column_is_one_clear_line(area, tmp_path):
    folder = _copy(area, tmp_path / "news")
    write_tsv(folder / "subspace.tsv", read_tsv(folder / "subspace.tsv").drop(columns="random_mean"))
    with pytest.raises(InputError, match=r"subspace\.tsv: column 'random_mean' is missing"):
        figures.write_figures(folder)


def test_missing_file_is_one_clear_line(area, tmp_path):
    folder = _copy(area, tmp_path / "news")
    (folder / "weat.tsv").unlink()
    with pytest.raises(InputError, match=r"weat\.tsv: no such file; run the step"):
        tables.write_tables({"news": folder}, tmp_path / "tables")


def _measure(folder, **options):
    """Return the area's claims, and what they give on made-up results."""
    write_results(folder / "debiasing/w2vnews", **options)
    claims = read_claims([CLAIMS], SCHEMA)
    return claims, measure_claims(claims, folder, {"debiasing": ["w2vnews"]}).set_index("claim_id")


def test_every_claim_is_measured_or_says_why_not(tmp_path):
    claims, table = _measure(tmp_path, authors=True)
    untold = set(table.index[table["verdict"] == "not_attempted"])
    assert untold == {claim.claim_id for claim in claims if not claim.measure}
    assert table.loc[sorted(untold), "reason"].str.len().min() > 20
    assert table.loc["fig2-majority", "verdict"] == "reproduced"
    assert table.loc["hard-direct-bias", "verdict"] == "reproduced"
    assert table.loc["embedding-words", "verdict"] == "reproduced"
    assert table.loc["fig1-extreme-she-20", "measured"] == 0  # no made-up occupation is in the paper
    assert table.loc["fig1-extreme-he-20", "verdict"] == "not_reproduced"
    assert table.loc["fig3-collapse", "measured"] == 0
    assert list(table.loc[["doctor-before", "doctor-hard"], "measured"]) == [1, 0]


def test_without_the_authors_lists_their_claims_are_not_attempted(tmp_path):
    claims, table = _measure(tmp_path)
    untold = set(table.index[table["verdict"] == "not_attempted"])
    of_authors = untold - {claim.claim_id for claim in claims if not claim.measure}
    assert {"direct-bias-authors", "occupations", "svm-f-authors", "fig2-rg65-hard-authors"} <= of_authors
    assert not {"direct-bias", "svm-f", "fig2-rg65-hard"} & of_authors


def test_paper_s_occupations_are_counted_at_their_own_end(tmp_path):
    folder = tmp_path / "debiasing/w2vnews"
    _measure(tmp_path)
    occupations = read_tsv(folder / "occupations.tsv")
    names = {
        "job0": "homemaker",
        "job19": "nurse",
        "job20": "librarian",
        "job40": "maestro",
        "job39": "captain",
    }
    write_tsv(folder / "occupations.tsv", occupations.replace({"word": names}))
    claims = read_claims([CLAIMS], SCHEMA)
    found = measure_claims(claims, tmp_path, {"debiasing": ["w2vnews"]}).set_index("claim_id")["measured"]
    assert found["fig1-extreme-she-20"] == 2
    assert found["fig1-extreme-he-20"] == 1
    assert found["fig1-first-she"] == 1
    assert found["fig1-first-he"] == 0
