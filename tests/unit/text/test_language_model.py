from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare

pytest.importorskip("torch")

import torch

from biaslab.core.errors import InputError
from biaslab.text.devices import generator
from biaslab.text.language_model import (
    BiGRU,
    LanguageModelSettings,
    known_tokens,
    negative_log_likelihood,
    sample,
    train_language_model,
)
from biaslab.text.tokens import SPECIAL, Tokenizer, Tokens
from naive import text as naive
from refusals import assert_file_refused

KNOWN = [1, 2, 4, 7, 8]
"""What the five-token model knows, of an encoder of ten tokens."""
SMALL = LanguageModelSettings(epochs=3, learning_rate=0.02, batch_size=4, width=8)
LONG = LanguageModelSettings(epochs=30, learning_rate=0.05, batch_size=4, width=8)


def tokens_of(*rows) -> Tokens:
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    flat = np.array([i for row in rows for i in row], np.int32)
    return Tokens(flat, offsets, np.zeros_like(flat))


def weights_of(model: BiGRU, name: str) -> dict:
    """Return one direction's parameters as the oracle wants them."""
    direction = getattr(model, name)
    gru, out = direction.gru, direction.softmax
    tensors = {
        "embedding": model.embedding.weight, "w_ih": gru.weight_ih_l0, "w_hh": gru.weight_hh_l0,
        "b_ih": gru.bias_ih_l0, "b_hh": gru.bias_hh_l0, "w_out": out.weight, "b_out": out.bias,
    }  # fmt: skip
    return {"go": direction.go, **{k: v.detach().double().tolist() for k, v in tensors.items()}}


@pytest.fixture
def model() -> BiGRU:
    """A model whose predictions depend on what it has read: parameters ten times their initial size."""
    model = BiGRU(np.array(KNOWN), 10, unk=1, embedding=3, hidden=4).initialize(seed=1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
    return model.double()


@pytest.fixture
def tokenizer() -> Tokenizer:
    return Tokenizer([*SPECIAL, ".", "the", "a", "baker", "gardener", "bakes", "plants", "bread", "roses"])


@pytest.fixture
def texts(tokenizer) -> Tokens:
    return tokenizer.encode(["The baker bakes bread.", "A gardener plants roses.", "the baker bakes"] * 8)


@pytest.mark.parametrize("logits_at_once", [20, 10**6])
def test_likelihood_of_texts_of_any_length_is_that_of_the_loop(model, monkeypatch, logits_at_once):
    monkeypatch.setattr("biaslab.text.language_model.LOGITS_AT_ONCE", logits_at_once)
    rows = [[4, 7], [8, 2, 4, 4, 7, 1, 2], [2], [7, 7, 8, 1]]
    forwards, backwards = weights_of(model, "forwards"), weights_of(model, "backwards")
    expected = [
        naive.negative_log_likelihood(forwards, backwards, [KNOWN.index(i) for i in row]) for row in rows
    ]
    assert negative_log_likelihood(model, tokens_of(*rows)) == pytest.approx(expected, rel=1e-10)


def test_an_unknown_token_is_read_as_unk(model):
    unknown, unk = tokens_of([4, 9, 7, 0]), tokens_of([4, 1, 7, 1])
    assert negative_log_likelihood(model, unknown) == negative_log_likelihood(model, unk)
    assert negative_log_likelihood(model, unk) != negative_log_likelihood(model, tokens_of([4, 2, 7, 1]))


def draw(is_left, model, contexts, n_tokens, samples, seed=1, exclude=None):
    """Draw beside contexts of any lengths; what stands beyond them has no influence."""
    lengths = torch.tensor([len(context) for context in contexts])
    ids = torch.full((len(contexts), int(lengths.max()) + 2), 7)
    for row, context in zip(ids, contexts, strict=True):
        row[: len(context)] = torch.tensor(context, dtype=torch.int64)
    return sample(model, ids, n_tokens, samples, generator(seed, "samples"), exclude, lengths, is_left)


def pair_frequencies(drawn: torch.Tensor) -> np.ndarray:
    """Return how often each pair of known tokens was drawn, (25,)."""
    index = np.searchsorted(KNOWN, drawn.numpy())
    return np.bincount(index[:, 0] * 5 + index[:, 1], minlength=25)


def expected(model, is_left, context, excluded=()):
    """Return the probability of each pair of known tokens beside a context."""
    weights = weights_of(model, "backwards" if is_left else "forwards")
    way = -1 if is_left else 1
    before, pairs = [KNOWN.index(i) for i in context[::way]], naive.all_sequences(5, 2)
    return [naive.sequence_probability(weights, pair[::way], before, excluded) for pair in pairs]


def p_of(counts: np.ndarray, probabilities: list[float]) -> float:
    """Return the p-value of counts under exact probabilities; what must not occur must not have occurred."""
    probabilities = np.array(probabilities)
    possible = probabilities > 0
    assert not counts[~possible].any()
    return chisquare(counts[possible], probabilities[possible] * counts.sum()).pvalue


@pytest.mark.parametrize("is_left", [False, True])
def test_samples_have_the_exact_conditional_distribution(model, is_left):
    contexts = [[4, 7, 2], [8], []]
    drawn = draw(is_left, model, contexts, 2, 4000)
    assert drawn.shape == (3, 4000, 2)
    for i, context in enumerate(contexts):
        assert p_of(pair_frequencies(drawn[i]), expected(model, is_left, context)) > 0.001
    # The check can fail: samples beside one context do not fit another.
    assert p_of(pair_frequencies(drawn[0]), expected(model, is_left, contexts[1])) < 1e-6


@pytest.mark.parametrize("is_left", [False, True])
def test_excluded_tokens_are_never_drawn_and_others_share_their_probability(model, is_left):
    exclude = np.isin(np.arange(10), [4, 8, 9])
    drawn = draw(is_left, model, [[4, 7]], 2, 4000, 2, exclude)[0]
    assert set(drawn.unique().tolist()) == {1, 2, 7}
    excluded = [KNOWN.index(4), KNOWN.index(8)]
    assert p_of(pair_frequencies(drawn), expected(model, is_left, [4, 7], excluded)) > 0.001
    assert p_of(pair_frequencies(drawn) + 1, np.full(25, 1 / 25)) < 1e-6
    with pytest.raises(ValueError, match="every token"):
        draw(is_left, model, [[4]], 1, 1, exclude=np.isin(np.arange(10), KNOWN))


def test_the_distribution_holds_across_blocks_of_a_larger_vocabulary():
    model = BiGRU(np.arange(150), 150, unk=0, embedding=4, hidden=5).initialize(seed=3)
    with torch.no_grad():
        model.forwards.softmax.weight.mul_(4)
    weights = weights_of(model, "forwards")
    excluded = [5, 70, 149]
    drawn = draw(False, model, [[9, 8]], 1, 20000, exclude=np.isin(np.arange(150), excluded))
    counts = np.bincount(drawn.flatten().numpy(), minlength=150)
    assert p_of(counts, naive.next_token(weights, [9, 8], excluded)) > 0.001
    assert p_of(counts + 1, np.full(150, 1 / 150)) < 1e-6


def test_the_vocabulary_is_that_of_the_texts(tokenizer):
    known = known_tokens(tokenizer.encode(["roses."]), tokenizer)
    assert [tokenizer.vocabulary[i] for i in known] == [*SPECIAL, ".", "roses"]


def test_training_learns_and_keeps_the_best_epoch(texts, tokenizer):
    unlike = tokenizer.encode(["The gardener bakes.", "a baker plants bread"])
    done = []
    model, history = train_language_model(texts, unlike, tokenizer, LONG, 1, lambda *step: done.append(step))
    assert history.epoch.tolist() == list(range(1, 31))
    assert history.train_nll.iloc[-1] < 0.25 * history.train_nll.iloc[0]
    best = history.validation_nll.idxmin()
    assert best < 29  # later epochs know the texts by heart
    nll = np.average(negative_log_likelihood(model, unlike), weights=unlike.lengths)
    assert nll == pytest.approx(history.validation_nll[best], rel=1e-6)
    assert done[0] == (1, 30)
    assert done[-1] == (30, 30)


def test_equal_seeds_give_equal_models_and_torchs_own_random_numbers_stay(texts, tokenizer):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    runs = [train_language_model(texts, texts, tokenizer, SMALL, seed) for seed in (1, 1, 2)]
    assert torch.equal(before, torch.get_rng_state())
    weights = [torch.cat([p.flatten() for p in model.parameters()]) for model, _ in runs]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert runs[0][1].equals(runs[1][1])


def test_no_texts_are_refused(texts, tokenizer):
    for pair in [(texts.take([]), texts), (texts, texts.take([]))]:
        with pytest.raises(InputError, match="needs texts for training and validation"):
            train_language_model(*pair, tokenizer, SMALL, 1)


@pytest.mark.parametrize("settings", [{"learning_rate": 1e38}, {"epochs": 0}])
def test_a_model_that_learns_nothing_is_refused(texts, tokenizer, settings):
    with pytest.raises(InputError, match=r"did not learn in \d epochs.*lower the learning rate"):
        train_language_model(texts, texts, tokenizer, replace(SMALL, **settings), 1)


def test_a_model_returns_from_its_file(texts, tokenizer, tmp_path):
    model, _ = train_language_model(texts.take([0] * 8), texts, tokenizer, SMALL, 1)
    for name in ("a", "b"):
        model.save(tmp_path / f"{name}.safetensors")
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    read = BiGRU.load(tmp_path / "a.safetensors")
    unknown = texts.take([1])  # in part: the model was trained on another text
    assert np.array_equal(negative_log_likelihood(read, unknown), negative_log_likelihood(model, unknown))
    a, b = (draw(True, m, [[6, 3]], 4, 9) for m in (read, model))
    assert torch.equal(a, b)


def test_a_file_that_is_no_model_is_refused(tmp_path):
    from safetensors.torch import save

    path = tmp_path / "language_model.safetensors"
    assert_file_refused(path, save({"x": torch.zeros(2)}), "no language model", BiGRU.load)
    with pytest.raises(InputError, match=r"absent\.safetensors.*train the language model"):
        BiGRU.load(tmp_path / "absent.safetensors")
