"""The testers. To add a tester, write its module, a row here, and an oracle in the tests."""

from biaslab.core.errors import InputError, suggest
from biaslab.fairness_testing.testers import adf, aequitas, eidig, random_search, symbolic
from biaslab.fairness_testing.testers.contract import Tester

TESTERS: dict[str, Tester] = {
    tester.name: tester
    for tester in (
        adf.TESTER,
        aequitas.TESTER,
        symbolic.TESTER,
        random_search.TESTER,
        eidig.EIDIG_5,
        eidig.EIDIG_INF,
    )
}
"""Every tester by its name."""


def find_tester(name: str) -> Tester:
    """Return the tester of a name."""
    if name not in TESTERS:
        raise InputError(
            f"unknown tester '{name}' (known: {', '.join(TESTERS)}){suggest(name, list(TESTERS))}"
        )
    return TESTERS[name]


def paper_testers() -> dict[str, Tester]:
    """Return the testers of the paper, by name."""
    return {name: tester for name, tester in TESTERS.items() if not tester.is_later}


def runs() -> list[tuple[Tester, str]]:
    """Return the paper's testers in each of their modes."""
    return [(tester, mode) for tester in paper_testers().values() for mode in tester.modes]
