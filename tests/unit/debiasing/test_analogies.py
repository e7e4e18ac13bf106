"""Generating and solving analogies, against loops over all pairs and all words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaslab.debiasing import analogies
from biaslab.debiasing.analogies import generate_analogies, solve_analogies
from debiasing_data import unit_vectors
from naive import debiasing as naive
from properties import examples
from refusals import refused

WORDS = [f"w{i}" for i in range(60)]


@given(
    st.integers(0, 10_000),
    st.sampled_from([0.3, 1.0, 2.0]),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from(analogies.ONCE),
)
@examples(30)
def test_generated_analogies_are_those_of_all_pairs(seed, delta, dtype, once):
    vectors = unit_vectors(seed, 30, 4).astype(dtype)
    direction = vectors[0].astype(np.float64) - vectors[1]
    expected = naive.analogies(vectors.astype(np.float64), direction, delta, once)
    found = generate_analogies(vectors, WORDS[:30], direction * 7, count=20, max_distance=delta, once=once)
    assert list(zip(found["x"], found["y"], strict=True)) == [
        (f"w{x}", f"w{y}") for x, y, _, _ in expected[:20]
    ]
    np.testing.assert_allclose(found["score"], [row[2] for row in expected[:20]], rtol=1e-9)
    np.testing.assert_allclose(found["distance"], [row[3] for row in expected[:20]], rtol=1e-9)


@pytest.mark.parametrize("once", analogies.ONCE)
def test_a_pool_that_is_too_small_grows_even_if_the_best_pairs_fill_it_at_once(monkeypatch, once):
    vectors = unit_vectors(4, 12, 4)
    direction = vectors[0] - vectors[1]
    how = {"count": 8, "max_distance": 2, "once": once}

    def best_first(vectors, direction, max_distance):
        x, y = (
            np.concatenate(rows) for rows in zip(*near_pairs(vectors, direction, max_distance), strict=True)
        )
        for place in np.argsort(-analogies._score_pairs(vectors, x, y, direction)[0]):
            yield x[[place]], y[[place]]

    whole = generate_analogies(vectors, WORDS[:12], direction, **how)
    assert len(whole) >= 7
    near_pairs = analogies._near_pairs
    monkeypatch.setattr(analogies, "_POOL", 1)
    assert generate_analogies(vectors, WORDS[:12], direction, **how).equals(whole)
    monkeypatch.setattr(analogies, "_near_pairs", best_first)
    assert generate_analogies(vectors, WORDS[:12], direction, **how).equals(whole)


def test_blocks_and_chunks_change_nothing(monkeypatch):
    vectors = unit_vectors(2, 60, 4)
    direction = vectors[0] - vectors[1]
    questions = np.random.default_rng(0).permuted(np.tile(np.arange(60), (40, 1)), axis=1)[:, :3]
    whole = generate_analogies(vectors, WORDS, direction), solve_analogies(vectors, questions)
    monkeypatch.setattr(analogies, "_BLOCK", 7)
    monkeypatch.setattr(analogies, "_CHUNK", 5)
    assert generate_analogies(vectors, WORDS, direction).equals(whole[0])
    np.testing.assert_array_equal(solve_analogies(vectors, questions), whole[1])


def test_equal_vectors_are_no_analogy():
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.8, 0.6]])
    found = generate_analogies(vectors, ["a", "b", "c"], np.array([1.0, 0.0]))
    assert list(zip(found["x"], found["y"], strict=True)) == [("a", "c"), ("b", "c")]


@given(st.integers(0, 10_000), st.sampled_from(["add", "multiply"]))
@examples(30)
def test_answers_are_those_of_all_words(seed, method):
    vectors = unit_vectors(seed, 60, 4)
    questions = np.random.default_rng(seed).permuted(np.tile(np.arange(60), (10, 1)), axis=1)[:, :3]
    expected = [naive.solve_analogy(vectors, *question, method) for question in questions]
    np.testing.assert_array_equal(solve_analogies(vectors, questions, method), expected)


def test_near_ties_are_told_apart_in_64_bits():
    vectors = np.eye(6)[[0, 1, 2, 3, 3]]
    # larger than the vector before by less than float32 resolves
    vectors[4, [3, 1]] = np.sqrt(1 - 1e-16), 1e-8
    vectors[3, [3, 1]] = 1.0, 0.0
    assert solve_analogies(vectors, np.array([[0, 1, 2]])).tolist() == [4]


def test_unknown_words_have_the_given_vector_and_exclude_no_answer():
    vectors = np.eye(4)
    assert solve_analogies(vectors, np.array([[0, -1, 1]]), unknown=3 * vectors[3]).tolist() == [3]
    assert solve_analogies(vectors, np.array([[0, -1, 1]]), unknown=3 * vectors[2]).tolist() == [2]


@pytest.mark.parametrize(
    ("direction", "distance", "message"),
    [
        (np.zeros(4), 1, "seed words of the analogies have the same vector"),
        (np.ones(4), 0, "give a positive distance"),
    ],
)
def test_a_zero_direction_or_distance_is_refused(direction, distance, message):
    with refused(message):
        generate_analogies(unit_vectors(0, 60, 4), WORDS, direction, max_distance=distance)
