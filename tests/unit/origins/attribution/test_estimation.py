from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml

from biaslab.bias.weat import effect_size
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, write_npz, write_parquet, write_tsv
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.glove import GloveParameters, write_trainings
from biaslab.embeddings.retraining import train_replicates
from biaslab.embeddings.vocabulary import digest_words
from biaslab.origins.attribution.scanner import InfluenceParameters, Scanner
from biaslab.origins.attribution.tables import (
    count_test_words,
    document_table,
    set_table,
    write_differential_bias,
)
from biaslab.origins.sets.selection import select_sets

N_WORDS, D, N_DOCUMENTS = 30, 4, 40
WORDS = [f"w{i}" for i in range(N_WORDS)]
FILES = {
    "cooccurrence": "x.npz",
    "corpus": "corpus.npz",
    "documents": "documents.parquet",
    "vocabulary": "vocabulary.tsv",
    "weat": "w.yaml",
    "out": "out.parquet",
}


NO_IDS = np.empty(0, np.int64)
WEAT = WeatIndices("w", *np.array([[3, 10], [7, 11], [0, 2], [1, 5]]), ("S", "T", "A", "B"), {})


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(5)
    offsets = np.arange(0, 40 * N_DOCUMENTS + 1, 40).astype(np.int64)
    return rng.permutation(np.arange(offsets[-1]) % N_WORDS).astype(np.int32), offsets  # ids by falling count


@pytest.fixture(scope="module")
def scanner(corpus, tmp_path_factory):
    x = cooccurrence.count(*corpus, N_WORDS, 8)
    path = tmp_path_factory.mktemp("baseline") / "batch-0.npz"
    trained = train_replicates(x, GloveParameters(D, 3), "baseline", [0, 1, 2], 1, path, 1e9)
    write_trainings(path, [0, 1, 2], trained, True, digest_words(WORDS))
    return Scanner([path], x, *corpus, WORDS, InfluenceParameters(), 1), trained


def documents():
    numbers = np.arange(N_DOCUMENTS)
    return pd.DataFrame({"document": numbers, "id": numbers.astype(str), "title": "a title"})


def written(folder, scan, corpus, **of_measure):
    """Write the files of a corpus and a test; return them and where the table of documents goes, by name."""
    cooccurrence.write(folder / "x.npz", scan.x, digest_words(WORDS))
    write_npz(folder / "corpus.npz", tokens=corpus[0], offsets=corpus[1], words=digest_words(WORDS))
    write_tsv(folder / "vocabulary.tsv", pd.DataFrame({"word": WORDS, "count": np.bincount(corpus[0])}))
    write_parquet(folder / "documents.parquet", documents())
    names = {symbol: [WORDS[i] for i in getattr(WEAT, symbol)] for symbol in "STAB"}
    sets = {"targets": {k: names[k] for k in "ST"}, "attributes": {k: names[k] for k in "AB"}}
    head = {"name": "w", "title": "A test", "source": "made up", **of_measure}
    (folder / "w.yaml").write_text(yaml.safe_dump(head | sets, sort_keys=False))
    return {name: folder / file for name, file in FILES.items()}


def test_document_table(scanner):
    table = document_table(scanner[0], WEAT, documents())
    seeds = table[[f"newton_seed{s}" for s in range(3)]].to_numpy()
    np.testing.assert_allclose(table["newton_mean"], seeds.mean(axis=1))
    np.testing.assert_allclose(table["newton_sd"], seeds.std(axis=1, ddof=1))
    assert list(table.columns[:5]) == ["document", "id", "title", "influence_mean", "influence_sd"]


def test_the_words_of_a_test_are_counted_in_every_document(corpus):
    tokens, offsets = corpus
    table = count_test_words(tokens, offsets, WEAT)
    assert list(table) == [f"{what}_{name}" for what in ("n", "rarest") for name in "STAB"]
    for number, words in enumerate(tokens.reshape(N_DOCUMENTS, -1).tolist()):
        assert table["n_S"][number] == words.count(3) + words.count(10)
        assert table["rarest_S"][number] == words.count(10)
        assert table["rarest_B"][number] == words.count(5)
    assert (table["n_T"] == 0).any()
    empty = count_test_words(np.array([5, 5], np.int32), np.array([0, 0, 2]), WEAT)
    assert empty["n_B"].tolist() == [0, 2]


def test_set_table_predicts_the_bias_after_removal(scanner):
    scan, trained = scanner
    means = document_table(scan, WEAT, documents())["influence_mean"].to_numpy()
    sets = select_sets({"w": means, "other": means}, [1, 4], [3], 2, 1)
    table = set_table(scan, [WEAT], sets)
    assert len(table) == (4 + 2) * 3 * 3  # the other test's sets are not predicted for this one
    one = table.query("set == 'w-decrease-1' and estimator == 'influence'")
    assert one["seed"].tolist() == [0, 1, 2]
    before = [effect_size(e.W, WEAT) for e in trained]
    np.testing.assert_allclose(before - one["predicted"].to_numpy(), _seeds(scan, means.argmax()), rtol=1e-9)
    assert set(table.query("kind == 'random'")["weat"]) == {"w"}


def _seeds(scan, document):
    return [e.values[document, 0] for e in scan.documents(WEAT)]


def test_another_vocabulary(scanner, corpus):
    scan, _ = scanner
    with pytest.raises(InputError, match="X has 30 words and the vocabulary 29"):
        Scanner(scan.batches, scan.x, *corpus, WORDS[1:], InfluenceParameters(), 1)


def test_documents_of_another_corpus(scanner):
    with pytest.raises(InputError, match="39 documents listed, 40 in the corpus"):
        document_table(scanner[0], WEAT, documents()[1:])


def test_step_estimates_by_the_measure_that_the_file_names(scanner, corpus, tmp_path):
    scan, _ = scanner
    files = written(tmp_path, scan, corpus, measure="direct_bias", parameters={"c": 2})
    weat = files.pop("weat")
    by_seed = files["out"].parent / "by_seed" / files["out"].name
    batches = [scan.batches[0]]
    write_differential_bias(
        batches, **files, word_sets=[weat], influence=InfluenceParameters(), by_seed=by_seed
    )
    weat = replace(WEAT, measure="direct_bias", parameters={"c": 2.0})
    expected = document_table(scan, weat, documents())
    found = read_parquet(files["out"]).join(read_parquet(by_seed).drop(columns="document"))
    pd.testing.assert_frame_equal(found[list(expected)], expected)
    plain = document_table(scan, WEAT, documents())
    assert not np.allclose(found["influence_mean"], plain["influence_mean"])
