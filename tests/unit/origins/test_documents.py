"""Attribution as functions: every method against its definition, and what must not be asked."""

from dataclasses import replace

import numpy as np
import pytest

from biaslab.bias.measures import MEASURES, measure_bias
from biaslab.bias.word_sets import WordSets, in_vocabulary
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.embeddings import BASELINE
from biaslab.embeddings.glove import GloveParameters, train
from biaslab.embeddings.retraining import on_entries_of, without_documents
from biaslab.origins.attribution import unrolled
from biaslab.origins.attribution.registry import ATTRIBUTIONS, UNROLLED
from biaslab.origins.documents import attribute, count_texts, train_baselines
from naive import embeddings as naive_embeddings

WORDS = [f"w{i}" for i in range(30)]
PARAMETERS = GloveParameters(dimension=4, epochs=12, x_max=20.0)
DAMPING = 2 / (PARAMETERS.learning_rate * PARAMETERS.epochs)
TEST = WordSets("t", "", "", {"S": WORDS[:3], "T": WORDS[3:6]}, {"A": WORDS[6:9], "B": WORDS[9:12]})
METHODS = [*(a.name for a in ATTRIBUTIONS), UNROLLED]


@pytest.fixture(scope="module")
def texts():
    draw = np.random.default_rng(0)
    return count_texts([[WORDS[min(k, 30) - 1] for k in draw.zipf(1.3, 40)] for _ in range(60)], window=4)


@pytest.fixture(scope="module")
def baselines(texts):
    return train_baselines(texts, PARAMETERS, n=2)


@pytest.fixture(scope="module")
def indices(texts):
    return in_vocabulary(TEST, texts.vocabulary.ids)


def without(texts, gone):
    return without_documents(texts.counts, texts.tokens, texts.offsets, np.array(gone))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("method", [m for m in METHODS if m != "ppmi"])
def test_every_method_scores_every_document_by_every_measure(texts, baselines, method, measure):
    scores = attribute(texts, baselines, replace(TEST, measure=measure), method)
    assert scores.by_baseline.shape == (2, 60)
    assert np.isfinite(scores.documents).all()
    assert np.ptp(scores.documents) > 0
    indices = in_vocabulary(replace(TEST, measure=measure), texts.vocabulary.ids)
    assert scores.bias == pytest.approx([measure_bias(e.W, indices) for e in baselines.embeddings])
    assert scores.sets([]).shape == (0,)
    assert np.isfinite(scores.sets([[0, 1], scores.raising(5)])).all()


def test_ppmi_is_the_change_of_its_own_effect_size(texts, baselines):
    scores = attribute(texts, baselines, TEST, "ppmi")
    assert scores.sets([[7]])[0] == pytest.approx(scores.documents[7], abs=1e-9)


def test_documents_are_ordered_by_their_scores(texts, baselines):
    scores = attribute(texts, baselines, TEST)
    assert scores.raising(3).tolist() == np.argsort(scores.documents)[::-1][:3].tolist()
    assert scores.lowering(1)[0] == scores.documents.argmin()


def test_unrolled_adds_up_what_every_count_does(texts, baselines, indices):
    scores, seen = attribute(texts, baselines, TEST, "unrolled"), []
    found, x = scores._scanner.last_derivatives[2][0], texts.counts
    for counts in (x.counts, on_entries_of(x, without(texts, [5])).counts):
        f = np.array(
            [naive_embeddings.weighting(v, PARAMETERS.x_max, PARAMETERS.alpha) for v in counts / x.unit]
        )
        seen.append((f, f * np.log(np.maximum(counts, 1) / x.unit)))
    (f, g), (f_left, g_left) = seen
    expected = found.by_weight @ (f - f_left) + found.by_product @ (g - g_left)
    assert scores.by_baseline[0, 5] == pytest.approx(expected)
    one = unrolled.estimate_sets(scores._scanner, indices, [np.array([5])])
    assert one.values[0, 0] == pytest.approx(expected)


def test_unrolled_is_what_a_fading_document_does_to_the_very_training(texts, baselines, indices):
    """By the share of a document's counts that is taken the error falls, to the rounding of float32."""
    x, document = texts.counts, int(attribute(texts, baselines, TEST, "unrolled").raising(1)[0])
    taken = x.counts - on_entries_of(x, without(texts, [document])).counts
    scores, errors = attribute(texts, baselines, TEST, "unrolled"), []
    for share in (0.5, 0.05, 0.005):
        faded = replace(x, counts=x.counts - share * taken)
        W = train(faded, PARAMETERS, stream(1, "train", BASELINE, 0)).W
        slope = _linear(scores, x, taken)
        errors.append(abs((scores.bias[0] - measure_bias(W, indices)) / share / slope - 1))
    assert errors[0] > errors[1], errors
    assert min(errors) < 5e-3, errors


def _linear(scores, x, taken):
    """How fast the first baseline's bias falls as the document fades."""
    step, places = 1e-6, np.flatnonzero(taken)
    change = unrolled._changes(
        scores._scanner, scores._scanner.last_derivatives[2], places, x.counts[places] - step * taken[places]
    )
    return change[0].sum() / step


def test_only_its_own_training_is_gone_back(texts, baselines):
    with pytest.raises(InputError, match="baseline 0 differs from a training with its seed"):
        attribute(texts, replace(baselines, seed=2), TEST, "unrolled")


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"method": "magic"}, "the attribution 'magic' does not exist; choose influence, "),
        ({"test": replace(TEST, measure="waet")}, "did you mean 'weat'"),
        ({"method": "ppmi", "test": replace(TEST, measure="ripa")}, "ppmi attributes only weat"),
    ],
)
def test_what_makes_no_sense_is_refused(texts, baselines, given, match):
    with pytest.raises(InputError, match=match):
        attribute(texts, baselines, **{"test": TEST} | given)


@pytest.mark.parametrize("sets", [[[60]], [[-1]], [[1, 1]]])
def test_a_set_is_of_different_documents(texts, baselines, sets):
    with pytest.raises(InputError, match="expected set 0 to have distinct documents below 60"):
        attribute(texts, baselines, TEST).sets(sets)
