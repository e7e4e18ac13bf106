"""Lists of identifiers, and the WordPieces that stand for them."""

import json
import os
import re
from pathlib import Path

import pytest

from biaslab.core.errors import InputError
from biaslab.text.corpora import read_news
from biaslab.text.identifiers import Identifiers, identifier_ids, read_identifiers
from biaslab.text.labelled import read_labelled, read_texts
from refusals import assert_file_refused

ROOT = Path(__file__).parents[3]
HATE_SPEECH = ROOT / "workflow/resources/hate_speech"
MIRROR = Path(os.environ.get("BIASLAB_MIRROR", ROOT / "../shared/data"))


class Greedy:
    """WordPieces by the longest match first, a word at a time."""

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary

    def pieces(self, text):
        return [piece for word in text.split() for piece in self._word(word)]

    def _word(self, word):
        found, start = [], 0
        while start < len(word):
            marked = (("##" if start else "") + word[start:end] for end in range(len(word), start, -1))
            piece = next((p for p in marked if p in self.vocabulary), None)
            if piece is None:
                return ["[UNK]"]
            found.append(piece)
            start += len(piece.removeprefix("##"))
        return found


TOKENIZER = Greedy(["[PAD]", "[UNK]", "bakers", "drum", "##mers", "cyc", "##li", "##sts", "garden", "##ers"])


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
        ("t.yaml", b"terms: []\n", "has no terms"),
        ("t.yaml", b"term: [bakers]\n", "term: unknown key; did you mean 'terms'"),
        ("t.yaml", b"terms: bakers\n", "is not a list"),
        ("t.yaml", b"terms: [bakers, no]\n", r"terms\[1\]: false is not a text"),
        ("t.yaml", b"terms: [bakers]\npieces: first\n", '"first" is not known'),
        ("t.yaml", b"terms: [bakers, cyclists, bakers]\n", r"terms\[2\]: 'bakers' is there twice"),
        ("t.yaml", b"terms: [Bakers]\n", r"terms\[0\]: 'Bakers' has capital letters; write 'bakers'"),
        ("t.yaml", b"terms: [' ']\n", r"terms\[0\]: ' ' is empty"),
        ("t.txt", b"\n# none\n", "has no terms"),
        ("t.txt", b"bakers\n\nbakers\n", r"t\.txt:3: 'bakers' is there twice"),
        ("t.txt", b"# a\nBakers\n", r"t\.txt:2: 'Bakers' has capital"),
        ("t.txt", b"b\xe9kers\n", "not UTF-8"),
        ("t.csv", b"bakers\n", "unknown kind of word list"),
    ],
)
def test_bad_list_is_refused(tmp_path, name, content, problem):
    assert_file_refused(tmp_path / name, content, problem, read_identifiers)


@pytest.mark.parametrize(
    ("term", "pieces", "problem"),
    [
        ("drummers", "single", r"'drummers' is 2 WordPieces \(drum ##mers\).*pieces: longest"),
        ("zither", "single", "'zither' is not in the encoder's vocabulary"),
        ("zither", "longest", "'zither' is not in the encoder's vocabulary"),
    ],
)
def test_a_term_without_its_piece_is_refused(term, pieces, problem):
    assert identifier_ids(Identifiers(("garden", "bakers")), TOKENIZER) == {"garden": 8, "bakers": 2}
    with pytest.raises(InputError, match=problem) as error:
        identifier_ids(Identifiers(("bakers", term), pieces), TOKENIZER)
    assert "\n" not in str(error.value)


def test_the_longest_piece_counts_its_marks_and_the_first_of_equals_wins():
    terms = Identifiers(("bakers", "drummers", "cyclists", "gardeners"), "longest")
    # ##mers (6) before drum (4); ##sts (5) before ##li (4) and cyc (3); garden (6) before ##ers (5)
    assert identifier_ids(terms, TOKENIZER) == {"bakers": 2, "drummers": 4, "cyclists": 7, "gardeners": 8}
    ties = Greedy(["[UNK]", "abcd", "##ef"])
    assert identifier_ids(Identifiers(("abcdef",), "longest"), ties) == {"abcdef": 1}


def vocabulary(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_the_papers_lists_have_their_numbers_of_terms():
    ghc, stormfront = (
        set(read_identifiers(HATE_SPEECH / f"identifiers_{name}.yaml").terms)
        for name in ("ghc", "stormfront")
    )
    assert (len(ghc), len(stormfront)) == (25, 10)
    assert stormfront < ghc


def test_the_papers_lists_are_those_of_the_news():
    path = MIRROR / "news_identity/news-identity.jsonl.gz"
    if not path.is_file():
        pytest.skip("needs news-identity in a mirror folder (BIASLAB_MIRROR)")
    assert set(read_identifiers(HATE_SPEECH / "identifiers_ghc.yaml").terms) == set(
        read_news(path)["identifier"]
    )


def test_every_sentence_to_explain_holds_an_identifier_of_both_lists():
    for name, terms in (("sentences", "stormfront"), ("sentences_example", "example")):
        listed = set(read_identifiers(HATE_SPEECH / f"identifiers_{terms}.yaml").terms)
        texts = read_texts(HATE_SPEECH / f"{name}.txt")["text"]
        held = [len(listed & set(re.findall(r"\w+", text.lower()))) for text in texts]
        assert sum(n > 0 for n in held) >= len(held) - (
            name == "sentences_example"
        )  # one without, to compare


def test_the_example_encoder_reads_every_word_of_the_example_in_one_piece():
    words = vocabulary(HATE_SPEECH / "example-encoder/vocab.txt")
    assert words[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert len(set(words)) == len(words)
    texts = [
        *read_labelled(HATE_SPEECH / "example.csv")["text"],
        *read_news(HATE_SPEECH / "example_news.jsonl")["text"],
        *read_texts(HATE_SPEECH / "sentences.txt")["text"],
        *read_texts(HATE_SPEECH / "sentences_example.txt")["text"],
    ]
    assert {word for text in texts for word in re.findall(r"\w+|[^\w\s]", text.lower())} <= set(words)
    tokenizer = Greedy(words)
    assert "[UNK]" not in tokenizer.pieces("unheard of words take letters0")
    ids = identifier_ids(read_identifiers(HATE_SPEECH / "identifiers_example.yaml"), tokenizer)
    assert [words[i] for i in ids.values()] == ["actors", "musicians", "sailors", "tourists"]


def test_the_example_encoder_is_a_bert_of_the_size_of_its_vocabulary():
    config = json.loads((HATE_SPEECH / "example-encoder/config.json").read_text(encoding="utf-8"))
    assert config["model_type"] == "bert"
    assert config["vocab_size"] == len(vocabulary(HATE_SPEECH / "example-encoder/vocab.txt"))
    assert config["hidden_size"] % config["num_attention_heads"] == 0
    assert vocabulary(HATE_SPEECH / "example-encoder/vocab.txt")[config["pad_token_id"]] == "[PAD]"
