"""Rankings of documents before and after debiasing, with made-up influences."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from biaslab.bias.weat import effect_size
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv, write_tsv
from biaslab.debiasing.columns import COLUMNS
from biaslab.debiasing.document_ranking import compare_rankings, effect_sizes
from biaslab.embeddings.word_maps import WordMaps
from biaslab.run.area import Unit
from biaslab.run.reports import write_report
from report_data import report_area

N, SEEDS = 60, 4
SAMPLE = Unit("sample", marks=("setup",))


def influences(seed, stage=None):
    rng = np.random.default_rng(seed)
    values = rng.standard_t(3, N)[:, None] + 0.3 * rng.normal(size=(N, SEEDS))
    values[::5] = 0  # documents without a word of the test
    table = pd.DataFrame({f"influence_seed{s}": values[:, s] for s in range(SEEDS)})
    table.insert(0, "document", np.arange(N))
    return table if stage is None else table.assign(stage=stage)


def compared(before, after, sizes=None):
    return compare_rankings(before, after, sizes or {}, "w").set_index(["stage", "measure", "tail", "top"])


def seeds(table):
    return table[[f"influence_seed{s}" for s in range(SEEDS)]].to_numpy()


def test_a_ranking_that_stays_agrees_with_itself():
    before = influences(1)
    found = compared(before, before.assign(stage="none").sample(frac=1, random_state=1))
    assert found.loc["none", ["of_mean", "mean", "ci_low", "ci_high"]].to_numpy() == pytest.approx(1)
    reversed_ = before.assign(stage="hard")
    reversed_[[f"influence_seed{s}" for s in range(SEEDS)]] *= -2
    found = compared(before, reversed_)
    assert found.loc[("hard", "spearman", "", 0), "mean"] == pytest.approx(-1)
    assert found.loc[("hard", "influence", "", 0), "of_mean"] == pytest.approx(2)
    assert found.loc[("hard", "overlap", "lowers", 10), "mean"] == 0


def test_agreement_is_that_of_the_documents_with_words_of_the_test():
    before, after = influences(1), influences(2, "soft-3")
    found = compared(before, after)
    kept = np.arange(N) % 5 != 0
    a, b = seeds(before)[kept], seeds(after)[kept]
    rho = [scipy.stats.spearmanr(a[:, s], b[:, s]).statistic for s in range(SEEDS)]
    row = found.loc[("soft-3", "spearman", "", 0)]
    assert row["mean"] == pytest.approx(np.mean(rho))
    interval = scipy.stats.t.interval(0.95, SEEDS - 1, np.mean(rho), scipy.stats.sem(rho))
    assert tuple(row[["ci_low", "ci_high"]]) == pytest.approx(interval)
    assert row["of_mean"] == pytest.approx(scipy.stats.spearmanr(a.mean(1), b.mean(1)).statistic)
    highest = [set(np.argsort(-x.mean(1), kind="stable")[:10]) for x in (a, b)]
    assert found.loc[("soft-3", "overlap", "raises", 10), "of_mean"] == len(set.intersection(*highest)) / 10
    others = [scipy.stats.spearmanr(a[:, s], a[:, (s + 1) % SEEDS]).statistic for s in range(SEEDS)]
    assert found.loc[("other-seed", "spearman", "", 0), "mean"] == pytest.approx(np.mean(others))
    assert row["n_seeds"] == SEEDS


def test_a_bias_without_an_effect_size_has_no_ranking():
    before, after = influences(1), influences(2, "hard")
    after["influence_seed1"] = np.nan
    found = compared(before, after, {"hard": np.array([1.0, np.nan, 1, 1])})
    assert found.xs("hard")["mean"].isna().all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table[1:], "the documents or seeds after debiasing are not those before"),
        (
            lambda table: table.drop(columns="influence_seed3"),
            "the documents or seeds after debiasing are not",
        ),
    ],
)
def test_rankings_of_other_documents(change, message):
    with pytest.raises(InputError, match=f"w: {message}"):
        compared(influences(1), change(influences(2, "hard")))


def test_a_corpus_without_the_words_of_the_test():
    before = influences(1).assign(**dict.fromkeys([f"influence_seed{s}" for s in range(SEEDS)], 0.0))
    with pytest.raises(InputError, match="w: 4 baselines and 0 documents with words of the test"):
        compared(before, influences(2, "hard"))


def test_effect_sizes_are_those_of_the_mapped_words():
    rng = np.random.default_rng(1)
    trainings = [(k, rng.normal(size=(8, 3))) for k in (0, 1)]
    weat = WeatIndices("w", *np.arange(8).reshape(4, 2), ("S", "T", "A", "B"), {})
    linear = rng.normal(size=(2, 1, 3, 3))
    maps = WordMaps(np.arange(2), linear, np.zeros(8, int), np.empty(0, int), np.empty((2, 0, 3)))
    found = effect_sizes(trainings, {"soft-1": maps}, weat)
    assert list(found) == ["before", "soft-1"]
    assert found["before"] == pytest.approx([effect_size(vectors, weat) for _, vectors in trainings])
    expected = [effect_size(vectors @ linear[k, 0].T, weat) for k, vectors in trainings]
    assert found["soft-1"] == pytest.approx(expected)


@pytest.fixture
def results(tmp_path):
    """Return a folder of results in which the rankings of the setup sample were compared."""
    after = pd.concat([influences(2, "hard"), influences(1, "soft-0.2")])
    sizes = {stage: np.arange(SEEDS) / 3 for stage in ("before", "hard", "soft-0.2")}
    tables = [compare_rankings(influences(1), after, sizes, weat) for weat in ("weat1", "weat2")]
    write_tsv(tmp_path / "debiasing/sample/document_ranking.tsv", pd.concat(tables))
    return tmp_path


def test_report_shows_every_stage_of_every_test(results):
    write_report(report_area("debiasing"), [SAMPLE], results, ["document_ranking"])
    stem = "debiasing/sample/{}/document_ranking.{}".format
    page = (results / stem("tables", "md")).read_text()
    lines = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| weat")]
    stages = ["before", "hard", "soft, λ = 0.2", "other seed"]
    assert [[x.strip() for x in line] for line in lines] == [
        [w, s] for w in ("weat1", "weat2") for s in stages
    ]
    assert "survives debiasing (sample)" in page
    assert "1.00 \\[1.00, 1.00\\] (1.00)" in page
    assert tuple(read_tsv(results / stem("tables", "tsv")).columns) == COLUMNS["document_ranking"]
    assert set(read_tsv(results / stem("figures", "tsv"))["measure"]) == {"spearman", "overlap"}


def test_report_of_what_was_never_compared(tmp_path):
    with pytest.raises(InputError, match=r"sample/document_ranking\.tsv: no such file"):
        write_report(report_area("debiasing"), [SAMPLE], tmp_path, ["document_ranking"])
