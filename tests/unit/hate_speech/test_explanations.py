"""Occlusion and SOC: the batched form against the published loop, and what must hold."""

import copy
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from biaslab.hate_speech.contexts import OC, SOC_REGULARIZATION, ContextSettings, Occurrences, fill_contexts
from biaslab.hate_speech.explanations import (
    Explainer,
    find_occurrences,
    importance,
    regularizer,
    summarize,
    word_spans,
)
from biaslab.text.devices import generator
from biaslab.text.encoder import load_classifier
from biaslab.text.language_model import BiGRU
from biaslab.text.tokens import Tokenizer
from hate_speech_training_data import GROUPS, sentences, tiny_language_model, tiny_model
from naive import hate_speech_explanations as naive
from naive.text import score
from text_data import tiny_classifier

WORDS = ["the", "baker", "bakers", "gardener", "likes", "bread", "and", "flowers", "today", "very"]
PIECES = ["gar", "##den", "##ing", "##s", "re", "##bake"]
TEXTS = [
    "the baker likes the gardening baker and rebakes bread today",
    "bakers likes bread and flowers today",
    "the very very baker gardener baker likes bread, and flowers and the bakers today",
    "flowers and bread",
    "gardener",
]
NAMES = ("baker", "bakers", "gardener")
SOC = ContextSettings(radius=3, samples=4, add_itself=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_classifier(tmp_path_factory.mktemp("encoder"), [*WORDS, *PIECES])


@pytest.fixture(scope="module")
def tokenizer(folder):
    return Tokenizer.load(folder / "vocab.txt")


@pytest.fixture
def model(folder):
    return load_classifier(folder)


@pytest.fixture(scope="module")
def language_model(tokenizer):
    n = len(tokenizer.vocabulary)
    return BiGRU(np.arange(n), n, tokenizer.unk, 8, 8).initialize(1).eval()


@pytest.fixture(scope="module")
def tokens(tokenizer):
    return tokenizer.encode(TEXTS)


@pytest.fixture(scope="module")
def batch(tokens, tokenizer):
    """Return the sentences as a batch, and the identifiers in it: several in one row, some adjacent."""
    ids, mask = tokens.padded(np.arange(len(tokens)), tokenizer.pad)
    found = find_occurrences(ids, {tokenizer.vocabulary.index(name) for name in NAMES})
    assert np.bincount(found.row, minlength=len(ids)).tolist() == [2, 1, 4, 0, 1]
    return torch.from_numpy(ids), torch.from_numpy(mask), found


@pytest.fixture
def explain(batch, tokenizer, language_model):
    """Return the function that explains the identifiers of the batch."""

    def explain(score, settings, seed=1, **options):
        ids, mask, found = batch
        filled = fill_contexts(ids, mask, found, settings, language_model, tokenizer, generator(seed, "draw"))
        return importance(score, ids, mask, found, filled, tokenizer.pad, **options), filled

    return explain


def one_by_one(score, ids, mask):
    """The score of one sentence given as lists, as the oracle asks for it."""
    return score(torch.tensor([ids]), torch.tensor([mask]).bool())[0]


@pytest.mark.parametrize(
    ("dtype", "tolerance", "share"), [(torch.float32, 1e-5, True), (torch.float64, 1e-10, False)]
)
@pytest.mark.parametrize("settings", [OC, SOC], ids=["oc", "soc"])
def test_batched_equals_the_published_loop(
    model, explain, batch, tokenizer, dtype, tolerance, settings, share
):
    ids, mask, found = batch
    score_of = partial(score, model.to(dtype))
    with torch.no_grad():
        phi, filled = explain(score_of, settings, share=share)
        expected = [
            naive.phi(
                partial(one_by_one, score_of),
                ids[row].tolist(),
                mask[row].tolist(),
                (start, end - 1),
                filled[i].tolist(),
                tokenizer.pad,
            )
            for i, (row, start, end) in enumerate(zip(found.row, found.start, found.end, strict=True))
        ]
    expected = torch.stack(expected)
    scale = expected.abs().max()
    assert scale > 0.01
    assert phi.dtype == dtype
    assert (phi - expected).abs().max() <= tolerance * scale


@pytest.mark.parametrize(("samples", "add_itself"), [(1, False), (5, True)])
def test_soc_without_neighbours_is_oc_exactly(model, explain, samples, add_itself):
    with torch.no_grad():
        oc, _ = explain(partial(score, model), OC)
        soc, _ = explain(partial(score, model), ContextSettings(0, samples, add_itself))
    assert torch.equal(oc, soc)


@pytest.mark.parametrize("n_contexts", [3, 7, 9])
def test_the_mean_of_equal_falls_is_that_fall(tokenizer, n_contexts):
    """Also where the sum of n equal numbers, divided by n, is another number."""
    n = 500
    effects = torch.randn(n, generator=torch.Generator().manual_seed(1))
    ids, mask = torch.arange(n)[:, None].repeat(1, 3), torch.ones(n, 3, dtype=torch.bool)
    phrases = Occurrences(np.arange(n), np.ones(n, np.int64), np.full(n, 2))

    def phi(n_contexts):
        filled = ids[:, None].expand(-1, n_contexts, -1)
        return importance(
            lambda ids, mask: (effects[ids] * mask).sum(1), ids, mask, phrases, filled, tokenizer.pad
        )

    assert torch.equal(phi(n_contexts), phi(1))


def test_importance_depends_neither_on_padding_nor_on_the_batch(model, batch, tokenizer, explain):
    ids, mask, found = batch
    model.double()
    with torch.no_grad():
        phi, filled = explain(partial(score, model), SOC)
        wide = [torch.nn.functional.pad(part, (0, 11)) for part in (ids, mask, filled)]
        padded = importance(partial(score, model), *wide[:2], found, wide[2], tokenizer.pad)
        alone = [
            importance(
                partial(score, model), ids, mask, found.part(slice(i, i + 1)), filled[[i]], tokenizer.pad
            )
            for i in range(len(found))
        ]
    torch.testing.assert_close(padded, phi, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(torch.cat(alone), phi, rtol=1e-10, atol=1e-12)


def test_a_word_that_the_model_ignores_has_no_importance_except_under_dropout(batch, explain, tokenizer):
    weights = torch.randn(len(tokenizer.vocabulary), 8, generator=torch.Generator().manual_seed(1))
    weights[[tokenizer.pad, *(tokenizer.vocabulary.index(name) for name in NAMES)]] = 0
    dropout = torch.nn.Dropout(0.1)

    def ignoring(ids, mask):
        return (dropout(weights[ids]) * mask[..., None]).sum((1, 2))

    for settings in (OC, SOC):
        phi, _ = explain(ignoring, settings, share=False)
        assert phi.abs().max() > 0.05  # dropout draws anew for the pass without the word
        dropout.eval()
        phi, _ = explain(ignoring, settings)
        assert (phi == 0).all()
        dropout.train()


def test_no_identifier_in_the_batch_is_no_regularizer(model, batch, tokenizer):
    ids, mask, _ = batch
    nothing = find_occurrences(ids.numpy(), [])
    filled = fill_contexts(ids, mask, nothing, SOC_REGULARIZATION, None, tokenizer, None)
    phi = importance(partial(score, model), ids, mask, nothing, filled, tokenizer.pad)
    assert phi.shape == (0,)
    assert regularizer(phi, len(ids)).item() == 0


# Whole words


def test_words_are_all_their_pieces(tokens, tokenizer):
    words = word_spans(tokens, 0)
    found = tokenizer.words(TEXTS[0])
    assert len(words) == len(found)
    pieces = [
        "".join(tokenizer.vocabulary[i].removeprefix("##") for i in tokens.row(0)[start:end])
        for start, end in zip(words.start, words.end, strict=True)
    ]
    assert pieces == found
    assert (words.end - words.start).max() == 3
    assert len(word_spans(tokenizer.encode([""]), 0)) == 0


def words_by_loop(model, tokens, row, tokenizer):
    """OC of every word of a sentence, one pass after the other."""
    ids, words = tokens.row(row).tolist(), word_spans(tokens, row)
    return [
        float(
            naive.phi(
                partial(one_by_one, partial(score, model)),
                ids,
                [True] * len(ids),
                (start, end - 1),
                [ids],
                tokenizer.pad,
            )
        )
        for start, end in zip(words.start, words.end, strict=True)
    ]


@pytest.mark.parametrize("max_tokens", [1, 100_000])
def test_words_are_explained_in_any_chunks(model, tokens, tokenizer, max_tokens):
    model.double().train()
    rows = [4, 0, 2, 3]
    table = Explainer(model, tokenizer, OC, max_tokens=max_tokens).explain_words(tokens, rows)
    assert model.training
    assert table["row"].tolist() == sorted(table["row"])
    model.eval()
    for row in rows:
        part = table[table["row"] == row]
        assert part["word"].tolist() == tokenizer.words(TEXTS[row])
        assert part["position"].tolist() == list(range(len(part)))
        with torch.no_grad():
            expected = words_by_loop(model, tokens, row, tokenizer)
        np.testing.assert_allclose(part["phi"], expected, rtol=1e-10, atol=1e-12)


def test_contexts_of_a_sentence_do_not_depend_on_the_others(model, tokens, tokenizer, language_model):
    model.double()
    explainer = Explainer(model, tokenizer, SOC, language_model)
    everything = explainer.explain_words(tokens, range(len(tokens)))
    alone = replace(explainer, max_tokens=1).explain_words(tokens, [2])
    part = everything[everything["row"] == 2].reset_index(drop=True)
    pd.testing.assert_frame_equal(part, alone, rtol=1e-10)
    other = replace(explainer, seed=2).explain_words(tokens, [2])
    assert (other["phi"] != alone["phi"]).any()


def test_a_sentence_without_words_has_no_rows(model, tokenizer):
    tokens = tokenizer.encode(["", "the baker"])
    assert Explainer(model, tokenizer, OC).explain_words(tokens, [0, 1])["row"].tolist() == [1, 1]
    nothing = Explainer(model, tokenizer, OC).explain_words(tokens, [])
    assert nothing.empty
    assert nothing.columns.tolist() == ["row", "position", "word", "phi"]


def test_phrases_of_one_word_are_its_explanation(model, tokens, tokenizer):
    model.double()
    words = Explainer(model, tokenizer, OC).explain_words(tokens, [0])
    phi = Explainer(model, tokenizer, OC, max_tokens=200).phrase_importance(tokens, 0)
    n = len(words)
    np.testing.assert_allclose(phi([(i, i + 1) for i in range(n)]), words["phi"], rtol=1e-10)
    ids, mask = (torch.from_numpy(part) for part in tokens.padded([0], tokenizer.pad))
    empty = mask.clone()
    empty[0, 1:-1] = False
    with torch.no_grad():
        fall = score(model, ids, mask) - score(model, ids, empty)
    np.testing.assert_allclose(phi([(0, n)]), fall.numpy(), rtol=1e-10)


def test_explaining_leaves_the_model_and_the_global_random_numbers_alone(
    model, tokens, tokenizer, language_model
):
    before = copy.deepcopy(model.state_dict())
    torch.manual_seed(3)
    state = torch.get_rng_state()
    Explainer(model, tokenizer, SOC, language_model).explain_words(tokens, [0, 1])
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    assert all(p.grad is None for p in model.parameters())


SAMPLED = ContextSettings(radius=2, samples=3, add_itself=True)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A model, its tokenizer, texts (two have several identifiers, most have none) and the identifiers."""
    model, tokenizer = tiny_model(tmp_path_factory.mktemp("encoder"))
    texts, _ = sentences(12, seed=5)
    texts += ["bakers met bakers near the park", "the sailors saw cyclists and heard bakers slowly", "a rose"]
    ids = {name: tokenizer.vocabulary.index(name) for name in GROUPS}
    return model, tokenizer, tokenizer.encode(texts), ids


def occlusion_by_loop(tiny):
    """OC as it is defined: the score of a text, less that without a token."""
    model, tokenizer, tokens, ids = tiny
    names = {token: name for name, token in ids.items()}
    rows = []
    for row in range(len(tokens)):
        text = torch.from_numpy(tokens.row(row).astype(np.int64))[None]
        for place, token in enumerate(tokens.row(row).tolist()):
            if token in names:
                whole = torch.ones_like(text, dtype=torch.bool)
                hidden, attended = text.clone(), whole.clone()
                hidden[0, place], attended[0, place] = tokenizer.pad, False
                with torch.no_grad():
                    phi = score(model, text, whole) - score(model, hidden, attended)
                rows.append((row, names[token], phi.item()))
    return pd.DataFrame(rows, columns=["row", "identifier", "phi"])


@pytest.mark.parametrize("max_tokens", [60, 16_384])
def test_occlusion_is_that_of_a_loop_over_occurrences(tiny, max_tokens):
    model, tokenizer, tokens, ids = tiny
    expected = occlusion_by_loop(tiny)
    assert expected.groupby("row").size().max() == 3
    assert expected["phi"].abs().min() > 1e-4
    found = Explainer(model, tokenizer, OC, max_tokens=max_tokens).identifier_importance(tokens, ids)
    assert found[["row", "identifier"]].equals(expected[["row", "identifier"]])
    np.testing.assert_allclose(found["phi"], expected["phi"], rtol=0, atol=2e-6)


def test_equal_seeds_draw_equal_contexts_and_dropout_is_off(tiny):
    model, tokenizer, tokens, ids = tiny
    untrained = tiny_language_model(tokenizer, tokens)

    def phi(seed):
        return Explainer(model, tokenizer, SAMPLED, untrained, seed).identifier_importance(tokens, ids)["phi"]

    first = phi(1)
    model.train()
    try:
        assert phi(1).tolist() == first.tolist()
        assert model.training
    finally:
        model.eval()
    assert phi(2).tolist() != first.tolist()


def test_no_pass_reads_more_tokens_than_it_may(tiny, monkeypatch):
    model, tokenizer, tokens, ids = tiny
    untrained, read = tiny_language_model(tokenizer, tokens), []

    def counting(model, ids, mask):
        read.append(ids.numel())
        return score(model, ids, mask)

    monkeypatch.setattr("biaslab.text.packing.score", counting)
    Explainer(model, tokenizer, SAMPLED, untrained, 1, 200).identifier_importance(tokens, ids)
    alone = 2 * SAMPLED.n_contexts * int(tokens.lengths.max())  # one occurrence in the longest text
    assert max(read) <= max(200, alone)
    assert len(read) > 1


def test_texts_without_identifiers_have_none(tiny):
    model, tokenizer, _, ids = tiny
    found = Explainer(model, tokenizer, OC).identifier_importance(
        tokenizer.encode(["a rose", "the park"]), ids
    )
    assert found.empty
    assert list(found) == ["row", "identifier", "phi"]
    assert summarize(found, ids)["n"].tolist() == [0, 0, 0, 0]


def test_means_are_over_occurrences_in_the_order_of_the_identifiers():
    occurrences = pd.DataFrame(
        {"row": [0, 1, 1, 4], "identifier": ["b", "a", "b", "b"], "phi": [0.5, -2.0, -1.5, 0.25]}
    )
    table = summarize(occurrences, {"a": 9, "c": 8, "b": 7}).set_index("identifier")
    assert table.index.tolist() == ["a", "c", "b"]
    assert table["n"].tolist() == [1, 0, 3]
    assert table.loc["a", ["mean_phi", "mean_abs_phi"]].tolist() == [-2.0, 2.0]
    assert table.loc["b", "mean_phi"] == pytest.approx(-0.25)
    assert table.loc["b", "mean_abs_phi"] == pytest.approx(0.75)
    assert table.loc["c"].isna().sum() == 2
