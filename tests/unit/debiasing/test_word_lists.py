"""Word lists: ours, the authors' JSON files, and what an embedding has of them."""

import json
from pathlib import Path

import numpy as np
import pytest

from biaslab.debiasing.word_lists import (
    SetList,
    WordList,
    known_sets,
    known_words,
    read_scores,
    read_sets,
    read_words,
)
from refusals import refusal

LISTS = Path(__file__).parents[3] / "workflow/resources/word_lists"
HEAD = "name: mine\ntitle: My list\nsource: myself\n"


@pytest.fixture
def file(tmp_path):
    def write(content, name="list.yaml"):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return write


def test_our_lists_fit_together():
    defining, equalize = (read_sets(LISTS / f"{name}.yaml").sets for name in ("defining", "equalize"))
    occupations = read_words(LISTS / "occupations.yaml").words
    specific = set(read_words(LISTS / "gender_specific.yaml").words)
    assert len(defining) == 10  # Figure 2
    assert defining[0] == ("she", "he")
    assert {word for words in (*defining, *equalize) for word in words} <= specific
    assert not specific & set(occupations)
    assert len(occupations) > 300


def test_our_form_of_files(file):
    words = read_words(file(f"{HEAD}words: [nurse, 'no', été]"))
    assert (words.name, words.words) == ("mine", ("nurse", "no", "été"))
    sets = read_sets(file(f"{HEAD}sets:\n - [she, he]\n - [black, white, asian]"))
    assert (sets.name, sets.sets) == ("mine", (("she", "he"), ("black", "white", "asian")))


def test_the_authors_json_files(file):
    professions = [["nurse", -0.1, 0.9], ["judge", 0.0, -0.4]]
    words = read_words(file(json.dumps(professions), "professions.json"))
    assert words == WordList("professions", ("nurse", "judge"))
    words = read_words(file('["he", "she"]', "gender_specific_seed.json"))
    assert words == WordList("gender_specific_seed", ("he", "she"))
    sets = read_sets(file('[["woman", "man"], ["Mary", "John"]]', "definitional_pairs.json"))
    assert sets == SetList("definitional_pairs", (("woman", "man"), ("Mary", "John")))


BAD = {
    "list.yaml": [
        (read_words, "", "the key 'name' is missing; the keys are name, words, title, source"),
        (read_words, HEAD, "the key 'words' is missing"),
        (read_words, f"{HEAD}words: nurse", 'words: "nurse" is not a list; write a list: words'),
        (read_words, f"{HEAD}words: [nurse, no]", "words[1]: false is not a text"),
        (read_words, f"{HEAD}words: [nurse, '']", "words[1]: is empty"),
        (read_words, f"{HEAD}words: [nurse]", "the list has 1 word(s); give at least 2"),
        (read_words, f"{HEAD}words: [nurse, judge, nurse]", "'nurse' is repeated (2 times)"),
        (read_words, f"{HEAD}word: [nurse, judge]", "word: unknown key; did you mean 'words'?"),
        (read_words, "[nurse, judge]", "holds no mapping"),
        (read_words, "words: [", "not valid YAML"),
        (read_sets, f"{HEAD}sets: []", "has no set of words"),
        (read_sets, f"{HEAD}sets: [[she, he], [woman]]", "set 2 has 1 word(s) (woman); give at least 2"),
        (read_sets, f"{HEAD}sets: [she, he]", 'sets[0]: "she" is not a list'),
        (read_sets, f"{HEAD}sets: [[she, she]]", "'she' is repeated (2 times)"),
        (read_sets, f"{HEAD}sets: [[she, he], [she, him]]", "'she' is repeated (2 times)"),
    ],
    "list.json": [
        (read_words, "", "not JSON"),
        (read_words, '{"words": ["a"], "words": ["b"]}', "the key 'words' occurs more than once"),
        (read_words, '{"words": ["a", "b"]}', "a mapping is not a list"),
        (read_words, '[["nurse", 1], "judge"]', "[0]: a list is not a text"),
        (read_words, "[[1, 2], [3, 4]]", "[0]: 1 is not a text"),
        (read_words, '[["nurse", 1], ["nurse", 2]]', "'nurse' is repeated (2 times)"),
        (read_sets, '["she", "he"]', '[0]: "she" is not a list'),
    ],
}


@pytest.mark.parametrize(
    ("name", "read", "content", "problem"), [(n, *row) for n, of in BAD.items() for row in of]
)
def test_wrong_lists_are_refused(file, name, read, content, problem):
    message = refusal(read, file(content, name))
    assert problem in message
    assert name in message


@pytest.mark.parametrize("read", [read_words, read_sets])
@pytest.mark.parametrize("name", ["list.yaml", "list.json"])
def test_files_that_cannot_be_read_are_refused(tmp_path, read, name):
    assert "No such file" in refusal(read, tmp_path / name)
    (tmp_path / name).write_bytes(b"\xff\xfe")
    assert "not UTF-8" in refusal(read, tmp_path / name)


def test_lost_words_are_named():
    ids = {"she": 4, "he": 2, "her": 0, "nurse": 1}
    rows, lost = known_words(WordList("jobs", ("judge", "nurse", "he")), ids)
    np.testing.assert_array_equal(rows, [1, 2])
    assert lost == ("judge",)
    known = known_sets(SetList("pairs", (("she", "he"), ("her", "his"), ("Mary", "John"))), ids)
    assert known.rows == [(4, 2)]
    assert known.lost == ("his", "Mary", "John")
    assert known.dropped == (("her", "his"), ("Mary", "John"))

    known = known_sets(SetList("groups", (("black", "white", "asian"),)), {"black": 0, "asian": 1})
    assert known == ([(0, 1)], ("white",), ())


def test_lists_of_which_nothing_is_left_are_refused():
    message = refusal(known_words, WordList("jobs", ("judge", "nurse")), {"judge": 0})
    assert "jobs: the embedding has 1 of its 2 words (lost: nurse)" in message
    message = refusal(known_sets, SetList("pairs", (("she", "he"), ("her", "his"))), {"she": 0, "her": 1})
    assert "pairs: the embedding has no set with 2 words or more (lost: he, his)" in message
    many = tuple(f"word{i}" for i in range(13))
    assert "word9 and 3 more)" in refusal(known_words, WordList("many", many), {})


def test_scores_are_those_of_entries_with_two_numbers(tmp_path):
    path = tmp_path / "occupations.json"
    path.write_text(
        '[["nurse", -0.1, -0.9], ["actor", 1, 0], ["pilot", 0.5], ["judge", "a", 1], ["poet", true, 1]]'
    )
    assert read_scores(path) == {"nurse": (-0.1, -0.9), "actor": (1.0, 0.0)}
    path.write_text('["nurse", "actor"]')
    assert read_scores(path) == {}
    assert read_scores(tmp_path / "words.yaml") == {}
