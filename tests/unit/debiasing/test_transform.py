"""Debiasing as maps of words: the same directions as the methods themselves."""

import numpy as np
import pandas as pd
import pytest
import yaml

from biaslab.bias.weat import effect_size
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.io import write_npz, write_tsv
from biaslab.debiasing.hard import hard_debias
from biaslab.debiasing.measurement import Lists
from biaslab.debiasing.soft import gram_matrices, soft_debias, solve_path
from biaslab.debiasing.subspace import find_subspace
from biaslab.debiasing.transform import hard_maps, soft_maps, write_transform
from biaslab.debiasing.word_lists import KnownSets, KnownWords
from biaslab.embeddings.vocabulary import digest_words
from biaslab.embeddings.word_maps import read_word_maps
from naive import debiasing as naive

N, D = 24, 6
WORDS = [f"word{i}" for i in range(N)]
PAIRS = [(0, 1), (2, 3), (4, 5)]
SPECIFIC = [6, 7]
NEUTRAL = list(range(8, N))
LISTS = Lists(
    KnownSets(PAIRS, (), ()),
    KnownSets(PAIRS[:2], (), ()),
    KnownWords(np.array([8, 9]), ()),
    KnownWords(np.array(SPECIFIC), ()),
)


def raw_vectors(seed):
    return np.random.default_rng(seed).normal(size=(N, D)) + 0.2


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("components", [1, 2])
def test_hard_maps_point_where_hard_debiasing_does(components):
    raw = [raw_vectors(seed) for seed in (1, 2)]
    maps = hard_maps([(0, unit(raw[0])), (7, unit(raw[1]))], WORDS, LISTS, components)
    for number, vectors in zip((0, 7), raw, strict=True):
        basis = find_subspace(unit(vectors), PAIRS, components).basis
        expected = naive.hard_debias(unit(vectors), basis, NEUTRAL, PAIRS[:2])
        np.testing.assert_allclose(unit(maps.of(number).apply(vectors)), expected, atol=1e-7)


def test_soft_maps_point_where_soft_debiasing_does():
    raw = raw_vectors(3)
    basis = find_subspace(unit(raw), PAIRS).basis
    transform = solve_path(gram_matrices(unit(raw), basis, NEUTRAL), [4.0])[0].transform
    found = soft_maps([(0, unit(raw))], WORDS, LISTS, 4.0).of(0).apply(raw)
    np.testing.assert_allclose(unit(found), soft_debias(unit(raw), transform), atol=1e-12)
    assert not np.allclose(unit(found), unit(raw), atol=1e-3)


def balanced(weat_pairs):
    a, b = zip(*weat_pairs, strict=True)
    targets = np.array(NEUTRAL[:3]), np.array(NEUTRAL[3:6])
    return WeatIndices("w", *targets, np.array([*a, 6]), np.array([*b, 7]), ("S", "T", "A", "B"), {})


def test_holding_equalized_words_is_exact_for_balanced_attributes_and_neutral_targets():
    """Debiasing moved vectors in the same subspace gives the bias of the moved vectors' maps."""
    raw, weat = raw_vectors(4), balanced(PAIRS[:2])
    moved = raw + 0.1 * np.random.default_rng(5).normal(size=raw.shape)
    basis = find_subspace(unit(raw), PAIRS).basis
    maps = hard_maps([(0, unit(raw))], WORDS, LISTS).of(0)
    expected = effect_size(hard_debias(unit(moved), WORDS, basis, NEUTRAL, PAIRS[:2]), weat)
    assert effect_size(maps.apply(moved), weat) == pytest.approx(expected, rel=1e-9)
    assert effect_size(maps.apply(raw), weat) != pytest.approx(expected, rel=1e-3)


def test_a_test_of_equalized_words_alone_has_no_effect_size():
    weat = balanced(PAIRS[:2])
    alone = WeatIndices("w", weat.S, weat.T, weat.A[:-1], weat.B[:-1], weat.set_names, {})
    raw = raw_vectors(6)
    assert np.isnan(effect_size(hard_maps([(0, unit(raw))], WORDS, LISTS).of(0).apply(raw), alone))


@pytest.fixture
def arguments(tmp_path):
    """Write two batches with three trainings, a vocabulary and word lists; return the arguments for them."""
    raw = np.stack([raw_vectors(seed) for seed in (1, 2, 3)]).astype(np.float32)
    for batch, numbers in enumerate([[0, 1], [2]]):
        arrays = {"replicates": np.array(numbers), "W": raw[numbers], "words": digest_words(WORDS)}
        write_npz(tmp_path / f"batch-{batch}.npz", **arrays)
    counts = pd.DataFrame({"word": WORDS, "count": np.arange(N, 0, -1)})
    write_tsv(tmp_path / "vocabulary.tsv", counts)
    pairs = [[WORDS[a], WORDS[b]] for a, b in PAIRS]
    lists = {
        "defining": {"sets": pairs},
        "equalize": {"sets": pairs[:2]},
        "occupations": {"words": WORDS[8:10]},
        "gender-specific": {"words": [WORDS[word] for word in SPECIFIC]},
    }
    files = []
    for name, content in lists.items():
        files.append(tmp_path / f"{name}.yaml")
        files[-1].write_text(yaml.safe_dump({"name": name, "title": "A list", "source": "a test"} | content))
    batches = [tmp_path / f"batch-{number}.npz" for number in range(2)]
    return (batches, tmp_path / "vocabulary.tsv", files), raw


@pytest.mark.parametrize("penalty", [None, 4.0])
def test_the_step_writes_the_maps_of_every_training(arguments, tmp_path, penalty):
    given, raw = arguments
    write_transform(*given, 1, penalty, tmp_path / "maps.npz")
    found = read_word_maps(tmp_path / "maps.npz", N)
    trainings = [(k, unit(vectors.astype(float)).astype(np.float32)) for k, vectors in enumerate(raw)]
    expected = soft_maps(trainings, WORDS, LISTS, penalty) if penalty else hard_maps(trainings, WORDS, LISTS)
    for name, value in vars(expected).items():
        np.testing.assert_allclose(getattr(found, name), value, atol=1e-6)
