"""The methods. A new one costs its module, a row here, and an oracle among the tests."""

from biaslab.core.errors import InputError, suggest
from biaslab.debiasing.methods.contract import Method

NONE = Method("none", "Before", "the embedding as it is", "bolukbasi:keep")

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        NONE,
        Method("hard", "Hard", "Bolukbasi et al. 2016", "bolukbasi:hard"),
        Method("soft", "Soft", "Bolukbasi et al. 2016", "bolukbasi:soft"),
        Method("double_hard", "Double-Hard", "Wang et al. 2020", "double_hard:double_hard"),
        Method("inlp", "INLP", "Ravfogel et al. 2020", "inlp:inlp"),
    )
}
"""Every method by its name; the first is the embedding as it is."""

COMPARED = tuple(name for name in METHODS if name != NONE.name)


def find_method(name: str) -> Method:
    """Return the method of a name."""
    if name not in METHODS:
        raise InputError(
            f"there is no method of debiasing '{name}' (known: {', '.join(METHODS)})"
            f"{suggest(name, list(METHODS))}"
        )
    return METHODS[name]
