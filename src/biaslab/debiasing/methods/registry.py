"""The methods. A new one costs its module, a row here, and an oracle among the tests."""

from biaslab.core.errors import InputError, suggest
from biaslab.debiasing.methods import bolukbasi, double_hard, inlp
from biaslab.debiasing.methods.contract import Method

METHODS: dict[str, Method] = {
    method.name: method
    for method in (bolukbasi.NONE, bolukbasi.HARD, bolukbasi.SOFT, double_hard.METHOD, inlp.METHOD)
}
"""Every method by its name; the first is the embedding as it is."""


def find_method(name: str) -> Method:
    """Return the method of a name."""
    if name not in METHODS:
        raise InputError(
            f"there is no method of debiasing '{name}' (known: {', '.join(METHODS)})"
            f"{suggest(name, list(METHODS))}"
        )
    return METHODS[name]
