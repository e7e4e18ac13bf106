"""Relative influence: lengths against the dense formula, and an order that no longer favours long steps."""

import numpy as np
import pandas as pd
import pytest

from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv, write_parquet
from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.glove import GloveParameters, train
from biaslab.embeddings.retraining import without_documents
from biaslab.origins.attribution import influence
from biaslab.origins.attribution.estimates import write_by_seed
from biaslab.origins.attribution.relative import RELATIVE, relative_table
from biaslab.origins.checks.relative_influence.analysis import compare_orders, write_orders
from biaslab.origins.checks.relative_influence.report import draw_orders, orders_table
from naive import origins as naive
from origins_data import make_setups

N_WORDS, D, X_MAX, ALPHA = 40, 5, 20.0, 0.75
RTOL_DENSE = 1e-8
WEAT = WeatIndices("w", *np.array([[3, 25], [7, 31], [0, 22], [1, 35]]), set_names=(), lost={})
THETA, L = RELATIVE
WORDS = [0, 1, 3, 7, 22, 25, 31, 35]


def dense(x):
    matrix = np.zeros((x.n_words, x.n_words))
    matrix[x.rows(), x.indices] = x.counts / x.unit
    return matrix


@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_lengths_equal_the_dense_formulas(damping, monkeypatch):
    """Over more units than are taken at a time, some of which touch no word of the test."""
    from biaslab.origins.attribution import moved_words

    monkeypatch.setattr(moved_words, "_UNITS_AT_A_TIME", 7)
    rng = np.random.default_rng(5)
    tokens = rng.integers(0, N_WORDS, 900).astype(np.int32)
    tokens[:60] = 39  # documents without a word of the test
    offsets = np.arange(0, 901, 20)
    x = cooccurrence.count(tokens, offsets, N_WORDS, 5)
    trained = train(x, GloveParameters(D, 10, X_MAX, ALPHA), stream(0))
    embedding = {name: getattr(trained, name).astype(np.float64) for name in ("W", "U", "b", "c")}
    rows = influence.weat_rows(x, np.array(WORDS), X_MAX, ALPHA)
    removals = influence.removals_of_documents(rows, tokens, offsets)
    ours = influence.step_lengths(rows, removals, WEAT, embedding, damping)
    before, u = dense(x), embedding["U"]
    hessians = [naive.row_hessian(before[i], u, X_MAX, ALPHA) + damping * np.eye(D) for i in WORDS]
    for document in range(len(offsets) - 1):
        after = dense(without_documents(x, tokens, offsets, np.array([document])))
        steps = []
        for i, hessian in zip(WORDS, hessians, strict=True):
            rest = embedding["W"][i], u, embedding["b"][i], embedding["c"], X_MAX, ALPHA
            gradients = [naive.pointwise_gradient(row[i], *rest) for row in (after, before)]
            steps.append(-np.linalg.inv(hessian) @ (gradients[0] - gradients[1]))
        np.testing.assert_allclose(
            ours[document], naive.step_lengths(steps, hessians), rtol=RTOL_DENSE, atol=1e-12
        )
    assert (ours[:3] == 0).all()
    assert (ours[3:] > 0).any()
    threads = influence.step_lengths(rows, removals, WEAT, embedding, damping, threads=2)
    np.testing.assert_array_equal(ours, threads)


def bias_table(values, counts):
    n = values.shape[1]
    columns = {"document": range(n), "id": [str(i) for i in range(n)], "title": "t"}
    columns |= {f"influence_seed{s}": v for s, v in enumerate(values)} | {
        "influence_mean": values.mean(axis=0)
    }
    return pd.DataFrame(columns).assign(n_S=counts, n_T=0, n_A=0, n_B=0)


def test_influence_is_divided_baseline_by_baseline():
    bias = bias_table(np.array([[1.0, 2.0, 0.0], [3.0, -4.0, 0.0]]), 1)
    lengths = [np.array([[2.0, 1.0], [4.0, 1.0], [0.0, 0.0]]), np.array([[1.0, 6.0], [2.0, 1.0], [0.0, 0.0]])]
    table = relative_table(bias, lengths)
    assert table[f"{THETA}_seed0"].tolist() == [0.5, 0.5, 0.0]
    assert table[f"{THETA}_mean"].tolist() == [1.75, -0.75, 0.0]
    assert table[f"{L}_seed1"].tolist() == [0.5, -4.0, 0.0]
    assert table["step_mean"].tolist() == [1.5, 3.0, 0.0]


def test_tables_of_other_baselines_are_refused():
    bias = bias_table(np.ones((2, 3)), 1)
    for lengths in ([np.ones((3, 2))] * 3, [np.ones((4, 2))] * 2):
        with pytest.raises(InputError, match="is of 2 baselines and 3 documents, the embeddings are"):
            relative_table(bias, lengths)


def test_documents_that_move_everything_no_longer_come_first():
    """Influence that grows with the words of the test, as the steps do: divided, their number is chance."""
    rng = np.random.default_rng(6)
    counts = rng.integers(0, 20, 400)
    values = rng.normal(0, 1, (3, 400)) * 0.1 + rng.normal(size=400)
    bias = bias_table(values * counts, counts)
    relative = relative_table(bias, [np.stack([counts, np.ones(400)], axis=1).astype(float)] * 3)
    table = compare_orders("w", bias, relative, pd.DataFrame({"n_tokens": np.full(400, 100)}))
    whole = table.iloc[0]
    assert whole["n_documents"] == (counts > 0).sum()
    at = table[table["top"] == 30].set_index(["order", "tail"])
    for tail in ("raises", "lowers"):
        assert at.loc[("influence", tail), "test_words_ci_low"] > whole["test_words_mean"]
        theta = at.loc[(THETA, tail)]
        assert theta["test_words_ci_low"] < whole["test_words_mean"] < theta["test_words_ci_high"]
        assert theta["overlap"] < 1
        assert at.loc[(L, tail), "overlap"] == 1  # of length 1: the same order
    assert at.loc[(L, "lowers"), "spearman"] == pytest.approx(1)
    assert (at["tokens_mean"] == 100).all()


def test_table_and_figure(tmp_path):
    setup = make_setups(tmp_path, {"wiki": {"n_documents": 60, "sizes": (5, 10), "n_random": 1}})[0]
    table = orders_table(setup, "weat1")
    assert set(table.shown["Order"]) == {"all", "influence", "theta", "l"}
    draw_orders(setup, "weat1", tmp_path / "figure")
    assert len(pd.read_csv(tmp_path / "figure.tsv", sep="\t")) == len(table.data)


def test_step_compares(tmp_path):
    rng = np.random.default_rng(7)
    bias = bias_table(rng.normal(size=(2, 30)), np.ones(30, int))
    tables = {"bias": bias, "relative": relative_table(bias, [np.ones((30, 2))] * 2)}
    files = {kind: [tmp_path / kind / part / "w.parquet" for part in ("", "by_seed")] for kind in tables}
    for kind, table in tables.items():
        write_by_seed(table, *files[kind])
    write_parquet(tmp_path / "documents.parquet", pd.DataFrame({"n_tokens": range(30)}))
    write_orders(
        *([file] for of in files.values() for file in of),
        tmp_path / "documents.parquet",
        tmp_path / "out.tsv",
    )
    assert len(read_tsv(tmp_path / "out.tsv")) == 1 + 3 * 2  # tops of 10 of 30 documents
