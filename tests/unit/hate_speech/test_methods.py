import pytest

from biaslab.hate_speech.methods import QUIRKS, Method, parse_method
from refusals import refused


@pytest.mark.parametrize(
    ("name", "kind", "alpha", "removes", "quirks"),
    [
        ("bow-wr", "bow-wr", 0, True, ()),
        ("vanilla", "vanilla", 0, False, ()),
        ("wr", "wr", 0, True, ()),
        ("oc-0.1", "oc", 0.1, False, ()),
        ("soc-0", "soc", 0, False, ()),
        ("ear-0.01", "ear", 0.01, False, ()),
        ("soc-1e-30", "soc", 1e-30, False, ()),
        ("soc-0.1@dropout+sum", "soc", 0.1, False, ("dropout", "sum")),
        ("soc-0.1@published", "soc", 0.1, False, QUIRKS),
        ("oc-0.1@published", "oc", 0.1, False, ("dropout", "sum")),
    ],
)
def test_a_name_says_the_method(name, kind, alpha, removes, quirks):
    assert parse_method(name) == Method(name, kind, alpha, removes, frozenset(quirks))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("vanila", "there is no method 'vanila'; did you mean 'vanilla'"),
        ("", "there is no method ''"),
        ("soc", "soc needs a strength; write for instance 'soc-0.1'"),
        ("soc-x", "needs a strength"),
        ("soc--1", "needs a strength"),
        ("soc-nan", "needs a strength"),
        ("vanilla-0.1", "there is no method 'vanilla-0.1'"),
        ("soc-1.0", "has the spelling 'soc-1'"),
        ("soc-0.1@sum+dropout", "has the spelling 'soc-0.1@dropout\\+sum'"),
        ("soc-0.1@sum+sum", "has the spelling 'soc-0.1@sum'"),
        ("soc-0.1@dropout+independent+pad+sum", "has the spelling 'soc-0.1@published'"),
        ("soc-0.1@drop", "no quirk 'drop'; did you mean 'dropout'"),
        ("oc-0.1@pad", "no quirk 'pad'"),
        ("vanilla@sum", "no quirk 'sum' \\(vanilla has none\\)"),
    ],
)
def test_other_names_are_refused_in_one_line(name, problem):
    with refused(problem):
        parse_method(name)


def test_which_methods_are_encoders_and_regularize_explanations():
    methods = [parse_method(name) for name in ("bow", "vanilla", "wr", "soc-0", "oc-1", "ear-1")]
    assert [method.explains for method in methods] == [False, False, False, False, True, False]
    assert [method.is_encoder for method in methods] == [False, True, True, True, True, True]
