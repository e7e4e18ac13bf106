"""Occlusion and SOC: the batched form against the published loop, and what must hold."""

import copy
from functools import partial

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from biaslab.hate_speech.contexts import OC, SOC_REGULARIZATION, ContextSettings, Occurrences, fill_contexts
from biaslab.hate_speech.explanations import (
    explain_words,
    find_occurrences,
    identifier_importance,
    importance,
    phrase_importance,
    regularizer,
    summarize,
    word_spans,
)
from biaslab.text.devices import generator
from biaslab.text.encoder import load_classifier
from biaslab.text.language_model import BiGRU, LanguageModelSettings, train_language_model
from biaslab.text.tokens import Tokenizer
from hate_speech_training_data import GROUPS, sentences, tiny_model
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


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("settings", [OC, SOC], ids=["oc", "soc"])
@pytest.mark.parametrize("share", [True, False])
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


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("settings", [OC, SOC], ids=["oc", "soc"])
@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_the_loss_and_its_gradient_equal_the_published_loop(
    model, explain, batch, tokenizer, dtype, tolerance, settings, reduction
):
    ids, mask, _ = batch
    model.to(dtype)
    score_of = partial(score, model)
    phi, filled = explain(score_of, settings)
    loss = 0.3 * regularizer(phi, len(ids), reduction)
    loss.backward()
    batched = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    model.zero_grad()
    fillings = iter(filled.tolist())
    expected = naive.explanation_loss(
        partial(one_by_one, score_of),
        ids.tolist(),
        mask.tolist(),
        [tokenizer.vocabulary.index(name) for name in NAMES],
        0.3,
        lambda *_: next(fillings),
        tokenizer.pad,
        summed=reduction == "sum",
    )
    expected.backward()
    looped = [p.grad for p in model.parameters() if p.grad is not None]
    assert next(fillings, None) is None
    assert float((loss - expected).detach().abs()) <= tolerance * float(expected.detach())
    scale = max(g.abs().max() for g in looped)
    assert max((a - b).abs().max() for a, b in zip(batched, looped, strict=True)) <= tolerance * scale


@pytest.mark.parametrize("settings", [OC, SOC], ids=["oc", "soc"])
def test_the_gradient_agrees_with_finite_differences(model, explain, batch, settings):
    model.double()

    def loss():
        return 100 * regularizer(explain(partial(score, model), settings)[0], len(batch[0]))

    loss().backward()
    rng, step = np.random.default_rng(5), 1e-5
    checked = []
    for parameter in model.parameters():
        gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        flat, steepest = parameter.data.view(-1), int(gradient.abs().argmax())
        for place in {steepest, int(rng.integers(flat.numel()))}:
            value = flat[place].item()
            with torch.no_grad():
                flat[place] = value + step
                above = loss().item()
                flat[place] = value - step
                below = loss().item()
                flat[place] = value
            numeric, exact = (above - below) / (2 * step), gradient.view(-1)[place].item()
            checked.append((exact, numeric))
    exact, numeric = np.array(checked).T
    assert np.abs(exact).max() > 0.01
    np.testing.assert_allclose(numeric, exact, rtol=1e-5, atol=1e-8 * np.abs(exact).max())


@pytest.mark.parametrize(("samples", "add_itself"), [(1, False), (1, True), (5, True), (7, False)])
def test_soc_without_neighbours_is_oc_exactly(model, explain, samples, add_itself):
    with torch.no_grad():
        oc, _ = explain(partial(score, model), OC)
        soc, _ = explain(partial(score, model), ContextSettings(0, samples, add_itself))
    assert torch.equal(oc, soc)


@pytest.mark.parametrize("n_contexts", range(2, 10))
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


def test_the_whole_sentence_falls_to_that_of_padding(model, batch, tokenizer):
    ids, mask, _ = batch
    lengths = mask.sum(1).numpy()
    whole = Occurrences(np.arange(len(ids)), np.ones(len(ids), np.int64), lengths - 1)
    filled = fill_contexts(ids, mask, whole, OC, None, tokenizer, None)
    inner = torch.zeros_like(mask)
    for row, length in enumerate(lengths):
        inner[row, 1 : length - 1] = True
    with torch.no_grad():
        phi = importance(partial(score, model), ids, mask, whole, filled, tokenizer.pad)
        fall = score(model, ids, mask) - score(model, torch.where(inner, tokenizer.pad, ids), mask & ~inner)
    assert phi.abs().max() > 0.05
    torch.testing.assert_close(phi, fall, rtol=1e-5, atol=1e-6)


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


def test_all_phrases_and_contexts_are_one_forward_pass(model, explain, batch):
    shapes = []

    def counted(ids, mask):
        shapes.append(tuple(ids.shape))
        return score(model, ids, mask)

    _, mask, found = batch
    with torch.no_grad():
        explain(counted, SOC, share=False)
        explain(counted, OC)
    length = int(mask[found.row].sum(1).max())
    n_sentences = len(set(found.row))
    # OC: s(x) once for each sentence, and one row for each phrase.
    assert shapes == [(len(found) * SOC.n_contexts * 2, length), (n_sentences + len(found), length)]


def test_a_model_that_ignores_the_word_gives_it_no_importance_but_with_dropout_it_seems_to(
    batch, explain, tokenizer
):
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


def test_equal_rows_share_a_dropout_mask_unless_asked_not_to(model, explain, batch):
    *_, found = batch
    model.train()
    scores = []

    def kept(ids, mask):
        scores.append(score(model, ids, mask).detach())
        return scores[-1]

    five_times = ContextSettings(0, 5)
    explain(kept, five_times, share=True)
    explain(kept, five_times, share=False)
    shared, apart = scores
    assert len(shared) == len(set(found.row)) + len(found)
    assert len(apart) == 2 * 5 * len(found)
    assert apart[:5].std() > 0  # five times one sentence


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


@pytest.mark.parametrize("max_tokens", [1, 100, 100_000])
def test_words_are_explained_in_any_chunks(model, tokens, tokenizer, max_tokens):
    model.double().train()
    rows = [4, 0, 2, 3]
    table = explain_words(model, tokens, rows, OC, tokenizer, max_tokens=max_tokens)
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
    explain = partial(
        explain_words, model, tokens, settings=SOC, tokenizer=tokenizer, language_model=language_model
    )
    everything = explain(rows=range(len(tokens)))
    alone = explain(rows=[2], max_tokens=1)
    part = everything[everything["row"] == 2].reset_index(drop=True)
    pd.testing.assert_frame_equal(part, alone, rtol=1e-10)
    other = explain(rows=[2], seed=2)
    assert (other["phi"] != alone["phi"]).any()


def test_a_sentence_without_words_has_no_rows(model, tokenizer):
    tokens = tokenizer.encode(["", "the baker"])
    assert explain_words(model, tokens, [0, 1], OC, tokenizer)["row"].tolist() == [1, 1]
    nothing = explain_words(model, tokens, [], OC, tokenizer)
    assert nothing.empty
    assert nothing.columns.tolist() == ["row", "position", "word", "phi"]


def test_phrases_of_one_word_are_its_explanation(model, tokens, tokenizer):
    model.double()
    words = explain_words(model, tokens, [0], OC, tokenizer)
    phi = phrase_importance(model, tokens, 0, OC, tokenizer, max_tokens=200)
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
    explain_words(model, tokens, [0, 1], SOC, tokenizer, language_model=language_model)
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


@pytest.fixture(scope="module")
def trained_model(tiny):
    _, tokenizer, tokens, _ = tiny
    settings = LanguageModelSettings(epochs=1, width=6)
    return train_language_model(tokens, tokens, tokenizer, settings, seed=1)[0]


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


def assert_equal_importance(found, expected):
    assert found["row"].tolist() == expected["row"].tolist()
    assert found["identifier"].tolist() == expected["identifier"].tolist()
    np.testing.assert_allclose(found["phi"], expected["phi"], rtol=0, atol=2e-6)


@pytest.mark.parametrize("max_tokens", [1, 60, 16_384])
def test_occlusion_is_that_of_a_loop_over_occurrences(tiny, max_tokens):
    model, tokenizer, tokens, ids = tiny
    expected = occlusion_by_loop(tiny)
    assert expected.groupby("row").size().max() == 3
    assert expected["phi"].abs().min() > 1e-4
    found = identifier_importance(model, tokens, ids, OC, tokenizer, None, 1, max_tokens)
    assert_equal_importance(found, expected)
    assert found["phi"].dtype == np.float64


def test_sampled_contexts_give_what_a_loop_over_occurrences_gives(tiny, trained_model):
    model, tokenizer, tokens, ids = tiny
    found = identifier_importance(model, tokens, ids, SAMPLED, tokenizer, trained_model, 7)
    # All texts with an identifier are one batch, the longest first.
    holding = [row for row in range(len(tokens)) if set(tokens.row(row)) & set(ids.values())]
    rows = np.array(sorted(holding, key=lambda row: -tokens.lengths[row]))
    batch, mask = map(torch.from_numpy, tokens.padded(rows, tokenizer.pad))
    occurrences = find_occurrences(batch.numpy(), list(ids.values()))
    random = generator(7, "identifiers", 0)
    filled = fill_contexts(batch, mask, occurrences, SAMPLED, trained_model, tokenizer, random)
    phi = []
    for i in range(len(occurrences)):
        row, start, end = (getattr(occurrences, part)[i] for part in ("row", "start", "end"))
        one = Occurrences(np.array([0]), np.array([start]), np.array([end]))
        with torch.no_grad():
            values = importance(
                lambda i, m: score(model, i, m),
                batch[[row]],
                mask[[row]],
                one,
                filled[[i]],
                tokenizer.pad,
            )
        phi.append((rows[row], start, values.item()))
    expected = [value for _, _, value in sorted(phi)]
    np.testing.assert_allclose(found["phi"], expected, rtol=0, atol=2e-6)


def test_equal_seeds_draw_equal_contexts_and_dropout_is_off(tiny, trained_model):
    model, tokenizer, tokens, ids = tiny

    def phi(seed):
        return identifier_importance(model, tokens, ids, SAMPLED, tokenizer, trained_model, seed)["phi"]

    first = phi(1)
    model.train()
    try:
        assert phi(1).tolist() == first.tolist()
        assert model.training
    finally:
        model.eval()
    assert phi(2).tolist() != first.tolist()


@pytest.mark.parametrize("max_tokens", [40, 200])
def test_no_pass_reads_more_tokens_than_it_may(tiny, trained_model, monkeypatch, max_tokens):
    model, tokenizer, tokens, ids = tiny
    read = []

    def counting(model, ids, mask):
        read.append(ids.numel())
        return score(model, ids, mask)

    monkeypatch.setattr("biaslab.text.packing.score", counting)
    settings = ContextSettings(radius=3, samples=2)
    identifier_importance(model, tokens, ids, settings, tokenizer, trained_model, 1, max_tokens)
    alone = 2 * settings.n_contexts * int(tokens.lengths.max())  # one occurrence in the longest text
    assert max(read) <= max(max_tokens, alone)
    assert len(read) > 1


def test_texts_without_identifiers_have_none(tiny):
    model, tokenizer, _, ids = tiny
    found = identifier_importance(
        model, tokenizer.encode(["a rose", "the park"]), ids, OC, tokenizer, None, 1
    )
    assert found.empty
    assert list(found) == ["row", "identifier", "phi"]
    table = summarize(found, ids)
    assert table["identifier"].tolist() == list(GROUPS)
    assert table["n"].tolist() == [0, 0, 0, 0]
    assert table[["mean_phi", "mean_abs_phi"]].isna().all(axis=None)


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
