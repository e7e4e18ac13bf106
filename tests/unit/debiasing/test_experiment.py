"""The experiment on one embedding: its stages, its tables, and its steps."""

import dataclasses
import json

import numpy as np
import pytest
import yaml

from biaslab.bias.word_sets import read_word_sets
from biaslab.core.io import read_tsv
from biaslab.debiasing import stages
from biaslab.debiasing.analogies import ONCE
from biaslab.debiasing.benchmarks import read_benchmarks
from biaslab.debiasing.experiment import read_experiment
from biaslab.debiasing.measures import direct_bias
from biaslab.debiasing.settings import Settings
from biaslab.debiasing.stages import classify_specific
from biaslab.embeddings.formats import write_embedding
from biaslab.run.plan.steps import run_step
from debiasing_data import write_lists
from refusals import refused

PAIRS = [("she", "he"), ("her", "his"), ("woman", "man"), ("mother", "father")]
PAIRS += [("queen", "king"), ("aunt", "uncle")]
OCCUPATIONS = ["nurse", "doctor", "pilot", "cook", "judge", "poet"]
OTHERS = ["softball", "football", *(f"word{i}" for i in range(60))]
WORDS = [*(word for pair in PAIRS for word in pair), *OCCUPATIONS, *OTHERS]
LISTS = {
    "defining": {"sets": [list(pair) for pair in PAIRS[:4]]},
    "equalize": {"sets": [list(pair) for pair in PAIRS[:5]]},
    "occupations": {"words": [*OCCUPATIONS, "astronaut"]},
    "gender_specific": {"words": [word for pair in PAIRS for word in pair]},
}
TEST = {
    "name": "jobs",
    "title": "Care and law",
    "source": "a test",
    "targets": {"care": ["nurse", "cook"], "law": ["judge", "pilot", "lawyer"]},
    "attributes": {"female": ["she", "her"], "male": ["he", "his"]},
}
RATED = "nurse doctor 3\npilot cook 1\njudge poet 2\nnurse lawyer 4\n"
QUESTIONS = ": all\nhe she king queen\nhe she man woman\nhe she lawyer nurse\n"


def vectors():
    rng = np.random.default_rng(3)
    X = rng.normal(scale=0.5, size=(len(WORDS), 8))
    X[1:12:2] = X[0:12:2] + rng.normal(scale=0.05, size=(6, 8))  # pairs differ in little but the bias
    X[:12:2, 0] = 0.6
    X[1:12:2, 0] = -0.6
    X[12:18, 0] = [0.5, -0.4, -0.3, 0.2, -0.1, 0.1]
    return X.astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("experiment")
    write_embedding(folder / "vectors.txt", WORDS, vectors(), "word2vec")
    write_lists(folder, LISTS)
    (folder / "jobs.yaml").write_text(yaml.safe_dump(TEST))
    (folder / "rated.tsv").write_text(RATED)
    (folder / "questions.txt").write_text(QUESTIONS)
    return folder


@pytest.fixture(scope="module")
def experiment(folder):
    return read_experiment(
        folder / "vectors.txt", [folder / f"{name}.yaml" for name in LISTS], Settings(permutations=1000)
    )


@pytest.fixture(scope="module")
def jobs(folder):
    return read_word_sets(folder / "jobs.yaml")


@pytest.fixture(scope="module")
def tables(experiment, jobs):
    lists = experiment.lists
    _, distances = classify_specific(experiment.embedding.vectors, lists.specific.rows, 1)
    return stages.measure_stages(experiment, [jobs], distances, 3, lists.occupations.rows[:2])


def value(bias, stage, measure):
    return bias.set_index(["stage", "measure"]).loc[(stage, measure), "value"]


def test_hard_debiasing_takes_the_bias_of_neutral_words_and_soft_debiasing_a_part(experiment, tables):
    bias, occupations = tables["bias"], experiment.embedding.vectors[experiment.lists.occupations.rows]
    expected = direct_bias(occupations, experiment.subspace.basis)
    assert value(bias, "before", "direct_bias") == pytest.approx(expected)
    assert 0 < value(bias, "soft", "direct_bias") < value(bias, "before", "direct_bias")
    measures = ["direct_bias", "direct_bias_authors", "pair_bias", "pair_bias_max", "equidistance_max"]
    assert [value(bias, "hard", measure) for measure in measures] == [0] * len(measures)
    assert all(value(bias, "before", measure) > 0.01 for measure in measures)
    assert (value(bias, "before", "vocabulary"), value(bias, "before", "dimension")) == (len(WORDS), 8)
    assert set(tables["weat"]["missing_words"]) == {"lawyer"}
    assert tables["weat"]["effect_size"][0] > 1
    first = tables["occupations"].query("stage == 'before'")
    assert first["rank"].tolist() == [1, 2, 3, 4, 5, 6]
    assert first["word"].iloc[0] == "nurse"
    assert first["projection"].is_monotonic_decreasing


def test_largest_differences_are_those_of_all_neutral_words_and_pairs(experiment, tables):
    X = experiment.embedding.vectors.astype(float)
    row = WORDS.index
    neutral = [X[row(word)] for word in [*OCCUPATIONS, *OTHERS]]
    pairs = [(X[row(a)], X[row(b)]) for a, b in PAIRS[:5]]
    similarity = max(abs(w @ a - w @ b) for w in neutral for a, b in pairs)
    distance = max(abs(np.linalg.norm(w - a) - np.linalg.norm(w - b)) for w in neutral for a, b in pairs)
    assert value(tables["bias"], "before", "pair_bias_max") == pytest.approx(similarity, abs=1e-6)
    assert value(tables["bias"], "before", "equidistance_max") == pytest.approx(distance, abs=1e-6)


def test_components_are_compared_with_those_of_random_pairs(experiment):
    table = stages.compare_subspace(experiment, draws=20)
    assert table["share"].sum() == pytest.approx(1)
    assert table["share"][0] > max(table["random_ci_high"][0], table["unit_ci_high"][0])
    assert table["unit_mean"].sum() == pytest.approx(1)
    assert table.equals(stages.compare_subspace(experiment, draws=20))


def test_indirect_bias_is_that_with_the_nearer_end(experiment, tables, monkeypatch):
    table = tables["indirect"]
    assert set(table["stage"]) == {"before", "soft", "hard"}
    after = table.loc[table["stage"] == "hard", "beta"]
    assert len(after) == len(OCCUPATIONS)
    assert after.abs().max() < 1e-6  # nothing of the similarity of neutral words is due to the bias
    table = table[table["stage"] == "before"].set_index("word")
    assert set(table.index) == set(OCCUPATIONS)
    X, row = experiment.embedding.vectors.astype(float), WORDS.index
    g = experiment.subspace.basis[0]
    for word, found in table.iterrows():
        w, v = X[row(word)], X[row(found["axis"])]
        apart = [u - (u @ g) * g for u in (w, v)]
        rest = apart[0] @ apart[1] / np.linalg.norm(apart[0]) / np.linalg.norm(apart[1])
        assert found["beta"] == pytest.approx((w @ v - rest) / (w @ v), rel=1e-4)
        assert found["axis"] == max(("softball", "football"), key=lambda end: w @ X[row(end)])
    monkeypatch.setattr(stages, "INDIRECT_AXIS", ("softball", "cricket"))
    none = stages.rank_indirect(experiment, experiment.embedding.vectors)
    assert (len(none), [*none]) == (0, ["word", "axis", "projection", "beta"])


def test_the_classifier_places_words_on_two_axes(tables):
    axes = tables["axes"]
    assert set(axes["stage"]) == {"before", "hard"}
    before = axes[axes["stage"] == "before"].set_index("word")
    assert set(before.index) == {*OCCUPATIONS, *(word for pair in PAIRS for word in pair)}
    assert before.loc["she", "she_he"] > 0.2 > -0.2 > before.loc["he", "she_he"]
    assert before["gender_specific"].sum() == 12
    assert before.loc[list(OCCUPATIONS), "neutrality"].mean() > before.loc["she", "neutrality"]


def test_puzzle_is_answered_by_the_nearest_other_word(experiment, monkeypatch):
    monkeypatch.setattr(stages, "PUZZLES", [("he", "king", "she"), ("he", "lawyer", "she")])
    for of_stage in experiment.stages().values():
        ids, table = experiment.ids, stages.solve_puzzles(experiment, of_stage)
        target = of_stage[ids["king"]] - of_stage[ids["he"]] + of_stage[ids["she"]]
        order = [WORDS[row] for row in np.argsort(-(of_stage @ target))]
        nearest = next(word for word in order if word not in ("he", "king", "she"))
        assert table["answer"].tolist() == [nearest]
    monkeypatch.setattr(stages, "PUZZLES", [("he", "lawyer", "she")])
    none = stages.solve_puzzles(experiment, of_stage)
    assert (len(none), [*none]) == (0, [*table])


def test_single_words_are_compared_with_words_and_with_the_direction(experiment, tables):
    table = tables["similarities"].set_index(["stage", "word", "other"])["similarity"]
    ids, g = experiment.ids, experiment.subspace.basis[0]
    for stage, of_stage in experiment.stages().items():
        nurse = of_stage[ids["nurse"]].astype(float)
        assert table[stage, "nurse", "woman"] == pytest.approx(nurse @ of_stage[ids["woman"]], abs=1e-6)
        assert table[stage, "nurse", stages.ALONG] == pytest.approx(nurse @ g, abs=1e-6)
    assert set(table.index.get_level_values("word")) == {"doctor", "nurse", "queen"}
    assert table["hard", "nurse", stages.ALONG] == 0


def test_the_filter_keeps_short_words_in_lower_case(experiment):
    words = ["nurse", "flight_attendant", "Mary", "u2", "it's", "a" * 19, "a" * 20]
    embedding = experiment.embedding._replace(words=words, vectors=experiment.embedding.vectors[:7])
    table = stages.list_vocabulary(dataclasses.replace(experiment, embedding=embedding))
    assert list(table["word"]) == words
    assert list(table["filtered"]) == [1, 1, 0, 0, 0, 1, 0]


def test_scored_occupations_are_projected_beside_their_scores(experiment):
    scores = {"pilot": (0.0, 0.5), "nurse": (-0.1, -0.9), "queen": (-1.0, 0.0), "astronaut": (0.0, 0.1)}
    table = stages.rank_scored(experiment, scores).set_index("word")
    assert set(table.index) == {"pilot", "nurse", "queen"}
    assert table["projection"].is_monotonic_decreasing
    X, row = experiment.embedding.vectors.astype(float), WORDS.index
    axis = X[row("she")] - X[row("he")]
    assert table.loc["pilot", "projection"] == pytest.approx(X[row("pilot")] @ axis / np.linalg.norm(axis))
    assert (table.loc["nurse", "definitional"], table.loc["nurse", "stereotypical"]) == (-0.1, -0.9)
    assert table["specific"].to_dict() == {"queen": 1, "nurse": 0, "pilot": 0}
    assert stages.rank_scored(experiment, {}).columns.tolist() == ["word", *table.columns]


def test_analogies_of_every_stage_begin_with_the_pair(tables):
    table = tables["analogies"]
    firsts = table[table["rank"] == 1]
    assert firsts[["stage", "once", "she", "he"]].values.tolist() == [
        [stage, once, "she", "he"] for stage in ("before", "hard", "soft") for once in ONCE
    ]
    assert table["rank"].max() == 3


def trace(experiment, folder, jobs, penalties, authors=None):
    files = {"rg65": folder / "rated.tsv"}, {"msr": folder / "questions.txt"}
    return stages.trace_penalties(experiment, penalties, [jobs], read_benchmarks(*files), authors)


def test_the_path_begins_before_debiasing_and_its_bias_falls(experiment, folder, jobs, tables):
    benchmarks, path = trace(experiment, folder, jobs, [0, 0.2, 20, 2e6], experiment)
    assert path["lambda"].tolist() == [0, 0.2, 20, 2e6]
    assert path["direct_bias"].is_monotonic_decreasing
    assert path["moved"].is_monotonic_increasing
    assert path["direct_bias"].iloc[-1] < 1e-3
    assert path["direct_bias"][0] == pytest.approx(value(tables["bias"], "before", "direct_bias_neutral"))
    assert path["direct_bias"][1] == pytest.approx(value(tables["bias"], "soft", "direct_bias_neutral"))
    assert path["jobs_effect_size"][0] == pytest.approx(tables["weat"]["effect_size"][0])
    assert path["wordsim353"].isna().all()
    wide = benchmarks.pivot(index=["benchmark", "convention"], columns="stage", values="value")
    assert wide.columns.tolist() == ["before", "hard", "hard_authors", "soft"]
    assert wide.loc[("rg65", "answerable"), "soft"] == path["rg65"][1]
    assert wide["hard"].equals(wide["hard_authors"].rename("hard"))
    assert ("msr", "answerable-multiply") in wide.index


@pytest.mark.parametrize("penalties", [[0, 20], [0.2, 0.1], [0.2, 0.2]])
def test_a_path_rises_and_has_the_weight_of_the_stage(experiment, folder, jobs, penalties):
    with refused(r"give rising values with lambda 0\.2 among them"):
        trace(experiment, folder, jobs, penalties)


# --- commands


MEASURING = {
    "settings": {"components": 1, "strictness": 1, "permutations": 100, "seed": 1},
    "penalty": 0.2,
    "penalties": [0, 0.2],
    "draws": 5,
    "analogies": 4,
    "methods": ["hard"],
    "sizes": {"clustered": 2, "classified": 4, "neighbours": 3, "random_directions": 0},
}


def measure_by_step(folder, out, names, **given):
    given |= {
        "embedding": str(folder / "vectors.txt"),
        "lists": [str(folder / f"{name}.yaml") for name in LISTS],
        "tables": [str(out / f"{name}.tsv") for name in names],
        "pairs": {"rg65": str(folder / "rated.tsv")},
        "questions": {},
    }
    run_step("debiasing.measure-embedding", json.dumps(MEASURING | given), None, print)
    assert {path.stem for path in out.iterdir()} == set(names)
    return {name: read_tsv(out / f"{name}.tsv") for name in names}


def test_the_step_writes_its_files_with_the_authors_lists_beside_ours(folder, tmp_path):
    (folder / "authors.json").write_text('[["nurse", 0, 1], ["doctor", 0, 0], ["carer", 0, 1]]')
    names = {
        *("subspace", "bias", "weat", "occupations", "occupations_authors", "indirect"),
        *("similarities", "vocabulary", "settings", "classifier", "classifier_authors", "axes"),
        *("analogies", "puzzles", "benchmarks", "lambda_path", "methods"),
    }
    tables = measure_by_step(folder, tmp_path, names, occupations=[str(folder / "authors.json")])
    bias = tables["bias"].set_index(["stage", "measure"])
    assert bias.loc[("before", "direct_bias_authors"), "n_words"] == 2
    scored = tables["occupations_authors"].set_index("word")
    assert scored["definitional"].to_dict() == {"nurse": 0, "doctor": 0}
    assert scored["stereotypical"].to_dict() == {"nurse": 1, "doctor": 0}


def test_benchmarks_have_a_stage_of_the_authors_lists_where_these_are(folder, tmp_path):
    tables = measure_by_step(folder, tmp_path, ["benchmarks", "lambda_path"])
    assert set(tables["benchmarks"]["stage"]) == {"before", "hard", "soft"}
    assert tables["lambda_path"]["lambda"].tolist() == [0, 0.2]
    authors = [str(folder / f"{name}.yaml") for name in ("equalize", "gender_specific")]
    tables = measure_by_step(folder, tmp_path, ["benchmarks", "lambda_path"], authors=authors)
    scores = tables["benchmarks"].set_index(["stage", "convention"])["value"]
    assert scores["hard_authors"].equals(scores["hard"]), "these are our lists again"


def test_steps_of_the_workflow_take_words_as_they_are_written(folder):
    """The papers' results do so; commands on a user's embedding find words in any case of letters."""
    text = (folder / "vectors.txt").read_text()
    assert "\nshe " in text
    (folder / "upper.txt").write_text(text.replace("\nshe ", "\nSHE "))
    lists = [folder / f"{name}.yaml" for name in LISTS]
    exact = read_experiment(folder / "upper.txt", lists, Settings())
    any_case = read_experiment(folder / "upper.txt", lists, Settings(), any_case=True)
    assert "she" in exact.lists.lost["defining"]
    assert "she" not in any_case.lists.lost["defining"]
    assert any_case.words[any_case.ids["she"]] == "SHE"


# --- the classifier of specific words


def shifted(shift, n=200, d=6):
    vectors = np.random.default_rng(0).normal(size=(n, d))
    vectors[:40, 0] += shift
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_separable_words_are_told_apart_and_words_alike_are_not():
    table, distances = classify_specific(shifted(20, d=30), range(40), 1)
    assert table["fold"].tolist() == list(range(1, 11))
    assert table["F"].mean() > 0.95
    assert (distances[:40] > 0).mean() > 0.95
    assert (distances[40:] < 0).mean() > 0.95
    assert set(table["n_specific_found"]) == {(distances > 0).sum()}
    assert classify_specific(shifted(0), range(40), 1)[0]["F"].mean() < 0.3


def test_distances_are_measured_from_the_boundary_and_one_seed_gives_one_result():
    vectors = shifted(2)
    (table, distances), (again, distances_again) = (
        classify_specific(vectors, range(40), 3) for _ in range(2)
    )
    assert table.equals(again)
    np.testing.assert_array_equal(distances, distances_again)
    # An affine function of the vectors with a gradient of unit length.
    gradient = np.linalg.lstsq(np.column_stack([vectors, np.ones(200)]), distances, rcond=None)[0][:-1]
    assert np.linalg.norm(gradient) == pytest.approx(1)


def test_too_short_a_seed_list_is_refused():
    with refused("3 words of one class are too few for 10-fold"):
        classify_specific(shifted(1), [0, 1, 2], 1)
