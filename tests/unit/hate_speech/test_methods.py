import pytest

from biaslab.core.errors import InputError
from biaslab.hate_speech.methods import QUIRKS, Method, parse_method

IDENTIFIERS = {"bakers": 40, "cyclists": 41, "gardeners": 42, "sailors": 43, "weavers": 44}


@pytest.mark.parametrize(
    ("name", "kind", "alpha", "removes", "quirks", "fold"),
    [
        ("bow", "bow", 0, False, (), None),
        ("bow-wr", "bow-wr", 0, True, (), None),
        ("vanilla", "vanilla", 0, False, (), None),
        ("wr", "wr", 0, True, (), None),
        ("oc-0.1", "oc", 0.1, False, (), None),
        ("soc-1", "soc", 1, False, (), None),
        ("soc-0", "soc", 0, False, (), None),
        ("ear-0.01", "ear", 0.01, False, (), None),
        ("soc-1e-30", "soc", 1e-30, False, (), None),
        ("soc-0.1@dropout+sum", "soc", 0.1, False, ("dropout", "sum"), None),
        ("soc-0.1@published", "soc", 0.1, False, QUIRKS, None),
        ("oc-0.1@published", "oc", 0.1, False, ("dropout", "sum"), None),
        ("oc-0.1@fold0.5", "oc", 0.1, False, (), (0, 5)),
        ("soc-0.1@pad+fold4.5", "soc", 0.1, False, ("pad",), (4, 5)),
    ],
)
def test_a_name_says_the_method(name, kind, alpha, removes, quirks, fold):
    assert parse_method(name) == Method(name, kind, alpha, removes, frozenset(quirks), fold)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("vanila", "no method is called 'vanila'; did you mean 'vanilla'"),
        ("lime-0.1", "no method is called 'lime-0.1'"),
        ("", "no method is called ''"),
        ("soc", "soc needs its strength; write for instance 'soc-0.1'"),
        ("soc-", "needs its strength"),
        ("soc-x", "needs its strength"),
        ("soc--1", "needs its strength"),
        ("soc-nan", "needs its strength"),
        ("vanilla-0.1", "no method is called 'vanilla-0.1'"),
        ("soc-.1", "is written 'soc-0.1'"),
        ("soc-1.0", "is written 'soc-1'"),
        ("soc-0.1@sum+dropout", "is written 'soc-0.1@dropout\\+sum'"),
        ("soc-0.1@sum+sum", "is written 'soc-0.1@sum'"),
        ("soc-0.1@dropout+independent+pad+sum", "is written 'soc-0.1@published'"),
        ("soc-0.1@fold0.5+sum", "is written 'soc-0.1@sum\\+fold0.5'"),
        ("soc-0.1@", "no quirk ''"),
        ("soc-0.1@drop", "no quirk 'drop'; did you mean 'dropout'"),
        ("oc-0.1@pad", "no quirk 'pad'"),
        ("vanilla@sum", "no quirk 'sum' \\(vanilla has none\\)"),
        ("ear-0.1@fold0.5", "no quirk 'fold0.5' \\(ear has none\\)"),
        ("soc-0.1@fold5.5", "K from 0 to N - 1"),
        ("soc-0.1@fold0.1", "N of at least 2"),
        ("soc-0.1@fold0.5+fold1.5", "names 2 folds"),
    ],
)
def test_other_names_are_refused_in_one_line(name, problem):
    with pytest.raises(InputError, match=problem) as error:
        parse_method(name)
    assert "\n" not in str(error.value)


def test_a_fold_is_left_out_of_the_regularization():
    assert parse_method("oc-0.1").regularized(IDENTIFIERS) == IDENTIFIERS
    assert list(parse_method("soc-0.1@fold1.2").regularized(IDENTIFIERS)) == [
        "bakers",
        "gardeners",
        "weavers",
    ]
    folds = [
        set(IDENTIFIERS) - set(parse_method(f"oc-1@fold{k}.3").regularized(IDENTIFIERS)) for k in range(3)
    ]
    assert sorted(term for fold in folds for term in fold) == sorted(IDENTIFIERS)


@pytest.mark.parametrize("name", ["bow", "bow-wr", "vanilla", "wr", "ear-0.1"])
def test_other_kinds_regularize_no_identifier(name):
    assert parse_method(name).regularized(IDENTIFIERS) == {}
    assert parse_method(name).is_encoder == (not name.startswith("bow"))
