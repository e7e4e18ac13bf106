"""The testers. To add a tester, write its module, a row here, and an oracle in the tests."""

from collections.abc import Iterator

from biaslab.core.errors import InputError, suggest
from biaslab.core.rng import stream
from biaslab.fairness_testing.testers import adf, aequitas, eidig, symbolic
from biaslab.fairness_testing.testers.contract import Phases, Task, Tester, visit


def draw_at_random(task: Task, settings: None = None) -> Iterator[Phases]:
    """Check uniform samples of the domain; the first `n_seeds` samples count as the global phase."""
    X = task.subject.domain.draw(task.n_drawn, stream(task.seed, "random search"))
    trail = visit(task.subject, X)
    yield Phases(trail.take(slice(task.n_seeds)), trail.take(slice(task.n_seeds, None)))


_RANDOM = Tester(name="random", title="THEMIS", search=draw_at_random, draws_seeds=True, is_retrained=False)

TESTERS: dict[str, Tester] = {
    tester.name: tester for tester in (adf.TESTER, aequitas.TESTER, symbolic.TESTER, _RANDOM, *eidig.TESTERS)
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
