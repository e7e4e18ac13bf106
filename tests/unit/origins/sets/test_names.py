"""Names of sets of documents."""

import re
from pathlib import Path

import pytest

from biaslab.bias.word_sets import RESERVED, read_word_sets
from biaslab.core.errors import InputError
from biaslab.origins import expansion
from biaslab.origins import sets as names
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
