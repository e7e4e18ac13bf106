# ruff: noqa: E402 (torch is optional)
"""The neighbours that SOC draws, against the published loop."""

import zlib

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from biaslab.hate_speech import contexts
from biaslab.hate_speech.contexts import ContextSettings, fill_contexts
from biaslab.hate_speech.explanations import find_occurrences
from biaslab.text.devices import generator
from biaslab.text.language_model import BiGRU
from biaslab.text.tokens import Tokenizer
from naive import hate_speech_explanations as naive
from refusals import refused
from text_data import PUNCTUATION, SPECIAL

WORDS = ["the", "baker", "bakers", "gardener", "likes", "bread", "and", "flowers", "today", "##s", "very"]
TOKENIZER = Tokenizer([*SPECIAL, *PUNCTUATION, *WORDS])
TEXTS = [
    "the baker likes the baker",
    "bakers likes bread and flowers today",
    "baker",
    "the gardener",
    "the very very baker gardener likes bread and flowers and the bakers today",
]
IDENTIFIERS = [TOKENIZER.vocabulary.index(word) for word in ("baker", "bakers", "gardener")]


@pytest.fixture
def batch():
    tokens = TOKENIZER.encode(TEXTS)
    ids, mask = tokens.padded(np.arange(len(tokens)), TOKENIZER.pad)
    found = find_occurrences(ids, IDENTIFIERS)
    assert np.bincount(found.row).tolist() == [2, 1, 1, 1, 3]  # some adjacent, some at the edges
    return torch.from_numpy(ids), torch.from_numpy(mask), found


@pytest.fixture
def language_model():
    return BiGRU(np.arange(len(TOKENIZER.vocabulary)), len(TOKENIZER.vocabulary), TOKENIZER.unk, 8, 8)


def scripted(side, context, sample, n):
    """Return n tokens in reading order that depend on all that is read and on the number of the sample."""
    digest = zlib.crc32(repr((side, [int(t) for t in context], int(sample))).encode())
    outwards = np.random.default_rng(digest).integers(len(TOKENIZER.vocabulary), size=50)[:n]
    return outwards if side == "right" else outwards[::-1]


def script(monkeypatch):
    """Put the scripted tokens in the place of the language model."""

    def draw(model, ids, n_tokens, samples, generator, exclude, lengths, is_left):
        side = "left" if is_left else "right"
        rows = [row[:length] for row, length in zip(ids.tolist(), lengths.tolist(), strict=True)]
        return torch.tensor(
            np.array([[scripted(side, row, j, n_tokens) for j in range(samples)] for row in rows])
        )

    monkeypatch.setattr(contexts, "sample", draw)


@pytest.mark.parametrize("radius", [0, 1, 20])
@pytest.mark.parametrize("add_itself", [False, True])
@pytest.mark.parametrize("quirks", [(), ("independent",), ("pad",)])
def test_contexts_are_those_of_the_published_loop(monkeypatch, batch, radius, add_itself, quirks):
    script(monkeypatch)
    ids, mask, occurrences = batch
    settings = ContextSettings(radius, 3, add_itself, "independent" not in quirks, "pad" not in quirks)
    filled = fill_contexts(ids, mask, occurrences, settings, object(), TOKENIZER, None)
    for i, (row, start, end) in enumerate(
        zip(occurrences.row, occurrences.start, occurrences.end, strict=True)
    ):
        expected = naive.soc_contexts(
            ids[row].tolist(),
            mask[row].tolist(),
            (start, end - 1),
            radius=radius,
            samples=3,
            add_itself=add_itself,
            draw_right=lambda context, sample: scripted("right", context, sample, radius).tolist(),
            # Given the right side drawn, each context of a chain is one of its own.
            draw_left=lambda context, sample: scripted(
                "left", context, sample if "independent" in quirks else 0, radius
            ).tolist(),
            pad=TOKENIZER.pad,
            bounds=(TOKENIZER.cls, TOKENIZER.sep),
            quirks=quirks,
        )
        assert filled[i].tolist() == expected


def test_no_special_token_is_drawn_unless_asked_for(batch, language_model):
    ids, mask, occurrences = batch
    model = language_model.initialize(1)
    settings = ContextSettings(4, 200)
    filled = fill_contexts(ids, mask, occurrences, settings, model, TOKENIZER, generator(1, "draw"))
    base = ids[occurrences.row][:, None]
    assert not TOKENIZER.is_special[filled[filled != base].numpy()].any()
    quirk = ContextSettings(4, 200, exclude_specials=False)
    drawn = fill_contexts(ids, mask, occurrences, quirk, model, TOKENIZER, generator(1, "draw"))
    new = drawn[drawn != base]
    assert (new == TOKENIZER.pad).any()
    assert not ((new == TOKENIZER.cls) | (new == TOKENIZER.sep)).any()


def test_equal_seeds_draw_equal_contexts(batch, language_model):
    ids, mask, occurrences = batch
    model = language_model.initialize(1)
    settings = ContextSettings(5, 5, add_itself=True)

    def fill(seed):
        return fill_contexts(ids, mask, occurrences, settings, model, TOKENIZER, generator(seed, "draw"))

    assert torch.equal(fill(1), fill(1))
    assert not torch.equal(fill(1), fill(2))
    assert torch.equal(fill(1)[:, -1], ids[occurrences.row])


def test_a_missing_language_model_is_refused(batch):
    with refused("radius: 5 needs a language model"):
        fill_contexts(*batch, ContextSettings(5, 5), None, TOKENIZER, None)
