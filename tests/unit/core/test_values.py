import pytest

from biaslab.core.errors import InputError
from biaslab.core.values import check_values, find_doubtful


@pytest.mark.parametrize(
    ("values", "similar", "missing"),
    [
        (["baker", "cyclist"], (), ()),
        (["baker", " Baker", "BAKER. ", "cyclist"], ((" Baker", "BAKER. ", "baker"),), ()),
        (["<=50K", "<=50K.", ">50K", ">50K."], (("<=50K", "<=50K."), (">50K", ">50K.")), ()),
        (["night  baker", "night baker"], (("night  baker", "night baker"),), ()),
        (["Straße", "STRASSE"], (("STRASSE", "Straße"),), ()),
        (["nan", "NaN", "NA", "None", " ", "?", "-", "a"], (), (" ", "-", "?", "NA", "NaN", "None", "nan")),
        (["none", "hate"], (), ()),  # a label, not Python's None
        (["1", "10", "1.0"], (), ()),
    ],
)
def test_doubtful_values(values, similar, missing):
    doubtful = find_doubtful([*values, *values])
    assert (doubtful.similar, doubtful.missing) == (similar, missing)
    assert bool(doubtful) == bool(similar or missing)
    assert len(doubtful.sentences()) == bool(similar) + bool(missing)


def test_the_message_names_values_and_options():
    check_values("t.csv: job", ["baker", "cyclist"])
    with pytest.raises(InputError) as error:
        check_values("t.csv: job", ["baker", "Baker ", "cyclist", "?"], "--unknown")
    assert str(error.value) == (
        "t.csv: job: 'Baker ' and 'baker' differ by case, blanks or a final stop alone; '?' probably stands"
        " for a missing value; write each value in one way in the file and name missing values (--unknown"
        " '?'), or keep all values as they are (--exact-values)"
    )
    with pytest.raises(InputError, match="leave missing values empty, or keep"):
        check_values("t.csv: job", ["baker", "NA"])
