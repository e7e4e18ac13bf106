"""Word vectors in the formats of other tools."""

import bz2
import gzip

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from biaslab.core.errors import InputError
from biaslab.embeddings.formats import FORMATS, keyed_vectors, read_embedding, write_embedding
from refusals import assert_file_refused

WORDS = ["the", "2004", "été", "北京"]
VECTORS = np.array([[1, -2.5, 0], [0.1, 1e-30, -3e30], [np.pi, 0, -0.0], [1 / 3, 2 / 3, 7]], dtype=np.float32)

word = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8)
words = st.lists(word, min_size=1, max_size=8, unique=True)
numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("format", FORMATS)
@given(data=st.data())
def test_reading_returns_what_was_written(tmp_path_factory, format, data):
    path = tmp_path_factory.mktemp("vectors") / "vectors"
    names = data.draw(words)
    shape = (len(names), data.draw(st.integers(2, 5)))
    vectors = data.draw(hnp.arrays(np.float32, shape, elements=numbers))
    write_embedding(path, names, vectors, format)
    # Any bytes are a binary file, so a short one may happen to look like text; its format must then be named.
    for given_format in (format,) if format == "word2vec-binary" else (format, None):
        read_names, read_vectors = read_embedding(path, given_format)
        assert read_names == names
        assert read_vectors.dtype == np.float32
        np.testing.assert_array_equal(read_vectors, vectors)


@pytest.mark.parametrize("names", [WORDS, ["a\u00a0b", "c\u2028", "\u3000", "d\te"]], ids=["words", "spaces"])
@pytest.mark.parametrize(
    ("format", "written", "read"),
    [
        ("word2vec", {}, {}),
        ("word2vec-binary", {"binary": True}, {"binary": True}),
        ("glove", {"write_header": False}, {"no_header": True}),
    ],
)
def test_gensim_reads_what_is_written_and_writes_what_is_read(tmp_path, names, format, written, read):
    """Some published embeddings have words with other white space."""
    path = tmp_path / "vectors"
    write_embedding(path, names, VECTORS, format)
    keyed = KeyedVectors.load_word2vec_format(str(path), **read)
    assert keyed.index_to_key == names == read_embedding(path, format)[0]
    np.testing.assert_array_equal(keyed.vectors, VECTORS)
    keyed.save_word2vec_format(str(path), **written)
    read_names, vectors = read_embedding(path)
    assert read_names == names
    np.testing.assert_array_equal(vectors, VECTORS)


def test_vectors_are_those_of_gensim_in_their_order():
    keyed = keyed_vectors(["of", "the"], np.array([[1, 0], [3, 4]], np.float32))
    assert keyed.index_to_key == ["of", "the"]
    assert keyed.similarity("of", "the") == pytest.approx(0.6)
    for names, problem in ((["a"], "expected 1 vector, found 2"), (["a", "a"], "a word is repeated")):
        with pytest.raises(InputError, match=problem):
            keyed_vectors(names, np.eye(2, dtype=np.float32))


@pytest.mark.parametrize("text", ["a 1 2 \nb 3 4 \n", "a 1 2\r\nb 3 4\r\n", "a 1.0 2e0\nb +3 04\n"])
@pytest.mark.parametrize("header", ["", "2 2\n"])
def test_variants_of_text_are_read(tmp_path, header, text):
    path = tmp_path / "vectors.txt"
    path.write_bytes((header + text).encode())
    names, vectors = read_embedding(path)
    assert names == ["a", "b"]
    np.testing.assert_array_equal(vectors, [[1, 2], [3, 4]])


ROWS = 1000
EXACT = np.random.default_rng(7).normal(size=(ROWS, 8)).astype(np.float32)
NAMES = [f"word{i}" for i in range(ROWS)]


def lines_of(names, gap=" "):
    return [gap.join([name, *map(repr, row.tolist())]) for name, row in zip(names, EXACT, strict=True)]


def with_names(changes):
    return [changes.get(i, name) for i, name in enumerate(NAMES)]


BLANK = with_names({0: ". . .", 20: "at name@example.org", 500: "\u2022 name@example.org"})
TWICE = with_names({30: "word7", 31: "word7", 900: "word3"})


def binary(header, *rows):
    return header + b"".join(word + b" " + np.array(row, dtype="<f4").tobytes() for word, row in rows)


def rows_of(announced, names):
    return binary(f"{announced} 8\n".encode(), *zip(map(str.encode, names), EXACT, strict=True))


BLANKS = "the word of 3 rows contains blanks"
REPEATED = "3 rows repeat a word of an earlier row ('word7', 'word3'); the first"
MARK = "the byte order mark at the beginning is ignored"
MORE, LESS = (f"line 1 announces {n} words and the file has 1,000" for n in ("1,700", "300"))


@pytest.mark.parametrize(
    ("content", "names", "notes"),
    [
        (lines_of(BLANK), BLANK, [f"{BLANKS} ('. . .', 'at name@example.org'"]),
        ([f"{ROWS} 8", *lines_of(BLANK)], BLANK, [BLANKS]),
        (lines_of(BLANK, "\t"), BLANK, [BLANKS]),
        ([f"{ROWS + 700} 8", *lines_of(NAMES)], NAMES, [MORE]),
        ([f"{ROWS - 700} 8", *lines_of(NAMES)], NAMES, [LESS]),
        (lines_of(TWICE), TWICE, [REPEATED]),
        ([f"{ROWS - 3} 8", *lines_of(TWICE)], TWICE, ["3 rows repeat a word"]),
        (lines_of(NAMES, " \t "), NAMES, []),
        ([f"{line}  " for line in lines_of(NAMES)], NAMES, []),
        ([line.replace(" ", "\t", 1) for line in lines_of(NAMES)], NAMES, []),
        (["\ufeff" + lines_of(NAMES)[0], *lines_of(NAMES)[1:]], NAMES, [MARK]),
        ([f"\ufeff{ROWS} 8", *lines_of(NAMES)], NAMES, [MARK]),
        (rows_of(ROWS + 700, NAMES), NAMES, [MORE]),
        (rows_of(ROWS - 700, NAMES), NAMES, [LESS]),
        (rows_of(ROWS, TWICE), TWICE, [REPEATED]),
    ],
)
def test_files_as_people_publish_them_are_read(tmp_path, content, names, notes):
    path, heard = tmp_path / "vectors", []
    path.write_bytes(content if isinstance(content, bytes) else "".join(f"{x}\n" for x in content).encode())
    read_names, read_vectors = read_embedding(path, say=heard.append)
    first = list(dict.fromkeys(names))
    assert read_names == first
    np.testing.assert_array_equal(read_vectors, EXACT[[names.index(name) for name in first]])
    assert len(heard) == len(notes)
    for line, note in zip(heard, notes, strict=True):
        assert line.startswith(f"{path}: {note}")


def test_what_was_not_read_as_it_is_is_a_warning_where_nobody_listens(tmp_path):
    (tmp_path / "vectors.txt").write_text("a 1 2\na 3 4\n")
    with pytest.warns(UserWarning, match="1 row repeats a word of an earlier row"):
        assert read_embedding(tmp_path / "vectors.txt")[0] == ["a"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_compressed_files_are_read(tmp_path, format, suffix, pack):
    path = tmp_path / f"vectors{suffix}"
    write_embedding(tmp_path / "vectors", WORDS, VECTORS, format)
    path.write_bytes(pack((tmp_path / "vectors").read_bytes()))
    names, vectors = read_embedding(path)
    assert names == WORDS
    np.testing.assert_array_equal(vectors, VECTORS)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file contains no word vectors"),
        (b"3 2\n", "the file contains no word vectors"),
        (b"a" * 2**22, "line 1: the line is longer than 4194304 bytes"),
        (b"a 1 2\nb 3 4", "line 2: the last line has no end, so that it may be cut"),
        (b"0 2\n", "line 1: expected the header"),
        (b"2 2\na 1 2\nb 3\n", "line 3: expected 2 numbers after the word, found 1; download the file again"),
        (b"a 1 2\nb 3 4 5\n", "line 2: expected 2 numbers after the word, found 3; repair the row"),
        (b"a 1 2\nb 3 4\n\n", "line 3: the line is empty; delete it"),
        (b"a\n", "line 1: expected a word and its numbers, separated by blanks"),
        (b"a,1,2\nb,3,4\n", "line 1: the numbers contain commas; write numbers as 0.5"),
        (b"a 0,1 0,2\nb 0,3 0,4\n", "line 1: the numbers contain commas"),
        (b"a;1;2\nb;3;4\n", "line 1: the numbers contain semicolons"),
        (b"2 3 0\na 1 2 3\nb 4 5 6\n", "line 1: expected a word2vec header of 2 numbers .*, found 3"),
        (b"a 1 2\nb 3 four\n", "line 2: 'four' is not a number"),
        (b"a 1 2\n\xff 3 4\n", "line 2: the text is not UTF-8"),
        (b"a 1 2\nb nan 4\n", r"the vector of 'b' is not finite in 32 bits \(word 2"),
        (b"a 1 2\nb 1e39 4\n", "the vector of 'b' is not finite"),
        (b"\x80\x03ccollections\nOrderedDict\n", r"a pickle.* never opened.*save_word2vec_format\(\.\.\.\)$"),
        (b"\xba\x16\x4f\x2f\x0c\0\0\0", r"a fastText model; give its vectors.*\.vec"),
        (b"\x93NUMPY\x01\0", "an array without words"),
        (b"PK\x03\x04abc", "an archive; unpack it"),
        (b"\x1f\x8b\x08\0", r"compressed by gzip; add \.gz to its name"),
    ],
)
def test_malformed_text_is_refused(tmp_path, content, problem):
    assert_file_refused(tmp_path / "vectors.txt", content, problem, read_embedding)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (binary(b"1 2\n", (b"a", [1, 2]), (b"b", [3, 4]))[:-1], "the file ends within row 2 .2 dim"),
        (binary(b"2 2\n", (b"a", [1, 2]), (b"b\xff", [1, 2])), "row 2: the text is not UTF-8"),
        (binary(b"1 2\n", (b"", [1, 2])), "row 1: the word is missing"),
        (b"1 2\n" + b"a\x00" * 2**18, "row 1: no word found"),
        (binary(b"1 2\n", (b"a", [1, np.nan])), "the vector of 'a' is not finite"),
        (binary(b"9999999999999 99999\n", (b"a", [1, 2])), "the file ends within row 1"),
    ],
)
def test_malformed_binary_files_are_refused(tmp_path, content, problem):
    assert_file_refused(tmp_path / "vectors.bin", content, problem, read_embedding)


def test_a_named_format_is_not_guessed(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("2 3\n7 4\n")  # a GloVe file of one dimension, with numbers as words
    names, vectors = read_embedding(path, "glove")
    assert names == ["2", "7"]
    np.testing.assert_array_equal(vectors, [[3], [4]])
    with pytest.raises(InputError, match="the file ends within row 1"):
        read_embedding(path, "word2vec-binary")
    path.write_text("2 3\n\n")
    with pytest.raises(InputError, match="the file contains no word vectors"):
        read_embedding(path, "word2vec-binary")
    path.write_text("a 1 2\n")
    with pytest.raises(InputError, match="line 1: expected the header"):
        read_embedding(path, "word2vec")


def test_unreadable_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="file of word vectors does not exist"):
        read_embedding(tmp_path / "absent")
    with pytest.raises(InputError, match="not readable"):
        read_embedding(tmp_path)
    broken = tmp_path / "broken.gz"
    broken.write_bytes(gzip.compress(b"a 1 2\n" * 100)[:-12])
    with pytest.raises(InputError, match="not readable"):
        read_embedding(broken)


@pytest.mark.parametrize(
    ("names", "format", "problem"),
    [
        *((["a", bad], "glove", r"word 1, .*contains a space") for bad in ("", "a b", "a\n")),
        (["a", "a"], "glove", "a word is repeated"),
        (["a", "b"], "glov", "unknown format 'glov'; did you mean 'glove'"),
    ],
)
def test_what_no_format_holds_is_refused(tmp_path, names, format, problem):
    with pytest.raises(InputError, match=problem):
        write_embedding(tmp_path / "vectors", names, np.ones((2, 2), np.float32), format)
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match="unknown format 'glov'; did you mean 'glove'"):
        read_embedding(tmp_path, "glov")


def attempt(path, format):
    try:
        return read_embedding(path, format, say=lambda line: None)
    except InputError as error:
        return str(error)


@given(
    content=st.one_of(
        st.binary(max_size=200),
        st.lists(
            st.sampled_from(["a", "b", " ", "\n", "1", "2", "-", "nan", "0x1", "\t", "é"]), max_size=40
        ).map(lambda parts: "".join(parts).encode()),
        st.binary(max_size=60).map(lambda rest: b"2 2\n" + rest),
    ),
    format=st.sampled_from([None, *FORMATS]),
)
def test_any_bytes_are_an_embedding_or_one_line_that_says_why_not(tmp_path_factory, content, format):
    path = tmp_path_factory.getbasetemp() / "fuzz.txt"
    path.write_bytes(content)
    found = attempt(path, format)
    if isinstance(found, str):
        assert "\n" not in found
        assert str(path) in found
    else:
        names, vectors = found
        assert len(names) == len(set(names)) == len(vectors) > 0
        assert all(names)
        assert np.isfinite(vectors).all()


@given(cut=st.integers(1, 60), format=st.sampled_from(FORMATS))
def test_a_truncated_file_is_refused(tmp_path_factory, cut, format):
    path = tmp_path_factory.getbasetemp() / "truncated"
    write_embedding(path, WORDS, VECTORS, format)
    kept = path.read_bytes()[: -cut - (format == "word2vec-binary")]  # which needs no end of its last line
    # A whole last row is no sign: without a header, fewer words are a whole file; with one, the line is told.
    assume(format == "word2vec-binary" or not kept.endswith(b"\n"))
    assume(not (format == "word2vec-binary" and kept.endswith(tuple(map(np.ndarray.tobytes, VECTORS)))))
    path.write_bytes(kept)
    with pytest.raises(InputError, match="truncated"):
        read_embedding(path, format)


def test_words_and_vectors_may_cross_the_blocks_a_binary_file_is_read_in(tmp_path):
    rng = np.random.default_rng(1)
    names = [f"{'long' * rng.integers(0, 40)}{i}" for i in range(3000)]
    vectors = rng.normal(size=(3000, 50)).astype(np.float32)
    write_embedding(tmp_path / "vectors", names, vectors, "word2vec-binary")
    read_names, read_vectors = read_embedding(tmp_path / "vectors")
    assert read_names == names
    np.testing.assert_array_equal(read_vectors, vectors)


@pytest.mark.parametrize("header", ["", "3 2\n"])
@pytest.mark.parametrize(
    ("numbers", "n_rounded"),
    [
        (["0.1234567890123", "-1.00000000001e-05", "0.5"], 2),
        (["0.123457", "1e-300", "1.234567"], 0),
        (["0.100000001490116119384765625", "0.30000001192092896", "123456.7"], 0),
        (["0.000000012345678", "+00012.5", "1234567890"], 1),
    ],
)
def test_numbers_of_more_digits_than_32_bits_hold_are_counted(tmp_path, header, numbers, n_rounded):
    path, heard = tmp_path / "vectors.txt", []
    path.write_text(header + "".join(f"w{i} {number} 1\n" for i, number in enumerate(numbers)))
    _, vectors = read_embedding(path, say=heard.append)
    np.testing.assert_array_equal(vectors[:, 0], np.array(numbers, np.float64).astype(np.float32))
    note = f"{path}: numbers are rounded to 32 bits (about 7 digits); {n_rounded} of the first 3 rows have"
    assert heard == ([f"{note} more digits"] if n_rounded else [])
