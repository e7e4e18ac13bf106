import numpy as np
import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.origins.attribution import ppmi as ppmi_scan
from biaslab.origins.attribution.tables import document_table
from biaslab.origins.checks.brittleness import (
    FLIPPED,
    NOT_FLIPPED,
    UNDECIDED,
    Ranking,
    brackets,
    candidates,
    outcomes,
    predict_flips,
    rankings,
    search,
    verdict,
)
from biaslab.origins.checks.cross_fitting import SET, SUM
from naive.bias import effect_size
from naive.embeddings import ppmi
from naive.origins import fewest_flipping, first_flipping_prefix


def linear(values, bias, name="influence"):
    """A ranking in a world where what documents do to the bias adds up."""
    return Ranking(name, bias, values, lambda sets: np.array([bias - values[s].sum() for s in sets]))


def curve(predicted):
    """A ranking of documents in their order, without whose first k the bias is predicted[k - 1]."""
    n = len(predicted)
    values = np.linspace(1, 0.5, 2 * n)
    return Ranking("newton", 1.0, values, lambda sets: np.array([predicted[len(s) - 1] for s in sets]))


def number_of(table, form=SET):
    found = table.loc[table["form"] == form, "n_documents"].iloc[0]
    return None if pd.isna(found) else int(found)


@pytest.mark.parametrize("bias", [1.7, -1.7])
def test_an_attribution_that_knows_a_linear_truth_gives_the_smallest_number_of_all(bias):
    rng, seen = np.random.default_rng(1), set()
    for _ in range(20):
        values = rng.standard_t(3, 12)
        smallest = fewest_flipping(12, lambda s, v=values: bias - v[list(s)].sum(), bias)
        table, _, _ = predict_flips([linear(values, bias)], bias, [1], "w", 1)
        expected = smallest if smallest is not None and smallest <= 6 else None
        assert number_of(table, SUM) == number_of(table, SET) == expected
        seen.add(expected)
    assert len(seen) > 2


def test_what_cannot_be_flipped_with_half_of_the_documents_is_said_to_be_so():
    values = np.full(10, 0.1)
    table, paths, sets = predict_flips([linear(values, 0.55)], 0.55, [1], "w", 1)
    assert table["n_documents"].isna().all()
    assert table["problem"].tolist() == ["no prefix flips it"] * 2
    assert table["farthest"].tolist() == pytest.approx([0.05, 0.05])
    assert table["n_candidates"].tolist() == [5, 5]
    assert len(paths) == 10
    assert sets.empty
    assert number_of(predict_flips([linear(values, 0.45)], 0.45, [1], "w", 1)[0]) == 5


def test_a_bias_with_the_other_sign_or_without_any_has_no_number():
    table, _, sets = predict_flips([linear(np.ones(10), -0.5, "ppmi")], 0.5, [1], "w", 1)
    assert table["problem"].tolist() == ["has the other sign to begin with"] * 2
    assert table["n_documents"].isna().all()
    assert sets.empty
    for bias in (0.0, np.nan):
        with pytest.raises(InputError, match="w: the mean bias of the baselines is 0 or undefined"):
            predict_flips([linear(np.ones(4), bias)], bias, [1], "w", 1)


def test_candidates_move_the_bias_towards_the_other_sign():
    values = np.array([0.3, -0.2, 0.0, 0.5, 0.3, np.nan, -0.7, 0.1])
    assert candidates(values, 2.0).tolist() == [3, 0, 4, 7]
    assert candidates(values, -2.0).tolist() == [6, 1]


def test_the_search_finds_what_trying_every_prefix_finds():
    rng = np.random.default_rng(2)
    for n in (1, 2, 7, 60, 900):
        for _ in range(5):
            crossing = rng.integers(1, n + 2)
            predicted = np.where(np.arange(1, n + 1) < crossing, 0.4, -0.2)
            ranking, ranked = curve(predicted), np.arange(n)
            oracle = first_flipping_prefix(range(n), lambda s, p=predicted: p[len(s) - 1], 1.0)
            path = search(ranking, ranked, 1.0, 8)
            flips = path.loc[path["predicted"] < 0, "size"]
            assert (int(flips.min()) if len(flips) else None) == oracle
            assert path["size"].is_monotonic_increasing
            assert len(path) <= 8 * 5


def test_where_a_prediction_crosses_twice_the_number_is_a_crossing_and_the_turn_is_told():
    predicted = np.full(200, 0.5)
    predicted[99:149] = -0.5
    table, _, sets = predict_flips([curve(predicted)], 1.0, [0.5, 1, 4], "w", 1)
    row = table[table["form"] == SET].iloc[0]
    assert row["n_documents"] == 100
    assert 150 <= row["turns_back"] <= 200
    assert row["farthest"] == -0.5
    own = sets[sets["estimator"] == "newton"].drop_duplicates("set")
    assert own["size"].tolist() == [50, 100, 200]  # four times is more than half of the 400 documents


def test_sets_are_prefixes_and_random_ones_are_as_large_and_nested():
    values = np.random.default_rng(3).standard_t(3, 300)
    made = [linear(values, 30.0), linear(values / 2, 30.0, "newton")]
    table, paths, sets = predict_flips(made, 30.0, [0.5, 1, 2], "w", 1)
    numbers = table[table["form"] == SET].set_index("estimator")["n_documents"]
    described = sets.drop_duplicates("set")
    for ranking, values_of in (("influence", values), ("newton", values / 2)):
        k = int(numbers[ranking])
        own = described[described["estimator"] == ranking]
        assert own["size"].tolist() == [-(-k // 2), k, 2 * k]
        ranked = candidates(values_of, 30.0)
        for row in own.itertuples():
            assert row.set == f"flip-w-{ranking}-{row.size}"
            documents = sets.loc[sets["set"] == row.set, "document"]
            assert sorted(ranked[: row.size]) == documents.tolist()
            looked_at = paths[(paths["estimator"] == ranking) & (paths["form"] == SET)]
            assert row.size in looked_at["size"].tolist()
    random = described[described["estimator"] == "random"]
    assert random["size"].tolist() == described[described["estimator"] == "newton"]["size"].tolist()
    held = [set(sets.loc[sets["set"] == name, "document"]) for name in random["set"]]
    assert held[0] < held[1] < held[2]
    turned = predict_flips(made[::-1], 30.0, [0.5, 1, 2], "w", 1)[2]
    assert set(turned.loc[turned["estimator"] == "random", "set"]) == set(random["set"])
    assert predict_flips(made, 30.0, [0.5, 1, 2], "w", 1)[2].equals(sets)
    assert not predict_flips(made, 30.0, [0.5, 1, 2], "w", 2)[2].equals(sets)


def retrainings(sets, truth, bias, rng, n=4):
    """Retrain in a world where documents add up to the bias, with noise."""
    rows = []
    for name, documents in sets.groupby("set", sort=False)["document"]:
        rows += [(name, e, "00") for e in bias - truth[documents].sum() + rng.normal(0, 0.05, n)]
    return pd.DataFrame(rows, columns=["set", "effect_size", "documents_sha256"])


def test_the_truth_flips_at_its_number_and_random_attributions_do_not():
    """The null twin: the same values in another order predict numbers as small, and nothing flips."""
    rng = np.random.default_rng(4)
    for seed in range(8):
        truth = rng.standard_t(2.5, 400)
        ranked = candidates(truth, 1.0)
        bias = truth[ranked[:5]].sum() - 0.5 * truth[ranked[4]]
        made = [linear(truth, bias), linear(rng.permutation(truth), bias, "newton")]
        numbers, paths, sets = predict_flips(made, bias, [0.8, 1], "w", seed)
        assert numbers["n_documents"].tolist() == [5, 5, 5, 5]
        found = outcomes(sets, paths, retrainings(sets, truth, bias, rng), bias)
        verdicts = found.groupby("estimator")["verdict"].agg(list)
        assert verdicts["influence"] == [NOT_FLIPPED, FLIPPED]
        assert FLIPPED not in verdicts["newton"] + verdicts["random"]
        told = brackets(numbers, found, pd.Series(bias + rng.normal(0, 0.05, 10))).set_index("estimator")
        assert told.loc["influence", ["predicted_set", "above", "up_to"]].tolist() == [5, 4, 5]
        assert told.loc[["newton", "random"], "up_to"].isna().all()
        assert told.loc["ppmi", "n_sets"] == 0


def test_outcomes_say_what_was_predicted_and_observed():
    sets = pd.DataFrame({"set": ["a", "a", "b"], "weat": "w", "estimator": ["gradient"] * 2 + ["random"]})
    sets = sets.assign(multiple=1.0, size=[2, 2, 1], document=[0, 1, 2])
    paths = pd.DataFrame({"estimator": "gradient", "form": [SUM, SET], "size": 2, "predicted": [-0.3, -0.2]})
    retrained = pd.DataFrame({"set": list("aaab"), "effect_size": [-0.1, -0.3, 0.1, 0.4]})
    found = outcomes(sets, paths, retrained.assign(documents_sha256="00"), 0.5).set_index("set")
    assert found.loc["a", ["predicted_sum", "predicted_set", "n_flipped"]].tolist() == [-0.3, -0.2, 2]
    assert found.loc["a", "observed_mean"] == pytest.approx(-0.1)
    assert found.loc["a", "share_flipped"] == pytest.approx(2 / 3)
    assert found.loc["b", ["predicted_sum", "predicted_set"]].isna().all()
    assert found["verdict"].tolist() == [UNDECIDED, UNDECIDED]  # of one retraining there is no interval
    assert verdict(-0.4, -0.1, 0.5) == verdict(0.1, 0.4, -0.5) == FLIPPED
    assert verdict(0.1, 0.4, 0.5) == verdict(-0.4, -0.1, -0.5) == NOT_FLIPPED
    assert verdict(-0.1, 0.4, 0.5) == UNDECIDED
    with pytest.raises(InputError, match="b: the retrainings without the set are missing"):
        outcomes(sets, paths, retrained.head(3).assign(documents_sha256="00"), 0.5)


def test_an_undecided_set_is_within_the_bracket():
    numbers = pd.DataFrame({"weat": "w", "estimator": "newton", "form": [SUM, SET], "bias": 0.5})
    numbers = numbers.assign(n_candidates=50, n_documents=[3, 4], turns_back=pd.NA, problem="")
    verdicts = {2: NOT_FLIPPED, 4: UNDECIDED, 8: FLIPPED, 16: NOT_FLIPPED}
    found = pd.DataFrame({"estimator": "newton", "size": list(verdicts), "verdict": list(verdicts.values())})
    row = brackets(numbers, found, pd.Series([0.4, 0.6])).set_index("estimator").loc["newton"]
    assert row[["predicted_sum", "predicted_set", "above", "up_to"]].tolist() == [3, 4, 2, 8]
    stays = brackets(numbers, found.assign(verdict=NOT_FLIPPED), pd.Series([0.4, 0.6])).set_index("estimator")
    assert stays.loc["newton", "above"] == 16
    assert pd.isna(stays.loc["newton", "up_to"])


@pytest.fixture(scope="module")
def tables(small):
    """Return what is known of the documents, by every estimator and by PPMI."""
    scan = small.scanner
    by_ppmi = ppmi_scan.differential_bias(scan.x, scan.tokens, scan.offsets, small.weat)
    table = document_table(scan, small.weat, small.documents)
    return {"differential_bias": table, "ppmi": small.documents.assign(ppmi=by_ppmi)}


def test_attributions_predict_as_their_own_estimates_of_sets_do(small, tables):
    scanner, weat = small.scanner, small.weat
    bias = np.mean([e.baseline for e in scanner.scan(weat)])
    made = {r.name: r for r in rankings(scanner, weat, tables, bias)}
    sets = [np.array([4, 17]), np.arange(3)]
    for column, name in enumerate(["influence", "newton", "gradient"]):
        expected = np.mean([e.baseline - e.values[:, column] for e in scanner.scan(weat, sets)], axis=0)
        np.testing.assert_allclose(made[name].without(sets), expected)
        np.testing.assert_allclose(made[name].values, tables["differential_bias"][f"{name}_mean"])
    whole = bias - made["gradient"].values[sets[0]].sum()
    assert made["gradient"].without(sets)[0] == pytest.approx(whole)
    left = [[d for i, d in enumerate(small.texts()) if i not in s] for s in ([], [4, 17], range(3))]
    words = (weat.S, weat.T, weat.A, weat.B)
    expected = [effect_size(ppmi(part, 30, 8), *words) for part in left]
    np.testing.assert_allclose([made["ppmi"].bias, *made["ppmi"].without(sets)], expected)
    lacking = tables["differential_bias"].assign(newton_seed1=np.nan)
    problem = r"w: newton gives no estimate for a document; increase bias\.damping"
    with pytest.raises(InputError, match=problem):
        rankings(scanner, weat, tables | {"differential_bias": lacking}, 0.5)
