"""How the inputs of the area are read before a run; see `biaslab.run.inspection`."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from biaslab.bias.word_sets import read_word_sets
from biaslab.run.inspection import AtHand, Reading


def readings(config: Mapping[str, Any], at_hand: AtHand) -> Iterator[Reading]:
    """Yield how the association tests of the setups are read."""
    tests = [test for name in config["run"] for test in config["setups"][name]["bias"]["weats"]]
    for test in dict.fromkeys(tests):
        for file in at_hand.own(config["weats"][test]):
            yield f"weats.{test}", partial(read_word_sets, file)
