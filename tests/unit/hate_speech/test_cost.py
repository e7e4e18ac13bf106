"""Tokens that a method reads, counted one by one."""

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("tokenizers")
pytest.importorskip("safetensors")

from biaslab.hate_speech.contexts import ContextSettings
from biaslab.hate_speech.cost import count_work
from biaslab.hate_speech.methods import parse_method
from biaslab.text.tokens import Tokens

IDS = [50, 51, 52]
SENTENCES = ([50, 7, 8, 51], [9, 9], [52, 52, 52], [6], [51, 50, 52, 4, 4, 50])
CONTEXTS = ContextSettings(radius=2, samples=3, add_itself=True)
CONTEXTS_OF = {
    "vanilla": 0,
    "wr": 0,
    "oc-0.1": 1,
    "soc-0.1": 4,
    "soc-0.1@published": 4,
    "soc-0": 0,
    "ear-0.01": 0,
}


@pytest.fixture(scope="module")
def tokens():
    rows = [[2, *sentence, 3] for sentence in SENTENCES]
    offsets = np.cumsum([0, *map(len, rows)])
    return Tokens(np.concatenate(rows).astype(np.int32), offsets, np.zeros(offsets[-1], np.int32))


def counted(name):
    """Sentences as they are read for the loss, and again for each regularized occurrence."""
    total = 0
    for sentence in SENTENCES:
        length = len(sentence) + 2
        total += length - sum(token in IDS for token in sentence) if name == "wr" else length
        for token in sentence:
            if token in IDS:
                for _context in range(CONTEXTS_OF[name]):
                    total += length  # with the identifier
                    total += length  # without
    return total


def test_tokens_are_those_of_a_literal_count(tokens):
    table = count_work(tokens, IDS, [parse_method(name) for name in CONTEXTS_OF], CONTEXTS, batch_size=2)
    assert table["method"].tolist() == list(CONTEXTS_OF)
    assert (table["n_steps"] == 3).all()
    for row in table.itertuples():
        assert row.tokens_per_step == counted(row.method) / 3
        assert row.ratio == pytest.approx(counted(row.method) / counted("vanilla"), rel=1e-12)
    assert counted("soc-0.1") > counted("oc-0.1") > counted("vanilla")
