"""Wrong input is answered with a hint at what is meant, in one line."""

import csv

import numpy as np
import pandas as pd
import pytest
import yaml

from biaslab.bias.word_sets import WordSets, in_vocabulary
from biaslab.classifiers.adapters import CallableModel
from biaslab.classifiers.encoding import read_table
from biaslab.classifiers.schema import load_schema
from biaslab.core.errors import InputError, suggest
from biaslab.core.files import MAX_LINE_CHARACTERS
from biaslab.core.io import read_tsv
from biaslab.ranking.lists import Columns, ListFile
from biaslab.text.labelled import read_labelled

SCHEMA = {
    "protected": ["sex"],
    "attributes": [{"name": "sex", "kind": "category", "values": ["f", "m"]}],
    "label": {"column": "hired", "classes": ["no", "yes"]},
}


def assert_refused(hint, read, *arguments):
    with pytest.raises(InputError, match=hint) as error:
        read(*arguments)
    assert "\n" not in str(error.value)
    return str(error.value)


def schema_of(folder):
    (folder / "s.yaml").write_text(yaml.safe_dump(SCHEMA))
    return load_schema(folder / "s.yaml")


def read_as_lists(path):
    return ListFile(path, Columns("score", ("sex",)))


def read_as_table(path):
    return read_table(path, schema_of(path.parent))


def read_as_results(path):
    return read_tsv(path, ("score", "sex"))


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("a.csv", read_as_lists),
        ("a.csv", read_as_table),
        ("a.tsv", read_as_results),
        ("a.csv", read_labelled),
    ],
)
@pytest.mark.parametrize(("separator", "called"), [(";", "semicolons"), ("|", "bars")])
def test_another_separator_is_named(tmp_path, name, read, separator, called):
    rows = [("score", "sex", "hired", "text", "label"), ("1", "f", "yes", "a cake", "0")]
    path = tmp_path / name
    path.write_text("".join(f"{separator.join(row)}\n" for row in rows))
    hint = f"its fields seem to be separated by {called}, which this reader was not told to expect"
    assert "did you mean" not in assert_refused(hint, read, path)


def test_commas_and_tabs_are_named_where_the_other_is_read(tmp_path):
    (tmp_path / "a.csv").write_text("score\tsex\n1\tf\n")
    assert_refused("separated by tabs", read_as_lists, tmp_path / "a.csv")
    (tmp_path / "a.tsv").write_text("score,sex\n1,f\n")
    assert_refused("separated by commas", read_as_results, tmp_path / "a.tsv")


def test_a_header_of_one_column_is_not_taken_for_another_separator(tmp_path):
    (tmp_path / "a.csv").write_text("points\n1\n")
    with pytest.raises(InputError, match=r"the column 'score' is missing \(columns: points\)$"):
        read_as_lists(tmp_path / "a.csv")


def test_words_of_a_test_in_upper_case():
    names = {"people": ["Mary", "John"]}, {"good": ["nice"], "bad": ["mean"]}
    test = WordSets("w", "t", "s", {**names[0], "things": ["cake"]}, names[1])
    ids = {word: i for i, word in enumerate(["mary", "john", "cake", "nice", "mean"])}
    assert_refused("write 'Mary' in lower case|write 'mary' in lower case", in_vocabulary, test, ids)
    ids = {word: i for i, word in enumerate(["cake", "nice", "mean"])}
    assert_refused("use a larger corpus or a smaller min_count", in_vocabulary, test, ids)


def test_an_open_quote_in_a_table_is_named_where_it_begins(tmp_path):
    rows = "".join("f,yes\n" for _ in range(20))
    (tmp_path / "a.csv").write_text(f'sex,hired\nf,no\n"f,no\n{rows}')
    assert_refused(
        r"a\.csv: not a table \(line 3: unexpected end of data\)", read_as_table, tmp_path / "a.csv"
    )
    texts = "".join(f"a cake,{i % 2}\n" for i in range(20))
    (tmp_path / "b.csv").write_text(f'text,label\na song,0\n"a song,1\n{texts}')
    hint = r"b\.csv:3: not a row of fields \(unexpected end of data\)"
    assert_refused(hint, read_labelled, tmp_path / "b.csv")


def test_long_texts_are_read(tmp_path):
    assert csv.field_size_limit() == MAX_LINE_CHARACTERS
    texts = ["cake " * 40_000, "song", "bread", "walk"]
    pd.DataFrame({"text": texts, "label": [0, 1, 0, 1]}).to_csv(tmp_path / "a.csv", index=False)
    assert read_labelled(tmp_path / "a.csv")["text"].str.len().max() == len(texts[0])


@pytest.mark.parametrize("stop", [SystemExit(7), SystemExit("no weights"), RuntimeError("no\nweights")])
def test_a_model_that_ends_the_program_is_told(stop):
    def ends(X):
        raise stop

    assert_refused(
        rf"failed on 2 samples \({type(stop).__name__}",
        CallableModel(ends, 2, 2).probabilities,
        np.ones((2, 2)),
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("aeras", "; did you mean 'areas'?"),
        ("are", "; did you mean 'areas'?"),
        ("She", "; did you mean 'she'?"),  # nearer to he, letter by letter
        ("threads", ""),
        ("", ""),
    ],
)
def test_a_name_is_proposed_that_is_near_or_begins_so(name, hint):
    assert suggest(name, iter(["seed", "areas", "x_max", "he", "she"])) == hint
