"""The results of a setup as tables and figures read them."""

import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.origins.report.results import Setup, percent_scale, rows_of_tests
from biaslab.run.area import Unit
from origins_data import WORD_SETS, make_setups, write_results


@pytest.fixture(scope="module")
def setup(tmp_path_factory):
    return make_setups(tmp_path_factory.mktemp("results"), {"sample": {}})[0]


def test_a_setup_knows_its_tests_and_their_words(setup):
    assert setup.weats == ("weat1", "weat2")
    assert setup.word_sets("weat2") == WORD_SETS["weat2"]
    assert setup.title("weat1") == "science/arts × male/female"
    assert setup.heading("weat1") == "sample corpus, WEAT 1: science/arts × male/female"


def test_one_test_of_a_setup_keeps_all_else(setup):
    one = setup.only("weat2")
    assert one.weats == ("weat2",)
    assert (one.name, one.folder, one.option("glove", "window")) == ("sample", setup.folder, 8)
    assert one.baseline_mean("weat2") == setup.baseline_mean("weat2")


def test_rows_of_tests_come_in_their_order_with_the_setup_first(setup):
    reversed_tests = Setup(Unit("other", ("weat2", "weat1")), setup.folder)
    table = rows_of_tests([setup, reversed_tests], "baseline", "effect_size")
    assert table.columns.tolist() == ["setup", "weat", "effect_size"]
    keys = dict.fromkeys(zip(table["setup"], table["weat"], strict=True))
    assert list(keys) == [("sample", "weat1"), ("sample", "weat2"), ("other", "weat2"), ("other", "weat1")]
    assert table.loc[4:7, "effect_size"].tolist() == setup.effect_sizes("weat2").tolist()


def test_a_test_without_rows_is_refused_with_the_nearest_name(setup):
    with pytest.raises(InputError, match=r"baseline\.tsv: no row for 'weat3'; did you mean"):
        setup.of_weat("baseline", "weat3", "effect_size")


def test_a_missing_column_is_named(setup):
    with pytest.raises(InputError, match="column 'colour' is missing"):
        setup.of_weat("baseline", "weat1", "colour")


def test_a_missing_test_is_named(setup):
    with pytest.raises(InputError, match=r"weat3\.parquet: no such file"):
        setup.ppmi("weat3")


def test_percentages_keep_the_sign_and_give_way_near_zero():
    assert percent_scale(0.5) == (200.0, "% of baseline mean")
    assert percent_scale(-0.5) == (200.0, "% of baseline mean")
    assert percent_scale(0.049) == (1.0, "effect size")


def test_documents_have_text_metadata_whatever_the_reader_left_out(tmp_path):
    write_results(tmp_path, n_documents=20, metadata=False)
    table = pd.read_parquet(tmp_path / "documents.parquet")
    table["year"] = ["1987", None, *["2007"] * 18]
    table["section"] = pd.Series([None] * 20, dtype=object)
    table.to_parquet(tmp_path / "documents.parquet")
    documents = Setup(Unit("sample"), tmp_path).documents()
    assert documents["year"].map(type).eq(str).all()
    assert documents["year"][1] == ""
    assert (documents["section"] == "").all()
