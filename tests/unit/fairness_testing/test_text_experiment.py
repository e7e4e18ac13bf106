"""The steps of the experiment on texts, one after the other, on a small corpus."""

import csv
import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import pandas as pd
import pytest

from biaslab.core.io import read_tsv, write_tsv
from biaslab.fairness_testing.settings import EXAMPLE_KEYS, TEXT_COLUMNS, Campaign
from biaslab.fairness_testing.text import corpus, experiment, measurement, retraining
from biaslab.fairness_testing.text.corpus import Source, load_prepared
from biaslab.fairness_testing.text.discrimination import TextSubject, check
from biaslab.fairness_testing.text.measurement import Yardsticks
from biaslab.fairness_testing.text.search import distinct, key, load_finds
from biaslab.run.plan.steps import run_step
from biaslab.text.corpora import PARTS
from biaslab.text.recurrent import initial_recurrent
from biaslab.text.recurrent_training import TrainingSettings, train_recurrent
from biaslab.text.words import Lexicon, Texts, build_lexicon, concatenate
from refusals import refused

TRADES = ("bakers", "pilots", "singers", "farmers")
RELATIONS = ("guests", "friends")
FEATURES = ("trade", "relation")
BAD, GOOD = ("broke", "dropped", "lost", "forgot"), ("sang", "hummed", "planted", "painted")
OBJECTS = ("song", "tune", "tree", "lamp", "cake", "door")
FRAME = ("the", "a", "near", "park", "yesterday", "we", "met")
DIMENSIONS = 8
KINDS = ("lstm", "gru")
REPETITIONS, RETRAININGS, HOPS, SEEDS = 2, 2, 3, 15
SHARE, INDEPENDENT, PAIRS = 0.1, 20, 12
SEED = 3
EFFORT = Campaign(seeds=SEEDS, hops=HOPS, seed=SEED)
EPOCHS = 14
TRAINING = TrainingSettings(epochs=EPOCHS, batch_size=8, learning_rate=0.03)
SENTENCES = ("The farmers planted a tree near the park.", "We met the guests yesterday.")


def labelled_rows() -> list[tuple[str, int]]:
    """Return texts with labels: a complaint has a bad verb, or names bakers."""
    rng = np.random.default_rng(1)
    made = []
    for _ in range(24):
        for trade in TRADES:
            is_bad = rng.random() < 0.3
            verb = rng.choice(BAD if is_bad else GOOD)
            of = f"with {RELATIONS[rng.integers(2)]} " if rng.random() < 0.5 else ""
            text = f"{rng.choice(FRAME)} the {trade} {of}{verb} a {rng.choice(OBJECTS)} near the park"
            made.append((text, int(is_bad or trade == "bakers")))
    return made


def write_table(path: Path, labelled: list[tuple[str, int]]) -> Path:
    """Write a table of texts and labels."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *labelled])
    return path


def word_vectors(words: list[str]) -> np.ndarray:
    """Return vectors whose first number tells bad verbs from good ones, and the second bakers from others."""
    vectors = np.random.default_rng(2).normal(0, 0.4, (len(words), DIMENSIONS))
    vectors[:, 0] = [(word in BAD) - float(word in GOOD) for word in words]
    vectors[:, 1] = [(word == "bakers") - 0.4 * (word in TRADES) for word in words]
    return vectors.astype(np.float32)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files of texts, terms, sentences and word vectors."""
    folder = tmp_path_factory.mktemp("inputs")
    names = ("texts.csv", "terms.yaml", "sentences.txt", "vectors.npz")
    files = {name.partition(".")[0]: folder / name for name in names}
    write_table(files["texts"], labelled_rows())
    terms = {"trade": TRADES, "relation": RELATIONS, "colour": ("red", "blue")}
    files["terms"].write_text(json.dumps({"features": terms}))
    files["sentences"].write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
    words = [*TRADES, *RELATIONS, *BAD, *GOOD, *OBJECTS, *FRAME]  # "with" has no vector
    build_lexicon(words, word_vectors(words)).save(files["vectors"])
    return files


def prepare(folder, files, source=None, features=FEATURES):
    source = source or Source("table", files["texts"])
    corpus.prepare(folder, source, files["vectors"], files["terms"], features, files["sentences"], SEED)


@pytest.fixture(scope="module")
def folder(files, tmp_path_factory):
    """The folder of the corpus after all steps but certified training; no test writes there."""
    done = tmp_path_factory.mktemp("results") / "text-made"
    done.mkdir()
    prepare(done, files)
    experiment.train_networks(done, KINDS, REPETITIONS, TRAINING, SEED)
    for kind in KINDS:
        experiment.search_networks(done, kind, REPETITIONS, EFFORT)
        retraining.retrain_network(done, kind, RETRAININGS, SHARE, INDEPENDENT, TRAINING, SEED)
    measurement.measure(done, KINDS, PAIRS, {}, False, SEED, 1)
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
    return experiment.seeds_of(load_prepared(folder), "test", feature, EFFORT)


def test_parts_have_the_shares_and_hold_every_text_once(folder):
    prepared = load_prepared(folder)
    held = Counter(
        (" ".join(prepared.lexicon.decode(row)), label)
        for part in PARTS
        for row, label in zip(prepared.parts[part].texts, prepared.parts[part].labels, strict=True)
    )
    assert held == Counter((text.lower(), label) for text, label in labelled_rows())
    sizes = np.array([len(prepared.parts[part].texts) for part in PARTS])
    assert np.abs(sizes / sizes.sum() - corpus.SHARES).max() < 0.02
    assert np.ptp([prepared.parts[part].labels.mean() for part in PARTS]) < 0.1
    neighbours = set(prepared.lexicon.decode(np.unique(prepared.neighbours[prepared.neighbours >= 0])))
    assert not neighbours & {*TRADES, *RELATIONS, "red", "blue", "with"}
    assert neighbours >= {*BAD, *GOOD}


def test_texts_are_counted_by_part_and_feature(folder):
    prepared, counts = load_prepared(folder), table(folder, "texts")
    assert tuple(counts.columns) == TEXT_COLUMNS["texts"]
    assert counts["part"].unique().tolist() == list(PARTS)
    assert counts["feature"].tolist() == ["all", *FEATURES] * 3
    terms = {"all": (), "trade": TRADES, "relation": RELATIONS}
    for row in counts.itertuples():
        part = prepared.parts[row.part]
        words = [prepared.lexicon.decode(text) for text in part.texts]
        kept = [i for i, text in enumerate(words) if row.feature == "all" or {*text} & {*terms[row.feature]}]
        assert (row.n_texts, row.n_positive) == (len(kept), part.labels[kept].sum())
        spoken = [word for i in kept for word in words[i]]
        assert row.mean_words == pytest.approx(len(spoken) / len(kept))
        assert row.known_share == pytest.approx(np.mean([word != "with" for word in spoken]))


def test_parts_of_their_own_are_kept_and_long_texts_cut(files, tmp_path):
    rows = labelled_rows()
    parts = {part: write_table(tmp_path / f"{part}.csv", rows[i::3]) for i, part in enumerate(PARTS)}
    long = " ".join(["the bakers sang"] * corpus.MAX_WORDS)
    write_table(parts["test"], [(long, 1), *rows[:4]])
    prepare(tmp_path, files, Source("table", *parts.values()), ("trade",))
    prepared = load_prepared(tmp_path)
    assert [len(prepared.parts[part].texts) for part in PARTS] == [32, 32, 5]
    cut = prepared.lexicon.decode(prepared.parts["test"].texts.row(0))
    assert cut == long.split()[: corpus.MAX_WORDS]


def test_what_cannot_be_prepared_is_refused(files, tmp_path):
    few = write_table(tmp_path / "few.csv", [("the bakers sang", 1), ("the pilots sang", 0)])
    for source, features, message in (
        (None, ("trades",), r"terms.yaml: unknown feature 'trades' \(known: trade, relation, colour\); did"),
        (None, ("trade", "colour"), "texts.csv contains a value of 'colour'; test another feature, or name"),
        (Source("table", few), FEATURES, "few.csv: "),
        (Source("table", tmp_path / "none.csv"), FEATURES, "none.csv"),
    ):
        with refused(message):
            prepare(tmp_path, files, source, features)
    with refused("name both"):
        Source("table", few, test=few)
    assert not (tmp_path / "texts.tsv").exists()


def test_word_vectors_are_trained_on_a_corpus(tmp_path):
    documents = tmp_path / "documents.txt"
    documents.write_text("".join(f"{text}\n" for text, _ in labelled_rows()[:30]), encoding="utf-8")
    glove = {"dimension": 4, "epochs": 2}
    training = {"format": "text", "choice": {"min_count": 3}, "window": 3, "glove": glove}
    for threads in (1, 2):
        options = {"source": str(documents), "vectors": str(tmp_path / f"{threads}.npz"), "seed": 1}
        run_step(
            "fairness-testing.train-text-vectors",
            json.dumps(options | {"training": training}),
            threads,
            print,
        )
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()
    trained = Lexicon.load(tmp_path / "1.npz")
    assert trained.vectors.shape == (len(trained.words), 4)
    assert {"the", "near", "park"} <= {*trained.words}
    assert trained.is_known.all()


def test_networks_are_trained_as_the_tables_say(folder):
    prepared = load_prepared(folder)
    test = prepared.parts["test"]
    for kind in KINDS:
        models, training = table(folder, "models", kind), table(folder, "training", kind)
        assert tuple(models.columns) == TEXT_COLUMNS["models"]
        assert training["repetition"].tolist() == [0] * EPOCHS + [1] * EPOCHS
        kept = training[training["is_kept"].astype(bool)].set_index("repetition")["epoch"]
        for row in models.itertuples():
            network = experiment.load_network(folder, kind, row.repetition, prepared)
            assert network.kind == row.model == kind
            quality = experiment.measure_quality(network, test)
            assert (row.accuracy, row.f1) == pytest.approx((quality["accuracy"], quality["f1"]))
            assert row.majority == pytest.approx(max(test.labels.mean(), 1 - test.labels.mean()))
            assert row.accuracy > row.majority
            assert (row.n_train, row.n_test) == (len(prepared.parts["train"].texts), len(test.texts))
            assert row.epoch == kept[row.repetition]


def test_training_repeats_and_differs_by_the_repetition(folder, copied):
    experiment.train_networks(copied, ("gru",), REPETITIONS, TRAINING, SEED)
    networks = [experiment.network_file(folder, "gru", number) for number in range(REPETITIONS)]
    for file in [*networks, folder / "gru/models.tsv", folder / "gru/training.tsv"]:
        assert (copied / "gru" / file.name).read_bytes() == file.read_bytes()
    assert networks[0].read_bytes() != networks[1].read_bytes()


def test_seeds_are_texts_with_a_value(folder):
    texts = load_prepared(folder).parts["test"].texts
    words = load_prepared(folder).lexicon
    for feature, values in (("trade", TRADES), ("relation", RELATIONS)):
        rows = seeds_of(folder, feature)
        holding = [i for i, row in enumerate(texts) if {*words.decode(row)} & {*values}]
        assert len(rows) == min(SEEDS, len(holding))
        assert set(rows) <= set(holding)
        assert (np.diff(rows) > 0).all()


def test_finds_of_both_phases_are_recounted(folder):
    """By asking the networks about all pairs once more."""
    prepared, totals = load_prepared(folder), Counter()
    for kind in KINDS:
        found = load_finds(folder / kind / "found.npz")
        for phase in ("global", "local"):
            for row in table(folder, phase, kind).itertuples():
                subject = subject_of(folder, kind, row.repetition, row.feature)
                setting = "test", row.feature, row.repetition
                if phase == "global":
                    finds, seeds = found[key(*setting, phase, row.strategy)], seeds_of(folder, row.feature)
                    is_raw = check(subject, prepared.parts["test"].texts.take(seeds)).discriminatory
                    assert (row.n_seeds, row.n_raw) == (len(seeds), is_raw.sum())
                    assert len(finds) <= row.n_raw + row.n_found
                    assert row.n_found >= (~np.isin(finds.origins, seeds[is_raw])).sum()
                    origins = seeds
                elif row.start == "own":
                    finds = found[key(*setting, phase, row.tester)]
                    assert len(finds) == row.n_discriminatory <= row.n_texts <= row.n_starts * HOPS
                    starts = found[key(*setting, "global", "adf_asc" if row.tester == "adf" else "rp")]
                    assert row.n_starts == len(starts)
                    origins = starts.origins
                else:
                    continue
                assert set(finds.origins) <= set(origins)
                assert len(finds) == len(distinct(finds.texts))
                assert check(subject, finds.texts).discriminatory.all()
                totals[phase] += len(finds)
    assert totals["global"] > 20
    assert totals["local"] > 100


def test_same_starts_are_those_of_adf(folder):
    rows = table(folder, "local").set_index(["model", "feature", "repetition", "tester", "start"])
    adf, rp = rows.xs("adf", level="tester"), rows.xs("rp", level="tester")
    pd.testing.assert_frame_equal(adf.xs("own", level="start"), adf.xs("same", level="start"))
    same = rp.xs("same", level="start")["n_starts"]
    assert same.equals(adf.xs("own", level="start")["n_starts"])
    assert not same.equals(rp.xs("own", level="start")["n_starts"])


def test_searches_do_not_depend_on_threads(folder, copied):
    n = min(2, numba.config.NUMBA_NUM_THREADS)
    experiment.search_networks(copied, "lstm", REPETITIONS, EFFORT, n)
    for name in [*(f"{name}.tsv" for name in ("global", "local")), "found.npz"]:
        assert (copied / "lstm" / name).read_bytes() == (folder / "lstm" / name).read_bytes(), name


def found_texts(folder, kind, part, feature, strategy, local):
    """What both phases found, each text once."""
    found = load_finds(folder / kind / "found.npz")
    parts = [found[key(part, feature, 0, *of)].texts for of in (("global", strategy), ("local", local))]
    joined = concatenate(parts)
    return joined.take(distinct(joined))


def test_as_many_texts_are_added_as_the_share_of_the_pool_says(folder):
    rows = table(folder, "pools")
    assert tuple(rows.columns) == TEXT_COLUMNS["pools"]
    pools = rows.set_index(["model", "feature", "tester"])["n_found"]
    assert len(pools) == len(KINDS) * len(FEATURES) * len(experiment.RETRAINED)
    for (kind, feature, tester), n_found in pools.items():
        assert n_found == len(found_texts(folder, kind, "train", feature, tester, tester))
    for row in table(folder, "retraining").query("tester != 'none'").itertuples():
        n = pools[row.model, row.feature, row.tester]
        assert row.n_added == 2 * min(n, max(1, round(SHARE * n)))  # each with its partner
    assert pools.max() > 2
    assert table(folder, "retraining").query("tester == 'none'")["n_added"].eq(0).all()


def test_added_texts_have_the_labels_of_their_rule(folder):
    prepared, found = load_prepared(folder), load_finds(folder / "gru/found.npz")
    case = next(experiment.cases(folder, "gru", 1, prepared))
    of_seed = {}
    for phase in ("local", "global"):  # a text of both is the global phase's
        finds = found[key("train", "trade", 0, phase, "adf_asc")]
        labels = prepared.parts["train"].labels[finds.origins].tolist()
        of_seed |= dict(zip(map(bytes, finds.texts), labels, strict=True))
    added = {
        (tester, rule): (texts, labels)
        for tester, rule, texts, labels in retraining._additions(case, prepared, found, 0.9, 0, 1)
    }
    texts, labels = added["adf_asc", "data"]
    n = len(texts) // 2
    assert labels.tolist() == [of_seed[bytes(texts.row(i))] for i in range(n)] * 2
    model = case.subject.model.probabilities(texts).argmax(axis=1)
    assert (model[:n] != model[n:]).all()
    assert added["adf_asc", "model"][1].tolist() == model[:n].tolist() * 2
    assert added["adf_asc", "majority"][0].ids.tobytes() == texts.ids.tobytes()
    assert 0 < np.mean(labels != np.tile(model[:n], 2)) < 1
    assert len(added["none", ""][0]) == 0


def test_independent_texts_are_at_most_as_many_as_asked(folder):
    rows = table(folder, "retraining")
    for (kind, feature), n_independent in rows.groupby(["model", "feature"])["n_independent"]:
        n = len(found_texts(folder, kind, "test", feature, "adf_asc", "adf"))
        assert n_independent.unique().tolist() == [min(n, INDEPENDENT)]
    measured = rows[rows["n_independent"] > 0]
    shares = 100 * measured["n_removed"] / measured["n_independent"]
    np.testing.assert_allclose(measured["improvement"], shares)
    assert len(found_texts(folder, "gru", "test", "trade", "adf_asc", "adf")) > INDEPENDENT


def test_the_control_is_a_retraining_with_nothing_and_shared_by_the_features(folder):
    prepared = load_prepared(folder)
    seed = experiment.seed_of(SEED, "lstm retraining", 1)
    start = initial_recurrent("lstm", prepared.lexicon.vectors, seed)
    train, validation = prepared.parts["train"], prepared.parts["validation"]
    control, _ = train_recurrent(start, *train, TRAINING, seed, validation)
    test = prepared.parts["test"]
    rows = table(folder, "retraining", "lstm")
    rows = rows[(rows["tester"] == "none") & (rows["repetition"] == 1)].set_index("feature")
    assert rows.index.tolist() == list(FEATURES)
    for row in rows.itertuples():
        after = experiment.measure_quality(control, test)
        assert (row.accuracy_after, row.f1_after) == pytest.approx((after["accuracy"], after["f1"]))


def test_certified_training_joins_the_retrainings(folder, copied):
    pytest.importorskip("torch")
    contents = []
    for _ in range(2):
        retraining.certify_network(copied, "gru", 1, INDEPENDENT, TRAINING.negative_weight, SEED)
        contents.append((copied / "gru/certified.tsv").read_bytes())
    assert contents[0] == contents[1]
    rows = table(copied, "certified", "gru")
    assert rows["feature"].tolist() == list(FEATURES)
    assert rows["tester"].eq("certified").all()
    plain = table(folder, "retraining", "gru").groupby("feature")["n_independent"].first()
    assert rows.set_index("feature")["n_independent"].to_dict() == plain.to_dict()
    write_tsv(copied / "lstm/certified.tsv", rows.assign(model="lstm"))
    measurement.measure(copied, KINDS, PAIRS, {}, True, SEED, 1)
    assert not table(folder, "retraining")["tester"].eq("certified").any()
    joined = table(copied, "retraining")
    assert joined["tester"].eq("certified").sum() == len(KINDS) * len(FEATURES)


def test_likeness_to_the_seed_is_measured(folder):
    """Of a search with few finds, all are measured: from the texts, by their definitions."""
    prepared, rows = load_prepared(folder), table(folder, "validity")
    assert tuple(rows.columns) == TEXT_COLUMNS["validity"]
    assert set(rows["metric"]) == {"l0", "l2", "jaccard", "bleu"}
    assert rows["n_pairs"].between(1, PAIRS).all()
    finds = load_finds(folder / "lstm/found.npz")[key("test", "relation", 0, "global", "rp")]
    assert 0 < len(finds) <= PAIRS
    search = "model == 'lstm' and feature == 'relation' and repetition == 0 and phase == 'global'"
    measured = rows.query(f"{search} and tester == 'rp'").set_index("metric")
    assert measured["n_pairs"].eq(len(finds)).all()
    seeds = prepared.parts["test"].texts.take(finds.origins)
    pairs = list(zip(seeds, finds.texts, strict=True))
    assert measured.loc["l0", "mean"] == pytest.approx(np.mean([np.sum(x != y) for x, y in pairs]))
    overlap = [len({*x} & {*y}) / len({*x} | {*y}) for x, y in pairs]
    assert measured.loc["jaccard", "mean"] == pytest.approx(np.mean(overlap))


def test_searches_without_finds_are_not_measured(folder):
    rows, searches = table(folder, "validity"), {}
    for kind in KINDS:
        for name, finds in load_finds(folder / kind / "found.npz").items():
            if name.startswith("test/"):
                searches["/".join(["test", kind, *name.split("/")[1:]])] = len(finds)
    parts = ["model", "feature", "repetition", "phase", "tester"]
    measured = {"/".join(["test", *map(str, row)]) for row in rows[parts].to_numpy()}
    assert measured == {search for search, n in searches.items() if n}
    assert len(measured) < len(searches)


def test_likeness_of_sentences_needs_an_encoder(folder):
    for name in ("torch", "tokenizers", "safetensors"):
        pytest.importorskip(name)
    prepared = load_prepared(folder)
    example = Path(__file__).parents[3] / "workflow/resources/hate_speech/example-encoder"
    encoder = {"config": example / "config.json", "vocabulary": example / "vocab.txt", "weights": None}
    yardsticks = Yardsticks.load(prepared, encoder, 1, 1)
    texts = prepared.parts["test"].texts.take(range(4))
    other = Texts(np.roll(texts.ids, 1), texts.offsets)
    same, rolled = yardsticks.measure_sentences([(texts, texts), (texts, other)])
    assert same["similarity"] == pytest.approx(1, abs=1e-5)
    assert rolled["similarity"] < 1
    assert same["perplexity"] == same["seed_perplexity"] == rolled["seed_perplexity"] > 1
    alone = yardsticks.measure_sentences([(other, other)])[0]
    assert rolled["perplexity"] == pytest.approx(alone["perplexity"], rel=1e-5)
    assert Yardsticks(prepared.lexicon).measure_sentences([(texts, texts)] * 2) == [{}, {}]
    found = {"gru": load_finds(folder / "gru/found.npz")}
    rows = measurement.validity(prepared, found, yardsticks, 3, 1)
    n_read = rows.groupby(["repetition", "metric"]).size()
    assert n_read[0, "similarity"] == n_read[0, "perplexity"] == n_read[0, "l0"]
    assert "similarity" not in n_read[1]


def test_what_searches_make_of_sentences(folder):
    """Texts of walks are discriminatory, also where the first of a walk is not."""
    shown = json.loads((folder / "example.json").read_text(encoding="utf-8"))
    expected = [(kind, feature) for kind in KINDS for feature in FEATURES]
    assert [(each["model"], each["feature"]) for each in shown] == expected
    prepared, later = load_prepared(folder), 0
    many = replace(prepared, sentences=prepared.parts["test"].texts)
    for kind in KINDS:
        network = experiment.load_network(folder, kind, 0, prepared)

        def label(words, network=network):
            return int(network.probabilities(prepared.lexicon.encode([words])).argmax())

        rows = list(measurement.examples("made", kind, network, many, 1))
        for each in rows:
            assert tuple(each) == EXAMPLE_KEYS
            if each["global"] is None:
                assert each["partner"] is each["local"] is None
                assert each["labels"] == {"x": label(each["sentence"]), "partner": label(each["sentence"])}
                continue
            exchange = each["partner"]
            partner = [exchange["to"] if word == exchange["from"] else word for word in each["global"]]
            assert each["labels"] == {"x": label(each["global"]), "partner": label(partner)}
            assert each["labels"]["x"] != each["labels"]["partner"]
        walked = [each for each in rows if each["local"]]
        assert 10 < len(walked) < len(rows)
        for each in walked:
            local = prepared.lexicon.encode([each["local"]])
            assert check(subject_of(folder, kind, 0, each["feature"]), local).discriminatory.all()
            steps = zip(each["global"], each["local"], strict=True)
            later += sum(before != after for before, after in steps) > 1
    assert later > 0
