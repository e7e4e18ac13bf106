"""Drawn rankings: against the loop of the paper, their extremes, and the file of the command."""

import numpy as np
import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.ranking.generator import generate, generated_table
from naive.ranking_generator import ranking_by_coins


@pytest.mark.parametrize("fairness", [0, 0.2, 0.5, 0.9, 1])
def test_rankings_are_those_of_the_loop(fairness):
    n_lists, size, n_protected = 30, 12, 5
    found = generate(n_lists, size, n_protected, fairness, np.random.default_rng(4))
    coins = np.random.default_rng(4).random((n_lists, size))
    protected, other = [True] * n_protected, [False] * (size - n_protected)
    expected = [ranking_by_coins(protected, other, fairness, row.tolist()) for row in coins]
    assert found.tolist() == expected


def test_a_fair_coin_gives_any_order_the_same_chance_at_the_top():
    found = generate(20000, 20, 6, 0.3, stream(1, "test of the generator"))
    assert found.sum(axis=1).tolist() == [6] * 20000
    assert found[:, 0].mean() == pytest.approx(0.3, abs=0.01)
    assert found[:, :3].mean() == pytest.approx(0.3, abs=0.01)


def test_tables_repeat_and_have_falling_scores():
    table = generated_table(3, 5, 2, 0.5, 7)
    pd.testing.assert_frame_equal(table, generated_table(3, 5, 2, 0.5, 7))
    assert table.columns.tolist() == ["list", "place", "value", "score"]
    assert (table["value"] == "protected").sum() == 6
    assert (table.groupby("list")["score"].diff().dropna() < 0).all()
    assert not table["score"].equals(generated_table(3, 5, 2, 0.5, 8)["score"])


@pytest.mark.parametrize("numbers", [(0, 5, 2, 0.5), (1, 0, 0, 0.5), (1, 5, 6, 0.5), (1, 5, -1, 0.5)])
def test_impossible_lists_are_refused(numbers):
    with pytest.raises(InputError, match="no more protected candidates than there are"):
        generate(*numbers, np.random.default_rng(0))


def test_a_chance_is_no_more_than_one():
    with pytest.raises(
        InputError, match=r"the chance of a protected candidate is 1\.5; give one from 0 to 1"
    ):
        generate(1, 5, 2, 1.5, np.random.default_rng(0))
