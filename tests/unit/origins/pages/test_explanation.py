import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
import yaml

from biaslab.bias.word_sets import WordSets, in_vocabulary
from biaslab.cli import main
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, read_tsv, write_npz, write_parquet, write_tsv
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.glove import GloveParameters, write_trainings
from biaslab.embeddings.retraining import train_replicates
from biaslab.embeddings.vocabulary import digest_words
from biaslab.origins.attribution.scanner import InfluenceParameters, Scanner
from biaslab.origins.attribution.tables import document_table
from biaslab.origins.checks.bias_gradient.analysis import pair_table
from biaslab.origins.pages.explanation import (
    Corpus,
    explain,
    open_setup,
    read_gradients,
    words_of_test,
)
from biaslab.origins.pages.highlight import (
    shown_tokens,
    typeset,
    write_extremes,
    write_gradients,
    write_page,
)
from biaslab.origins.report.results import Setup
from biaslab.run.area import Unit
from pages import Page

WORDS = [f"w{i}" for i in range(25)]
TESTS = {
    name: WordSets(
        name,
        "Science & <arts>",
        "made up",
        {"science": ["w3", "w10", "absent"], "arts": ["w7", "w11"]},
        {"male": ["w0", "w2"], "female": ["w1", "w5"]},
    )
    for name in ("weat1", "weat2")
}
N_DOCUMENTS, LENGTH = 30, 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The results of a tiny run with real gradients: results/origins/tiny, and the word sets beside."""
    home = tmp_path_factory.mktemp("run")
    folder = home / "results/origins/tiny"
    rng = np.random.default_rng(3)
    offsets = np.append(np.arange(0, LENGTH * N_DOCUMENTS, LENGTH), LENGTH * N_DOCUMENTS).astype(np.int64)
    left = 48 - np.arange(len(WORDS))  # occurrences of each word: 900 in all
    left[[20, 24]] -= LENGTH // 2
    first = np.repeat([20, 24], LENGTH // 2)  # no word of a test
    others = rng.permutation(np.repeat(np.arange(len(WORDS)), left))
    tokens = np.concatenate([first, others]).astype(np.int32)
    x = cooccurrence.count(tokens, offsets, len(WORDS), 5)
    path = folder / "embeddings/baseline/batch-0.npz"
    trained = train_replicates(x, GloveParameters(3, 3), "baseline", [0, 1], 1, path, 1e9)
    write_trainings(path, [0, 1], trained, True, digest_words(WORDS))
    write_npz(folder / "corpus.npz", tokens=tokens, offsets=offsets, words=digest_words(WORDS))
    cooccurrence.write(folder / "cooccurrence.npz", x, digest_words(WORDS))
    write_tsv(folder / "vocabulary.tsv", pd.DataFrame({"word": WORDS, "count": np.bincount(tokens)}))
    numbers = np.arange(N_DOCUMENTS)
    names = [f"{i // 3}#{i % 3}" for i in numbers]
    documents = pd.DataFrame({"document": numbers, "id": names, "title": [f"Rock & <b>{i}" for i in numbers]})
    write_parquet(folder / "documents.parquet", documents.assign(n_tokens=LENGTH, excerpt=""))
    scanner = Scanner([path], x, tokens, offsets, WORDS, InfluenceParameters(x_max=20.0), 1)
    ids = {word: i for i, word in enumerate(WORDS)}
    for name, test in TESTS.items():
        found = in_vocabulary(test, ids)
        write_parquet(folder / f"bias_gradient/{name}.parquet", pair_table(scanner, found))
        table = document_table(scanner, found, documents)
        write_parquet(folder / f"differential_bias/{name}.parquet", table)
        sets = {key: getattr(test, key) for key in ("name", "title", "source", "targets", "attributes")}
        (home / f"{name}.yaml").write_text(yaml.safe_dump(sets, sort_keys=False))
    baseline = pd.DataFrame({"weat": ["weat1", "weat2"], "seed": 0, "effect_size": [0.5, -0.25]})
    write_tsv(folder / "baseline.tsv", baseline)
    section = {"weats": {name: f"{name}.yaml" for name in TESTS}}
    section["setups"] = {"tiny": {"bias": {"weats": list(TESTS)}}}
    config = {"origins": section}
    (home / "results/config.json").write_text(json.dumps(config))
    return home


@pytest.fixture
def corpus(folder):
    return Corpus(Setup(Unit("tiny"), folder / "results/origins/tiny"))


def run(monkeypatch, folder, *arguments):
    monkeypatch.setattr(sys, "argv", ["biaslab", "origins", *map(str, arguments)])
    monkeypatch.chdir(folder)
    try:
        main()
    except SystemExit as stop:
        return stop.code
    return 0


def test_explanation_adds_up_and_is_ordered(corpus):
    document = corpus.find("4#1")
    assert (document.number, len(document.tokens)) == (13, LENGTH)
    found = explain(corpus, document, TESTS["weat1"], read_gradients(corpus.setup, TESTS["weat1"]))
    bias = corpus.setup.differential_bias("weat1")
    assert found.by_token.sum() == pytest.approx(bias["gradient_mean"][13], rel=1e-9)
    assert found.pairs["contribution"].sum() == pytest.approx(bias["gradient_mean"][13], rel=1e-9)
    assert found.pairs["contribution"].abs().is_monotonic_decreasing
    scores = found.scores.set_index("estimator")
    order = bias["newton_mean"].sort_values(ascending=False).index.tolist()
    assert scores.loc["newton", "rank"] == order.index(13) + 1
    assert scores.loc["newton", "mean"] == bias["newton_mean"][13]
    assert scores.loc["influence", "sd"] == bias["influence_sd"][13]


def test_words_of_the_test_are_counted_in_their_sets():
    counts = words_of_test(["w3", "x", "w3", "w1"], TESTS["weat1"].sets)
    assert counts.to_numpy().tolist() == [["science", "w3", 2], ["female", "w1", 1]]


@pytest.mark.parametrize(
    ("identifier", "hint"),
    [("4#9", "; did you mean '4#"), ("rock & <b>7", "; did you mean '2#1'?"), ("nothing like it", "$")],
)
def test_unknown_document_names_near_ones(corpus, identifier, hint):
    with pytest.raises(InputError, match=f"^setup tiny has no document '{re.escape(identifier)}'{hint}"):
        corpus.find(identifier)


@pytest.mark.parametrize(
    ("key", "value", "missing"),
    [
        ("setups", {"tiny": {"glove": {}}}, "origins.setups.tiny.bias"),
        ("setups", None, "origins.setups.tiny"),
        ("weats", {"weat1": "weat1.yaml"}, "origins.weats.weat2"),
    ],
)
def test_a_configuration_without_tests_or_their_words_is_refused(folder, tmp_path, key, value, missing):
    config = json.loads((folder / "results/config.json").read_text())
    config["origins"][key] = value
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=rf"config\.json: {re.escape(missing)} is missing"):
        open_setup("tiny", folder / "results", tmp_path / "config.json")


def test_explain_prints_every_test_without_colour_in_a_pipe(monkeypatch, capsys, folder):
    assert run(monkeypatch, folder, "explain", "--setup", "tiny", "--document", "4#1") == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert "Rock & <b>13" in text
    assert "document 4#1 of setup tiny, 30 tokens" in text
    for name in ("weat1", "weat2", "influence", "newton", "gradient", "of 30", "Strongest co-occurrences"):
        assert name in text


def test_explain_one_test_of_a_document_without_its_words(monkeypatch, capsys, folder):
    arguments = ["--setup", "tiny", "--document", "0#0", "--weat", "weat2"]
    assert run(monkeypatch, folder, "explain", *arguments) == 0
    text = capsys.readouterr().out
    assert "weat1" not in text
    assert text.count("none") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--setup", "tny", "--document", "1"], r"setups\.tny is missing; did you mean 'tiny'\?"),
        (
            ["--setup", "tiny", "--document", "44#1"],
            "setup tiny has no document '44#1'; did you mean '4#1'",
        ),
        (
            ["--setup", "tiny", "--document", "4#1", "--weat", "weat3"],
            r"setup tiny does not measure 'weat3' \(it measures weat1, weat2\); did you mean 'weat",
        ),
        (
            ["--setup", "tiny", "--document", "4#1", "--results", "elsewhere"],
            "elsewhere/config.json: No such file",
        ),
    ],
)
def test_bad_input_ends_with_one_line(monkeypatch, capsys, folder, arguments, message):
    assert run(monkeypatch, folder, "explain", *arguments) == 2
    error = capsys.readouterr().err
    assert re.match(f"biaslab: .*{message}", error)
    assert error.count("\n") == 1


def few_gradients(home, out):
    """Write the gradients of the two documents at the ends; return the file."""
    write_gradients(
        "tiny", home, "weat1", read_parquet(home / "bias_gradient/weat1.parquet"), out / "few.tsv"
    )
    return out / "few.tsv"


def test_highlight_writes_the_two_ends_the_same_each_time(folder, tmp_path):
    for name in ("one", "two"):
        pages = [tmp_path / name / f"{kind}.html" for kind in ("raises", "lowers")]
        home = folder / "results/origins/tiny"
        write_extremes("tiny", home, [folder / "weat1.yaml"], few_gradients(home, tmp_path / name), *pages)
    bias = read_parquet(folder / "results/origins/tiny/differential_bias/weat1.parquet")
    for kind, row in (("raises", "idxmax"), ("lowers", "idxmin")):
        text = (tmp_path / "one" / f"{kind}.html").read_text(encoding="utf-8")
        assert text == (tmp_path / "two" / f"{kind}.html").read_text(encoding="utf-8")
        page = Page(text)
        assert f"Document {bias['id'][getattr(bias['influence_mean'], row)()]} of setup tiny" in text
        assert "Science & <arts> (weat1)" in page.texts
        assert not page.links


def test_the_gradients_of_two_documents_make_the_pages_of_all_gradients(folder, tmp_path):
    home = folder / "results/origins/tiny"
    every, few = tmp_path / "every.tsv", few_gradients(home, tmp_path)
    write_tsv(every, read_parquet(home / "bias_gradient/weat1.parquet"))
    pages = [[tmp_path / f"{kind}-{end}.html" for end in ("raises", "lowers")] for kind in ("every", "few")]
    for gradients, ends in zip((every, few), pages, strict=True):
        write_extremes("tiny", home, [folder / "weat1.yaml"], gradients, *ends)
    assert [page.read_text() for page in pages[0]] == [page.read_text() for page in pages[1]]
    assert 0 < len(read_tsv(few)) < len(read_tsv(every))


def test_page_shows_every_token_with_its_colour_and_words_of_the_test_in_bold(corpus, tmp_path):
    document = corpus.find("4#1")
    found = explain(corpus, document, TESTS["weat1"], read_gradients(corpus.setup, TESTS["weat1"]))
    write_page(tmp_path / "page.html", "tiny", document, [(TESTS["weat1"], 0.5, found)])
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    Page(text)
    shown = re.search(r'<p class="text">(.*?)</p>', text, flags=re.S)[1]
    spans = re.findall(r"<span([^>]*)>(?:<b>)?(\w+)(?:</b>)?</span>", shown)
    assert [word for _, word in spans] == document.tokens
    for (attributes, _), value in zip(spans, found.by_token, strict=True):
        assert ("up" in attributes) == (value > 0)
        assert ("down" in attributes) == (value < 0)
    expected = sum(t in {w for words in TESTS["weat1"].sets.values() for w in words} for t in document.tokens)
    assert shown.count("<b>") == expected > 0


def test_shades_are_equal_steps_of_the_largest_contribution():
    tokens = shown_tokens(["w3", "x", "y", "z"], np.array([-1.0, 0.0, 0.21, 0.2]), TESTS["weat1"])
    assert [t.level for t in tokens] == ["down5", "", "up2", "up1"]
    assert [t.sets for t in tokens] == ["science", "", "", ""]
    assert tokens[0].contribution == "−1"
    assert [t.level for t in shown_tokens(["x"], np.zeros(1), TESTS["weat1"])] == [""]
    assert typeset(0.01234) == "+0.0123"
