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
    assert find_doubtful([*values, *values]) == (similar, missing)


def test_doubtful_values_are_refused_with_the_options_that_settle_them():
    check_values("t.csv: job", ["baker", "cyclist"])
    message = (
        r"^t\.csv: job: 'Baker ' and 'baker' differ by case, .* \(--unknown '\?'\), .* \(--exact-values\)$"
    )
    with pytest.raises(InputError, match=message):
        check_values("t.csv: job", ["baker", "Baker ", "cyclist", "?"], "--unknown")
    with pytest.raises(InputError, match="leave missing values empty, or keep"):
        check_values("t.csv: job", ["baker", "NA"])
