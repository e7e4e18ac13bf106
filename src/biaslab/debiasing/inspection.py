"""How the inputs of the area are read before a run; see `biaslab.run.inspection`."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from biaslab.bias.word_sets import read_word_sets
from biaslab.debiasing.word_lists import read_sets, read_words
from biaslab.run.inspection import AtHand, Reading

_READERS = {
    "defining": read_sets,
    "equalize": read_sets,
    "occupations": read_words,
    "gender_specific": read_words,
}


def readings(config: Mapping[str, Any], at_hand: AtHand) -> Iterator[Reading]:
    """Yield how the word lists and association tests are read."""
    section = config["debiasing"]
    for key, reader in _READERS.items():
        for file in at_hand.own(section[key]):
            yield f"debiasing.{key}", partial(reader, file)
    for weat in section["weats"]:
        for file in at_hand.own(section["word_sets"][weat]):
            yield f"debiasing.word_sets.{weat}", partial(read_word_sets, file)
