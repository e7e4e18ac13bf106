import itertools

import numpy as np
import pytest
from gensim.test.utils import datapath
from hypothesis import example, given
from hypothesis import strategies as st

from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, read_parquet, read_tsv
from biaslab.embeddings import corpus
from biaslab.embeddings.readers import Document, read_documents
from biaslab.embeddings.settings import Choice, format_of
from biaslab.embeddings.vocabulary import Vocabulary, read_vocabulary
from naive import embeddings as naive
from unit.embeddings.test_readers import HEAD, page

SAMPLE = datapath("enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2")

odd_words = ["cat", "Dog", "dog", "a", "x1y2", "_hidden", "snake_case", "naïve", "İstanbul", "9", "日本"]
some_text = st.lists(st.sampled_from([*odd_words, "l" * 16]) | st.text(max_size=6), max_size=12).map(" ".join)


def documents_of(*texts):
    return [Document(f"d{i}", f"Title {i}", text) for i, text in enumerate(texts)]


@pytest.mark.slow
def test_wikipedia_sample_has_its_known_size():
    options = {"unit": "part", "part_length": 200, "min_length": 50, "max_length": 50_000, "min_count": 15}
    sample = corpus.build_corpus(read_documents(SAMPLE, "mediawiki"), **options)
    articles = {identifier.split("#")[0] for identifier in sample.documents["id"]}
    assert (len(articles), len(sample.vocabulary), len(sample.documents)) == (106, 3_722, 1_902)
    assert (sample.tokens.dtype, sample.offsets.dtype) == (np.int32, np.int64)
    assert sample.n_source_tokens == 452_944
    first = sample.documents.iloc[0]
    assert (first["id"], first["title"], first["n_tokens"]) == ("12#1", "Anarchism", 200)


@given(st.text())
@example("The QUICK_brown _fox x86 4ever İstanbul naïve ſtraße ǅ ²³ Ⅷ ١٢٣ हिन्दी\u0301")
def test_tokenizer_is_gensims(text):
    assert corpus.tokenize(text) == naive.tokenize(text)


@given(
    texts=st.lists(some_text, min_size=1, max_size=12),
    unit=st.sampled_from(corpus.UNITS),
    part_length=st.integers(1, 5),
    min_length=st.integers(0, 3),
    max_length=st.integers(3, 12),
    max_tokens=st.none() | st.integers(1, 30),
    min_count=st.integers(1, 3),
    chunk=st.integers(1, 9),
)
def test_corpus_equals_the_oracle(texts, chunk, **parameters):
    documents = documents_of(*texts)
    vocabulary, units = naive.build_corpus(documents, **parameters)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "_CHUNK", chunk)
        if not vocabulary:
            with pytest.raises(InputError):
                corpus.build_corpus(documents, **parameters)
            return
        built = corpus.build_corpus(documents, **parameters)
    assert list(built.vocabulary.itertuples(index=False, name=None)) == vocabulary
    words = built.vocabulary["word"].to_numpy(dtype=object)
    pieces = [list(words[built.tokens[a:b]]) for a, b in itertools.pairwise(built.offsets)]
    assert list(zip(built.documents["id"], pieces, strict=True)) == units
    assert built.documents["n_tokens"].tolist() == list(map(len, pieces))
    assert built.documents["document"].tolist() == list(range(len(pieces)))


def test_table_has_excerpts_on_one_line_and_metadata_as_text():
    documents = [
        Document("1", "Two\nlines", "one\ttwo\n\nthree " + "word " * 100, {"year": "1999"}),
        Document("2", "Half \ud800", "one two three", {"section": "Arts"}),
    ]
    table = corpus.build_corpus(documents).documents
    assert list(table.columns) == [*corpus.TABLE_COLUMNS, "year", "section"]
    assert list(table["title"]) == ["Two lines", "Half ?"]
    assert table["excerpt"][0] == ("one two three " + "word " * 100)[:199] + "…"
    assert list(table["year"]) == ["1999", ""]
    assert list(table["section"]) == ["", "Arts"]


def test_max_tokens_keeps_the_article_that_reaches_it_and_reads_no_further():
    source = iter(documents_of("one two", "one two three", "four five", "six seven"))
    built = corpus.build_corpus(source, max_tokens=4)
    assert list(built.documents["id"]) == ["d0", "d1"]
    assert next(source).id == "d2"


def test_the_step_writes_the_corpus(tmp_path):
    (tmp_path / "source.txt").write_text("null nan NA null nan\nfour four\n")
    choice = Choice(unit="part", part_length=2, min_length=3, min_count=2)
    files = {name: tmp_path / name for name in ("corpus", "documents", "vocabulary")}
    corpus.read_corpus(tmp_path / "source.txt", "text", choice, **files, say=print)
    arrays = read_npz(tmp_path / "corpus")
    assert (arrays["tokens"].dtype, arrays["n_source_tokens"]) == (np.int32, 5)
    assert arrays["offsets"].tolist() == [0, 2, 4]
    documents = read_parquet(tmp_path / "documents")
    assert list(documents.columns) == list(corpus.TABLE_COLUMNS)
    assert documents["id"].tolist() == ["1#1", "1#2"]
    assert read_tsv(tmp_path / "vocabulary").to_dict("list") == {"word": ["nan", "null"], "count": [2, 2]}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"unit": "paragraph"}, "unknown unit 'paragraph'"),
        ({"unit": "part"}, "part_length is missing"),
        ({"unit": "part", "part_length": 0}, "part_length: 0 is less than 1; choose 1 or more"),
        ({"min_length": 5, "max_length": 4}, "max_length: 4 is less than 5; choose 5 or more"),
        ({"min_length": -1}, "min_length: -1 is less than"),
        ({"max_tokens": 0}, "max_tokens: 0 is less than"),
        ({"min_count": 0}, "min_count: 0 is less than"),
        ({"min_length": 4}, "no document has at least 4 tokens (found 2 documents of 1 to 3 tokens)"),
        ({"min_count": 3}, "no word occurs 3 times (at most 2)"),
        ({"documents": []}, "the corpus: the source contains no documents"),
        ({"documents": documents_of("1 2 3"), "min_length": 0}, "no word occurs 1 times (at most 0)"),
    ],
)
def test_bad_parameters_and_corpora_without_documents_or_words_are_refused(parameters, message):
    with pytest.raises(InputError) as caught:
        corpus.build_corpus(**{"documents": documents_of("one two three", "one")} | parameters)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_metadata_keys_that_are_columns_of_ours_get_another_name():
    keys = (*corpus.TABLE_COLUMNS, "source_n_tokens", " excerpt\n", "source_of_it")
    documents = [
        Document("7", "seven", "some words", {key: f"their {key}" for key in keys}),
        Document("8", "eight", "more words", {}),
    ]
    built = corpus.build_corpus(documents)
    assert built.documents["n_tokens"].tolist() == [2, 2]
    assert built.documents["id"].tolist() == ["7", "8"]
    assert built.documents["source_n_tokens"].tolist() == ["their n_tokens", ""]
    assert built.documents["source_source_n_tokens"].tolist() == ["their source_n_tokens", ""]
    assert built.documents["source_of_it"].tolist() == ["their source_of_it", ""]
    assert built.documents.columns.is_unique
    renamed = (*corpus.TABLE_COLUMNS, "source_n_tokens")
    assert built.renamed == {key: f"source_{key}" for key in renamed}


def test_a_corpus_with_a_key_a_document_is_refused(monkeypatch):
    monkeypatch.setattr(corpus, "MAX_METADATA_KEYS", 10)
    documents = [Document(str(i), str(i), "some words", {f"key{i}": "x"}) for i in range(20)]
    assert corpus.build_corpus(documents[:10]).documents.shape == (10, 15)
    with pytest.raises(InputError, match=r"with 'key1\d' the documents have more than 10 keys"):
        corpus.build_corpus(documents)


@pytest.mark.parametrize(
    ("texts", "lengths", "kept"),
    [
        (
            ["one", "one two", "one two one", "one two one two six"],
            {"min_length": 2, "max_length": 4, "min_count": 3},
            "2 of 4 documents (omitted: 1 below 2 words, 1 above 4 words) and 3 of their 5 words",
        ),
        (["A Cat sat on a mat", "the long"], {}, "6 of their 6 words; 2 words converted to lower case"),
        (
            ["x x2 _tail one", "an antidisestablishmentarianism"],
            {},
            "omitted: 2 below 2 letters, 1 above 15 letters, 1 that begin with _; vocabulary: 2",
        ),
    ],
)
def test_what_is_kept_of_a_corpus_is_counted(texts, lengths, kept):
    assert kept in corpus.build_corpus(documents_of(*texts), **{"min_length": 1} | lengths).kept


@pytest.mark.parametrize(("length", "end"), [(199, "w"), (200, "w"), (201, "…"), (5000, "…")])
def test_an_excerpt_that_is_cut_ends_with_an_ellipsis(length, end):
    text = ("word " * 1000)[: length - 1] + "w"
    table = corpus.build_corpus([Document("1", "", text + " " * 900)]).documents
    assert len(table["excerpt"][0]) == min(length, 200)
    assert table["excerpt"][0].endswith(end)
    parts = corpus.build_corpus([Document("1", "", "word " * 56)], unit="part", part_length=26).documents
    assert parts["excerpt"].tolist() == [" ".join(["word"] * 25) + " …"] * 2 + ["word word word word"]


def test_a_corpus_is_read_with_its_own_vocabulary_alone(tmp_path):
    documents = [Document("a", "", "bread cake bread cake bread milk"), Document("b", "", "milk bread")]
    built = corpus.build_corpus(documents)
    paths = [tmp_path / name for name in ("corpus.npz", "documents.parquet", "vocabulary.tsv")]
    corpus.write_corpus(built, *paths)
    tokens, offsets = corpus.read_tokens(paths[0], read_vocabulary(paths[2]))
    np.testing.assert_array_equal(tokens, built.tokens)
    np.testing.assert_array_equal(offsets, built.offsets)
    own = read_vocabulary(paths[2])
    for words, counts, problem in (
        (["wine", "beer", "tea"], [5, 2, 1], "'wine' occurs 4 times in the corpus and 5 times according"),
        (own.words[:2], own.counts[:2], r"has more words than the vocabulary \(2\)"),
        ([*own.words, "more"], [*own.counts, 1], "'more' occurs 0 times"),
    ):
        with pytest.raises(InputError, match=rf"corpus\.npz: .*{problem}"):
            corpus.read_tokens(paths[0], Vocabulary(words, np.array(counts)))


def read(path):
    """Read a corpus as the command does; return what it prints."""
    outputs, heard = [path.parent / f"out/{name}" for name in ("c.npz", "d.parquet", "v.tsv")], []
    corpus.read_corpus(path, format_of(path), Choice(), *outputs, say=heard.append)
    return heard


def dump(*pages):
    filled = [page(**{"number": i, "title": f"P{i}", "text": "one two"} | of) for i, of in enumerate(pages)]
    return f"{HEAD}{''.join(filled)}</mediawiki>"


REDIRECT, TALK = {"extra": '<redirect title="X" />'}, {"namespace": 1, "title": "Talk:X"}


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("r.xml", dump(*[REDIRECT] * 20), "r.xml: all 20 pages are redirects; give a pages-articles dump"),
        ("t.xml", dump(TALK), "t.xml: all 1 page are outside the main namespace (such as talk pages); give"),
        ("m.xml", dump(TALK, *[REDIRECT] * 2), "m.xml: no page is an article: redirects (2), outside the"),
        ("e.xml", dump(), "e.xml: the dump contains no pages; give a pages-articles dump"),
        ("i.xml", dump({}, {"number": 0}), "i.xml: page 2 ('P1'): the id '0' is repeated"),
        ("d.jsonl", '{"id": "a", "text": "one"}\n' * 2, "d.jsonl, line 2: the id 'a' is repeated"),
        ("s.txt", "1 2 3\n", "s.txt: no document has at least 1 tokens (found 1 document of 0 to 0 tokens)"),
        ("c.csv", "", "c.csv: .csv files are not a corpus format; write the texts as .jsonl"),
        ("c.abc", "", "c.abc: the format does not follow from the name"),
    ],
)
def test_refusals_name_the_file_and_the_reason(tmp_path, name, content, problem):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError) as caught:
        read(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path}/{problem}")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_what_a_reader_leaves_out_is_printed_with_its_count(tmp_path):
    path = tmp_path / "k.jsonl"
    path.write_text(
        '{"id": 1, "text": "one", "tags": [1], "url": null}\n\n{"id": 2, "text": "two", "tags": []}\n'
    )
    blank, keys, url, kept = read(path)
    assert keys.startswith(f"{path}: the key 'tags' of 2 documents is omitted, because")
    assert url.startswith(f"{path}: the key 'url' of 1 document is omitted")
    assert blank == f"{path}: 1 blank line omitted"
    assert kept.startswith(f"{path}: kept 2 of 2 documents")


def test_the_name_of_a_corpus_tells_its_format(tmp_path):
    names = {"a.xml.bz2": "mediawiki", "a.json.gz": "jsonl", "a.jsonl": "jsonl", "a.txt": "text"}
    for name, format in (names | {"a.tgz": "nitf", "": "folder"}).items():
        assert format_of(tmp_path / name) == format
