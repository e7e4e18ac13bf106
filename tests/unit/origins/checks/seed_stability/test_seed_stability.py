import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from biaslab.bias.names import EFFECTS
from biaslab.core.errors import InputError
from biaslab.core.io import write_parquet, write_tsv
from biaslab.core.rankings import agreement
from biaslab.core.rng import stream
from biaslab.origins.checks.seed_stability.analysis import MAX_DRAWS, draw_seeds, stability, write_stability
from biaslab.origins.checks.seed_stability.report import draw_stability, stability_table
from biaslab.origins.report.results import Setup
from biaslab.run.area import Unit
from origins_data import WORD_SETS, write_word_sets


def table(n_documents=60, n_seeds=4, noise=0.5):
    rng = np.random.default_rng(2)
    true = rng.standard_t(3, n_documents)
    values = {f"influence_seed{s}": true + noise * rng.normal(size=n_documents) for s in range(n_seeds)}
    return pd.DataFrame(values | {"influence_mean": true, "newton_seed0": 0.0})


@pytest.mark.parametrize(("n", "k", "m", "ways"), [(4, 1, 3, 4), (5, 2, 2, 30), (10, 5, 5, MAX_DRAWS)])
def test_drawn_seeds_are_disjoint_and_no_draw_comes_twice(n, k, m, ways):
    draws = draw_seeds(n, k, m, stream(1))
    assert len(draws) == ways <= max(MAX_DRAWS, math.comb(n, k))
    assert len({(*a, *b) for a, b in draws}) == len(draws)
    for a, b in draws:
        assert (len(a), len(b)) == (k, m)
        assert len({*a, *b}) == k + m
        assert max(*a, *b) < n
    assert draws == draw_seeds(n, k, m, stream(1))


def test_agreement_is_spearmans_and_counts_shared_documents():
    rng = np.random.default_rng(1)
    a = rng.normal(size=80).round(1)
    b = a + rng.normal(size=80)
    found = agreement(a, b, EFFECTS)
    assert found["spearman", "", 0] == pytest.approx(scipy.stats.spearmanr(a, b).statistic)
    lowest = set(pd.Series(a).sort_values(kind="stable").index[:30]) & set(np.argsort(b, kind="stable")[:30])
    assert found["overlap", "lowers", 30] == len(lowest) / 30
    assert ("overlap", "lowers", 100) not in found
    assert agreement(a, a, EFFECTS)["overlap", "raises", 10] == 1


def test_stability_compares_every_number_of_seeds_with_those_left_out_and_with_as_many():
    data = table()
    found = stability(data, "w", 1)
    spearman = found[found["measure"] == "spearman"]
    assert set(zip(spearman["n_seeds"], spearman["n_reference"], strict=True)) == {
        (1, 3),
        (2, 2),
        (3, 1),
        (1, 1),
    }
    columns = data[[f"influence_seed{s}" for s in range(4)]]
    expected = [
        scipy.stats.spearmanr(columns.iloc[:, s], columns.drop(columns=f"influence_seed{s}").mean(axis=1))[0]
        for s in range(4)
    ]
    row = spearman[(spearman["n_seeds"] == 1) & (spearman["n_reference"] == 3)].iloc[0]
    assert row["mean"] == pytest.approx(np.mean(expected))
    assert row["sd"] == pytest.approx(np.std(expected, ddof=1))
    assert row["n_draws"] == 4
    pd.testing.assert_frame_equal(found, stability(data, "w", 1))


def test_equal_seeds_agree_wholly_and_documents_without_test_words_do_not_count():
    data = table(noise=0)
    padded = pd.concat([data, pd.DataFrame(0.0, index=range(500), columns=data.columns)])
    for part in (data, padded):
        np.testing.assert_allclose(stability(part, "w", 1)["mean"], 1)
    assert 100 not in set(stability(padded, "w", 1)["top"])


def test_one_baseline_is_too_few():
    with pytest.raises(InputError, match="w: 1 baselines and 60 documents with words of the test"):
        stability(table(n_seeds=1), "w", 1)


def test_table_shows_each_number_in_its_place(tmp_path):
    setup = Setup(Unit("wiki"), tmp_path)
    write_tsv(tmp_path / "seed_stability.tsv", stability(table(), "w", 1))
    found = stability_table(setup, "w")
    shown = found.shown.set_index(["Seeds", "Against"])
    for row in found.data.itertuples():
        column = "Rank correlation" if row.measure == "spearman" else f"{row.tail} {row.top}"
        assert shown.loc[(str(row.n_seeds), str(row.n_reference)), column] == f"{row.mean:.3f} ± {row.sd:.3f}"


@pytest.mark.parametrize("n_documents", [12, 60])
def test_step_and_figure_of_few_documents_and_seeds(tmp_path, n_documents):
    write_parquet(tmp_path / "w.parquet", table(n_documents, n_seeds=3))
    write_stability([tmp_path / "w.parquet"], tmp_path / "seed_stability.tsv", seed=1)
    words = write_word_sets(tmp_path, WORD_SETS["weat1"])
    setup = Setup(Unit("wiki", files={"w": str(words)}), tmp_path)
    assert len(stability_table(setup, "w").shown) == 3
    draw_stability(setup, "w", tmp_path / "figure")
    assert (tmp_path / "figure.png").stat().st_size > 1000
