"""Attributions of a finished run that its workflow leaves out: those of its own baselines."""

import json

import numpy as np
import pandas as pd
import pytest

from biaslab.bias.word_sets import WordSets
from biaslab.core.errors import InputError
from biaslab.core.io import write_npz, write_tsv
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.glove import GloveParameters
from biaslab.embeddings.vocabulary import digest_words
from biaslab.origins.checks.foreign.others import NAMES, estimate
from biaslab.origins.documents import attribute, count_texts, train_baselines

PARAMETERS = GloveParameters(dimension=4, epochs=6, x_max=20.0)
WORDS = [f"w{i}" for i in range(20)]
SETS = {name: WORDS[first : first + 3] for name, first in zip("STAB", (0, 3, 6, 9), strict=True)}
TARGETS, ATTRIBUTES = ({k: SETS[k] for k in two} for two in ("ST", "AB"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return the folder of a setup with twelve baselines in twelve files, and what was trained."""
    folder, draw = tmp_path_factory.mktemp("setup"), np.random.default_rng(0)
    texts = count_texts([draw.choice(WORDS, 30).tolist() for _ in range(20)], window=4)
    baselines = train_baselines(texts, PARAMETERS, n=12, seed=5)
    words, digest = texts.vocabulary.words, digest_words(texts.vocabulary.words)
    write_tsv(folder / "vocabulary.tsv", pd.DataFrame({"word": words, "count": texts.vocabulary.counts}))
    write_npz(folder / "corpus.npz", tokens=texts.tokens, offsets=texts.offsets, words=digest)
    cooccurrence.write(folder / "cooccurrence.npz", texts.counts, digest)
    for k, embedding in enumerate(baselines.embeddings):
        arrays = {part: getattr(embedding, part)[None] for part in "WUbc"}
        file = folder / f"embeddings/baseline/batch-{k}.npz"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_npz(file, replicates=np.array([k]), words=digest, **arrays)
    test = {"name": "t", "title": "made", "source": "made", "targets": TARGETS, "attributes": ATTRIBUTES}
    (folder / "test.yaml").write_text(json.dumps(test))  # JSON is YAML
    return folder, texts, baselines


@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_attributed_as_its_texts_are(run, name):
    folder, texts, baselines = run
    found = estimate(name, folder, folder / "test.yaml", PARAMETERS, 5, 1)
    expected = attribute(texts, baselines, WordSets("t", "", "", TARGETS, ATTRIBUTES), name)
    np.testing.assert_array_equal(found, expected.documents)
    assert np.ptp(found) > 0


def test_what_goes_back_needs_the_seed_of_the_run(run):
    folder, _, _ = run
    with pytest.raises(InputError, match="baseline 0 is not what its seed and hyperparameters give"):
        estimate("unrolled", folder, folder / "test.yaml", PARAMETERS, 6, 1)


def test_a_record_without_embeddings_is_refused(run, tmp_path):
    with pytest.raises(InputError, match="no embeddings, on which unrolled is estimated"):
        estimate("unrolled", tmp_path, run[0] / "test.yaml", PARAMETERS, 5, 1)
