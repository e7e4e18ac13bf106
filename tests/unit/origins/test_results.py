import json

import numpy as np
import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.origins.report.results import aggregate_by_metadata, metadata_columns, percent_scale, read_setups
from origins_data import WORD_SETS, make_setups, write_config, write_results


@pytest.fixture(scope="module")
def setup(tmp_path_factory):
    return make_setups(tmp_path_factory.mktemp("results"), {"sample": {}})[0]


def test_setups_know_their_folder_options_and_tests(tmp_path):
    write_config(tmp_path / "config.json", {"a": ("weat2",), "b-2": ("weat1", "weat2")})
    setups = read_setups([f"b-2={tmp_path}/x=y", f"a={tmp_path}"], tmp_path / "config.json")
    assert [(s.name, s.weats) for s in setups] == [("b-2", ("weat1", "weat2")), ("a", ("weat2",))]
    assert setups[0].folder == tmp_path / "x=y"
    assert setups[0].option("glove", "window") == 8


@pytest.mark.parametrize("argument", ["sample", "=folder", "sample="])
def test_a_setup_without_name_or_folder_is_refused(tmp_path, argument):
    write_config(tmp_path / "config.json", {"sample": ("weat1",)})
    with pytest.raises(InputError, match="write NAME=FOLDER"):
        read_setups([argument], tmp_path / "config.json")


def test_an_unknown_setup_is_refused_with_the_nearest_name(tmp_path):
    write_config(tmp_path / "config.json", {"sample": ("weat1",)})
    with pytest.raises(InputError, match=r"setups\.smaple is missing; did you mean 'sample'\?"):
        read_setups(["smaple=x"], tmp_path / "config.json")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file"),
        ("[1", "not valid YAML"),
        ("[1]", "no mapping"),
        ("seed: 1", "key setups is missing"),
    ],
)
def test_a_bad_configuration_is_refused(tmp_path, text, message):
    path = tmp_path / "config.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_setups(["sample=x"], path)


def test_a_missing_option_is_named(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"setups": {"sample": {"glove": {}}}}))
    setup = read_setups(["sample=x"], tmp_path / "config.json")[0]
    with pytest.raises(InputError, match=r"setups\.sample\.glove\.window is missing"):
        setup.option("glove", "window")


def test_a_test_without_rows_is_refused_with_the_nearest_name(setup):
    with pytest.raises(InputError, match=r"baseline\.tsv: no row for 'weat3'; did you mean"):
        setup.of_weat("baseline", "weat3", "effect_size")


def test_a_missing_column_is_named(setup):
    with pytest.raises(InputError, match="column 'colour' is missing"):
        setup.of_weat("baseline", "weat1", "colour")


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
    write_config(tmp_path / "config.json", {"sample": ("weat1",)})
    documents = read_setups([f"sample={tmp_path}"], tmp_path / "config.json")[0].documents()
    assert documents["year"].map(type).eq(str).all()
    assert documents["year"][1] == ""
    assert metadata_columns(documents) == ["year"]


def test_metadata_groups_sum_their_documents_with_students_interval_over_seeds():
    bias = pd.DataFrame(
        {"document": [0, 1, 2], "influence_seed0": [1.0, 2.0, -4.0], "influence_seed1": [3.0, 4.0, -6.0]}
    )
    documents = pd.DataFrame({"document": [2, 1, 0], "section": ["B", "A", "A"], "year": ["", "", ""]})
    table = aggregate_by_metadata(bias, documents)
    assert table[["column", "value", "n_documents"]].to_numpy().tolist() == [
        ["section", "A", 2],
        ["section", "B", 1],
    ]
    assert table["sum"].tolist() == [5.0, -5.0]
    # Sums of A by seed: 3 and 7, so mean 5, standard error 2, and t(0.975; 1) = 12.7062.
    np.testing.assert_allclose(
        table.loc[0, ["sum_ci_low", "sum_ci_high"]].tolist(), [5 - 25.4124, 5 + 25.4124], atol=1e-3
    )
    np.testing.assert_allclose(table["mean"], table["sum"] / table["n_documents"])
    np.testing.assert_allclose(table["mean_ci_high"], table["sum_ci_high"] / table["n_documents"])


def test_metadata_sums_add_up_to_the_whole_corpus_and_name_what_has_no_value(setup):
    bias = setup.differential_bias("weat1")
    table = aggregate_by_metadata(bias, setup.documents())
    for _, part in table.groupby("column"):
        np.testing.assert_allclose(part["sum"].sum(), bias["influence_mean"].sum(), atol=1e-12)
        assert part["n_documents"].sum() == len(bias)
        assert part["sum"].is_monotonic_decreasing
    assert "(none)" in set(table["value"])


def test_made_up_word_sets_are_complete():
    assert all(len(sets.sets) == 4 for sets in WORD_SETS.values())
