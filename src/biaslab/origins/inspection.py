"""How the inputs of the area are read before a run; see `biaslab.run.inspection`."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from biaslab.bias.word_sets import read_word_sets
from biaslab.run.inspection import AtHand, Reading


def readings(config: Mapping[str, Any], at_hand: AtHand) -> Iterator[Reading]:
    """Yield how the association tests of the setups are read."""
    section = config["origins"]
    tests = [test for name in section["run"] for test in section["setups"][name]["bias"]["weats"]]
    for test in dict.fromkeys(tests):
        for file in at_hand.own(section["weats"][test]):
            yield f"origins.weats.{test}", partial(read_word_sets, file)
