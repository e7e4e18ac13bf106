"""Names and documents of sets."""

import re
from pathlib import Path

import numpy as np
import pytest

from biaslab.bias.word_sets import RESERVED, read_word_sets
from biaslab.core.errors import InputError
from biaslab.origins import expansion
from biaslab.origins import sets as names
from biaslab.origins.sets.selection import members, select_ppmi_sets, select_sets
from biaslab.run.plan import config as configuration

ROOT = Path(__file__).parents[4]
SETUP = {
    "bias": {"weats": ["weat1", "a_2"]},
    "perturbations": {"sizes": [10, 30], "random_sizes": [5], "random_sets": 2}
    | {"retrainings": 1, "random_retrainings": None},
    "ppmi_sets": {"sizes": [10]},
}


def test_a_name_tells_what_the_set_is():
    tests = {"a_2-increase-10": ("a_2", "increase"), "weat1-decrease-30": ("weat1", "decrease")}
    tests |= dict.fromkeys(("baseline", "random-10-0", "ppmi-weat1-decrease-30"))
    assert {name: names.weat_and_kind(name) for name in tests} == tests
    assert [name for name in tests if names.is_by_ppmi(name)] == ["ppmi-weat1-decrease-30"]


def test_the_pattern_knows_every_set_but_the_baseline():
    assert all(
        re.fullmatch(names.PATTERN, name)
        for name in (*expansion.perturbation_sets(SETUP), *expansion.ppmi_sets(SETUP))
    )
    for name in (names.BASELINE, "weat1", "weat1-increase", "weat1-random", "ppmi-increase", "random-10"):
        assert not re.fullmatch(names.PATTERN, name)


@pytest.mark.parametrize("name", [*RESERVED, "baselines", "ppmi_2", "increase"])
def test_configuration_and_word_sets_reserve_the_same_names(tmp_path, name):
    assert names.BASELINE in RESERVED
    content = (ROOT / "workflow/resources/word_sets/smoke.yaml").read_text(encoding="utf-8")
    path = tmp_path / f"{name}.yaml"
    path.write_text(re.sub("^name: .*", f"name: {name}", content, flags=re.M), encoding="utf-8")
    if name in RESERVED:
        with pytest.raises(InputError, match="name: the workflow reserves this name"):
            read_word_sets(path)
        with pytest.raises(InputError, match=f"weats.{name}: not a usable name"):
            configuration.load({"origins": {"weats": {name: str(path)}}}, ROOT)
    else:
        assert read_word_sets(path).name == name
        assert name in configuration.load({"origins": {"weats": {name: str(path)}}}, ROOT)["origins"]["weats"]


BIAS = {"weat1": np.array([0.3, -0.5, 0.0, 0.9, -0.1]), "weat2": np.array([0.0, 0.0, 1.0, 0.0, -1.0])}
PPMI = np.array([0.3, np.nan, -0.5, 0.9, -0.1])


def test_targeted_sets_are_the_tails():
    sets = members(select_sets(BIAS, [1, 2], [], 0, 1))
    assert sets["weat1-decrease-1"].tolist() == [3]
    assert sets["weat1-decrease-2"].tolist() == [0, 3]
    assert sets["weat1-increase-2"].tolist() == [1, 4]
    assert sets["weat2-increase-2"].tolist() == [0, 4]  # of equal documents the first goes first
    assert sets["weat2-decrease-2"].tolist() == [0, 2]


def test_random_sets_repeat_with_the_seed():
    table = select_sets(BIAS, [1], [2, 3], 4, 1)
    random = table[table["kind"] == "random"]
    assert random.groupby("set").size().to_dict() == {f"random-{n}-{r}": n for n in (2, 3) for r in range(4)}
    assert set(random["weat"]) == {""}
    assert not random.duplicated(["set", "document"]).any()
    assert table.equals(select_sets(BIAS, [1], [2, 3], 4, 1))
    other = select_sets(BIAS, [1], [2, 3], 4, 2)
    assert not random["document"].equals(other[other["kind"] == "random"]["document"])


def test_random_documents_are_uniform():
    sets = select_sets({"weat1": np.arange(10.0)}, [], [3], 100, 1)
    counts = np.bincount(sets["document"], minlength=10)
    assert np.all(np.abs(counts - 30) < 25)


@pytest.mark.parametrize(
    ("select", "problem"),
    [
        (lambda: select_sets(BIAS, [6], [], 0, 1), "a set of 6 documents exceeds the corpus of 5"),
        (lambda: select_sets(BIAS, [1], [9], 1, 1), "a set of 9 documents exceeds the corpus of 5"),
        (lambda: select_sets({"weat1": PPMI}, [1], [], 0, 1), "weat1: document 1 has no estimate"),
        (
            lambda: select_ppmi_sets(PPMI, "weat1", [1, 5]),
            "a set of 5 documents exceeds the 4 documents with a differential",
        ),
        (lambda: members(select_sets(BIAS, [1], [], 0, 1), ["weat1-increase-7"]), "no perturbation set"),
    ],
)
def test_impossible_sets_are_refused(select, problem):
    with pytest.raises(InputError, match=problem):
        select()


def test_sets_by_ppmi_are_the_tails_of_those_documents_that_have_a_value():
    sets = members(select_ppmi_sets(PPMI, "weat1", [1, 4]))
    assert {name: documents.tolist() for name, documents in sets.items()} == {
        "ppmi-weat1-increase-1": [2],
        "ppmi-weat1-increase-4": [0, 2, 3, 4],
        "ppmi-weat1-decrease-1": [3],
        "ppmi-weat1-decrease-4": [0, 2, 3, 4],
    }
