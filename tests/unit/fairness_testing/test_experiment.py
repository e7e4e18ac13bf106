from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from biaslab.classifiers.networks import save_network
from biaslab.core.errors import InputError
from biaslab.core.io import write_npz
from biaslab.fairness_testing import cases, experiment
from biaslab.fairness_testing.cases import cluster, take_turns
from biaslab.fairness_testing.experiment import Budgets, Effort
from biaslab.fairness_testing.settings import COLUMNS, PAPER, PUBLISHED
from biaslab.fairness_testing.testers.contract import check, collect
from biaslab.fairness_testing.testers.registry import TESTERS, paper_testers
from fairness_data import SCHEMA, blind, make_case, random_network, small_domain
from naive import fairness_testing as naive

EFFORT = Effort(
    hops=15, ablation_hops=5, repetitions=2, explanations=4, uniform_samples=300, local_seeds=3, seed=1
)


@pytest.fixture(scope="module")
def finds():
    return experiment.count_finds(make_case(), EFFORT)


def test_every_tester_is_counted_in_every_mode(finds):
    counts, _, found = finds
    runs = counts.groupby(["tester", "mode"]).size()
    assert runs.to_dict() == {
        **{(tester, mode): 2 for tester in ("adf", "aequitas", "symbolic") for mode in (PUBLISHED, PAPER)},
        ("random", "published"): 2,
    }
    assert (counts["n_discriminatory"] <= counts["n_samples"]).all()
    alone = counts[counts["tester"] == "symbolic"]  # whose global search is counted alone, as published
    assert (alone["global_discriminatory"].notna() == (alone["mode"] == "published")).all()
    assert set(found) == set(paper_testers())


def test_found_samples_are_those_that_are_counted_and_discriminatory(finds):
    counts, _, found = finds
    case = make_case()
    first = counts[(counts["repetition"] == 0) & (counts["mode"] == "published")].set_index("tester")
    for tester, samples in found.items():
        assert len(samples) == first.loc[tester, "n_discriminatory"]
        assert check(case.subject, samples).discriminatory.all()
        assert len(np.unique(samples[:, case.subject.free], axis=0)) == len(samples)


def test_curves_end_with_what_local_phases_find_from_the_global_finds_of_adf(finds):
    _, curves, _ = finds
    case = make_case()
    columns = ["n_seeds", "n_samples", "n_discriminatory"]
    for _, curve in curves.groupby("tester"):
        assert (curve[columns].diff().dropna() >= 0).all(axis=None)
    last = curves.groupby("tester")[columns].last()
    assert set(last.index) == {"adf", "aequitas"}
    task = experiment._task(case, EFFORT, 0)
    phases = collect(TESTERS["adf"].search(task, TESTERS["adf"].settings("published")))
    starts = phases.global_.distinct_discriminatory(case.subject.protected)
    task = replace(task, seeds=starts, n_seeds=len(starts))
    for name in last.index:
        around = TESTERS[name].search_around(task, TESTERS[name].settings("published"))
        expected = around.count(case.subject.protected)
        assert last.loc[name].tolist() == [len(starts), expected.n_samples, expected.n_discriminatory]


def test_network_blind_to_the_protected_attribute_yields_nothing():
    case = make_case(network=blind(random_network(2), (1,)))
    counts, _, found = experiment.count_finds(case, EFFORT)
    assert (counts["n_discriminatory"] == 0).all()
    assert all(len(samples) == 0 for samples in found.values())
    assert experiment.compare_local(case, EFFORT).empty
    fairness = experiment.estimate_fairness(case, EFFORT).iloc[0]
    assert (fairness["share"], fairness["data_share"], fairness["ci_low"]) == (0, 0, 0)


def test_ablation_repairs_one_switch_at_a_time():
    case = make_case()
    variants = experiment.variants(case, TESTERS["adf"])
    published, paper = variants.pop("published"), variants.pop("paper")
    assert variants
    for name, settings in variants.items():
        assert settings == replace(published, **{name: getattr(paper, name)}) != published
    table = experiment.ablate(case, replace(EFFORT, repetitions=1, ablation_hops=2))
    assert set(table["switch"]) == {"published", "paper", *variants}


def test_published_bounds_reach_the_tester(finds):
    case = make_case()
    wider = replace(case, published_bounds=(0, 9))
    variants = experiment.variants(wider, TESTERS["adf"])
    assert variants["published"].enumerated == (0, 9)
    assert variants["enumerated"] == replace(variants["published"], enumerated=None)
    assert variants["paper"].enumerated is None
    counts, changed = (
        c.set_index(["tester", "mode", "repetition"])["n_queries"]
        for c in (finds[0], experiment.count_finds(wider, EFFORT)[0])
    )
    assert set(counts[counts != changed].index) == {("adf", "published", 0), ("adf", "published", 1)}


def test_local_phases_start_from_discriminatory_seeds():
    case = make_case()
    n_discriminatory = check(case.subject, case.seeds).discriminatory.sum()
    table = experiment.compare_local(case, EFFORT)
    full = table[table["budget"] == "full"]
    assert (full["tester"] != "symbolic").all()
    assert (full[["n_seeds", "hops"]] == [min(n_discriminatory, 3), EFFORT.hops]).all(axis=None)
    n_seeds = min(n_discriminatory, EFFORT.repetitions)
    shared = table[table["budget"] == "shared"]
    assert set(shared["tester"]) == {"adf", "aequitas", "symbolic"}
    assert (shared[["n_seeds", "hops"]] == [n_seeds, EFFORT.explanations // n_seeds]).all(axis=None)
    runs = shared.groupby(["tester", "mode"]).size()
    assert (runs["symbolic", "published"], runs["adf", "published"]) == (1, EFFORT.repetitions)


def test_first_steps_are_those_of_the_literal_algorithms():
    case = make_case()
    domain, settings = case.subject.domain, TESTERS["adf"].settings(PUBLISHED)
    n_found = n_along_protected = 0
    for begin in range(0, 24, experiment.N_SEEDS):
        part = replace(case, seeds=case.seeds[begin:])
        table = experiment.show_first_steps(part)
        assert set(table["seed"]) == {1, 2, 3, 4}
        for (_, rows), x in zip(table.groupby("seed"), part.seeds, strict=False):
            assert rows["start"].tolist() == x.tolist()
            network = case.subject.model
            literal = naive.adf_first_step(network, x.tolist(), domain, (1,), settings)
            assert set(rows["start_found"]) == {"yes" if literal is None else "no"}
            if literal is None:
                continue
            moved, shares, lower, upper = literal
            assert rows["moved"].tolist() == moved
            expected = agreed_signs(network, x.tolist(), list(rows["partner"]), settings)
            assert rows["direction"].tolist() == expected
            n_along_protected += rows["direction"].tolist()[1] != 0
            assert set(rows["moved_found"]) == {"no" if shares is None else "yes"}
            if shares is None:
                assert rows[["probability", "lower_found", "upper_found"]].isna().all(axis=None)
                continue
            n_found += 1
            assert rows["probability"].tolist() == pytest.approx(shares, rel=1e-5)
            assert (rows["lower_found"] == "yes").tolist() == lower
            assert (rows["upper_found"] == "yes").tolist() == upper
    assert n_found > 0
    assert n_along_protected > 0


def agreed_signs(network, x, partner, settings):
    """Return the direction of Example 4.3: the sign of both gradients, of protected attributes too, or 0."""
    label, _ = naive.adf_answer(network, x)
    s, t = (np.sign(naive.adf_gradient(network, z, label, settings)) for z in (x, partner))
    return [int(a) if a == b else 0 for a, b in zip(s, t, strict=True)]


def test_shares_are_estimated_and_measured():
    case = make_case()
    row = experiment.estimate_fairness(case, EFFORT).iloc[0]
    assert row["ci_low"] < row["share"] < row["ci_high"]
    assert row["data_share"] == check(case.subject, case.X).discriminatory.mean()
    assert row["seed_share"] == check(case.subject, case.seeds).discriminatory.mean()


def test_a_network_for_other_columns_is_refused(tmp_path):
    X = small_domain().draw(20, np.random.default_rng(1))
    table = pd.DataFrame(X, columns=list(small_domain().names))
    table["sex"] = np.array(["male", "female"])[X[:, 4]]
    table["label"] = np.array(["no", "yes"])[random_network(21).labels(X)]
    table.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    save_network(tmp_path / "weights.npz", random_network(1, (4, 3, 2)))
    files = [tmp_path / name for name in ("made", "data.csv", "schema.yaml")]
    with pytest.raises(InputError, match="the network has 4 attributes and 2 classes"):
        cases.prepare(*files, seeds=5, training_epochs=1, seed=1, network=tmp_path / "weights.npz")


BUDGETS = Budgets(queries=(200, 2000), hops=15, repetitions=2, seed=1)


def budget_case(columns=(1,), name="group"):
    return make_case(columns, name, random_network(21), n_seeds=60)


def test_budgets_are_kept_and_more_queries_find_more():
    counts = experiment.compare_at_budgets(budget_case(), BUDGETS)
    assert list(counts) == list(COLUMNS["budgets"])
    assert (counts["n_queries"] <= counts["budget"]).all()
    assert (counts["n_queries"] > 0.9 * counts["budget"]).all()
    assert set(counts["n_values"]) == {3}
    wide = counts.pivot(index=["tester", "mode", "repetition"], columns="budget", values="n_discriminatory")
    assert (wide[2000] > wide[200]).all()
    assert set(counts["tester"]) == {name for name, tester in TESTERS.items() if not tester.is_costly}
    pd.testing.assert_frame_equal(
        counts, experiment.compare_at_budgets(budget_case(), replace(BUDGETS, queries=(2000, 200)))
    )


def test_who_runs_out_of_seeds_takes_them_again():
    case = replace(budget_case(), seeds=budget_case().seeds[:4])
    trail = experiment.spend(case, TESTERS["eidig-inf"], "paper", 2000, replace(BUDGETS, hops=3))
    assert 1990 < trail.queries.sum() <= 2000
    assert trail.seed.max() >= 8
    rounds = [trail.take(trail.seed // 4 == number).samples.tolist() for number in (0, 1)]
    assert rounds[0] != rounds[1]


@pytest.mark.parametrize("name", ["adf", "random", "aequitas"])
def test_a_budget_is_spent_seed_by_seed(name):
    case, effort = budget_case((1, 4), "group,sex"), replace(BUDGETS, hops=5)
    trail = experiment.spend(case, TESTERS[name], "paper", 900, effort)
    assert trail.queries.sum() <= 900
    assert (np.diff(trail.seed) >= 0).all()  # seed by seed
    assert (trail.discriminatory == check(case.subject, trail.samples).discriminatory).all()


def test_sets_of_protected_attributes(tmp_path):
    case = budget_case()
    save_network(tmp_path / "made/network.npz", case.subject.model)
    write_npz(tmp_path / "made/data.npz", X=case.X, y=case.X[:, 0].astype(np.int64), seeds=np.arange(9))
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA)
    found = list(cases.load_cases(tmp_path / "made", path, path, together=2))
    assert [one.attribute for one in found] == ["group", "sex", "group,sex"]
    assert [len(one.subject.protected.values) for one in found] == [3, 2, 6]
    assert [one.published_bounds for one in found] == [(0, 2), (0, 1), None]
    assert [one.attribute for one in cases.load_cases(tmp_path / "made", path)] == ["group", "sex"]
    path.write_text(SCHEMA.replace("low: 0, high: 2}", "low: 0, high: 600}"))
    found = list(cases.load_cases(tmp_path / "made", path, path, together=2))
    assert [one.attribute for one in found] == ["group", "sex"]  # 1,202 values together are too many


def turns_one_by_one(clusters, n):
    queues = [[i for i, c in enumerate(clusters) if c == number] for number in sorted(set(clusters))]
    taken = []
    while len(taken) < n and any(queues):
        for queue in queues:
            if queue and len(taken) < n:
                taken.append(queue.pop(0))
    return taken


@pytest.mark.parametrize("n", [1, 5, 40, 60, 100])
def test_turns_equal_queues(n):
    clusters = np.random.default_rng(1).choice(4, 60, p=[0.5, 0.1, 0.35, 0.05])
    assert take_turns(clusters, n).tolist() == turns_one_by_one(clusters.tolist(), n)


def test_clusters_are_numbered_as_they_first_appear():
    rng = np.random.default_rng(2)
    centres = np.array([[0, 0], [50, 0], [0, 50], [50, 50]])
    truth = np.r_[2, 2, 0, 3, 1, rng.integers(0, 4, 200)]
    X = (centres[truth] + rng.integers(-3, 4, (len(truth), 2))).astype(np.int32)
    names = {2: 0, 0: 1, 3: 2, 1: 3}
    assert cluster(X).tolist() == [names[t] for t in truth.tolist()]
    assert cluster(X).dtype == np.int64


def test_fewer_rows_than_clusters_are_refused():
    with pytest.raises(InputError, match="3 rows cannot form 4 clusters"):
        cluster(np.zeros((3, 2), np.int32))
