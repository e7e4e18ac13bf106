"""On a small corpus, predicted bias follows the bias of really retrained embeddings."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import linregress

from biaslab.bias.measures import MEASURES, measure_bias
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.glove import GloveParameters, train
from biaslab.embeddings.retraining import without_documents
from biaslab.origins.attribution.influence import (
    differential_bias,
    removals_of_documents,
    removals_of_sets,
    weat_rows,
)

N_WORDS, N_DOCUMENTS, LENGTH = 70, 400, 40
PARAMETERS = GloveParameters(dimension=6, epochs=100)


S, T, A, B = np.arange(10, 18), np.arange(18, 26), np.arange(0, 4), np.arange(4, 8)
WEAT = WeatIndices("toy", S, T, A, B)

# Set after a look at the outcome. 0.63 to 0.93 with absolute values, whose mean bends where a word crosses
# zero.
LEAST_R2 = {"same": 0.6, "direct_bias": 0.6}


@pytest.fixture(scope="module")
def corpus():
    """Every document mixes fillers with words of one target and one attribute set."""
    rng = np.random.default_rng(1)
    documents = []
    for _ in range(N_DOCUMENTS):
        topic = np.concatenate([S if rng.random() < 0.5 else T, A if rng.random() < 0.5 else B])
        fillers = rng.integers(26, N_WORDS, LENGTH)
        documents.append(np.where(rng.random(LENGTH) < 0.5, rng.choice(topic, LENGTH), fillers))
    tokens = np.concatenate(documents).astype(np.int32)
    return tokens, np.arange(0, len(tokens) + 1, LENGTH, dtype=np.int64)


@pytest.fixture(scope="module")
def counts(corpus):
    return cooccurrence.count(*corpus, N_WORDS, 8)


@pytest.fixture(scope="module")
def embeddings(counts):
    baselines = [train(counts, PARAMETERS, stream(0, "baseline", s)) for s in range(4)]
    return [{name: getattr(e, name) for name in ("W", "U", "b", "c")} for e in baselines]


@pytest.mark.parametrize("measure", MEASURES)
def test_predicted_follows_retrained_bias(measure, corpus, counts, embeddings):
    weat = replace(WEAT, measure=measure)
    used = np.unique(np.concatenate([WEAT.S, WEAT.T, WEAT.A, WEAT.B]))
    rows = weat_rows(counts, used, PARAMETERS.x_max, PARAMETERS.alpha)
    documents = removals_of_documents(rows, *corpus)
    scores = np.mean([differential_bias(rows, documents, weat, e).values[:, 0] for e in embeddings], axis=0)
    order = np.argsort(scores)
    sets = [np.sort(part) for n in (5, 10, 20) for part in (order[:n], order[-n:])]
    units = removals_of_sets(rows, documents, sets)
    estimates = [differential_bias(rows, units, weat, e) for e in embeddings]
    predicted = np.mean([e.baseline - e.values.T for e in estimates], axis=0)
    observed = []
    for k, removed in enumerate(sets):
        pruned = without_documents(counts, *corpus, removed)
        retrained = [train(pruned, PARAMETERS, stream(0, "retrained", k, s)) for s in range(4)]
        observed.append(np.mean([measure_bias(e.W, weat) for e in retrained]))
    for row in predicted:
        fit = linregress(row, observed)
        assert fit.rvalue**2 > LEAST_R2.get(measure, 0.9)
        assert fit.slope > 0
