import json
import re

import numpy as np
import pandas as pd
import pytest
import yaml

from biaslab.bias.word_sets import WordSets, in_vocabulary
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, read_tsv, write_npz, write_parquet, write_tsv
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.vocabulary import digest_words
from biaslab.origins.attribution.tables import document_table
from biaslab.origins.checks.bias_gradient import pair_table
from biaslab.origins.pages.explanation import Corpus, explain, open_setup, read_gradients
from biaslab.origins.pages.highlight import write_extremes, write_gradients, write_page
from biaslab.origins.report.results import Setup
from biaslab.run.area import Unit
from pages import Page

WORDS, LENGTH = [f"w{i}" for i in range(30)], 40
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


@pytest.fixture(scope="module")
def folder(small, tmp_path_factory):
    """The results of a tiny run with real gradients: results/origins/tiny, and the word sets beside."""
    home, scanner, words = tmp_path_factory.mktemp("run"), small.scanner, digest_words(WORDS)
    folder, tokens = home / "results/origins/tiny", scanner.tokens
    write_npz(folder / "corpus.npz", tokens=tokens, offsets=scanner.offsets, words=words)
    cooccurrence.write(folder / "cooccurrence.npz", scanner.x, words)
    write_tsv(folder / "vocabulary.tsv", pd.DataFrame({"word": WORDS, "count": np.bincount(tokens)}))
    numbers = small.documents["document"]
    names = {"id": [f"{i // 3}#{i % 3}" for i in numbers], "title": [f"Rock & <b>{i}" for i in numbers]}
    documents = small.documents.assign(**names)
    write_parquet(folder / "documents.parquet", documents.assign(n_tokens=LENGTH, excerpt=""))
    for name, test in TESTS.items():
        found = in_vocabulary(test, {word: i for i, word in enumerate(WORDS)})
        write_parquet(folder / f"bias_gradient/{name}.parquet", pair_table(scanner, found))
        table = document_table(scanner, found, documents)
        write_parquet(folder / f"differential_bias/{name}.parquet", table)
        sets = {key: getattr(test, key) for key in ("name", "title", "source", "targets", "attributes")}
        (home / f"{name}.yaml").write_text(yaml.safe_dump(sets, sort_keys=False))
    baseline = pd.DataFrame({"weat": ["weat1", "weat2"], "seed": 0, "effect_size": [0.5, -0.25]})
    write_tsv(folder / "baseline.tsv", baseline)
    section = {"weats": {name: f"{name}.yaml" for name in TESTS}}
    section["setups"] = {"tiny": {"bias": {"weats": list(TESTS)}}}
    (home / "results/config.json").write_text(json.dumps({"origins": section}))
    return home


@pytest.fixture
def corpus(folder):
    return Corpus(Setup(Unit("tiny"), folder / "results/origins/tiny"))


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


@pytest.mark.parametrize(
    ("identifier", "hint"),
    [
        ("4#9", "; did you mean '4#"),
        ("rock & <b>7", "; did you mean '2#1'?"),
        ("nothing like it", "; use an id"),
    ],
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--setup", "tny", "--document", "1"], r"setups\.tny is missing; did you mean 'tiny'\?"),
        (["--setup", "tiny", "--document", "44#1"], "setup tiny has no document '44#1'; did you mean '4#1'"),
        (
            ["--setup", "tiny", "--document", "4#1", "--weat", "weat3"],
            r"setup tiny does not measure 'weat3' \(measured: weat1, weat2\); did you mean 'weat",
        ),
        (["--setup", "tiny", "--document", "4#1", "--results", "no"], "no/config.json: No such file"),
    ],
)
def test_explain_prints_the_tests_or_refuses_in_one_line(monkeypatch, biaslab, folder, arguments, message):
    monkeypatch.chdir(folder)
    code, _, error = biaslab("origins", "explain", *arguments)
    assert code == 2
    assert re.match(f"biaslab: .*{message}", error)
    assert error.count("\n") == 1
    given = ["--setup", "tiny", "--document", "0#0", "--weat", "weat2"]
    code, text, _ = biaslab("origins", "explain", *given)
    assert code == 0
    assert "Document 0#0 of setup tiny, 40 tokens" in text
    assert "weat2" in text
    assert "weat1" not in text


def test_the_gradients_of_the_documents_at_both_ends_make_the_pages_of_all_gradients(folder, tmp_path):
    home, every, few = folder / "results/origins/tiny", tmp_path / "every.tsv", tmp_path / "few.tsv"
    gradients = read_parquet(home / "bias_gradient/weat1.parquet")
    write_tsv(every, gradients)
    write_gradients("tiny", home, "weat1", gradients, few)
    assert 0 < len(read_tsv(few)) < len(read_tsv(every))
    ends = ("raises", "lowers")
    for file in (every, few):
        pages = [tmp_path / f"{file.stem}-{end}.html" for end in ends]
        write_extremes("tiny", home, [folder / "weat1.yaml"], file, *pages)
    bias = read_parquet(home / "differential_bias/weat1.parquet").set_index("id")["influence_mean"]
    for end, identifier in zip(ends, (bias.idxmax(), bias.idxmin()), strict=True):
        text = (tmp_path / f"few-{end}.html").read_text(encoding="utf-8")
        assert text == (tmp_path / f"every-{end}.html").read_text(encoding="utf-8")
        page = Page(text)
        assert f"Document {identifier} of setup tiny" in text
        assert "Science & <arts> (weat1)" in page.texts
        assert not page.links


def test_page_shows_every_token_with_its_colour_and_words_of_the_test_in_bold(corpus, tmp_path):
    document = corpus.find("4#1")
    found = explain(corpus, document, TESTS["weat1"], read_gradients(corpus.setup, TESTS["weat1"]))
    write_page(tmp_path / "page.html", "tiny", document, [found])
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
