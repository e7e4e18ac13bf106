"""The steps of the experiment on texts, one after the other, on a small corpus."""

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import pandas as pd
import pytest

import text_experiment_data as made
from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv, write_tsv
from biaslab.fairness_testing.text import corpus, experiment, measurement, names, retraining
from biaslab.fairness_testing.text import search_experiment as searched
from biaslab.fairness_testing.text.corpus import Source, load_prepared
from biaslab.fairness_testing.text.discrimination import check
from biaslab.fairness_testing.text.finds import Finds, distinct, key, load_finds, save_finds
from biaslab.fairness_testing.text.likeness import Yardsticks
from biaslab.fairness_testing.text.names import COLUMNS
from biaslab.fairness_testing.text.subject import TextSubject
from biaslab.text.corpora import PARTS
from biaslab.text.words import Texts, concatenate

SEARCHED = ("global", "local")
WEIGHT = made.TRAINING.negative_weight


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return made.write_inputs(tmp_path_factory.mktemp("inputs"))


@pytest.fixture(scope="module")
def folder(files, tmp_path_factory):
    """The folder of the corpus after all steps but certified training; no test writes there."""
    done = tmp_path_factory.mktemp("results") / "text-made"
    done.mkdir()
    made.run_steps(done, files)
    measurement.measure(done, made.KINDS, made.PAIRS, {}, False, made.SEED, 1)
    return done


@pytest.fixture
def copied(folder, tmp_path):
    """The same, to write there."""
    return shutil.copytree(folder, tmp_path / folder.name)


def table(folder, name, kind=""):
    return read_tsv(folder / kind / f"{name}.tsv", text=("label_rule",) if name == "retraining" else ())


def subject_of(folder, kind, number, feature):
    prepared = load_prepared(folder)
    network = experiment.load_network(folder, kind, number, prepared)
    return TextSubject(network, prepared.values[feature], prepared.neighbours)


def seeds_of(folder, feature="trade"):
    return searched.seeds_of(load_prepared(folder), "test", feature, made.EFFORT)


def refused(call, *arguments, **options):
    with pytest.raises(InputError) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- prepare


def test_parts_have_the_shares_and_hold_every_text_once(folder):
    prepared = load_prepared(folder)
    texts = [prepared.lexicon.decode(row) for part in PARTS for row in prepared.parts[part].texts]
    labels = np.concatenate([prepared.parts[part].labels for part in PARTS])
    expected = Counter((text.lower(), label) for text, label in made.rows())
    assert Counter((" ".join(text), label) for text, label in zip(texts, labels, strict=True)) == expected
    sizes = np.array([len(prepared.parts[part].texts) for part in PARTS])
    assert np.abs(sizes / sizes.sum() - corpus.SHARES).max() < 0.02
    positive = [prepared.parts[part].labels.mean() for part in PARTS]
    assert np.ptp(positive) < 0.1


def test_texts_are_counted_by_part_and_feature(folder):
    prepared, counts = load_prepared(folder), table(folder, "texts")
    assert tuple(counts.columns) == COLUMNS["texts"]
    assert counts["part"].unique().tolist() == list(PARTS)
    assert counts["feature"].tolist() == ["all", *made.FEATURES] * 3
    terms = {"all": (), "trade": made.TRADES, "relation": made.RELATIONS}
    for row in counts.itertuples():
        part = prepared.parts[row.part]
        words = [prepared.lexicon.decode(text) for text in part.texts]
        kept = [i for i, text in enumerate(words) if row.feature == "all" or {*text} & {*terms[row.feature]}]
        assert (row.n_texts, row.n_positive) == (len(kept), part.labels[kept].sum())
        spoken = [word for i in kept for word in words[i]]
        assert row.mean_words == pytest.approx(len(spoken) / len(kept))
        assert row.known_share == pytest.approx(np.mean([word != "with" for word in spoken]))


def test_values_and_neighbours(folder):
    prepared = load_prepared(folder)
    assert {name: tuple(prepared.lexicon.decode(ids)) for name, ids in prepared.values.items()} == {
        "trade": made.TRADES,
        "relation": made.RELATIONS,
    }
    neighbours = set(prepared.lexicon.decode(np.unique(prepared.neighbours[prepared.neighbours >= 0])))
    assert not neighbours & {*made.TRADES, *made.RELATIONS, "red", "blue", "with"}
    assert neighbours >= {*made.BAD, *made.GOOD}
    assert [" ".join(prepared.lexicon.decode(row)) for row in prepared.sentences] == [
        "the farmers planted a tree near the park",
        "we met the guests yesterday",
    ]


def test_parts_of_their_own_and_long_texts(files, tmp_path):
    rows = made.rows()
    parts = {part: made.write_table(tmp_path / f"{part}.csv", rows[i::3]) for i, part in enumerate(PARTS)}
    long = " ".join(["the bakers sang"] * corpus.MAX_WORDS)
    made.write_table(parts["test"], [(long, 1), *rows[:4]])
    source = Source("table", parts["train"], parts["validation"], parts["test"])
    made.prepare(tmp_path, files, source, ("trade",))
    prepared = load_prepared(tmp_path)
    assert [len(prepared.parts[part].texts) for part in PARTS] == [32, 32, 5]
    cut = prepared.parts["test"].texts.row(0)
    assert len(cut) == corpus.MAX_WORDS
    assert prepared.lexicon.decode(cut) == long.split()[: corpus.MAX_WORDS]


def test_what_cannot_be_prepared_is_refused(files, tmp_path):
    def prepare(*arguments, **options):
        return refused(made.prepare, tmp_path, files, *arguments, **options)

    message = prepare(features=("trades",))
    assert (
        "terms.yaml: has no feature 'trades' (it has trade, relation, colour); did you mean 'trade'?"
        in message
    )
    message = prepare(features=("trade", "colour"))
    assert "terms.yaml: no text for training of" in message
    assert "texts.csv holds a value of 'colour'; test another feature, or name other terms" in message
    few = made.write_table(tmp_path / "few.csv", [("the bakers sang", 1), ("the pilots sang", 0)])
    assert "few.csv: " in prepare(Source("table", few))
    assert "none.csv" in prepare(Source("table", tmp_path / "none.csv"))
    assert "name both" in refused(Source, "table", few, test=few)
    assert not (tmp_path / "texts.tsv").exists()


def test_steps_before_must_have_run(tmp_path):
    for step, arguments in (
        (experiment.train_networks, (made.KINDS, 1, made.TRAINING, 1)),
        (searched.search_networks, ("gru", 1, made.EFFORT)),
        (retraining.retrain_network, ("gru", 2, 0.1, 5, made.TRAINING, 1)),
        (measurement.measure, (made.KINDS, 5, {}, (), 1, 1)),
    ):
        assert "texts.npz" in refused(step, tmp_path, *arguments)


# --- train


def test_networks_are_trained_as_the_tables_say(folder):
    prepared = load_prepared(folder)
    test = prepared.parts["test"]
    for kind in made.KINDS:
        models, training = table(folder, "models", kind), table(folder, "training", kind)
        assert tuple(models.columns) == COLUMNS["models"]
        assert models["repetition"].tolist() == [0, 1]
        assert training.columns.tolist()[:3] == ["epoch", "loss", "validation_loss"]
        assert training["repetition"].tolist() == [0] * 14 + [1] * 14
        kept = training[training["is_kept"].astype(bool)].set_index("repetition")["epoch"]
        for row in models.itertuples():
            network = experiment.load_network(folder, kind, row.repetition, prepared)
            assert network.kind == row.model == kind
            predicted = network.probabilities(test.texts).argmax(axis=1)
            assert row.accuracy == pytest.approx(np.mean(predicted == test.labels))
            hits = np.sum(predicted & test.labels)
            assert row.f1 == pytest.approx(2 * hits / (predicted.sum() + test.labels.sum()))
            assert (
                row.accuracy > row.majority == pytest.approx(max(test.labels.mean(), 1 - test.labels.mean()))
            )
            assert (row.n_train, row.n_test) == (len(prepared.parts["train"].texts), len(test.texts))
            assert row.epoch == kept[row.repetition]


def test_training_repeats_and_differs_by_the_repetition(folder, copied):
    experiment.train_networks(copied, ("gru",), made.REPETITIONS, made.TRAINING, made.SEED)
    weights = []
    for number in range(made.REPETITIONS):
        file = experiment.network_file(folder, "gru", number)
        assert experiment.network_file(copied, "gru", number).read_bytes() == file.read_bytes()
        weights.append(file.read_bytes())
    assert weights[0] != weights[1]
    for name in ("models.tsv", "training.tsv"):
        assert (copied / "gru" / name).read_bytes() == (folder / "gru" / name).read_bytes()


def test_added_texts_are_learnt_from(folder):
    prepared = load_prepared(folder)
    train, settings = prepared.parts["train"], made.TRAINING
    alone, _ = experiment.train_once(prepared, "gru", settings, 1)
    data = [(prepared.parts[part].texts, prepared.parts[part].labels) for part in ("train", "validation")]
    nothing, flipped = (train.texts.take(range(n)) for n in (0, 20))
    control = retraining.retrain(alone, *data, nothing, np.empty(0, np.int64), settings, 1)
    assert alone.W_out.tobytes() == control.W_out.tobytes()
    more = retraining.retrain(alone, *data, flipped, 1 - train.labels[:20], settings, 1)
    assert alone.W_out.tobytes() != more.W_out.tobytes()


# --- search


def test_seeds_are_texts_with_a_value(folder):
    texts = load_prepared(folder).parts["test"].texts
    words = load_prepared(folder).lexicon
    for feature, values in (("trade", made.TRADES), ("relation", made.RELATIONS)):
        rows = seeds_of(folder, feature)
        holding = [i for i, row in enumerate(texts) if {*words.decode(row)} & {*values}]
        assert len(rows) == min(made.SEEDS, len(holding))
        assert set(rows) <= set(holding)
        assert (np.diff(rows) > 0).all()


def test_finds_of_the_global_phase_are_recounted(folder):
    """By asking the networks about all pairs once more."""
    prepared, total = load_prepared(folder), 0
    for kind in made.KINDS:
        found = load_finds(folder / kind / "found.npz")
        for row in table(folder, "global", kind).itertuples():
            seeds, subject = (
                seeds_of(folder, row.feature),
                subject_of(folder, kind, row.repetition, row.feature),
            )
            is_raw = check(subject, prepared.parts["test"].texts.take(seeds)).discriminatory
            assert (row.n_seeds, row.n_raw) == (len(seeds), is_raw.sum())
            finds = found[key("test", row.feature, row.repetition, "global", row.strategy)]
            assert set(finds.origins) <= set(seeds)
            assert len(finds) == len(distinct(finds.texts)) <= row.n_raw + row.n_found
            assert row.n_found >= (~np.isin(finds.origins, seeds[is_raw])).sum()
            assert check(subject, finds.texts).discriminatory.all()
            total += row.n_found
    assert total > 20


def test_finds_of_the_local_phase_are_recounted(folder):
    total = 0
    for kind in made.KINDS:
        found, rows = load_finds(folder / kind / "found.npz"), table(folder, "local", kind)
        for row in rows[rows["start"] == "own"].itertuples():
            finds = found[key("test", row.feature, row.repetition, "local", row.tester)]
            assert len(finds) == len(distinct(finds.texts)) == row.n_discriminatory <= row.n_texts
            assert row.n_texts <= row.n_starts * made.HOPS
            subject = subject_of(folder, kind, row.repetition, row.feature)
            assert check(subject, finds.texts).discriminatory.all()
            strategy = "adf_asc" if row.tester == "adf" else "rp"
            starts = found[key("test", row.feature, row.repetition, "global", strategy)]
            assert row.n_starts == len(starts)
            assert set(finds.origins) <= set(starts.origins)
            total += len(finds)
    assert total > 100


def test_same_starts_are_those_of_adf(folder):
    rows = table(folder, "local").set_index(["model", "feature", "repetition", "tester", "start"])
    adf, rp = rows.xs("adf", level="tester"), rows.xs("rp", level="tester")
    pd.testing.assert_frame_equal(adf.xs("own", level="start"), adf.xs("same", level="start"))
    same = rp.xs("same", level="start")["n_starts"]
    assert same.equals(adf.xs("own", level="start")["n_starts"])
    assert not same.equals(rp.xs("own", level="start")["n_starts"])


def test_searches_do_not_depend_on_threads(folder, copied):
    n = min(2, numba.config.NUMBA_NUM_THREADS)
    searched.search_networks(copied, "lstm", made.REPETITIONS, made.EFFORT, n)
    for name in [*(f"{name}.tsv" for name in SEARCHED), "found.npz"]:
        assert (copied / "lstm" / name).read_bytes() == (folder / "lstm" / name).read_bytes(), name


# --- retrain


def found_texts(folder, kind, part, feature, strategy, local):
    """What both phases found, each text once."""
    found = load_finds(folder / kind / "found.npz")
    parts = [found[key(part, feature, 0, *of)].texts for of in (("global", strategy), ("local", local))]
    joined = concatenate(parts)
    return joined.take(distinct(joined))


def test_as_many_texts_are_added_as_the_share_says(folder):
    for kind in made.KINDS:
        for row in table(folder, "retraining", kind).itertuples():
            if row.tester == "none":
                assert row.n_added == 0
                continue
            n = len(found_texts(folder, kind, "train", row.feature, row.tester, row.tester))
            assert row.n_added == 2 * min(n, max(1, round(made.SHARE * n)))  # each with its partner
    assert table(folder, "retraining", "lstm")["n_added"].max() > 2


def test_pools_count_what_was_found_on_the_training_texts(folder):
    rows = table(folder, "pools")
    assert tuple(rows.columns) == COLUMNS["pools"]
    assert len(rows) == len(made.KINDS) * len(made.FEATURES) * len(searched.RETRAINED)
    for row in rows.itertuples():
        assert row.n_found == len(
            found_texts(folder, row.model, "train", row.feature, row.tester, row.tester)
        )
    assert rows["n_found"].max() > 2


def test_added_texts_have_the_labels_of_their_rule(folder):
    prepared, found = load_prepared(folder), load_finds(folder / "gru/found.npz")
    case = next(searched.cases(folder, "gru", 1, prepared))
    of_seed = {}
    for phase in ("local", "global"):  # a text of both is the global phase's
        finds = found[key("train", "trade", 0, phase, "adf_asc")]
        labels = prepared.parts["train"].labels[finds.origins].tolist()
        of_seed |= dict(zip(finds.texts.keys(), labels, strict=True))
    added = {
        (tester, rule): (texts, labels)
        for tester, rule, texts, labels in retraining._additions(case, prepared, found, 0.9, 0, 1)
    }
    texts, labels = added["adf_asc", "data"]
    n = len(texts) // 2
    assert labels.tolist() == [of_seed[text] for text in texts.keys()[:n]] * 2
    model = case.subject.model.probabilities(texts).argmax(axis=1)
    assert (model[:n] != model[n:]).all()
    assert added["adf_asc", "model"][1].tolist() == model[:n].tolist() * 2
    assert added["adf_asc", "majority"][0].ids.tobytes() == texts.ids.tobytes()
    assert 0 < np.mean(labels != np.tile(model[:n], 2)) < 1
    assert len(added["none", ""][0]) == 0


def test_independent_texts_are_at_most_as_many_as_asked(folder):
    for kind in made.KINDS:
        rows = table(folder, "retraining", kind)
        for feature, n_independent in rows.groupby("feature")["n_independent"]:
            n = len(found_texts(folder, kind, "test", feature, "adf_asc", "adf"))
            assert n_independent.unique().tolist() == [min(n, made.INDEPENDENT)]
        measured = rows[rows["n_independent"] > 0]
        shares = 100 * measured["n_removed"] / measured["n_independent"]
        np.testing.assert_allclose(measured["improvement"], shares)
    assert len(found_texts(folder, "gru", "test", "trade", "adf_asc", "adf")) > made.INDEPENDENT


def test_the_control_is_a_retraining_with_nothing_and_shared_by_the_features(folder):
    prepared = load_prepared(folder)
    seed = experiment.seed_of(made.SEED, "lstm retraining", 1)
    control, _ = experiment.train_once(prepared, "lstm", made.TRAINING, seed)
    test = prepared.parts["test"]
    rows = table(folder, "retraining", "lstm")
    rows = rows[(rows["tester"] == "none") & (rows["repetition"] == 1)].set_index("feature")
    assert rows.index.tolist() == list(made.FEATURES)
    for row in rows.itertuples():
        after = experiment.measure_quality(control, test)
        assert (row.accuracy_after, row.f1_after) == pytest.approx((after["accuracy"], after["f1"]))


def test_nothing_found_leaves_nothing_but_the_control(copied):
    """Where searches found nothing, what is added is empty, and all retrainings are the control."""
    nothing = Finds(np.empty(0, np.int64), Texts.of([]), Texts.of([]))
    file = copied / "gru/found.npz"
    save_finds(file, dict.fromkeys(load_finds(file), nothing))
    retraining.retrain_network(copied, "gru", 2, made.SHARE, None, made.TRAINING, made.SEED)
    rows = table(copied, "retraining", "gru")
    assert rows["n_added"].eq(0).all()
    assert rows["improvement"].isna().all()
    after = rows.groupby(["feature", "repetition"])[["accuracy_after", "f1_after"]].nunique()
    assert after.eq(1).all(axis=None)


# --- certify


def test_certified_training_joins_the_retrainings(folder, copied):
    pytest.importorskip("torch")
    certify = (1, made.INDEPENDENT, WEIGHT, made.SEED)
    retraining.certify_network(copied, "gru", *certify)
    before = (copied / "gru/certified.tsv").read_bytes()
    retraining.certify_network(copied, "gru", *certify)
    assert (copied / "gru/certified.tsv").read_bytes() == before
    rows = table(copied, "certified", "gru")
    assert rows["feature"].tolist() == list(made.FEATURES)
    assert rows["tester"].eq("certified").all()
    assert rows[["n_added", "repetition"]].eq(0).all(axis=None)
    plain = table(folder, "retraining", "gru").groupby("feature")["n_independent"].first()
    assert rows.set_index("feature")["n_independent"].to_dict() == plain.to_dict()
    write_tsv(copied / "lstm/certified.tsv", rows.assign(model="lstm"))
    measurement.measure(copied, made.KINDS, made.PAIRS, {}, True, made.SEED, 1)
    assert not table(folder, "retraining")["tester"].eq("certified").any()
    joined = table(copied, "retraining")
    assert joined["tester"].eq("certified").sum() == len(made.KINDS) * len(made.FEATURES)


# --- measure


def test_likeness_to_the_seed_is_measured(folder):
    """Of a search with few finds, all are measured: from the texts, by their definitions."""
    prepared, rows = load_prepared(folder), table(folder, "validity")
    assert tuple(rows.columns) == COLUMNS["validity"]
    assert set(rows["metric"]) == {"l0", "l2", "jaccard", "bleu"}
    assert rows["n_pairs"].between(1, made.PAIRS).all()
    number, strategy = 0, "rp"
    finds = load_finds(folder / "lstm/found.npz")[key("test", "relation", number, "global", strategy)]
    assert 0 < len(finds) <= made.PAIRS
    of = (rows["model"] == "lstm") & (rows["feature"] == "relation") & (rows["repetition"] == number)
    of &= (rows["phase"] == "global") & (rows["tester"] == strategy)
    measured = rows[of].set_index("metric")
    assert measured["n_pairs"].eq(len(finds)).all()
    pairs = [
        (prepared.parts["test"].texts.row(origin), finds.texts.row(i))
        for i, origin in enumerate(finds.origins)
    ]
    changed = [np.sum(x != y) for x, y in pairs]
    assert min(changed) > 0
    assert measured.loc["l0", "mean"] == pytest.approx(np.mean(changed))
    overlap = [len({*x} & {*y}) / len({*x} | {*y}) for x, y in pairs]
    assert measured.loc["jaccard", "mean"] == pytest.approx(np.mean(overlap))
    assert 0 < measured.loc["bleu", "mean"] < 1


def test_searches_without_finds_are_not_measured(folder):
    rows, searches = table(folder, "validity"), {}
    for kind in made.KINDS:
        for name, finds in load_finds(folder / kind / "found.npz").items():
            part, feature, number, phase, tester = name.split("/")
            if part == "test":
                searches[kind, feature, int(number), phase, tester] = len(finds)
    keys = ["model", "feature", "repetition", "phase", "tester"]
    found = {search for search, n in searches.items() if n}
    assert set(rows[keys].itertuples(index=False, name=None)) == found
    assert len(found) < len(searches)


def test_likeness_of_sentences_needs_an_encoder(folder):
    pytest.importorskip("torch")
    pytest.importorskip("tokenizers")
    pytest.importorskip("safetensors")
    prepared = load_prepared(folder)
    example = Path(__file__).parents[3] / "workflow/resources/hate_speech/example-encoder"
    encoder = {"config": example / "config.json", "vocabulary": example / "vocab.txt", "weights": None}
    yardsticks = Yardsticks.load(prepared, encoder, 1, 1)
    texts = prepared.parts["test"].texts.take(range(4))
    other = Texts(np.roll(texts.ids, 1), texts.offsets)
    same, rolled = yardsticks.measure_sentences([(texts, texts), (texts, other)])
    assert same["similarity"] == pytest.approx(1, abs=1e-5)
    assert same["perplexity"] == same["seed_perplexity"] == rolled["seed_perplexity"] > 1
    assert rolled["similarity"] < 1
    alone = yardsticks.measure_sentences([(other, other)])[0]
    assert rolled["perplexity"] == pytest.approx(alone["perplexity"], rel=1e-5)
    assert Yardsticks(prepared.lexicon).measure_sentences([(texts, texts)] * 2) == [{}, {}]
    found = {"gru": load_finds(folder / "gru/found.npz")}
    rows = measurement.validity(prepared, found, yardsticks, 3, 1)
    read = rows[rows["metric"].isin(["similarity", "perplexity", "seed_perplexity"])]
    keys = ["feature", "phase", "tester"]
    assert read["repetition"].eq(0).all()
    measured = rows[(rows["repetition"] == 0) & (rows["metric"] == "l0")][keys]
    assert len(read) == 3 * len(measured)
    assert set(read[keys].itertuples(index=False)) == set(measured.itertuples(index=False))


def test_what_searches_make_of_sentences(folder):
    shown = json.loads((folder / "example.json").read_text(encoding="utf-8"))
    assert [(each["model"], each["feature"]) for each in shown] == [
        (kind, feature) for kind in made.KINDS for feature in made.FEATURES
    ]
    prepared = load_prepared(folder)
    values = {"trade": made.TRADES, "relation": made.RELATIONS}
    for each in shown:
        assert tuple(each) == names.EXAMPLE_KEYS
        assert each["corpus"] == "made"
        place = 0 if each["feature"] == "trade" else 1
        assert " ".join(each["sentence"]) == made.SENTENCES[place].lower().rstrip(".")
        network = experiment.load_network(folder, each["model"], 0, prepared)

        def label(words, network=network):
            return int(network.probabilities(prepared.lexicon.encode([words])).argmax())

        if each["global"] is None:
            assert each["partner"] is each["local"] is None
            assert each["labels"]["x"] == each["labels"]["partner"] == label(each["sentence"])
            continue
        exchange = each["partner"]
        assert {exchange["from"], exchange["to"]} <= {*values[each["feature"]]}
        partner = [exchange["to"] if word == exchange["from"] else word for word in each["global"]]
        assert each["labels"] == {"x": label(each["global"]), "partner": label(partner)}
        assert each["labels"]["x"] != each["labels"]["partner"]
        assert len(each["global"]) == len(each["sentence"])
        if each["local"] is not None:
            subject = subject_of(folder, each["model"], 0, each["feature"])
            assert check(subject, prepared.lexicon.encode([each["local"]])).discriminatory.all()
    assert any(each["local"] for each in shown)
    assert any(each["global"] is None for each in shown)


def test_what_is_shown_of_a_walk_is_discriminatory(folder):
    """Also where the first text of a walk is not, or texts before it went through fewer hops."""
    prepared = load_prepared(folder)
    many, later = replace(prepared, sentences=prepared.parts["test"].texts), 0
    for kind in made.KINDS:
        network = experiment.load_network(folder, kind, 0, prepared)
        shown = [each for each in measurement.examples("made", kind, network, many, 1) if each["local"]]
        assert len(shown) > 10
        for each in shown:
            local = prepared.lexicon.encode([each["local"]])
            assert check(subject_of(folder, kind, 0, each["feature"]), local).discriminatory.all()
            steps = zip(each["global"], each["local"], strict=True)
            later += sum(before != after for before, after in steps) > 1
    assert later > 0
