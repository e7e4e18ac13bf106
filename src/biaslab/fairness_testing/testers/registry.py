"""The testers. A new one costs its module, a row here, and an oracle among the tests."""

from biaslab.core.errors import InputError, suggest
from biaslab.fairness_testing.names import MODES
from biaslab.fairness_testing.testers import adf, aequitas, random_search, symbolic
from biaslab.fairness_testing.testers.contract import Tester

TESTERS: dict[str, Tester] = {
    tester.name: tester for tester in (adf.TESTER, aequitas.TESTER, symbolic.TESTER, random_search.TESTER)
}
"""Every tester by its name."""


def find_tester(name: str) -> Tester:
    """Return the tester of a name.

    Raises
    ------
    InputError
        When there is none.
    """
    if name not in TESTERS:
        raise InputError(
            f"there is no tester '{name}' (known: {', '.join(TESTERS)}){suggest(name, list(TESTERS))}"
        )
    return TESTERS[name]


def runs() -> list[tuple[Tester, str]]:
    """Return all testers with their modes: first those of code and paper, then what others do not have."""
    every = [(tester, mode) for tester in TESTERS.values() for mode in tester.modes]
    return sorted(every, key=lambda run: not (run[0].has_switches and run[1] in MODES))
