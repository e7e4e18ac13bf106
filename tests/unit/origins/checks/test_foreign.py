"""Scores from elsewhere: put to the tests of a run, equal to dattri's, refused where they do not fit."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from biaslab.cli import app
from biaslab.core.errors import InputError
from biaslab.core.io import write_tsv
from biaslab.core.stats import standard_ranks
from biaslab.origins.checks import foreign
from biaslab.origins.checks.foreign import COLUMNS, write_recalled, write_scored
from biaslab.origins.checks.lds import reliability_of_means
from biaslab.origins.checks.planted.recall import pair_table, recall_table
from biaslab.origins.sets.selection import members
from biaslab.origins.subsets import BOUND, PAIRED_BOUND, digest_documents, digest_outcomes

DATTRI = json.loads((Path(__file__).with_name("dattri.json")).read_text(encoding="utf-8"))
N, SUBSETS = 60, 80


def test_scores_equal_those_of_dattri():
    scores, observed = np.array(DATTRI["scores"]), np.array(DATTRI["observed"])
    kept = np.array(DATTRI["kept"])
    for test in range(scores.shape[1]):
        sums = scores[:, test][kept].sum(axis=1)
        found = float(standard_ranks(sums) @ standard_ranks(observed[:, test]))
        assert found == pytest.approx(DATTRI["lds"][test], abs=1e-6)


@pytest.fixture
def run(tmp_path):
    """A setup whose documents' effects are known and add up, but for noise."""
    draw = np.random.default_rng(4)
    truth, folder = draw.standard_normal(N), tmp_path / "results/origins/made"
    for name in ("lds", "differential_bias"):
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
    own |= {"change": observed[::-1], "observed_mean": observed, "observed_sd": 0.5, "n_retrainings": 3}
    bind(folder, pd.DataFrame(own))
    ceiling = pd.DataFrame({"weat": ["t"], "size": [30], "ceiling": [0.99]})
    ceiling.to_csv(folder / "lds/scores.tsv", sep="\t", index=False)
    other = pd.DataFrame({"influence_mean": draw.standard_normal(N)})
    other.to_parquet(folder / "differential_bias/other.parquet")
    return folder, pd.DataFrame({"document": ids, "score": truth})


def scored(run, table):
    folder, _ = run
    path = folder / "scores.tsv"
    table.to_csv(path, sep="\t", index=False)
    found = write_scored(path, folder, "t", 1, folder / "out.tsv")
    assert list(found) == COLUMNS
    written = pd.read_csv(folder / "out.tsv", sep="\t")
    np.testing.assert_allclose(written["value"], found["value"], rtol=1e-4)
    return found.set_index(["check", "attribution"])


def test_the_truth_scores_highest_in_any_unit_and_what_knows_nothing_does_not(run):
    table = run[1].sample(frac=1, random_state=1)
    found = scored(run, table)
    assert found["value"]["lds", "yours"] > 0.95
    assert abs(found["value"]["lds", "newton"]) < 0.5
    for null in ("length", "random", "influence of other"):
        low, high = found.loc[("lds", null), ["ci_low", "ci_high"]]
        assert high < 0.8
        assert low < found["value"]["lds", null] < high
    assert found["ceiling"]["lds", "yours"] == 0.99
    against = scored(run, table.assign(score=-1000 * table["score"]))
    assert against["value"]["lds", "yours"] == pytest.approx(-found["value"]["lds", "yours"])
    assert against["value"].drop(("lds", "yours")).equals(found["value"].drop(("lds", "yours")))


def test_trainings_with_the_seeds_of_baselines_are_scored_apart(run):
    folder, truth = run
    bind_paired(folder, factor=-1)
    truth.to_csv(folder / "scores.tsv", sep="\t", index=False)
    found = write_scored(folder / "scores.tsv", folder, "t", 1, folder / "out.tsv")
    lds = found[found["check"] == "lds"].set_index(["among", "attribution"])
    assert lds["value"]["", "yours"] == pytest.approx(-lds["value"]["paired", "yours"], abs=0.01)
    assert lds["ceiling"]["", "yours"] == 0.99
    assert np.isnan(lds["ceiling"]["paired", "yours"])


def test_a_lead_is_paired_and_none_over_itself(run):
    """The truth and a part of it err on the same subsets: what stands between them is sharper than either."""
    noise = np.random.default_rng(6).normal(0, 0.7, N)
    found = scored(run, run[1].assign(score=run[1]["score"] + noise)).xs("lds")
    assert found.loc["yours", ["lead", "lead_ci_low", "lead_ci_high"]].eq(0).all()
    assert found["lead"].to_numpy() == pytest.approx(found["value"]["yours"] - found["value"].to_numpy())
    assert found["lead_ci_low"]["random"] > 0
    doubled = {"first": run[1]["score"].to_numpy(), "second": run[1]["score"].to_numpy() + noise}
    paired = write_scored(doubled, run[0], "t", 1, run[0] / "out.tsv").set_index("attribution")
    lead = paired[paired["check"] == "lds"].loc["second"]
    assert 0 < lead["lead_ci_low"] < lead["lead"] < lead["lead_ci_high"]
    assert lead["lead_ci_high"] - lead["lead_ci_low"] < lead["ci_high"] - lead["ci_low"] + 1e-9


@pytest.mark.parametrize("noise", [0.7, 2.0])
def test_a_number_of_retrainings_is_worth_that_number(noise):
    """Outcomes are means of three retrainings; what is scored are means of others, or knows nothing."""
    draw, n = np.random.default_rng(3), 2000
    truth = draw.standard_normal(n)
    outcomes = truth + draw.normal(0, noise, (3, n))
    means, variances = outcomes.mean(axis=0), outcomes.var(axis=0, ddof=1)
    drawn = np.vstack([np.arange(n), draw.integers(n, size=(400, n))])
    reliability = reliability_of_means(means[drawn], variances[drawn], 3)

    def worth(changes):
        lds = (standard_ranks(changes[drawn]) * standard_ranks(means[drawn])).sum(axis=1)
        return foreign._worth_with_interval(lds, reliability, 3)

    for k in (1, 2, 5):
        value, low, high = worth(truth + draw.normal(0, noise, (k, n)).mean(axis=0))
        assert low < k < high
        assert value == pytest.approx(k, rel=0.35)
    value, low, high = worth(draw.standard_normal(n))
    assert (low, round(value, 2)) == (0, 0)
    assert high < 0.1
    assert worth(truth)[2] == np.inf


def test_worth_solves_the_formula_of_spearman_and_brown():
    r, R = 0.4, 3
    reliability = R * r / (1 + (R - 1) * r)
    for k in (0.5, 1, 4):
        score = np.sqrt(k * r / (1 + (k - 1) * r) * reliability)
        assert foreign.worth_in_retrainings(score, reliability, R) == pytest.approx(k)
    scores = np.array([-0.2, 0, 1.001 * np.sqrt(reliability), 1])
    assert foreign.worth_in_retrainings(scores, reliability, R).tolist() == [0, 0, np.inf, np.inf]
    assert np.isnan(foreign.worth_in_retrainings(0.3, 0.0, R))


def test_the_worth_of_equal_scores_is_undefined(run):
    found = scored(run, run[1].assign(score=0.0)).loc[("lds", "yours")]
    assert found[["value", "of_ceiling", "worth", "worth_ci_low", "worth_ci_high"]].isna().all()
    assert not foreign.reversed_sign(found.to_frame().T.assign(check="lds", attribution="yours"))


def test_a_reversed_sign_is_noticed(run):
    table = run[1]
    truth = table["score"].to_numpy()
    unrelated = np.random.default_rng(2).standard_normal(N)
    unrelated -= truth * (unrelated @ truth) / (truth @ truth)
    for scores, expected in ((truth, False), (-truth, True), (unrelated, False)):
        assert foreign.reversed_sign(scored(run, table.assign(score=scores)).reset_index()) is expected


def bind(folder, table, name="removals", bound=BOUND):
    """Write outcomes with their digests, as a run does."""
    sets = members(pd.read_parquet(folder / "lds/subsets.parquet"))
    digests = {name: digest_documents(np.sort(documents)) for name, documents in sets.items()}
    table = table.assign(documents_sha256=table["set"].map(digests))
    write_tsv(folder / f"lds/{name}.tsv", table.assign(outcome_sha256=digest_outcomes(table, bound)))


def bind_paired(folder, factor=1):
    """Add outcomes of trainings with the seeds of baselines."""
    observed = pd.read_csv(folder / "lds/removals.tsv", sep="\t")
    paired = observed[["set", "weat"]].assign(seed=0, effect_size=factor * observed["observed_mean"])
    bind(folder, paired, "paired", PAIRED_BOUND)


@pytest.mark.parametrize(("name", "column"), [("removals", "observed_mean"), ("paired", "effect_size")])
def test_outcomes_that_moved_by_a_row_are_refused(run, name, column):
    folder, truth = run
    bind_paired(folder)
    path = folder / f"lds/{name}.tsv"
    table = pd.read_csv(path, sep="\t")
    moved = np.append(np.roll(table[column][:2], 1), table[column][2:])
    write_tsv(path, table.assign(**{column: moved}))
    match = rf"{name}\.tsv, line 2: 'random-30-0' has a changed outcome.*; 2 of 80 rows do not match"
    with pytest.raises(InputError, match=match):
        scored(run, truth)
    assert not (folder / "out.tsv").exists()


def test_other_subsets_than_those_of_the_outcomes_are_refused(run):
    folder, truth = run
    subsets = pd.read_parquet(folder / "lds/subsets.parquet")
    subsets["document"] = (subsets["document"] + (subsets["set"] == "random-30-3")) % N
    subsets.to_parquet(folder / "lds/subsets.parquet")
    problem = "line 5: 'random-30-3' was retrained without other documents; 1 of 80 rows"
    with pytest.raises(InputError, match=problem):
        scored(run, truth)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda t: t.rename(columns={"score": "value"}), "the columns document and score"),
        (lambda t: t.assign(document=["x", *t["document"][1:]]), "line 2: the corpus has no document 'x'"),
        (lambda t: pd.concat([t, t[5:6]]), "line 62: document 'd5' is repeated"),
        (lambda t: t[:-3], "3 of 60 documents have no score, for example 'd57'"),
        (lambda t: t.assign(score=["", *t["score"][1:]]), "line 2: the score '' is not a finite number"),
        (b"", "the columns document and score are missing"),
        (b"\xff\xfe\x00bad", "binary, or text in UTF-16"),
        (b"document\tscore\nd0\t1", "the last line has no end"),
    ],
)
def test_what_does_not_fit_is_refused(run, change, match):
    folder, table = run
    content = change if isinstance(change, bytes) else change(table).to_csv(sep="\t", index=False).encode()
    (folder / "scores.tsv").write_bytes(content)
    with pytest.raises(InputError, match=match):
        write_scored(folder / "scores.tsv", folder, "t", 1, folder / "out.tsv")
    assert not (folder / "out.tsv").exists()


@pytest.fixture
def planted(run):
    """Corpora with planted documents, that are told by the sign of the truth."""
    folder, table = run
    (folder / "planted/0.1").mkdir(parents=True)
    kinds = ["raise", "lower", "control"] * 8
    rows = {"kind": kinds, "weat": "t", "source": np.repeat(range(8), 3), "id": [f"p{i}" for i in range(24)]}
    real = pd.DataFrame({"id": table["document"], "kind": "", "weat": "", "source": -1})
    documents = pd.concat([real, pd.DataFrame(rows)], ignore_index=True).assign(dose=0.1)
    documents.insert(0, "document", range(len(documents)))
    documents.to_parquet(folder / "planted/0.1/documents.parquet")
    knows = {"influence": documents["kind"].map({"raise": 9.0, "lower": -9.0}).fillna(0.0).to_numpy()}
    write_tsv(folder / "planted/recall.tsv", recall_table(documents, "t", knows, 1))
    write_tsv(folder / "planted/pairs.tsv", pair_table(documents, "t", knows))
    return folder, documents


def recalled(planted, scores, weat="t", dose="0.1"):
    folder, documents = planted
    path = folder / "planted.tsv"
    table = pd.DataFrame({"document": documents["id"][: len(scores)], "score": scores})
    table.to_csv(path, sep="\t", index=False)
    return write_recalled(path, folder, dose, weat, 1, folder / "out.tsv")


def test_planted_documents_are_sought_as_the_run_seeks_them(planted):
    truth = planted[1]["kind"].map({"raise": 1.0, "lower": -2.0}).fillna(0.0)
    found = recalled(planted, truth).set_index(["check", "among", "attribution"])
    assert list(found.reset_index().columns[:2]) == ["check", "among"]
    for of in [*(("recall", order) for order in ("raise", "lower")), ("pairs", "raise"), ("pairs", "lower")]:
        assert found["value"][*of, "yours"] == found["value"][*of, "influence"] == 1
        assert found["value"][*of, "random"] < 1
    assert found["chance"]["recall", "raise", "yours"] == pytest.approx(8 / 84)
    assert found["chance"]["recall", "either", "yours"] == pytest.approx(16 / 84)
    assert found["chance"]["pairs", "raise", "yours"] == 0.5
    against = recalled(planted, -truth).set_index(["check", "among", "attribution"])
    assert against["value"]["pairs", "raise", "yours"] == 0


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"dose": "0.3"}, "has no corpus with dose 0.3; choose 0.1"),
        ({"weat": "u"}, "has no planted documents for 'u'"),
        ({"scores": np.ones(60)}, "24 of 84 documents have no score, for example 'p0'"),
    ],
)
def test_scores_of_another_corpus_do_not_fit(planted, given, match):
    with pytest.raises(InputError, match=match):
        recalled(planted, **{"scores": np.ones(84)} | given)


@pytest.fixture
def flips(run, monkeypatch):
    """A run that left out documents, and trainings whose bias is 1 plus what is left of the truth."""
    folder, table = run
    truth = table["score"].to_numpy()
    (folder / "brittleness").mkdir()
    outcomes = {"weat": "t", "estimator": ["newton", "random", "newton"]}
    outcomes |= {"size": [2, 5, 50], "n_retrainings": 3}
    bounds = {"observed_mean": 0.5, "observed_ci_low": 0.4, "observed_ci_high": 0.6}
    write_tsv(folder / "brittleness/outcomes.tsv", pd.DataFrame(outcomes | bounds))
    write_tsv(folder / "baseline.tsv", pd.DataFrame({"weat": "t", "effect_size": [0.9, 1.1]}))

    def retrain(x, tokens, offsets, sets, tests, parameters, trainings, *_):
        left = {name: 1 - truth[documents].sum() for name, documents in sets.items()}
        rows = [(name, bias + 0.01 * k) for name, bias in left.items() for k in range(trainings)]
        return pd.DataFrame(rows, columns=["set", "effect_size"])

    monkeypatch.setattr(foreign, "read_counted", lambda *_: (SimpleNamespace(ids={}), None, None, None))
    monkeypatch.setattr(foreign, "read_tests", lambda *_: None)
    monkeypatch.setattr(foreign, "retrain", retrain)
    return folder, table


def flipped(flips, table):
    folder, _ = flips
    table.to_csv(folder / "scores.tsv", sep="\t", index=False)
    how = foreign.Retraining(None, None, 3)
    found = write_scored(folder / "scores.tsv", folder, "t", 1, folder / "out.tsv", how)
    return found[found["check"] == "flips"].set_index(["attribution", "n_removed"])


def test_the_first_documents_of_the_file_are_left_out(flips):
    table = flips[1]
    found = flipped(flips, table)
    truth = np.sort(table["score"])[::-1]
    for size in (2, 5):
        row = found.loc["yours", size]
        assert row["value"] == pytest.approx(1.01 - truth[:size].sum())
        assert row["ci_low"] < row["value"] < row["ci_high"]
    assert ("yours", 50) not in found.index  # at most half of the documents, and those that lower the bias
    assert found["value"]["random", 5] == 0.5
    assert found["chance"].tolist() == [1.0] * 5
    noise = table.assign(score=np.random.default_rng(9).standard_normal(N))
    assert flipped(flips, noise)["value"]["yours", 5] > found["value"]["yours", 5] + 1


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["scores.tsv", "--planted", 0.1, "--flip", 2], "--flip removes documents and --planted adds"),
        (["unrolled", "--planted", 0.1], "config.json"),
        (["scores.tsv", "--planted", 0.1], "has no corpus with dose 0.1"),
        (["nowhere.tsv"], "nowhere.tsv: "),
    ],
)
def test_the_command_refuses_what_does_not_go_together_and_prints_what_it_writes(run, arguments, match):
    folder, table = run
    refused = command(folder, *arguments)
    assert isinstance(refused.exception, InputError)
    assert match in str(refused.exception)
    assert not (folder / "out.tsv").exists()
    table.to_csv(folder / "scores.tsv", sep="\t", index=False)
    done = command(folder, folder / "scores.tsv")
    written = pd.read_csv(folder / "out.tsv", sep="\t")
    assert list(written) == COLUMNS == done.stdout.splitlines()[0].split()
    assert len(written) + 1 == len(done.stdout.splitlines())


def command(folder, *arguments):
    """Call the command on a setup's folder."""
    place = ["--results", folder.parents[1], "--setup", folder.name]
    place += ["--weat", "t", "--out", folder / "out.tsv"]
    return CliRunner().invoke(app, ["origins", "score", *map(str, [*arguments, *place])])
