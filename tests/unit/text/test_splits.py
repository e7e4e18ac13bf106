"""Splits: exact counts, no overlap, no group in two parts, the same ones from the same seed."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from biaslab.core.rng import stream
from biaslab.text.splits import cut, split_grouped, split_random, split_shares
from properties import examples
from refusals import refused

LABELS = np.repeat([1, 0], [30, 170])


def assert_disjoint(parts, n=None):
    rows = np.concatenate(parts)
    assert len(set(rows.tolist())) == len(rows)
    assert all((np.diff(part) > 0).all() for part in parts)
    if n is not None:
        assert len(rows) == n


def test_random_parts_have_the_sizes_asked_for():
    sizes = [(100, 17), (20, 0), (13, 13), (7, 0)]
    parts = split_random(LABELS, sizes, stream(1))
    assert_disjoint(parts)
    assert [(len(rows), int(LABELS[rows].sum())) for rows in parts] == sizes
    assert any((a != b).any() for a, b in zip(parts, split_random(LABELS, sizes, stream(2)), strict=True))


def test_every_row_gets_everywhere():
    labels = np.array([1, 1, 0, 0, 0, 0])
    seen = [split_random(labels, [(3, 1), (3, 1)], stream(seed))[0] for seed in range(200)]
    share = np.bincount(np.concatenate(seen), minlength=6) / 200
    assert np.abs(share - 0.5).max() < 0.12  # standard error .035


@example([0] * 55 + [1] * 5, [5, 6, 2, 9], 0)
@examples(40)
@given(
    st.lists(st.integers(0, 1), min_size=60, max_size=200),
    st.lists(st.integers(1, 9), min_size=1, max_size=4).filter(lambda weights: sum(weights) < 29),
    st.integers(0, 9),
)
def test_shares_hold_for_both_labels(labels, weights, seed):
    labels, total = np.array(labels), sum(weights)
    parts = split_shares(labels, np.array(weights) / total, stream(seed))
    assert_disjoint(parts, len(labels))
    for rows, weight in zip(parts, weights, strict=True):
        for code in (0, 1):  # in whole numbers: where both ends of a part are rounded by 1/2, it is off by 1
            assert abs(total * (labels[rows] == code).sum() - weight * (labels == code).sum()) <= total


@examples(40)
@given(
    st.lists(st.integers(1, 3), min_size=40, max_size=100),
    st.lists(st.integers(1, 4), min_size=1, max_size=3).filter(lambda weights: sum(weights) < 10),
    st.integers(0, 9),
)
def test_no_group_is_in_two_parts(sizes, weights, seed):
    groups = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    total = sum(weights)
    parts = split_grouped(groups, np.array(weights) / total, stream(seed))
    assert_disjoint(parts, len(groups))
    assert sum(len(set(groups[rows])) for rows in parts) == len(sizes)
    for rows, weight in zip(parts, weights, strict=True):
        assert abs(total * len(rows) - weight * len(groups)) <= total * max(sizes)


@pytest.mark.parametrize(("n", "positives"), [(100, 15), (40, 6), (2, 1), (199, 30), (3, 1)])
def test_cut_keeps_the_share_and_both_labels(n, positives):
    rows = cut(LABELS, n, stream(1))
    assert_disjoint([rows], n)
    assert LABELS[rows].sum() == positives


def test_cut_of_everything_is_everything():
    for n in (None, 200, 300):
        assert cut(LABELS, n, stream(1)).tolist() == list(range(200))
    assert len(cut(np.zeros(10), 3, stream(1))) == 3
    assert len(cut(np.ones(10), 3, stream(1))) == 3


@pytest.mark.parametrize(
    ("split", "problem"),
    [
        (lambda rng: split_random(LABELS, [(40, 20), (40, 20)], rng), "40 positive texts, 30 are available"),
        (lambda rng: split_random(LABELS, [(190, 10)], rng), "180 negative texts, 170 are available"),
        (lambda rng: split_random(LABELS, [(10, 11)], rng), "10 texts cannot have 11 positive"),
        (lambda rng: split_shares(LABELS, [0.5, 0.6], rng), "sum to 1"),
        (lambda rng: split_shares(LABELS, [1.5, -0.5], rng), "above 0"),
        (lambda rng: split_shares(LABELS, [], rng), "above 0"),
        (lambda rng: split_shares([0, 1], [0.9, 0.1], rng), "share 0.1 would be empty"),
        (lambda rng: split_grouped(["a"] * 9, [0.5, 0.5], rng), "share 0.5 would be empty"),
        (lambda rng: split_grouped(["a", "b"], [0.5, 0.4], rng), "sum to 1"),
        (lambda rng: cut(LABELS, 1, rng), "1 texts cannot have one of each label"),
    ],
)
def test_impossible_splits_are_refused(split, problem):
    with refused(problem):
        split(stream(1))
