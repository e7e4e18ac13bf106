"""``biaslab fairness-testing audit-texts`` on neutral texts and classifiers of many kinds."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from biaslab.cli import app
from biaslab.core.io import read_tsv
from biaslab.fairness_testing.text.adapters import load_model
from biaslab.fairness_testing.text.own_texts import Pair
from biaslab.text.masking import digest
from biaslab.text.recurrent import initial_recurrent, load_recurrent
from biaslab.text.words import split_words
from own_fairness_texts_data import TRADES, lexicon, sentences, word_vectors, write_files
from pages import Page

FILES = ("found.html", "found.jsonl", "summary.tsv", "words.tsv")


@pytest.fixture
def files(here):
    write_files(here)
    return here


def options(**changes):
    given = {
        "--model": "my_texts:careful",
        "--terms": "terms.csv",
        "--vectors": "vectors.txt",
        "--out": "out",
    }
    given |= changes
    data = given.pop("data", "texts.csv")
    words = [word for pair in given.items() if pair[1] is not None for word in pair]
    return ["fairness-testing", "audit-texts", data, *words]


def run(*arguments, **changes):
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
    network = initial_recurrent("gru", word_vectors()[1], 3)
    network.W_out[:] *= 30
    network.save(Path("network.npz"))


@pytest.mark.slow
def test_a_pipeline_needs_no_vectors_to_be_searched_at_random(files, refused):
    Path("my_pipe.py").write_text(
        "import csv\n"
        "from sklearn.feature_extraction.text import CountVectorizer\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "from sklearn.pipeline import make_pipeline\n"
        "rows = list(csv.DictReader(open('texts.csv')))\n"
        "y = [('bakers' in r['text'] or 'broke' in r['text']) * 1 for r in rows]\n"
        "model = make_pipeline(CountVectorizer(), LogisticRegression()).fit([r['text'] for r in rows], y)\n"
    )
    pipeline = {"--model": "my_pipe:model", "--vectors": None}
    for out in ("one", "two"):
        page = run("--tester", "rp", **pipeline, **{"--out": out})
    assert "without vectors, any other word of the texts can replace a word" in page
    assert Path("one/found.jsonl").read_bytes() == Path("two/found.jsonl").read_bytes()
    words = {word for text in sentences() for word in split_words(text)}
    assert found("one")
    assert all(set(pair.text) <= words | set(TRADES) for pair in found("one"))
    message = "--tester adf_asc: this method needs near words; name vectors of words with --vectors"
    assert message in refused(*options(**pipeline))
    message = "--model train-lstm: this model reads vectors of words"
    assert message in refused(*options(**pipeline | {"--model": "train-lstm", "--tester": "rp"}))


@pytest.mark.parametrize("model", ["my_texts:careful", "bert", "network.npz"])
def test_pairs_are_what_the_classifier_says(files, model):
    if model == "bert":
        for name in ("torch", "tokenizers", "safetensors"):
            pytest.importorskip(name)
        from text_data import tiny_classifier

        tiny_classifier(Path("bert"), [word for word in lexicon().words if word != "sailors"])
    if model == "network.npz":
        save_network()
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


def test_words_that_change_labels_and_pairs_are_shown(files):
    """Cyclists alone make a complaint, so that exchanging any trade for them, or them, changes a label."""
    page = run()
    words = read_tsv("out/words.tsv").set_index("term")
    assert sorted(words.index) == sorted(TRADES)
    assert words["n_texts"].tolist() == words["n_flips"].tolist() == [6] * 4
    assert (words["ci_low"] < words["share"]).all()
    assert "exchanging bakers 6/6" in page
    assert "24 (100.0% [85.8%, 100.0%]) of these texts are discriminatory" in page
    assert re.search(r"partner [\w ]*the <cyclists> [\w ]+ label 1 \(p = 0.(55|80)0\)", page)
    shown = Path("out/found.html").read_text(encoding="utf-8")
    assert Page(shown).links == []
    assert '<mark class="exchanged">cyclists</mark>' in shown


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


def test_masked_words_are_masked_everywhere_but_in_the_pairs(files):
    Path("masked.txt").write_text(f"{digest('cyclists')}\n{digest('song')}\n")
    page = run("--masked-words", "masked.txt")
    shown = [page, *((files / "out" / name).read_text() for name in FILES if name != "found.jsonl")]
    assert not [text for text in shown if "cyclists" in text or " song" in text]
    assert [text for text in shown if "c******s" in text] == [page, shown[1], shown[3]]
    assert any("cyclists" in pair.text for pair in found())
    assert "cyclists" in run("--masked-words", "masked.txt", "--unmask")
    Path("workflow/resources").mkdir(parents=True)  # a list of the folder masks by default
    Path("masked.txt").rename("workflow/resources/masked_words.txt")
    assert "cyclists" not in run("--hops", "1")


def test_texts_are_read_from_tables_lines_and_json(files):
    run(**{"--out": "csv"})
    run(data="texts.txt", **{"--out": "txt", "--terms": "trade.txt"})
    lines = [json.dumps({"remark": text}) + "\n" for text in sentences()]
    Path("texts.jsonl").write_text("".join(lines))
    run("--text-column", "remark", data="texts.jsonl", **{"--out": "jsonl"})
    for out in ("txt", "jsonl"):
        assert (files / out / "found.jsonl").read_bytes() == (files / "csv/found.jsonl").read_bytes()


def test_accuracy_is_printed_beside_the_majority(files):
    with Path("named.csv").open("w", newline="") as file:
        rows = [(text, f"{int('bakers' in text)} ") for text in sentences()]
        csv.writer(file).writerows([("text", "label"), *rows])
    Path("my_named.py").write_text(
        "class Model:\n"
        "    classes_ = ['calm', 'rude']\n"
        "    def probabilities(self, texts):\n"
        "        return [[0.1, 0.9] if 'bakers' in text else [0.9, 0.1] for text in texts]\n"
        "model = Model()\n"
    )
    options = "--positive", "rude", "--tester", "rp"
    page = run(*options, data="named.csv", **{"--model": "my_named:model"})
    assert "labels 100.0% of 26 texts as the data do (76.9% have the more frequent label)" in page
    assert "positive is 'rude' of the classes calm, rude" in page
    assert "named.csv: 26 labels with blanks around, which are trimmed." in page
    page = run(*options, data="texts.txt", **{"--model": "my_named:model"})
    assert "how often the classifier is right is not known" in page


def test_features_that_the_texts_mention_are_tested_and_one_may_change_nothing(files):
    Path("terms.csv").write_text(
        "feature, values\ntrade, bakers, cyclists\nplace, park, garden\nsea, ship, boat\n"
    )
    run(**{"--out": "all"})
    for name in ("summary", "words"):
        assert list(dict.fromkeys(read_tsv(f"all/{name}.tsv")["feature"])) == ["trade", "place"]
    page = run("--feature", "place")
    assert "No discriminatory text was found." in page
    assert read_tsv("out/summary.tsv")["feature"].tolist() == ["place"]
    assert Path("out/found.jsonl").read_text() == ""
    assert read_tsv("out/words.tsv")["n_flips"].sum() == 0


def test_a_network_is_trained_and_kept(files):
    kind = ("--label-column", "kind", "--positive", "complaint")
    page = run("--epochs", "3", *kind, **{"--model": "train-gru"})
    assert "texts that it was not trained on as the data do" in page
    assert load_recurrent(files / "out/network.npz", word_vectors()[1]).kind == "gru"
    run(**{"--model": "out/network.npz", "--out": "again"})
    assert (files / "again/found.jsonl").read_bytes() == (files / "out/found.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": "none.csv"}, "none.csv: no such file"),
        ({"--terms": "none.csv"}, "none.csv"),
        ({"--feature": "trades"}, "--feature trades: unknown feature; did you mean 'trade'?"),
        ({"--vectors": "none.txt"}, "none.txt: the file of word vectors does not exist"),
        ({"--tester": "adf"}, "unknown strategy 'adf'"),
        ({"--text-column": "remark"}, "texts.csv: column 'remark' is missing"),
        ({"--model": "train-lstm"}, "column 'label' is missing"),
        ({"--model": "none.npz"}, "none.npz: no such file"),
        ({"--model": "other.npz"}, "W_ih_0"),
        ({"--model": "wide.npz"}, "use the vectors of its training"),
        ({"--model": "my_texts:plain"}, "my_texts:plain has no gradients(texts, labels)"),
        ({"--masked-words": "texts.txt"}, "texts.txt:1: not a SHA-256 digest"),
        ({"--seeds": "0"}, "--seeds"),
    ],
)
def test_bad_input_is_refused(files, refused, changes, message):
    np.savez("other.npz", x=np.zeros(3))
    initial_recurrent("lstm", np.zeros((4, 9), np.float32), 1).save(Path("wide.npz"))
    assert message in refused(*options(**changes))
    assert not Path("out").exists()


def test_a_folder_without_torch_is_refused(files, refused, monkeypatch):
    Path("empty").mkdir()
    name = "biaslab.fairness_testing.cli.missing_extra"
    monkeypatch.setattr(name, lambda extra: f"{extra} is not installed; install it")
    error = refused(*options(**{"--model": "empty"}))
    assert error == "biaslab: empty: neural is not installed; install it"
