"""Lists of identifiers, and the WordPieces that stand for them."""

import re
from pathlib import Path

import pytest

pytest.importorskip("tokenizers")

from biaslab.text.corpora import read_news
from biaslab.text.identifiers import Identifiers, identifier_ids, read_identifiers
from biaslab.text.labelled import read_labelled, read_texts
from biaslab.text.tokens import SPECIAL, Tokenizer
from refusals import assert_file_refused, refused

ROOT = Path(__file__).parents[3]
HATE_SPEECH = ROOT / "workflow/resources/hate_speech"


PIECES = ["bakers", "drum", "##mers", "cyc", "##li", "##sts", "garden", "##ers"]
TOKENIZER = Tokenizer([*SPECIAL, *PIECES])


def ids_of(*terms):
    """Return the numbers of terms or pieces, by the term."""
    return {term: TOKENIZER.vocabulary.index(piece) for term, piece in terms}


def test_lists_in_both_formats(tmp_path):
    listed = tmp_path / "terms.yaml"
    listed.write_text("terms: [bakers, 'no', drummers]\npieces: longest\n")
    plain = tmp_path / "terms.txt"
    plain.write_text("# my groups\nbakers\n\n drummers\n")
    assert read_identifiers(listed) == Identifiers(("bakers", "no", "drummers"), "longest")
    assert read_identifiers(plain) == Identifiers(("bakers", "drummers"), "single")


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("t.yaml", b"", "has no terms"),
        ("t.yaml", b"term: [bakers]\n", "term: unknown key; did you mean 'terms'"),
        ("t.yaml", b"terms: bakers\n", "is not a list"),
        ("t.yaml", b"terms: [bakers, no]\n", r"terms\[1\]: false is not a text"),
        ("t.yaml", b"terms: [bakers]\npieces: first\n", '"first" is not known'),
        ("t.yaml", b"terms: [bakers, cyclists, bakers]\n", r"terms\[2\]: 'bakers' appears twice"),
        ("t.yaml", b"terms: [Bakers]\n", r"terms\[0\]: 'Bakers' has capital letters; write 'bakers'"),
        ("t.yaml", b"terms: [' ']\n", r"terms\[0\]: ' ' is empty"),
        ("t.txt", b"bakers\n\nbakers\n", r"t\.txt:3: 'bakers' appears twice"),
        ("t.txt", b"b\xe9kers\n", "not UTF-8"),
        ("t.csv", b"bakers\n", "unknown format of word list"),
    ],
)
def test_bad_list_is_refused(tmp_path, name, content, problem):
    assert_file_refused(tmp_path / name, content, problem, read_identifiers)


@pytest.mark.parametrize(
    ("term", "pieces", "problem"),
    [
        ("drummers", "single", r"'drummers' is 2 WordPieces \(drum ##mers\).*pieces: longest"),
        ("zither", "longest", "'zither' is not in the encoder's vocabulary"),
    ],
)
def test_a_term_without_its_piece_is_refused(term, pieces, problem):
    one_piece = ids_of(("garden", "garden"), ("bakers", "bakers"))
    assert identifier_ids(Identifiers(("garden", "bakers")), TOKENIZER) == one_piece
    with refused(problem):
        identifier_ids(Identifiers(("bakers", term), pieces), TOKENIZER)


def test_the_longest_piece_counts_its_marks_and_the_first_of_equals_wins():
    terms = Identifiers(("bakers", "drummers", "cyclists", "gardeners"), "longest")
    # ##mers (6) before drum (4); ##sts (5) before ##li (4) and cyc (3); garden (6) before ##ers (5)
    longest = zip(terms.terms, ("bakers", "##mers", "##sts", "garden"), strict=True)
    assert identifier_ids(terms, TOKENIZER) == ids_of(*longest)
    ties = Tokenizer([*SPECIAL, "abcd", "##ef"])
    assert identifier_ids(Identifiers(("abcdef",), "longest"), ties) == {"abcdef": 5}


def test_the_papers_lists_have_their_numbers_of_terms():
    ghc, stormfront = (
        set(read_identifiers(HATE_SPEECH / f"identifiers_{name}.yaml").terms)
        for name in ("ghc", "stormfront")
    )
    assert (len(ghc), len(stormfront)) == (25, 10)
    assert stormfront < ghc


def test_the_example_encoder_reads_every_word_of_the_example_in_one_piece():
    tokenizer = Tokenizer.load(HATE_SPEECH / "example-encoder/vocab.txt")
    words = tokenizer.vocabulary
    texts = [
        *read_labelled(HATE_SPEECH / "example.csv")["text"],
        *read_news(HATE_SPEECH / "example_news.jsonl")["text"],
        *read_texts(HATE_SPEECH / "sentences.txt")["text"],
        *read_texts(HATE_SPEECH / "sentences_example.txt")["text"],
    ]
    assert {word for text in texts for word in re.findall(r"\w+|[^\w\s]", text.lower())} <= set(words)
    assert "[UNK]" not in tokenizer.pieces("unheard of words take letters0")
    ids = identifier_ids(read_identifiers(HATE_SPEECH / "identifiers_example.yaml"), tokenizer)
    assert [words[i] for i in ids.values()] == ["actors", "musicians", "sailors", "tourists"]
