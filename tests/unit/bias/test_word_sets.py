"""Files of word sets, and their words in a vocabulary."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from biaslab.bias.measures import PARAMETERS
from biaslab.bias.word_sets import in_vocabulary, read_word_sets
from naive import embeddings as naive
from refusals import assert_file_refused, refused

FOLDER = Path(__file__).parents[3] / "workflow" / "resources" / "word_sets"
GOOD = {
    "name": "pets",
    "title": "Cats and dogs against good and bad",
    "source": "nobody",
    "targets": "{cats: [cat, kitten], dogs: [dog, puppy, hound]}",
    "attributes": "{good: [good, nice], bad: [bad, poor]}",
}


@pytest.fixture
def write(tmp_path):
    """Write a file of word sets with some keys changed; None drops a key."""

    def write(**changes):
        path = tmp_path / "pets.yaml"
        keys = {**GOOD, **changes}
        path.write_text("".join(f"{key}: {value}\n" for key, value in keys.items() if value is not None))
        return path

    return write


EIGHT = ("weat1", "caliskan6", "caliskan7", "caliskan8", "caliskan10")
SIZES = dict.fromkeys(EIGHT, (8, 8, 8, 8)) | {"caliskan9": (6, 6, 7, 7), "caliskan5": (16, 16, 8, 8)}
SIZES |= dict.fromkeys(("weat2", "caliskan1", "caliskan2"), (25, 25, 25, 25))
SIZES |= {"caliskan3": (32, 32, 25, 25), "caliskan4": (16, 16, 25, 25)}


@pytest.mark.parametrize("name", SIZES)
def test_the_tests_of_the_papers_have_their_published_sizes(name):
    word_sets = read_word_sets(FOLDER / f"{name}.yaml")
    assert tuple(len(words) for words in word_sets.sets.values()) == SIZES[name]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_file_holds_words_as_the_tokeniser_finds_them(path):
    word_sets = read_word_sets(path)
    assert word_sets.name == path.stem
    for words in word_sets.sets.values():
        assert naive.tokenize(" ".join(words)) == words


def test_tests_that_two_papers_share_have_equal_words():
    paper, instruments = (read_word_sets(FOLDER / f"{name}.yaml") for name in ("weat2", "caliskan2"))
    assert paper.sets == instruments.sets
    science, math = (read_word_sets(FOLDER / f"caliskan{n}.yaml") for n in (8, 7))
    paper = read_word_sets(FOLDER / "weat1.yaml")
    assert paper.targets == science.targets
    assert paper.attributes == math.attributes


def test_words_become_ids_in_the_order_of_the_sets(write):
    words = ["bad", "good", "dog", "nice", "puppy", "cat", "poor", "kitten"]
    vocabulary = {word: i for i, word in enumerate(words)}
    weat = in_vocabulary(read_word_sets(write()), vocabulary)
    assert weat.name == "pets"
    assert tuple(weat.lost) == ("cats", "dogs", "good", "bad")
    np.testing.assert_array_equal(weat.S, [5, 7])
    np.testing.assert_array_equal(weat.T, [2, 4])
    np.testing.assert_array_equal(weat.A, [1, 3])
    np.testing.assert_array_equal(weat.B, [0, 6])
    assert {ids.dtype for ids in (weat.S, weat.T, weat.A, weat.B)} == {np.dtype(np.int64)}
    assert weat.lost == {"cats": (), "dogs": ("hound",), "good": (), "bad": ()}
    assert weat.lost_words == ["hound"]


@pytest.mark.parametrize("present", [["dog"], []])
def test_a_set_with_fewer_than_two_words_left_is_refused(write, present):
    vocabulary = {w: i for i, w in enumerate(["cat", "kitten", "good", "nice", "bad", "poor", *present])}
    with refused(
        r"pets: the vocabulary contains . of the 3 words of set 'dogs' .*: .*puppy, hound.*min_count"
    ):
        in_vocabulary(read_word_sets(write()), vocabulary)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"title": None}, "the key 'title' is missing"),
        ({"title": "''"}, "title: is empty"),
        ({"name": "a-b"}, "name: use letters"),
        ({"name": "baseline"}, "name: the workflow reserves this name"),
        ({"target": "{a: [b, c]}"}, "target: unknown key; did you mean 'targets'"),
        ({"targets": "{cats: [cat, kitten]}"}, "targets: give exactly two sets"),
        ({"targets": "{cats: [cat], dogs: [dog, puppy]}"}, "targets.cats: give at least two words"),
        ({"targets": "{cats: [cat, no], dogs: [dog, puppy]}"}, "targets.cats.1.: false is .* in quotes"),
        ({"targets": "{cats: [cat, cat], dogs: [dog, puppy]}"}, "set 'cats' contains 'cat' twice"),
        ({"targets": "{cats: [cat, pet], dogs: [dog, pet]}"}, "sets 'cats' and 'dogs' both contain 'pet'"),
        ({"attributes": "{good: [x, y], bad: [x, z]}"}, "sets 'good' and 'bad' both contain 'x'"),
        ({"attributes": "{cats: [x, y], bad: [w, z]}"}, "have the same name"),
        ({"targets": "{cats: [cat"}, "line [0-9]+: not valid YAML"),
        ({"parameters": "{c: 1}"}, "parameters: weat has no parameter 'c'; delete it"),
        ({"measure": "rippa"}, "measure: 'rippa' is not available .* did you mean 'ripa'"),
        ({"measure": "direct_bias", "parameters": "{d: 1}"}, "direct_bias has no parameter 'd'; use c"),
        ({"measure": "direct_bias", "parameters": "{c: 0}"}, "parameters.c: 0 is not more than 0; write"),
        ({"measure": "3"}, "measure: 3 is not a text"),
    ],
)
def test_malformed_files_are_refused(write, changes, problem):
    path = write(**changes)
    assert_file_refused(path, path.read_bytes(), problem, partial(read_word_sets, measures=PARAMETERS))


def test_a_file_may_name_its_measure_where_others_than_weat_are_measured(write):
    word_sets = read_word_sets(write(measure="direct_bias", parameters="{c: 2}"), PARAMETERS)
    assert (word_sets.measure, word_sets.parameters) == ("direct_bias", {"c": 2})
    words = [word for words in word_sets.sets.values() for word in words]
    weat = in_vocabulary(word_sets, {word: i for i, word in enumerate(words)})
    assert (weat.measure, weat.parameters) == ("direct_bias", {"c": 2})
    assert read_word_sets(write(), PARAMETERS).measure == "weat"
    with refused(r"measure: 'ripa' is not available here \(available: weat\)"):
        read_word_sets(write(measure="ripa"))


@pytest.mark.parametrize("content", [b"", b"- a\n- b\n", b"\xff\xfe\x00"])
def test_files_of_something_else_are_refused(tmp_path, content):
    assert_file_refused(tmp_path / "x.yaml", content, r"x\.yaml", read_word_sets)
    with refused("No such file"):
        read_word_sets(tmp_path / "absent.yaml")
