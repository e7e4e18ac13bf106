"""Scores from elsewhere: put to the tests of a run, equal to dattri's, refused where they do not fit."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.origins.checks.foreign import write_scored
from biaslab.origins.checks.lds.analysis import standard_ranks
from biaslab.origins.checks.single_documents.auc import area_under_curve

DATTRI = json.loads((Path(__file__).with_name("dattri.json")).read_text(encoding="utf-8"))
N, SUBSETS = 60, 80


def test_scores_equal_those_of_dattri():
    scores, observed = np.array(DATTRI["scores"]), np.array(DATTRI["observed"])
    kept = np.array(DATTRI["kept"])
    for test in range(scores.shape[1]):
        sums = scores[:, test][kept].sum(axis=1)
        found = float(standard_ranks(sums) @ standard_ranks(observed[:, test]))
        assert found == pytest.approx(DATTRI["lds"][test], abs=1e-6)
    positive = np.array(DATTRI["positive"], bool)
    assert area_under_curve(scores[:, 0], positive) == pytest.approx(DATTRI["auc"], abs=1e-6)


@pytest.fixture
def run(tmp_path):
    """A setup whose documents' effects are known and add up, but for noise."""
    draw = np.random.default_rng(4)
    truth, folder = draw.standard_normal(N), tmp_path / "results/origins/made"
    for name in ("lds", "single_documents", "differential_bias"):
        (folder / name).mkdir(parents=True)
    ids = [f"d{i}" for i in range(N)]
    lengths = draw.integers(5, 50, N)
    pd.DataFrame({"document": range(N), "id": ids, "n_tokens": lengths}).to_parquet(
        folder / "documents.parquet"
    )
    gone = {f"random-30-{k}": draw.choice(N, 30, replace=False) for k in range(SUBSETS)}
    pd.concat(
        pd.DataFrame({"set": name, "size": 30, "document": documents}) for name, documents in gone.items()
    ).to_parquet(folder / "lds/subsets.parquet")
    observed = [-truth[d].sum() + draw.normal(0, 0.3) for d in gone.values()]
    own = {"weat": "t", "size": 30, "set": list(gone), "estimator": "newton", "form": "set"}
    removals = pd.DataFrame(own | {"change": observed[::-1], "observed_mean": observed})
    removals.to_csv(folder / "lds/removals.tsv", sep="\t", index=False)
    ceiling = pd.DataFrame({"weat": ["t"], "size": [30], "ceiling": [0.99]})
    ceiling.to_csv(folder / "lds/scores.tsv", sep="\t", index=False)
    single = pd.DataFrame({"weat": "t", "kind": "random", "document": range(N), "observed": truth})
    single.assign(influence=-truth).to_csv(folder / "single_documents/documents.tsv", sep="\t", index=False)
    other = pd.DataFrame({"influence_mean": draw.standard_normal(N)})
    other.to_parquet(folder / "differential_bias/other.parquet")
    return folder, pd.DataFrame({"document": ids, "score": truth})


def scored(run, table):
    folder, _ = run
    path = folder / "scores.tsv"
    table.to_csv(path, sep="\t", index=False)
    found = write_scored(path, folder, "t", 1, folder / "out.tsv")
    written = pd.read_csv(folder / "out.tsv", sep="\t")
    np.testing.assert_allclose(written["value"], found["value"], rtol=1e-4)
    return found.set_index(["check", "attribution"])


def test_the_truth_scores_highest_and_what_knows_nothing_does_not(run):
    found = scored(run, run[1].sample(frac=1, random_state=1))
    assert found["value"]["lds", "yours"] > 0.95
    assert found["value"]["auc", "yours"] == 1
    assert found["value"]["auc", "influence"] == 0
    assert abs(found["value"]["lds", "newton"]) < 0.5
    for null in ("length", "random", "influence of other"):
        low, high = found.loc[("lds", null), ["ci_low", "ci_high"]]
        assert high < 0.8
        assert low < found["value"]["lds", null] < high
        assert 0.2 < found["value"]["auc", null] < 0.8
    assert found["ceiling"]["lds", "yours"] == 0.99


def test_the_sign_of_a_score_counts_and_its_unit_does_not(run):
    table = run[1]
    once, more = scored(run, table), scored(run, table.assign(score=1000 * table["score"]))
    assert once["value"].equals(more["value"])
    against = scored(run, table.assign(score=-table["score"]))
    assert against["value"]["lds", "yours"] == pytest.approx(-once["value"]["lds", "yours"])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda t: t.rename(columns={"score": "value"}), "the columns document and score"),
        (lambda t: t.assign(document=["x", *t["document"][1:]]), "line 2: no document 'x'"),
        (lambda t: pd.concat([t, t[5:6]]), "line 62: document 'd5' again"),
        (lambda t: t[:-3], "3 of 60 documents have no score, 'd57' is one"),
        (lambda t: t.assign(score=["", *t["score"][1:]]), "line 2: the score '' is no finite number"),
    ],
)
def test_what_does_not_fit_is_refused(run, change, match):
    with pytest.raises(InputError, match=match):
        scored(run, change(run[1]))


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "no file with the columns document and score"),
        (b"\xff\xfe\x00bad", "binary, or text in UTF-16"),
        (b"document\tscore\nd0\t1", "the last line has no end"),
    ],
)
def test_a_file_that_is_no_table_is_refused(run, content, match):
    folder, _ = run
    path = folder / "scores.tsv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=match):
        write_scored(path, folder, "t", 1, folder / "out.tsv")
    with pytest.raises(InputError, match="cannot be read"):
        write_scored(folder, folder, "t", 1, folder / "out.tsv")
    assert not (folder / "out.tsv").exists()


def test_a_run_without_retrainings_has_nothing_to_score_with(run):
    folder, table = run
    (folder / "lds/removals.tsv").unlink()
    (folder / "single_documents/documents.tsv").unlink()
    with pytest.raises(InputError, match="nothing was retrained for t"):
        scored(run, table)


RECORD = Path(__file__).parents[4] / "docs/records/attribution/origins/sample"


@pytest.mark.parametrize("weat", ["weat1", "weat2"])
def test_on_the_benchmark_what_knows_nothing_of_the_test_scores_nothing(tmp_path, weat):
    documents = pd.read_parquet(RECORD / "documents.parquet")
    draws = np.random.default_rng(1).standard_normal((3, len(documents)))
    found = []
    for values in draws:
        pd.DataFrame({"document": documents["id"], "score": values}).to_csv(
            tmp_path / "scores.tsv", sep="\t", index=False
        )
        found.append(write_scored(tmp_path / "scores.tsv", RECORD, weat, 1, tmp_path / "out.tsv"))
    halves = [table[table["n_removed"] == 986].set_index("attribution") for table in found]
    yours = pd.DataFrame([table.loc["yours"] for table in halves])
    assert (yours["ci_low"].astype(float) < 0).any()
    assert abs(yours["value"].astype(float).mean()) < 0.3
    for null in ("random", "length"):
        assert halves[0].loc[null, "ci_low"] < 0 < halves[0].loc[null, "ci_high"]
    assert halves[0].loc["influence", "ci_low"] > 0
    assert halves[0].loc["influence", "value"] < halves[0].loc["influence", "ceiling"]
