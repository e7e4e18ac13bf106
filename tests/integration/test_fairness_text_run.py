"""``biaslab fairness-testing audit-texts`` on neutral texts and classifiers of many kinds."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from biaslab.cli import app
from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv
from biaslab.embeddings.formats import write_embedding
from biaslab.fairness_testing.text.adapters import load_model
from biaslab.fairness_testing.text.campaign import Pair
from biaslab.text.masking import digest
from biaslab.text.recurrent import initial_recurrent, load_recurrent
from biaslab.text.words import split_words
from own_fairness_texts_data import SYNONYMS, TRADES, lexicon, sentences, word_vectors, write_files
from pages import Page

FILES = ("found.html", "found.jsonl", "summary.tsv", "words.tsv")
KIND = ("--label-column", "kind", "--positive", "complaint")


@pytest.fixture
def files(here):
    """The texts, terms, vectors and classifiers, in the current folder."""
    write_files(here)
    return here


def options(**changes):
    """Return the arguments of a run, some of them changed."""
    given = {
        "--model": "my_texts:careful",
        "--terms": "terms.csv",
        "--vectors": "vectors.txt",
        "--out": "out",
    }
    given |= changes
    data = given.pop("data", "texts.csv")
    return ["fairness-testing", "audit-texts", data, *(word for pair in given.items() for word in pair)]


def run(*arguments, **changes):
    """Call the command; return the page in one line."""
    arguments = [*options(**changes), *("" if "--hops" in arguments else ("--hops", "4")), *arguments]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


def found(out="out"):
    """Return the pairs of a run, whose changed positions are as they say."""
    pairs = []
    for line in Path(out, "found.jsonl").read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        changed = fields.pop("changed")
        pairs.append(Pair(**fields))
        assert pairs[-1].changed == changed
    return pairs


def save_network():
    """Write an untrained network that reads the vectors."""
    network = initial_recurrent("gru", word_vectors()[1], 3)
    network.W_out[:] *= 30
    network.save(Path("network.npz"))


def make_classifier(model):
    """Make what a name stands for, where torch and its companions are installed."""
    if model.startswith("my_torch") or model == "bert":
        pytest.importorskip("torch")
    if model == "bert":
        pytest.importorskip("tokenizers")
        pytest.importorskip("safetensors")
        from text_data import tiny_classifier

        tiny_classifier(Path("bert"), [word for word in lexicon().words if word != "sailors"])
    if model == "network.npz":
        save_network()


def test_a_pipeline_needs_no_vectors_to_be_searched_at_random(files, capsys):
    Path("my_pipe.py").write_text(
        "import csv\n"
        "from sklearn.feature_extraction.text import CountVectorizer\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "from sklearn.pipeline import make_pipeline\n"
        "rows = list(csv.DictReader(open('texts.csv')))\n"
        "y = [('bakers' in r['text'] or 'broke' in r['text']) * 1 for r in rows]\n"
        "model = make_pipeline(CountVectorizer(), LogisticRegression()).fit([r['text'] for r in rows], y)\n"
    )
    given = options(**{"--model": "my_pipe:model"})
    at = given.index("--vectors")
    del given[at : at + 2]
    pages = []
    for _ in range(2):
        result = CliRunner().invoke(app, [*given, "--tester", "rp", "--hops", "4"], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        pages.append((Path("out/found.jsonl").read_bytes(), " ".join(result.stdout.split())))
    assert pages[0] == pages[1]
    assert "without vectors a word is replaced by others of the texts, alike or not" in pages[0][1]
    assert "vector of their own" not in pages[0][1]
    assert len(found()) > 0
    words = {word for text in sentences() for word in split_words(text)}
    assert all(set(pair.text) <= words | set(TRADES) for pair in found())
    for changes, problem in (
        ((), "--tester adf_asc: looks for words that are near; name vectors of words with --vectors"),
        (
            ("--tester", "rp", "--model", "train-lstm"),
            "--model train-lstm: reads vectors of words",
        ),
    ):
        with pytest.raises(InputError, match=problem):
            CliRunner().invoke(app, [*given, *changes], catch_exceptions=False)


def test_only_a_classifier_that_reads_vectors_is_warned_about_them(files):
    words, vectors = word_vectors()
    kept = [i for i, word in enumerate(words) if word not in TRADES[:2]]
    write_embedding("few.txt", [words[i] for i in kept], vectors[kept], "glove")
    assert "no vector of their own" not in run(**{"--vectors": "few.txt"})
    save_network()
    page = run(**{"--vectors": "few.txt", "--model": "network.npz"})
    assert "trade: 2 of 4 values have no vector of their own; a network that reads these" in page


def test_rows_that_repeat_a_word_of_the_vectors_are_counted_in_the_answer(files):
    lines = Path("vectors.txt").read_text(encoding="utf-8").splitlines()
    last = lines[-1].partition(" ")[0]
    Path("twice.txt").write_text(
        "\n".join([*lines[lines[0].count(" ") == 1 :], lines[-1]]) + "\n", encoding="utf-8"
    )
    note = f"twice.txt: 1 row repeats a word of an earlier row ('{last}'); the first row of a word is used"
    assert note in run(**{"--vectors": "twice.txt"})


MODELS = ("my_texts:careful", "my_torch:bag", "bert", "network.npz")


@pytest.mark.parametrize("model", MODELS)
def test_pairs_are_what_the_classifier_says(files, model):
    make_classifier(model)
    page = run(**{"--model": model})
    pairs = found()
    assert len(pairs) > 5
    words = lexicon()
    classifier = load_model(model, words)
    x, partners = (words.encode(getattr(pair, name) for pair in pairs) for name in ("text", "partner"))
    p = np.column_stack([classifier.probabilities(texts)[:, 1] for texts in (x, partners)])
    np.testing.assert_allclose(p, [pair.probabilities for pair in pairs], atol=1e-5)
    assert [pair.labels for pair in pairs] == (p > 0.5).astype(int).tolist()
    for pair in pairs:
        assert sorted(pair.labels) == [0, 1]
        assert pair.seed == split_words(sentences()[pair.row])
        assert pair.partner == [pair.value if word == pair.replaced else word for word in pair.text]
        assert {pair.replaced, pair.value} <= set(TRADES)
        assert not {pair.seed[i] for i in pair.changed} & set(TRADES)
        assert (pair.phase == "data") <= (pair.changed == [])
    assert len({tuple(pair.text) for pair in pairs}) == len(pairs)
    summary = read_tsv("out/summary.tsv")
    assert summary.loc[0, "n_discriminatory"] == len(pairs)
    assert summary.loc[0, "n_raw"] == sum(pair.phase == "data" for pair in pairs)
    assert summary.loc[0, "n_found"] == sum(pair.phase == "global" for pair in pairs)
    assert summary.loc[0, "n_seeds"] == summary.loc[0, "n_mentioning"] == 24
    assert summary.loc[0, "n_gradients"] > 0
    assert f"{len(pairs)} of {summary.loc[0, 'n_visited']} different texts" in page


@pytest.mark.parametrize("tester", ["rp", "asc", "adf_asc", "hf", "adf_hf"])
def test_every_tester_finds_pairs(files, tester):
    save_network()
    run("--tester", tester, **{"--model": "network.npz"})
    assert len(found()) > 0


def test_a_function_without_gradients_is_tested_at_random(files):
    run("--tester", "rp", **{"--model": "my_texts:plain"})
    assert len(found()) > 5
    assert read_tsv("out/summary.tsv").loc[0, "n_gradients"] == 0


def test_words_that_change_labels(files):
    """Cyclists alone make a complaint, so that exchanging any trade for them, or them, changes a label."""
    page = run()
    words = read_tsv("out/words.tsv").set_index("term")
    assert sorted(words.index) == sorted(TRADES)
    assert words["n_texts"].tolist() == [6] * 4
    assert words["n_flips"].tolist() == [6] * 4
    assert (words["ci_low"] < words["share"]).all()
    assert "exchanging bakers 6/6" in page


def test_the_page(files):
    page = run()
    assert "texts.csv by my_texts:careful 26 texts of 6.9 words on average; 100.0% of the words" in page
    assert "<sensitive word> exchanged between a text and its partner" in page
    assert "24 (100.0% [85.8%, 100.0%]) of these texts are discriminatory" in page
    assert re.search(r"partner [\w ]*the <cyclists> [\w ]+ label 1 \(p = 0.(55|80)0\)", page)
    shown = Path("out/found.html").read_text(encoding="utf-8")
    assert Page(shown).links == []
    assert '<mark class="exchanged">cyclists</mark>' in shown


def test_substitutes_are_near_words(files):
    run("--hops", "1", **{"--model": "my_texts:careful"})
    near = {word: set(group) for group in SYNONYMS for word in group}
    changes = [(p.seed[i], p.text[i]) for p in found() for i in p.changed]
    assert changes
    assert not [new for _, new in changes if new in TRADES]
    assert {old for old, _ in changes if old in near}


def test_equal_runs_write_equal_files(files):
    save_network()
    model = {"--model": "network.npz"}
    run("--threads", "1", **model, **{"--out": "one"})
    run("--threads", "2", **model, **{"--out": "two"})
    assert len(found("one")) > 5
    for name in FILES:
        content = (files / "one" / name).read_bytes()
        assert (files / "two" / name).read_bytes() == content
    run("--seed", "2", **model, **{"--out": "other"})
    assert (files / "other/found.jsonl").read_bytes() != (files / "one/found.jsonl").read_bytes()


def test_fewer_seeds_and_no_walks(files):
    run("--seeds", "3", "--hops", "0")
    summary = read_tsv("out/summary.tsv")
    assert summary.loc[0, ["n_seeds", "n_mentioning", "n_visited"]].tolist() == [3, 24, 3]
    assert {pair.phase for pair in found()} == {"data"}


def test_masked_words(files):
    Path("masked.txt").write_text(f"{digest('cyclists')}\n{digest('song')}\n")
    page = run("--masked-words", "masked.txt")
    shown = [page, *((files / "out" / name).read_text() for name in FILES if name != "found.jsonl")]
    assert not [text for text in shown if "cyclists" in text or " song" in text]
    assert "c******s" in page
    assert "c******s" in (files / "out/found.html").read_text()
    assert "c******s" in (files / "out/words.tsv").read_text()
    assert any("cyclists" in pair.text for pair in found())
    assert "cyclists" in run("--masked-words", "masked.txt", "--unmask")


def test_a_list_of_the_folder_masks_by_default(files):
    result = CliRunner().invoke(app, [*options(), "--hops", "1"], catch_exceptions=False)
    assert "cyclists" in result.stdout
    Path("workflow/resources").mkdir(parents=True)
    Path("workflow/resources/masked_words.txt").write_text(f"{digest('cyclists')}\n")
    result = CliRunner().invoke(app, [*options(), "--hops", "1"], catch_exceptions=False)
    assert "cyclists" not in result.stdout


def test_kinds_of_data(files):
    run(**{"--out": "csv"})
    run(data="texts.txt", **{"--out": "txt", "--terms": "trade.txt"})
    with Path("texts.jsonl").open("w") as file:
        file.writelines(json.dumps({"remark": text}) + "\n" for text in sentences())
    run("--text-column", "remark", data="texts.jsonl", **{"--out": "jsonl"})
    for out in ("txt", "jsonl"):
        assert (files / out / "found.jsonl").read_bytes() == (files / "csv/found.jsonl").read_bytes()


def test_accuracy_and_reading_are_printed_beside_the_majority(files):
    texts = sentences()
    labels = [1 if "bakers" in text else 0 for text in texts]
    with Path("named.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [("text", "label"), *((t, f"{y} ") for t, y in zip(texts, labels, strict=True))]
        )
    Path("my_named.py").write_text(
        "class Model:\n"
        "    classes_ = ['calm', 'rude']\n"
        "    def probabilities(self, texts):\n"
        "        return [[0.1, 0.9] if 'bakers' in text else [0.9, 0.1] for text in texts]\n"
        "model = Model()\n"
    )
    page = run("--positive", "rude", "--tester", "rp", data="named.csv", **{"--model": "my_named:model"})
    majority = max(sum(labels), len(labels) - sum(labels)) / len(labels)
    assert (
        f"the classifier labels 100.0% of {len(texts)} texts as the data do ({majority:.1%} have the more"
        " frequent label)"
    ) in page
    assert "how texts are read: positive is 'rude' of the classes calm, rude; words in lower case" in page
    assert f"named.csv: {len(texts)} labels with blanks around, which are trimmed." in page
    Path("bare.txt").write_text("\n".join(texts) + "\n\n")
    page = run("--positive", "rude", "--tester", "rp", data="bare.txt", **{"--model": "my_named:model"})
    assert "how often the classifier is right is not known: the texts have no labels of two classes" in page
    assert "bare.txt: 1 row is left out: 1 with an empty text." in page


def test_texts_without_words_are_left_out(files):
    Path("texts.txt").write_text("?!\nthe bakers sang\n...\nthe Cyclists sang!\n")
    page = run(data="texts.txt")
    assert "2 texts (2 without a word left out) of 3.0 words on average" in page
    assert {pair.row for pair in found()} == {1, 3}
    assert {tuple(pair.seed) for pair in found()} == {("the", "bakers", "sang"), ("the", "cyclists", "sang")}


def test_features(files):
    Path("terms.csv").write_text(
        "feature, values\ntrade, bakers, cyclists\nplace, park, garden\nsea, ship, boat\n"
    )
    run()
    assert read_tsv("out/summary.tsv")["feature"].tolist() == ["trade", "place"]
    assert set(read_tsv("out/words.tsv")["feature"]) == {"trade", "place"}
    run("--feature", "place")
    assert read_tsv("out/summary.tsv")["feature"].tolist() == ["place"]
    assert read_tsv("out/summary.tsv").loc[0, "n_discriminatory"] == 0


def test_nothing_found(files):
    Path("place.yaml").write_text("features:\n  place: [park, garden]\n")
    page = run("--feature", "place", **{"--terms": "place.yaml"})
    assert "No discriminatory text was found." in page
    assert Path("out/found.jsonl").read_text() == ""
    assert "No discriminatory text was found." in Path("out/found.html").read_text()
    assert read_tsv("out/words.tsv")["n_flips"].sum() == 0


def test_few_candidates(files):
    """Only words of the texts may replace others where no other candidate is asked for."""
    run("--candidates", "1", "--hops", "8")
    used = {word for text in sentences() for word in split_words(text)} | set(TRADES)
    assert {word for pair in found() for word in pair.text} <= used
    run("--hops", "8", **{"--out": "many"})
    assert not {word for pair in found("many") for word in pair.text} <= used


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_a_network_is_trained_and_kept(files, kind):
    page = run("--epochs", "3", *KIND, **{"--model": f"train-{kind}"})
    assert "texts that it was not trained on as the data do" in page
    network = load_recurrent(files / "out/network.npz", word_vectors()[1])
    assert network.kind == kind
    run(**{"--model": "out/network.npz", "--out": "again"})
    assert (files / "again/found.jsonl").read_bytes() == (files / "out/found.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": "none.csv"}, "none.csv: no such file"),
        ({"data": "empty.txt"}, "empty.txt: has no texts"),
        ({"data": "signs.txt"}, "signs.txt: no text has a sensitive word"),
        ({"--terms": "none.csv"}, "none.csv"),
        ({"--terms": "sea.yaml"}, "texts.csv: no text has a sensitive word, a value of any feature (sea)"),
        ({"--feature": "colour"}, "no text has a sensitive word, a value of the feature 'colour'"),
        ({"--feature": "trades"}, "--feature trades: there is no such feature; did you mean 'trade'?"),
        ({"--vectors": "none.txt"}, "none.txt: the file of word vectors does not exist"),
        ({"--vectors": "other.txt"}, "no word of the texts has a vector"),
        ({"--tester": "adf"}, "there is no strategy 'adf'"),
        ({"--text-column": "remark"}, "texts.csv: column 'remark' is missing"),
        ({"--model": "train-lstm"}, "column 'label' is missing"),
        ({"--model": "none.npz"}, "none.npz: no such file"),
        ({"--model": "other.npz"}, "W_ih_0"),
        ({"--model": "wide.npz"}, "take the vectors that the network was trained with"),
        ({"--model": "network"}, "network: no such folder; name a network (.npz)"),
        ({"--model": "my_texts:nan"}, "my_texts:nan returned nan, nan for the text 1: not finite"),
        ({"--model": "my_texts:plain"}, "my_texts:plain has no gradients(texts, labels)"),
        ({"--model": "empty"}, "config.json is missing; name the folder of a BERT"),
        ({"--masked-words": "texts.txt"}, "texts.txt:1: not a SHA-256 digest"),
        ({"--seeds": "0"}, "--seeds"),
    ],
)
def test_bad_input(files, refused, changes, message):
    if changes.get("--model") == "empty":
        for name in ("torch", "tokenizers", "safetensors"):
            pytest.importorskip(name)
    Path("empty").mkdir()
    Path("empty.txt").write_text("\n")
    Path("signs.txt").write_text("?!\n...\n")
    Path("sea.yaml").write_text("features:\n  sea: [ship, boat]\n")
    Path("other.txt").write_text("Bread 1 2\n, 3 4\n")
    np.savez("other.npz", x=np.zeros(3))
    initial_recurrent("lstm", np.zeros((4, 9), np.float32), 1).save(Path("wide.npz"))
    assert message in refused(*options(**changes))
    assert not Path("out").exists()


def test_a_feature_twice(files, refused):
    error = refused(*options(), *["--feature", "trade"] * 2)
    assert "--feature trade: is there twice; give it once" in error


def test_a_folder_without_torch(files, refused, monkeypatch):
    Path("empty").mkdir()
    monkeypatch.setattr(
        "biaslab.fairness_testing.text.cli.missing_extra",
        lambda extra: f"{extra} is not installed; install it",
    )
    error = refused(*options(**{"--model": "empty"}))
    assert error == "biaslab: empty: neural is not installed; install it"
