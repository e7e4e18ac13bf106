"""How smoothly trainings answer to weights of documents: by the definition, and if at random."""

import numpy as np
import pytest

from biaslab.bias.measures import measure_bias
from biaslab.bias.word_sets import WordSets, in_vocabulary
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.embeddings import BASELINE
from biaslab.embeddings.glove import GloveParameters, train
from biaslab.embeddings.retraining import on_entries_of, without_documents
from biaslab.origins.documents import count_texts
from biaslab.origins.documents import metasmoothness as module
from biaslab.origins.documents.metasmoothness import bend, metasmoothness, smoothness, weighted
from naive import origins as naive
from unit.origins.attribution.test_influence import dense

WORDS = [f"w{i}" for i in range(30)]
PARAMETERS = GloveParameters(dimension=4, epochs=12, x_max=20.0)
TEST = WordSets("t", "", "", {"S": WORDS[:3], "T": WORDS[3:6]}, {"A": WORDS[6:9], "B": WORDS[9:12]})
DRAWS = ("standard_normal", "standard_exponential", "random", "standard_t")


@pytest.fixture(scope="module")
def texts():
    draw = np.random.default_rng(0)
    return count_texts([[WORDS[min(k, 30) - 1] for k in draw.zipf(1.3, 40)] for _ in range(60)], window=4)


def test_by_its_definition():
    draw = np.random.default_rng(1)
    for _ in range(20):
        three = draw.integers(-3, 4, (3, 15)).astype(float)
        assert metasmoothness(*three) == pytest.approx(naive.metasmoothness(*three, h=0.05))


def test_what_answers_linearly_has_one_and_what_turns_back_none():
    start, way = np.random.default_rng(2).standard_normal((2, 50))
    assert metasmoothness(start, start + way, start + 2 * way) == 1
    assert bend(start, start + way, start + 2 * way) == pytest.approx(0)
    assert metasmoothness(start, start + way, start + way / 2) == -1
    assert bend(start, start + way, start) == 1
    assert bend(start, start + way, start + way) == 1
    assert np.isnan([metasmoothness(start, start, start), bend(start, start, start)]).all()


@pytest.mark.parametrize("kind", DRAWS)
def test_what_answers_at_random_has_zero_whatever_the_distribution(kind):
    draw = np.random.default_rng(3)
    how = {"df": 5} if kind == "standard_t" else {}
    three = getattr(draw, kind)(size=(3, 200_000), **how)
    assert metasmoothness(*three) == pytest.approx(0, abs=0.01)
    assert bend(*three) > 0.8
    if kind == "standard_normal":
        assert bend(*three) == pytest.approx(np.sqrt(3) / 2, abs=0.01)


def test_weighted_counts(texts):
    weights = np.random.default_rng(4).random(60)
    documents = np.split(texts.tokens, texts.offsets[1:-1])
    expected = naive.weighted_counts(documents, weights, 30, 4)
    np.testing.assert_allclose(dense(weighted(texts, weights)), expected, rtol=1e-12, atol=1e-12)
    assert np.array_equal(weighted(texts, np.ones(60)).counts, texts.counts.counts)
    gone = np.isin(np.arange(60), [3, 7]).astype(float)
    left = without_documents(texts.counts, texts.tokens, texts.offsets, np.array([3, 7]))
    assert np.array_equal(weighted(texts, 1 - gone).counts, on_entries_of(texts.counts, left).counts)


def test_trainings_of_glove_answer_smoothly_to_small_steps(texts):
    found = smoothness(texts, PARAMETERS, TEST, step=0.02, directions=2)
    assert found.parameters > 0.9
    assert found.parameters_bend < 0.2
    assert found.is_enough
    assert found.biases.shape == (2, 3)
    words, whole = (
        in_vocabulary(TEST, texts.vocabulary.ids),
        train(texts.counts, PARAMETERS, stream(1, "train", BASELINE, 0)),
    )
    assert found.biases[0, 0] == found.biases[1, 0] == measure_bias(whole.W, words)


def test_a_document_that_fades_is_half_there_and_then_left_out(texts):
    fading = -np.isin(np.arange(60), [5]).astype(float)
    found = smoothness(texts, PARAMETERS, TEST, step=0.5, directions=[fading])
    left = on_entries_of(
        texts.counts, without_documents(texts.counts, texts.tokens, texts.offsets, np.array([5]))
    )
    words = in_vocabulary(TEST, texts.vocabulary.ids)
    alone = measure_bias(train(left, PARAMETERS, stream(1, "train", BASELINE, 0)).W, words)
    assert found.biases[0, 2] == alone


def test_a_training_that_answers_at_random_is_warned_of(texts, monkeypatch):
    seeds = iter(range(100))
    monkeypatch.setattr(module, "train", lambda x, p, _, t: train(x, p, stream(next(seeds), "other"), t))
    found = smoothness(texts, PARAMETERS, TEST, directions=4)
    assert abs(found.parameters) < 0.25
    assert not found.is_enough


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"step": 0.0}, "take a step above 0"),
        ({"directions": 0}, "one direction or more"),
        ({"directions": [np.ones(3)]}, "a number for each of the 60 documents"),
        ({"step": 1.0}, "would have the weight -.*take a smaller step"),
    ],
)
def test_what_makes_no_sense_is_refused(texts, given, match):
    with pytest.raises(InputError, match=match):
        smoothness(texts, PARAMETERS, TEST, **given)
