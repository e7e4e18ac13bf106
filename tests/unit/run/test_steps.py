"""Steps: the digests that rules name, what a rule tells its step, and how the function gets it."""

import json
import os
import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Literal

import pytest
from annotated_types import Ge, Gt, Le
from pydantic.dataclasses import dataclass

from biaslab.core.errors import InputError
from biaslab.core.processor import target
from biaslab.core.settings import PYDANTIC, Integer, Number
from biaslab.run.area import load_area
from biaslab.run.areas import AREAS
from biaslab.run.plan import steps
from biaslab.run.plan.steps import (
    SHARED,
    digests,
    function_of,
    given,
    mark_rules,
    run_step,
    step,
    step_digest,
    step_modules,
)
from biaslab.run.record.code import PACKAGE, closure, source_of

ROOT = Path(__file__).parents[3]
RULES = "\n".join(path.read_text() for path in sorted((ROOT / "workflow/rules").glob("*.smk")))
REPORTS = {f"{area.replace('_', '-')}.report" for area in AREAS}
CALLED = set(re.findall(r'\bstep\("([a-z0-9.-]+)"\)', RULES))
STEPS = sorted(REPORTS | CALLED)


@pytest.fixture
def package(tmp_path):
    return Path(shutil.copytree(PACKAGE, tmp_path / "biaslab", ignore=shutil.ignore_patterns("__pycache__")))


def edit(package: Path, module: str, old: str, new: str) -> None:
    path = source_of(module, package)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 10**9))


def append(package: Path, module: str) -> None:
    text = source_of(module, package).read_text()
    edit(package, module, text, f"{text}\nEXTRA = 1\n")


def test_rules_call_every_step_there_is():
    groups = {area.replace("_", "-"): load_area(area).steps for area in AREAS} | SHARED
    assert {f"{group}.{name}" for group, names in groups.items() for name in names} == CALLED


@pytest.mark.parametrize("name", STEPS)
def test_a_digest_covers_all_that_the_step_imports_and_no_other_area(name):
    modules = closure(step_modules(name))
    own = name.partition(".")[0].replace("-", "_")
    others = {f"biaslab.{area}" for area in AREAS if area != own}
    assert {".".join(module.split(".")[:2]) for module in modules}.isdisjoint(others)
    for module in modules:  # a closure: nothing that one of them imports is missing
        assert closure([module]) <= modules


def test_an_edit_of_any_covered_module_changes_the_digest(package):
    name = "ranking.simulate-ranking"
    before = step_digest(name, package)
    for module in sorted(closure(step_modules(name), package)):
        append(package, module)
        after = step_digest(name, package)
        assert after != before, module
        before = after


def test_docstrings_and_other_code_rerun_nothing_here(package):
    names = [name for name in STEPS if name.startswith("origins") and name not in REPORTS]
    before = {name: step_digest(name, package) for name in names}
    for module, old, new in (
        ("biaslab.run.plan.config", "there is no preset", "no such preset"),
        ("biaslab.run.data.download", "cannot be downloaded", "did not come"),
        ("biaslab.run.data.wheels", "pip cannot download its wheel", "pip failed"),
        ("biaslab.core.errors", "Bad input: one line", "Bad input, one line"),
        ("biaslab.ranking.simulation", "def simulate(", "NEW = 1\n\n\ndef simulate("),
        ("biaslab.run.areas", "AREAS = (", 'AREAS = ("hate_speech", '),
    ):
        edit(package, module, old, new)
    assert {name: step_digest(name, package) for name in names} == before


@pytest.mark.parametrize(
    ("module", "kept", "changed"),
    [
        (
            "biaslab.fairness_testing.testers.adf",
            "fairness-testing.prepare-classifier",
            "fairness-testing.search-discrimination",
        ),
        ("biaslab.origins.checks.brittleness", "embeddings.train-glove", "origins.predict-flips"),
    ],
)
def test_an_edit_reruns_the_steps_that_import_the_module_alone(package, module, kept, changed):
    before = [step_digest(name, package) for name in (kept, changed)]
    append(package, module)
    after = [step_digest(name, package) for name in (kept, changed)]
    assert [a == b for a, b in zip(after, before, strict=True)] == [True, False]


@pytest.mark.parametrize("area", AREAS)
def test_a_report_covers_the_modules_of_its_items(area):
    modules = step_modules(f"{area.replace('_', '-')}.report")
    assert {item.make.__module__ for item in load_area(area).items} <= set(modules)


def test_digests_are_kept_until_the_code_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("BIASLAB_CACHE", str(tmp_path / "cache"))
    first = digests(STEPS[:3])
    kept = list((tmp_path / "cache/steps").glob("*.json"))
    assert len(kept) == 1
    kept[0].write_text(kept[0].read_text().replace(first[STEPS[0]], "0" * 16))
    assert digests(STEPS[:3])[STEPS[0]] == "0" * 16, "the kept ones are taken"
    kept[0].write_text("{")
    assert digests(STEPS[:3]) == first, "a damaged file is made anew"


def test_every_rule_is_marked_by_its_step():
    class Rule:
        def __init__(self, name, shellcmd, **params):
            self.name, self.shellcmd, self.params = name, shellcmd, params

        def set_params(self, **params):
            self.params |= params

    told = Rule("a", step("ranking.simulate-ranking"), given=given(seed=3))
    named = Rule("b", step("{params.step}"), step="ranking.report")
    copy = {"given": given(mirror="here"), "sha256": "0" * 64}
    others = [Rule("c", "true"), Rule("d", None), Rule("e", step("datasets.fetch-dataset"), **copy)]
    digest, of_report = step_digest("ranking.simulate-ranking"), step_digest("ranking.report")
    of_copy = step_digest("datasets.fetch-dataset")
    assert mark_rules([told, named, *others]) == {"a": digest, "b": of_report, "e": of_copy}
    assert told.params["settings"]({}) == '{"seed": 3}', "another seed runs it again"
    assert (told.params["code"], told.params["processor"]) == (digest, target())
    assert named.params["code"] == of_report
    assert [rule.params for rule in others] == [{}, {}, copy], "a copy is known by its checksum alone"


# --- a step by hand


@dataclass(frozen=True, config=PYDANTIC)
class Glaze:
    """A toy group of settings."""

    kind: Annotated[Literal["sweet", "plain"], "sweet or plain"] = "plain"
    layers: Annotated[Integer, "layers of it", Ge(1), Le(5)] = 1
    minutes: Annotated[Number | None, "minutes in the oven", Gt(0)] = None


CALLS = []


def bake(
    cakes: list[Path], out: Path, glaze: Glaze, others: dict[str, Glaze], n: int, say=print, threads: int = 1
) -> None:
    """A step."""
    say("baking")
    CALLS.append((cakes, out, glaze, others, n, threads))


@pytest.fixture
def told(monkeypatch):
    monkeypatch.setattr(steps, "function_of", lambda name: "toy_bakery:bake")
    monkeypatch.setitem(sys.modules, "toy_bakery", SimpleNamespace(bake=bake))

    def call(values, threads=None):
        said = []
        CALLS.clear()
        run_step("toy.bake", values if isinstance(values, str) else json.dumps(values), threads, said.append)
        assert said == ["baking"]
        return CALLS[0]

    return call


GIVEN = {"cakes": ["a", "b"], "out": "c.tsv", "glaze": {"layers": 3}, "others": {"x": {}}, "n": "4"}


def test_a_function_gets_the_types_that_it_asks_for(told):
    cakes, out, glaze, others, n, threads = told(GIVEN, threads=2)
    assert (cakes, out) == ([Path("a"), Path("b")], Path("c.tsv"))
    assert (glaze, others, n, threads) == (Glaze(layers=3), {"x": Glaze()}, 4, 2)
    assert told(GIVEN)[-1] == 1


def test_a_file_that_only_the_repository_has_is_found_there(told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cakes, *_ = told(GIVEN | {"cakes": ["workflow/resources/masked_words.txt", "workflow/none"]})
    assert cakes[0].is_absolute()
    assert cakes[0].is_file()
    assert cakes[1] == Path("workflow/none")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"icing": 1}, "icing: unknown"),
        ({"glaze": {"layer": 1}}, "glaze.layer: unknown key; did you mean 'layers'?"),
        ({"glaze": {"layers": 9}}, "layers: 9 is more than 5; write a whole number: layers of it"),
        (
            {"glaze": {"minutes": 0}},
            "minutes: 0 is not more than 0; write a number or null: minutes in the oven",
        ),
        (
            {"glaze": {"kind": "plian"}},
            'kind: "plian" is not known; did you mean .plain..; write sweet or plain',
        ),
        ({"glaze": 3}, "glaze: 3 is not a mapping"),
        ({"cakes": "a"}, 'cakes: "a" is not a list'),
        ({"n": "many"}, 'n: "many" is not a whole number'),
    ],
)
def test_what_the_function_cannot_take_is_refused_in_one_line(told, change, problem):
    with pytest.raises(InputError, match=problem.replace("?", r"\?")) as error:
        told(GIVEN | change)
    assert "\n" not in str(error.value)


def test_what_is_missing_or_no_json_is_refused(told):
    with pytest.raises(InputError, match=r"--given: the step toy.bake also needs glaze, others, n"):
        told({"cakes": [], "out": "c"})
    for text in ("{", "[]", "3", '{"n": 1, "n": 2}'):
        with pytest.raises(InputError, match=r"--given: not (a mapping in|valid) JSON"):
            told(text)


def test_an_unknown_step_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"unknown step 'hate-speech.train-clasifier'; did you mean"):
        function_of("hate-speech.train-clasifier")
    with pytest.raises(InputError, match=r"unknown step 'train'"):
        function_of("train")


class Named(dict):
    """Files as Snakemake hands them to a function of parameters."""


def test_a_rule_tells_its_files_wildcards_and_settings():
    make = given(
        lambda wildcards: {"glaze": {"layers": len(wildcards["cake"])}}, "cake", seed=1, to="x/{cake}/y"
    )
    files = Named(flour="flour.txt", eggs=["1", "2"], milk=[])
    said = json.loads(make({"cake": "plum"}, files, Named(out="cake.tsv")))
    assert said == {
        "flour": "flour.txt",
        "eggs": ["1", "2"],
        "out": "cake.tsv",
        "glaze": {"layers": 4},
        "cake": "plum",
        "seed": 1,
        "to": "x/plum/y",
    }
    settings = {"glaze": {"layers": 4}, "cake": "plum", "seed": 1, "to": "x/plum/y"}
    assert json.loads(make.settings({"cake": "plum"})) == settings, "what runs a step again, but its files"
