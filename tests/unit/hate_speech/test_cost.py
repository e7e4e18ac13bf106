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
REGULARIZED = {
    "vanilla": set(),
    "wr": set(),
    "oc-0.1": {50, 51, 52},
    "soc-0.1": {50, 51, 52},
    "soc-0.1@published": {50, 51, 52},
    "soc-0.1@fold1.2": {50, 52},
    "oc-0.1@fold0.3": {51, 52},
    "ear-0.01": set(),
    "soc-0": set(),
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
            if token in REGULARIZED[name]:
                for _context in range(1 if name.startswith("oc") else 3 + 1):
                    total += length  # with the identifier
                    total += length  # without
    return total


def test_tokens_are_those_of_a_literal_count(tokens):
    table = count_work(tokens, IDS, [parse_method(name) for name in REGULARIZED], CONTEXTS, batch_size=2)
    assert table["method"].tolist() == list(REGULARIZED)
    assert (table["n_steps"] == 3).all()
    for row in table.itertuples():
        assert row.tokens_per_step == counted(row.method) / 3
        assert row.ratio == pytest.approx(counted(row.method) / counted("vanilla"), rel=1e-12)
    assert counted("soc-0.1") > counted("soc-0.1@fold1.2") > counted("oc-0.1") > counted("vanilla")


def test_identifiers_of_one_piece_stay_in_their_places(tokens):
    ids = [50, 50, 51]  # the longest piece of two terms may be the same
    fold = parse_method("oc-0.1@fold1.3")  # leaves the second of them out
    work = count_work(tokens, ids, [parse_method("vanilla"), parse_method("oc-0.1"), fold], CONTEXTS, 2)
    assert work["tokens_per_step"][1] == work["tokens_per_step"][2]
    without_last = count_work(tokens, ids, [parse_method("oc-0.1@fold2.3")], CONTEXTS, 2)
    assert without_last["tokens_per_step"][0] < work["tokens_per_step"][2]
