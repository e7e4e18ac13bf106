"""The encoder as a network: what it learns, that it learns the same again, and pairs tested on it."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv, write_npz
from biaslab.fairness_testing.text.agreement import agreement, agreement_of_encoder
from biaslab.fairness_testing.text.columns import COLUMNS
from biaslab.fairness_testing.text.corpus import LEXICON, TEXTS, Labelled, load_prepared
from biaslab.fairness_testing.text.finds import Finds, key, sample, save_finds
from biaslab.fairness_testing.text.inputs import TextInputs
from biaslab.text.words import Lexicon, Texts, build_lexicon

ENCODER = Path(__file__).parents[3] / "workflow/resources/hate_speech/example-encoder"
FILES = {"config": ENCODER / "config.json", "vocabulary": ENCODER / "vocab.txt", "weights": None}
WORDS = ["the", "bakers", "sailors", "late", "broke", "bread", "ship", "fixed", "happy", "came"]
COMPLAINTS = [WORDS.index("late"), WORDS.index("broke")]
BAKERS, SAILORS = WORDS.index("bakers"), WORDS.index("sailors")


def lexicon() -> Lexicon:
    return build_lexicon(WORDS, np.eye(len(WORDS), dtype=np.float32), [WORDS])


def labelled(n: int, seed: int) -> Labelled:
    """Texts of 3 to 8 words, positive where one of them is a complaint."""
    rng = np.random.default_rng(seed)
    rows = [rng.integers(0, len(WORDS), rng.integers(3, 9)) for _ in range(n)]
    return Labelled(Texts.of(rows), np.array([int(np.isin(row, COMPLAINTS).any()) for row in rows]))


class Hater:
    """A network whose label is positive where a text holds a word."""

    def __init__(self, word):
        self.word = word

    def probabilities(self, texts):
        positive = np.array([float(self.word in row) for row in texts])
        return np.stack([1 - positive, positive], axis=1)


def pairs(*words) -> Finds:
    """Texts of one word each; the partner of each is the text `the`."""
    texts = Texts.of([[word] for word in words])
    return Finds(np.arange(len(words)), texts, Texts.of([[0]] * len(words)))


def found(number=0, finds=None) -> dict[str, Finds]:
    """What a network found: pairs of the local search on the test texts, and of others that are not asked."""
    finds = pairs(BAKERS, SAILORS, SAILORS) if finds is None else finds
    other = pairs(*[BAKERS] * 5)
    return {
        key("test", "trade", number, "local", "rp"): other,
        key("test", "trade", number, "local", "adf"): finds,
        key("test", "trade", number, "global", "adf_asc"): other,
        key("train", "trade", number, "local", "adf"): other,
    }


def trained(settings, seed=3, n=300):
    from biaslab.fairness_testing.text.encoder_training import load_start, train_encoder
    from biaslab.text.devices import make_deterministic
    from biaslab.text.encoder import EncoderFiles

    make_deterministic(1)
    model, tokenizer = load_start(EncoderFiles(*FILES.values()), 1, seed)
    return train_encoder(model, tokenizer, lexicon(), labelled(n, 1), settings, seed)


def settings(**options):
    pytest.importorskip("torch")
    pytest.importorskip("tokenizers")
    pytest.importorskip("safetensors")
    from biaslab.fairness_testing.text.encoder_training import EncoderSettings

    return EncoderSettings(**{"epochs": 10, "learning_rate": 0.01} | options)


def test_it_learns_a_rule():
    test = labelled(200, 2)
    predicted = trained(settings()).probabilities(test.texts).argmax(axis=1)
    assert 0.2 < test.labels.mean() < 0.8
    assert (predicted == test.labels).mean() > 0.95


def test_the_same_seed_gives_the_same_bytes_and_another_one_others():
    chosen = settings(epochs=2)
    texts = labelled(50, 2).texts
    once, again, other = (trained(chosen, seed, 80).probabilities(texts) for seed in (3, 3, 4))
    assert once.tobytes() == again.tobytes()
    assert once.tobytes() != other.tobytes()


def test_training_leaves_the_random_numbers_of_torch_as_they_were():
    chosen = settings(epochs=1)
    import torch

    before = torch.random.get_rng_state()
    trained(chosen, n=40)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_the_weight_of_negative_texts_decides_what_is_unsure():
    shares = []
    for weight in (0.01, 1.0, 100.0):
        network = trained(settings(epochs=4, negative_weight=weight), n=200)
        shares.append(network.probabilities(labelled(50, 2).texts)[:, 1].mean())
    assert shares[0] > 0.8 > shares[1] > 0.2 > shares[2]


def test_embeddings_of_words_that_no_text_holds_stay():
    chosen = settings(epochs=1)
    from biaslab.fairness_testing.text.encoder_training import load_start, train_encoder
    from biaslab.text.encoder import EncoderFiles

    model, tokenizer = load_start(EncoderFiles(*FILES.values()), 1, 3)
    before = model.bert.embeddings.word_embeddings.weight.detach().numpy().copy()
    train_encoder(model, tokenizer, lexicon(), labelled(100, 1), chosen, 3)
    changed = (model.bert.embeddings.word_embeddings.weight.detach().numpy() != before).any(axis=1)
    read = np.unique(tokenizer.encode([" ".join(WORDS)]).ids)
    assert changed[read].all()
    assert not np.delete(changed, read).any()


def test_it_has_the_layers_that_are_asked_for():
    settings()
    from biaslab.fairness_testing.text.encoder_training import load_start
    from biaslab.text.encoder import EncoderFiles

    files = EncoderFiles(*FILES.values())
    layers = [load_start(files, n, 1)[0].config.num_hidden_layers for n in (1, 2, None)]
    assert layers == [1, 2, json.loads(FILES["config"].read_text())["num_hidden_layers"]]
    with pytest.raises(InputError, match="layers: 3"):
        load_start(files, 3, 1)


def test_weights_that_are_no_numbers_end_the_training():
    chosen = settings(learning_rate=float("inf"), epochs=1)
    with pytest.raises(InputError, match=r"no finite number at step 2; .*encoder\.epochs"):
        trained(chosen)


def test_pairs_hold_on_an_encoder_where_it_gives_them_two_labels():
    of_all = {"lstm": found(0) | found(1, pairs(BAKERS)), "gru": found(0, pairs())}
    table = agreement_of_encoder(of_all, Hater(SAILORS), 9, 1)
    assert table.columns.tolist() == list(COLUMNS["agreement"])
    assert (table["tested_on"] == "encoder").all()
    rows = table.set_index(["found_on", "repetition"])[["n_pairs", "n_hold"]]
    assert rows.loc[("lstm", 0)].tolist() == [3, 2]
    assert rows.loc[("lstm", 1)].tolist() == [1, 0]
    assert rows.loc[("gru", 0)].tolist() == [0, 0]
    shares = table["share"].tolist()
    assert shares[:2] == [2 / 3, 0]
    assert np.isnan(shares[2])


def test_the_encoder_is_asked_about_the_pairs_that_the_networks_are():
    many = pairs(*np.random.default_rng(1).integers(1, len(WORDS), 60))
    of_all = {"lstm": found(0, many), "gru": found(0, many)}
    network = Hater(SAILORS)
    networks = {("lstm", 0): network, ("gru", 0): network}
    between = agreement(of_all, networks, 20, 1).query("found_on != tested_on")
    on_encoder = agreement_of_encoder(of_all, network, 20, 1)
    assert (on_encoder["n_pairs"] == 20).all()
    assert 0 < on_encoder["n_hold"].iloc[0] < 20
    columns = ["feature", "found_on", "repetition", "n_pairs", "n_hold", "share"]
    pd.testing.assert_frame_equal(
        between[columns].reset_index(drop=True), on_encoder[columns], check_dtype=False
    )


def test_networks_of_one_kind_are_tested_on_the_next_repetition():
    of_all = {"lstm": found(0) | found(1), "gru": found(0) | found(1)}
    networks = {(kind, n): Hater((BAKERS, SAILORS)[n]) for kind in of_all for n in (0, 1)}
    table = agreement(of_all, networks, 9, 1).set_index(["found_on", "tested_on", "repetition"])["n_hold"]
    assert [table["lstm", "gru", n] for n in (0, 1)] == [1, 2]
    assert [table["lstm", "lstm", n] for n in (0, 1)] == [2, 1]


def test_a_sample_is_of_different_pairs_and_a_draw_of_its_own():
    finds = pairs(*range(len(WORDS)))
    first, again, other = (sample(finds, 4, 1, name).origins.tolist() for name in ("a", "a", "b"))
    assert first == again == sorted(set(first)) != other
    assert len(first) == 4
    assert sample(finds, 99, 1, "a") is finds


@pytest.fixture
def corpus(tmp_path) -> Path:
    """A prepared corpus, and what was found on one network."""
    settings()
    parts = {name: labelled(n, seed) for seed, (name, n) in enumerate((("train", 80), ("test", 30)))}
    arrays = {f"{name}_labels": part.labels for name, part in parts.items()} | {
        "sentences_labels": np.zeros(0, np.int64)
    }
    for name, part in parts.items():
        arrays |= part.texts.arrays(name)
    lexicon().save(tmp_path / LEXICON)
    write_npz(
        tmp_path / TEXTS,
        **arrays,
        **Texts.of([]).arrays("sentences"),
        neighbours=np.full((len(WORDS), 1), -1, np.int32),
        values_trade=np.array([BAKERS, SAILORS], np.int32),
    )
    save_finds(tmp_path / "lstm/found.npz", found())
    return tmp_path


def test_the_step_writes_two_tables_of_the_same_bytes_again(corpus):
    from biaslab.fairness_testing.text.encoder_experiment import train_encoder_network

    files, written = [corpus / "encoder" / f"{name}.tsv" for name in ("models", "agreement")], []
    for _ in range(2):
        train_encoder_network(corpus, ["lstm"], 9, FILES, 1, 2, 0.5, 7)
        written.append([file.read_bytes() for file in files])
    assert written[0] == written[1]
    models, held = map(read_tsv, files)
    assert models.columns.tolist() == list(COLUMNS["models"])
    row = models.iloc[0]
    assert row[["model", "repetition", "n_train", "n_test", "epoch"]].tolist() == ["encoder", 0, 80, 30, 2]
    positive = load_prepared(corpus).parts["test"].labels.mean()
    assert row["majority"] == pytest.approx(max(positive, 1 - positive))
    assert held[["found_on", "tested_on", "n_pairs"]].to_numpy().tolist() == [["lstm", "encoder", 3]]


def test_the_step_says_which_file_is_missing(corpus):
    from biaslab.fairness_testing.text.encoder_experiment import train_encoder_network

    with pytest.raises(InputError, match=r"gru/found\.npz"):
        train_encoder_network(corpus, ["gru"], 9, FILES, 1, 1, 0.5, 7)
    files = FILES | {"vocabulary": corpus / "nowhere"}
    with pytest.raises(InputError, match="nowhere"):
        train_encoder_network(corpus, ["lstm"], 9, files, 1, 1, 0.5, 7)


@pytest.mark.parametrize(
    ("marks", "epochs", "has_encoder"),
    [(("text", "neural"), 1, True), (("text", "neural"), 0, False), (("text",), 1, False)],
)
def test_a_run_has_the_encoder_where_its_library_is_there_and_epochs_are_asked_for(
    marks, epochs, has_encoder
):
    section = {"models": ["gru"], "repetitions": 1, "certified_epochs": 0, "encoder": {"epochs": epochs}}
    section["corpora"] = {}
    units = SimpleNamespace(chosen=[SimpleNamespace(name="text-forum", marks=marks)])
    config = {"corpora": {}, "fairness_testing": {"text": section}}
    plan = SimpleNamespace(config=config, units={"fairness_testing": units})
    files = TextInputs(plan).measured(SimpleNamespace(texts="forum"))
    folder = "results/fairness_testing/text-forum"
    for name in ("models", "agreement"):
        assert (f"{folder}/encoder/{name}.tsv" in files) == has_encoder
    assert f"{folder}/gru/found.npz" in files
