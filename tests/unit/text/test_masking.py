"""Masking: on a made-up list of harmless words, and the form of the real list."""

from pathlib import Path

import pytest

from biaslab.core.errors import InputError
from biaslab.text.identifiers import read_identifiers
from biaslab.text.masking import Masker, digest
from refusals import assert_file_refused

RESOURCES = Path(__file__).parents[3] / "workflow/resources"
LISTED = ["kettle", "spoons", "box", "pony", "cup", "mango"]
MASKER = Masker(frozenset(map(digest, LISTED)))


@pytest.mark.parametrize(
    ("word", "masked"),
    [
        ("kettle", "k****e"),
        ("Kettle", "K****e"),
        ("KETTLES", "K*****S"),
        ("spoon", "s***n"),
        ("boxes", "b***s"),
        ("box", "***"),
        ("ponies", "p****s"),
        ("cups", "c**s"),
        ("mangoes", "m*****s"),
    ],
)
def test_listed_words_and_their_plurals_are_masked(word, masked):
    assert MASKER(word) == masked


@pytest.mark.parametrize(
    "word", ["", "s", "es", "ies", "cupes", "cupe", "kettl", "kettled", "baker", "##ket", "Ünïcödé", "\ud83d"]
)
def test_other_words_stay_as_they_are(word):
    assert MASKER(word) == word


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "has no digests"),
        (b"# a\nkettle\n", r"m\.txt:2: not a SHA-256 digest"),
        (digest("kettle").upper().encode() + b"\n", r"m\.txt:1: not a SHA-256 digest"),
        (b"\xff\n", "not UTF-8"),
    ],
)
def test_bad_list_is_refused_without_showing_the_line(tmp_path, content, problem):
    assert_file_refused(tmp_path / "m.txt", content, problem, Masker.load)
    with pytest.raises(InputError) as error:
        Masker.load(tmp_path / "m.txt")
    assert "kettle" not in str(error.value)


def test_the_real_list_holds_sorted_digests_and_masks_no_identifier():
    path = RESOURCES / "masked_words.txt"
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert lines == sorted(set(lines))
    masker = Masker.load(path)
    assert len(masker.digests) == len(lines) > 50
    for name in ("ghc", "stormfront", "example"):
        terms = read_identifiers(RESOURCES / f"hate_speech/identifiers_{name}.yaml").terms
        assert [masker(term) for term in terms] == list(terms)
