import itertools
import re

import numpy as np
import pytest
from gensim.test.utils import datapath
from hypothesis import example, given
from hypothesis import strategies as st

from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, read_parquet, read_tsv
from biaslab.embeddings import corpus
from biaslab.embeddings.readers import _READERS, Document, read_documents
from biaslab.embeddings.settings import CORPUS_FORMATS, Choice, format_of
from biaslab.embeddings.vocabulary import Vocabulary, read_vocabulary
from naive import embeddings as naive

SAMPLE = datapath("enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2")

odd_words = [
    "cat",
    "Dog",
    "dog",
    "a",
    "x1y2",
    "_hidden",
    "snake_case",
    "naïve",
    "İstanbul",
    "9",
    "日本",
    "l" * 16,
]
some_text = st.lists(st.sampled_from(odd_words) | st.text(max_size=6), max_size=12).map(" ".join)


def documents_of(*texts):
    return [Document(f"d{i}", f"Title {i}", text) for i, text in enumerate(texts)]


@pytest.fixture(scope="module")
def sample():
    return corpus.build_corpus(
        read_documents(SAMPLE, "mediawiki"),
        unit="part",
        part_length=200,
        min_length=50,
        max_length=50_000,
        min_count=15,
    )


def test_wikipedia_sample_has_its_known_size_and_is_consistent(sample):
    articles = {identifier.split("#")[0] for identifier in sample.documents["id"]}
    assert (len(articles), len(sample.vocabulary), len(sample.documents)) == (106, 3_722, 1_902)
    assert sample.n_source_tokens == 452_944
    assert sample.tokens.dtype == np.int32
    assert sample.offsets.dtype == np.int64
    np.testing.assert_array_equal(np.bincount(sample.tokens), sample.vocabulary["count"])
    np.testing.assert_array_equal(np.diff(sample.offsets), sample.documents["n_tokens"])
    np.testing.assert_array_equal(sample.documents["document"], np.arange(1_902))
    first = sample.documents.iloc[0]
    assert (first["id"], first["title"], first["n_tokens"]) == ("12#1", "Anarchism", 200)
    words = sample.vocabulary["word"].to_numpy()
    assert first["excerpt"] == " ".join(words[sample.tokens[:25]]) + " …"


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
    (tmp_path / "source.txt").write_text("one two three one two\nfour four\n")
    choice = Choice(unit="part", part_length=2, min_length=3, min_count=2)
    files = {name: tmp_path / name for name in ("corpus", "documents", "vocabulary")}
    corpus.read_corpus(tmp_path / "source.txt", "text", choice, **files, say=print)
    assert read_npz(tmp_path / "corpus")["offsets"].tolist() == [0, 2, 4]
    assert read_parquet(tmp_path / "documents")["id"].tolist() == ["1#1", "1#2"]
    assert read_tsv(tmp_path / "vocabulary").to_dict("list") == {"word": ["one", "two"], "count": [2, 2]}


def test_written_files_follow_their_contract(tmp_path):
    built = corpus.build_corpus(documents_of("null nan NA true", "null nan"))
    paths = [tmp_path / name for name in ("corpus.npz", "documents.parquet", "vocabulary.tsv")]
    corpus.write_corpus(built, *paths)
    arrays = read_npz(paths[0])
    assert arrays["tokens"].dtype == np.int32
    assert arrays["offsets"].tolist() == [0, 4, 6]
    assert arrays["n_source_tokens"] == 6
    assert list(read_parquet(paths[1]).columns) == list(corpus.TABLE_COLUMNS)
    assert read_tsv(paths[2])["word"].tolist() == ["nan", "null", "na", "true"]
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in paths}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"unit": "paragraph"}, "unknown unit 'paragraph'"),
        ({"unit": "parts"}, "did you mean 'part'"),
        ({"unit": "part"}, "part_length is missing"),
        ({"unit": "part", "part_length": 0}, "part_length is 0; it must be at least 1"),
        ({"min_length": 5, "max_length": 4}, "max_length is 4; it must be at least 5"),
        ({"min_length": -1}, "min_length is -1"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"min_count": 0}, "min_count is 0"),
        ({"min_length": 4}, "no document has at least 4 tokens: 2 were read, of 1 to 3 tokens"),
        ({"min_length": 4, "max_length": 9}, "no document has 4 to 9 tokens"),
        ({"min_count": 3}, "no word occurs 3 times (at most 2)"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(InputError) as caught:
        corpus.build_corpus(documents_of("one two three", "one"), **parameters)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_corpus_without_documents_or_words_is_refused():
    with pytest.raises(InputError, match="the corpus: has no document"):
        corpus.build_corpus([])
    with pytest.raises(InputError, match=r"no word occurs 1 times \(at most 0\)"):
        corpus.build_corpus(documents_of("1 2 3"), min_length=0)


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
    with pytest.raises(InputError, match=r"the key 'key1\d' is one more than the 10 that documents may have"):
        corpus.build_corpus(documents)


def test_the_step_says_which_keys_it_renamed(tmp_path):
    source = tmp_path / "c.jsonl"
    source.write_text('{"id": 1, "text": "some words", "n_tokens": 5, "document": "a"}\n')
    files, said = {name: tmp_path / name for name in ("corpus", "documents", "vocabulary")}, []
    corpus.read_corpus(source, "jsonl", Choice(), **files, say=said.append)
    assert said[-1] == f"{source}: kept 1 of 1 documents and 2 of their 2 words; vocabulary: 2"
    assert any(f"{source}: the key 'n_tokens' is kept as 'source_n_tokens'" in line for line in said)
    assert read_parquet(tmp_path / "documents")["source_document"].tolist() == ["a"]


def test_what_was_kept_is_said_with_the_reason():
    documents = documents_of("one", "one two", "one two one", "one two one two six")
    built = corpus.build_corpus(documents, min_length=2, max_length=4, min_count=3)
    assert built.kept == (
        "2 of 4 documents (left out: 1 below 2 words, 1 above 4 words) and 3 of their 5 words (left out: "
        "those that occur fewer than 3 times); vocabulary: 1"
    )
    some = corpus.build_corpus(documents, min_length=0, max_length=4, max_tokens=3, min_count=1)
    assert some.kept == "2 of 2 documents and 3 of their 3 words; vocabulary: 2"


@pytest.mark.parametrize(
    ("texts", "changes"),
    [
        (["A Cat sat on a mat", "the extraordinarilyy_ long"], "; 2 words put in lower case"),
        (["x x2 _tail one", "an antidisestablishmentarianism"], ""),
        (["İstanbul IST one"], "; 2 words put in lower case"),
        (["one two", "x"], ""),
    ],
)
def test_runs_that_are_no_words_and_capitals_are_counted(texts, changes):
    built = corpus.build_corpus(documents_of(*texts), min_length=1)
    runs = [run for text in texts if corpus.tokenize(text) for run in re.findall(r"[^\W\d]+", text.lower())]
    counts = {
        "below 2 letters": sum(len(run) < 2 for run in runs),
        "above 15 letters": sum(len(run) > 15 for run in runs),
        "that begin with _": sum(run.startswith("_") for run in runs),
    }
    left_out = [f"{n} {which}" for which, n in counts.items() if n]
    if left_out:
        changes += f"; runs of letters left out: {', '.join(left_out)}"
    n = built.n_source_tokens
    assert n == sum(len(corpus.tokenize(text)) for text in texts)
    assert f"{n} of their {n} words{changes}; vocabulary: " in built.kept


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
        (["wine", "beer", "tea"], [5, 2, 1], "'wine' is there 4 times, by the vocabulary 5 times"),
        (own.words[:2], own.counts[:2], "has more words than the vocabulary, which has 2"),
        ([*own.words, "more"], [*own.counts, 1], "'more' is there 0 times"),
    ):
        with pytest.raises(InputError, match=rf"corpus\.npz: .*{problem}"):
            corpus.read_tokens(paths[0], Vocabulary(words, np.array(counts)))
    text = paths[2].read_text()
    for cut in (text[:-1], text[:-2]):
        paths[2].write_text(cut)
        with pytest.raises(InputError, match=r"vocabulary\.tsv: the last line has no end"):
            read_vocabulary(paths[2])


def test_two_documents_of_one_id():
    documents = [Document(name, "", "some words here") for name in ("a", "b", "a")]
    problem = (
        r"^the corpus: document 3: the id 'a' is there for the second time \(first: document 1\); give each"
    )
    with pytest.raises(InputError, match=problem):
        corpus.build_corpus(documents)


def read(path):
    """Read a corpus as the command does; return what it prints."""
    outputs, heard = [path.parent / f"out/{name}" for name in ("c.npz", "d.parquet", "v.tsv")], []
    corpus.read_corpus(path, format_of(path), Choice(), *outputs, say=heard.append)
    return heard


PAGE = (
    "<page><title>{title}</title><ns>{ns}</ns><id>{i}</id>{redirect}"
    "<revision><id>{i}</id><text>one two</text></revision></page>"
)


def dump(*pages):
    filled = (
        PAGE.format(**{"i": i, "ns": 0, "title": f"P{i}", "redirect": ""} | page)
        for i, page in enumerate(pages)
    )
    space = "http://www.mediawiki.org/xml/export-0.11/"
    return f'<mediawiki xmlns="{space}" version="0.11">{"".join(filled)}</mediawiki>'


REDIRECT, TALK = {"redirect": '<redirect title="X" />'}, {"ns": 1, "title": "Talk:X"}


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("r.xml", dump(*[REDIRECT] * 20), "r.xml: all 20 pages are redirects; give a pages-articles dump"),
        ("t.xml", dump(TALK), "t.xml: all 1 page are outside the main namespace, as talk pages are; give"),
        (
            "m.xml",
            dump(TALK, *[REDIRECT] * 2),
            "m.xml: no page is an article: redirects (2), outside the main",
        ),
        ("e.xml", dump(), "e.xml: has no page; give a pages-articles dump"),
        (
            "i.xml",
            dump({}, {"i": 0}),
            "i.xml: page 2 ('P1'): the id '0' is there for the second time (first: ",
        ),
        (
            "d.jsonl",
            '{"id": "a", "text": "one"}\n\n{"id": "a", "text": "two"}\n',
            "d.jsonl:3: the id 'a' is there for the second time (first: ",
        ),
        ("s.txt", "1 2 3\n", "s.txt: no document has at least 1 tokens: 1 were read, of 0 to 0 tokens"),
        (
            "c.csv",
            "id,text\n1,one two\n",
            "c.csv: no reader of a corpus reads .csv files; write the texts as .jsonl",
        ),
        ("c.parquet", "", "c.parquet: no reader of a corpus reads .parquet files"),
        ("c.abc", "", "c.abc: the name does not tell the format"),
    ],
)
def test_refusals_name_the_file_and_the_reason(tmp_path, name, content, problem):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError) as caught:
        read(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path}/{problem}")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        (
            "m.xml",
            dump({}, TALK, REDIRECT, REDIRECT),
            ["pages left out: redirects (2), outside the main namespace"],
        ),
        ("b.txt", "one two\n\nthree four\n", ["1 blank line left out"]),
        (
            "k.jsonl",
            '{"id": 1, "text": "one", "tags": [1], "url": null}\n{"id": 2, "text": "two", "tags": []}\n',
            ["the key 'tags' of 2 documents is left out, because", "the key 'url' of 1 document is left out"],
        ),
    ],
)
def test_what_a_reader_leaves_out_is_printed_with_its_count(tmp_path, name, content, lines):
    (tmp_path / name).write_text(content)
    heard = read(tmp_path / name)
    assert len(heard) == len(lines) + 1  # the last line says what is kept
    for line, expected in zip(heard, lines, strict=False):
        assert line.startswith(f"{tmp_path / name}: {expected}")


def test_the_name_of_a_corpus_tells_its_format(tmp_path):
    names = {"a.xml.bz2": "mediawiki", "a.json.gz": "jsonl", "a.jsonl": "jsonl", "a.txt": "text"}
    for name, format in (names | {"a.tgz": "nitf", "": "folder"}).items():
        assert format_of(tmp_path / name) == format
    with pytest.raises(InputError, match=r"a\.csv\.gz: no reader of a corpus reads \.csv files; write"):
        format_of(tmp_path / "a.csv.gz")


def test_every_format_has_a_reader_and_no_two_the_same_end():
    assert list(CORPUS_FORMATS) == list(_READERS)
    ends = [end for format in CORPUS_FORMATS.values() for end in format.ends]
    assert len(ends) == len(set(ends))
