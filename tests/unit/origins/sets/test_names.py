"""Names of sets of documents."""

import re
from pathlib import Path

import numpy as np
import pytest

from biaslab.bias.names import EFFECTS, RESERVED
from biaslab.bias.word_sets import read_word_sets
from biaslab.core.errors import InputError
from biaslab.origins import expansion
from biaslab.origins import sets as names
from biaslab.origins.sets.selection import select_sets
from biaslab.run import config as configuration

ROOT = Path(__file__).parents[4]
SETUP = {
    "bias": {"weats": ["weat1", "a_2"]},
    "perturbations": {
        "sizes": [10, 30],
        "random_sizes": [5],
        "random_sets": 2,
        "retrainings": 1,
        "random_retrainings": None,
    },
    "ppmi_sets": {"sizes": [10]},
}


def test_the_pattern_knows_every_set_but_the_baseline():
    assert all(
        re.fullmatch(names.PATTERN, name)
        for name in (*expansion.perturbation_sets(SETUP), *expansion.ppmi_sets(SETUP))
    )
    for name in (names.BASELINE, "weat1", "weat1-increase", "weat1-random", "ppmi-increase", "random-10"):
        assert not re.fullmatch(names.PATTERN, name)


@pytest.mark.parametrize(
    ("name", "weat_and_kind", "is_by_ppmi"),
    [
        ("baseline", None, False),
        ("a_2-increase-10", ("a_2", "increase"), False),
        ("weat1-decrease-30", ("weat1", "decrease"), False),
        ("random-10-0", None, False),
        ("ppmi-weat1-decrease-30", None, True),
    ],
)
def test_a_name_tells_what_the_set_is(name, weat_and_kind, is_by_ppmi):
    assert names.weat_and_kind(name) == weat_and_kind
    assert names.is_by_ppmi(name) is is_by_ppmi


@pytest.mark.parametrize("name", [*RESERVED, "baselines", "ppmi_2", "increase"])
def test_configuration_and_word_sets_reserve_the_same_names(tmp_path, name):
    assert names.BASELINE in RESERVED
    content = (ROOT / "workflow/resources/word_sets/smoke.yaml").read_text(encoding="utf-8")
    path = tmp_path / f"{name}.yaml"
    path.write_text(re.sub("^name: .*", f"name: {name}", content, flags=re.M), encoding="utf-8")
    if name in RESERVED:
        with pytest.raises(InputError, match="name: this name is taken"):
            read_word_sets(path)
        with pytest.raises(InputError, match=f"weats.{name}: not a usable name"):
            configuration.load({"origins": {"weats": {name: str(path)}}}, ROOT)
    else:
        assert read_word_sets(path).name == name
        assert name in configuration.load({"origins": {"weats": {name: str(path)}}}, ROOT)["origins"]["weats"]


def test_readers_are_told_what_documents_do_and_the_name_what_their_removal_does():
    bias = {"weat1": np.array([0.5, -0.25, 0.0, 0.1])}
    chosen = select_sets(bias, [1], [], 0, 1).set_index("kind")["document"]
    for kind, effect in names.EFFECT_OF.items():
        value = bias["weat1"][chosen[kind]]
        assert effect == ("raises" if value > 0 else "lowers")
        assert names.DOCUMENTS[kind].startswith(effect.rstrip("s"))
    assert tuple(names.EFFECT_OF.values()) == EFFECTS == ("raises", "lowers")
    assert list(names.DOCUMENTS) == ["decrease", "random", "increase"]  # those that raise it first
