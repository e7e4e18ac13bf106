"""Vectors of sentences by a BERT encoder."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from biaslab.text.encoder import EncoderFiles, load_classifier, prepare_encoder
from biaslab.text.sentence_vectors import SentenceEncoder, similarity
from biaslab.text.tokens import Tokenizer
from text_data import tiny_classifier

EXAMPLE = Path(__file__).parents[3] / "workflow/resources/hate_speech/example-encoder"
SENTENCES = [
    "The bakers shared a warm soup with everyone last week.",
    "my sister",
    "The singers planted a tree near the station, after lunch, and walked away.",
    "",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    prepare_encoder(EncoderFiles.of_folder(EXAMPLE), folder, weights="random", seed=3)
    return folder


def load(folder):
    return SentenceEncoder(load_classifier(folder, seed=0), Tokenizer.load(folder / "vocab.txt"))


@pytest.fixture(scope="module")
def encoder(folder):
    return load(folder)


def test_vectors_are_the_mean_states_that_transformers_computes(folder, encoder):
    from transformers import BertModel

    reference = BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    vectors = encoder.vectors(SENTENCES)
    assert vectors.dtype == np.float32
    for sentence, vector in zip(SENTENCES, vectors, strict=True):
        ids = torch.tensor(encoder.tokenizer.encode([sentence]).ids[None].astype(np.int64))
        with torch.no_grad():
            mean = reference(input_ids=ids).last_hidden_state[0].mean(dim=0).numpy()
        assert vector == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    assert vectors.std(axis=0).max() > 0.01


def test_vectors_have_length_one_and_hardly_depend_on_their_batch(encoder, monkeypatch):
    vectors = encoder.vectors(SENTENCES)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
    monkeypatch.setattr("biaslab.text.encoder.BATCH_TOKENS", 1)
    assert encoder.vectors(SENTENCES) == pytest.approx(vectors, abs=1e-6)
    assert encoder.vectors([]).shape == (0, encoder.model.config.hidden_size)
    assert encoder.vectors(SENTENCES[::-1])[::-1] == pytest.approx(vectors, abs=1e-6)


def test_the_end_of_a_long_sentence_is_not_read(tmp_path):
    encoder = load(tiny_classifier(tmp_path, ["the", "baker"]))
    first = "the " * (encoder.model.config.max_position_embeddings - 2)
    vectors = encoder.vectors([first, first + "baker", "baker " + first])
    assert np.array_equal(vectors[0], vectors[1])
    assert not np.allclose(vectors[0], vectors[2])


def test_similarity_is_the_cosine():
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=(5, 7)).astype(np.float32) for _ in range(2))
    a, b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (a, b))
    expected = np.diag(a.astype(float) @ b.astype(float).T)
    assert similarity(a, b) == pytest.approx(expected, abs=1e-12)
