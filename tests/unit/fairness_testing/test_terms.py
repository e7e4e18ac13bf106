"""Lists of protected words, and the sentences that hold some of them."""

from pathlib import Path

import pytest

from biaslab.core.errors import InputError
from biaslab.fairness_testing.text.corpus import read_terms
from biaslab.text.labelled import read_labelled, read_texts
from biaslab.text.words import split_words
from refusals import assert_file_refused
from text_data import registered

RESOURCES = Path(__file__).parents[3] / "workflow/resources"
EXAMPLE_TERMS = "fairness_testing/terms_example.yaml"


def test_the_same_list_in_three_formats(tmp_path):
    (tmp_path / "t.csv").write_text(
        "\ufefffeature, values\ntrade, bakers, well-diggers,o'hara\n\nkind,a ,  b\n"
    )
    (tmp_path / "t.yaml").write_text(
        "title: groups\nfeatures:\n  trade: [bakers, well-diggers, o'hara]\n  kind: [a, b]\n"
    )
    (tmp_path / "trade.txt").write_text("# trades\nbakers\n\n well-diggers\no'hara\n")
    trade = {"trade": ("bakers", "well-diggers", "o'hara")}
    assert read_terms(tmp_path / "t.csv") == trade | {"kind": ("a", "b")}
    assert list(read_terms(tmp_path / "t.yaml").items()) == [*trade.items(), ("kind", ("a", "b"))]
    assert read_terms(tmp_path / "trade.txt") == trade


HEADER = b"feature, values\n"


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("t.csv", b"", "has no features"),
        ("t.csv", HEADER, "has no features"),
        ("t.csv", b"trade, bakers, pilots\n", r"t\.csv, line 1: the header is not 'feature, values'"),
        ("t.csv", HEADER + b"\ntrade, bakers\n", r"t\.csv, line 3: the feature 'trade' has 1 value; write"),
        ("t.csv", HEADER + b"trade, a, b\ntrade, c, d\n", r"t\.csv, line 3: the feature 'trade' is repeated"),
        ("t.csv", HEADER + b"trade, a, b, a\n", r"t\.csv, line 2: the value 'a' is repeated"),
        (
            "t.csv",
            HEADER + b"trade, a, Bakers\n",
            r"t\.csv, line 2: 'Bakers' has capital letters; write 'bakers'",
        ),
        ("t.csv", HEADER + b"trade, a, two words\n", r"t\.csv, line 2: 'two words' is not one word"),
        ("t.csv", HEADER + b"trade, a, b,\n", r"t\.csv, line 2: '' is not one word"),
        ("t.csv", HEADER + b"my trade, a, b\n", r"t\.csv, line 2: a feature cannot be named 'my trade'"),
        ("t.csv", HEADER + b"all, a, b\n", r"t\.csv, line 2: 'all' stands for every text"),
        ("t.csv", b"b\xe9kers\n", "not UTF-8"),
        ("t.yaml", b"features: {}\n", "has no features"),
        ("t.yaml", b"feature: {trade: [a, b]}\n", "feature: unknown key; did you mean 'features'"),
        ("t.yaml", b"features: [a, b]\n", "features: a list is not a mapping"),
        ("t.yaml", b"features: {trade: a}\n", r"features\.trade: \"a\" is not a list"),
        ("t.yaml", b"features: {trade: [a, no]}\n", r"features\.trade\[1\]: false is not a text"),
        ("t.yaml", b"features: {1: [a, b]}\n", r"features\[1\]: not a usable name"),
        ("t.yaml", b"features: {trade: [a, b, a]}\n", r"features\.trade: the value 'a' is repeated"),
        ("t.yaml", b"a: [\n", "not valid YAML"),
        ("trade.txt", b"\n# none\n", "has 0 values"),
        ("my trades.txt", b"a\nb\n", "a feature cannot be named 'my trades'"),
        ("trade.txt", b"b\xe9kers\n", "not UTF-8"),
        ("trade.tsv", b"a\nb\n", "unknown format of a term list"),
    ],
)
def test_bad_list_is_refused(tmp_path, name, content, problem):
    assert_file_refused(tmp_path / name, content, problem, read_terms)


def test_a_missing_list_is_refused(tmp_path):
    for name in ("absent.csv", "absent.yaml", "absent.txt"):
        with pytest.raises(InputError, match=rf"{name}: No such file"):
            read_terms(tmp_path / name)


def test_every_term_of_the_example_occurs_in_it_more_than_once():
    texts = read_labelled(RESOURCES / "hate_speech/example.csv", group="group")["text"]
    words = [set(split_words(text)) for text in texts]
    terms = read_terms(RESOURCES / EXAMPLE_TERMS)
    assert list(terms) == ["trade", "relation"]
    assert not set(terms["trade"]) & set(terms["relation"])
    for value in (value for values in terms.values() for value in values):
        assert sum(value in text for text in words) > 1


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        ("sentences.txt", lambda: registered("adf-text-terms")),
        ("sentences_example.txt", lambda: RESOURCES / EXAMPLE_TERMS),
    ],
)
def test_every_sentence_holds_a_term_and_every_feature_has_a_sentence(name, terms):
    terms = read_terms(terms())
    texts = read_texts(RESOURCES / "fairness_testing" / name)["text"]
    features = [{feature for feature in terms if {*terms[feature]} & {*split_words(text)}} for text in texts]
    assert all(features)
    assert set.union(*features) == set(terms)
