"""The digests of steps: derived from the commands that rules call."""

import os
import re
import shutil
from pathlib import Path

import pytest

from biaslab.core.errors import InputError
from biaslab.core.processor import target
from biaslab.run.area import load_area
from biaslab.run.areas import AREAS
from biaslab.run.code import PACKAGE, closure
from biaslab.run.steps import digests, given, mark_rules, step_digest, verb_code, verb_of

ROOT = Path(__file__).parents[3]
RULES = "\n".join(path.read_text() for path in sorted((ROOT / "workflow/rules").glob("*.smk")))
REPORTS = {f"{area.replace('_', '-')} report" for area in AREAS}
VERBS = sorted(REPORTS | {verb_of(line) for line in re.findall(r"\"biaslab [a-z][^{<\n]*", RULES)} - {""})


@pytest.fixture
def package(tmp_path):
    """A copy of the package to edit."""
    return Path(shutil.copytree(PACKAGE, tmp_path / "biaslab", ignore=shutil.ignore_patterns("__pycache__")))


def edit(package: Path, module: str, old: str, new: str) -> None:
    path = package / f"{module.removeprefix('biaslab.').replace('.', '/')}.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 10**9))


def append(package: Path, module: str) -> None:
    path = package.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    path.write_text(path.read_text() + "\nEXTRA = 1\n")
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 10**9))


def test_the_workflow_calls_verbs_of_every_area():
    assert len(VERBS) > 30
    assert {re.split(r"[ .]", verb.removeprefix("step "))[0].replace("-", "_") for verb in VERBS} >= set(
        AREAS
    )


def test_verbs_are_found_in_commands():
    assert verb_of("biaslab origins measure-baseline {input} --seed 1 > {log}") == "origins measure-baseline"
    assert verb_of("biaslab debiasing analogies {input:q}") == "debiasing analogies"
    assert verb_of("printf '%s' {params.json:q} > {output}") == ""
    assert verb_of("biaslab ranking report --units x") == "ranking report"
    with pytest.raises(InputError, match="there is no such command"):
        verb_of("biaslab origins measure-nothing {input}")


@pytest.mark.parametrize("verb", VERBS)
def test_a_digest_covers_all_that_the_verb_imports_and_no_other_area(verb):
    modules = closure(verb_code(verb)[0])
    own = verb.removeprefix("step ").partition(".")[0].split()[0].replace("-", "_")
    others = {f"biaslab.{area}" for area in AREAS if area != own}
    assert {".".join(module.split(".")[:2]) for module in modules}.isdisjoint(others)
    for module in modules:  # a closure: nothing that one of them imports is missing
        assert closure([module]) <= modules


@pytest.mark.parametrize(
    "verb",
    ["origins measure-baseline", "step ranking.simulate-ranking", "step fairness-testing.prepare-classifier"],
)
def test_an_edit_of_any_covered_module_changes_the_digest(package, verb):
    before = step_digest(verb, package)
    for module in sorted(closure(verb_code(verb, package)[0], package)):
        append(package, module)
        after = step_digest(verb, package)
        assert after != before, module
        before = after


def test_messages_help_and_other_areas_rerun_nothing_here(package):
    verbs = [verb for verb in VERBS if verb.startswith("origins") and verb not in REPORTS]
    before = {verb: step_digest(verb, package) for verb in verbs}
    for module, old, new in (
        ("biaslab.run.config", "there is no preset", "no such preset"),
        ("biaslab.run.download", "cannot be downloaded", "did not come"),
        ("biaslab.run.wheels", "pip cannot download its wheel", "pip failed"),
        ("biaslab.core.files", "not UTF-8 text; save it as UTF-8", "save it as UTF-8"),
        ("biaslab.core.errors", "Bad input: one line", "Bad input, one line"),
        ("biaslab.ranking.simulation", "def simulate(", "NEW = 1\n\n\ndef simulate("),
        ("biaslab.run.options", "Seed of the whole run", "The seed"),
        ("biaslab.run.areas", "AREAS = (", 'AREAS = ("hate_speech", '),
    ):
        edit(package, module, old, new)
    assert {verb: step_digest(verb, package) for verb in verbs} == before


def test_editing_a_tester_retrains_no_network(package):
    area = "step fairness-testing"
    prepare, search = f"{area}.prepare-classifier", f"{area}.search-discrimination"
    before = step_digest(prepare, package), step_digest(search, package)
    append(package, "biaslab.fairness_testing.testers.adf")
    assert step_digest(prepare, package) == before[0]
    assert step_digest(search, package) != before[1]


def test_the_function_of_a_verb_and_its_helpers_count(package):
    verb = "origins select-sets"
    before = step_digest(verb, package)
    edit(package, "biaslab.origins.cli", 'f"{estimator}_mean"', 'f"{estimator}_sd"')
    assert step_digest(verb, package) != before
    assert step_digest("origins evaluate", package) == step_digest("origins evaluate")


@pytest.mark.parametrize("area", AREAS)
def test_a_report_covers_the_modules_of_its_items(area):
    modules, texts = verb_code(f"{area.replace('_', '-')} report")
    for item in load_area(area).items:
        assert item.make.partition(":")[0] in modules
        assert any(item.make in text for text in texts)


def test_digests_are_kept_until_the_code_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("BIASLAB_CACHE", str(tmp_path / "cache"))
    first = digests(VERBS[:3])
    kept = list((tmp_path / "cache/steps").glob("*.json"))
    assert len(kept) == 1
    kept[0].write_text(kept[0].read_text().replace(first[VERBS[0]], "0" * 16))
    assert digests(VERBS[:3])[VERBS[0]] == "0" * 16, "the kept ones are taken"
    kept[0].write_text("{")
    assert digests(VERBS[:3]) == first, "a damaged file is made anew"


def test_every_rule_is_marked_by_its_command():
    class Rule:
        def __init__(self, name, shellcmd):
            self.name, self.shellcmd, self.params = name, shellcmd, {}

        def set_params(self, **params):
            self.params |= params

    rules = [Rule("a", "biaslab origins evaluate {input}"), Rule("b", "true"), Rule("c", None)]
    named = Rule("d", "biaslab {params.area} report {params.units:q}")
    named.params = {"area": "ranking", "units": "[]"}
    told = Rule("e", "biaslab step ranking.simulate-ranking --given {params.given:q}")
    told.params = {"given": given(seed=3)}
    found = step_digest("origins evaluate"), step_digest("ranking report")
    simulating = step_digest("step ranking.simulate-ranking")
    assert mark_rules([*rules, named, told]) == {"a": found[0], "d": found[1], "e": simulating}
    assert told.params["settings"]({}) == '{"seed": 3}', "another seed runs it again"
    assert [rule.params for rule in rules] == [{"code": found[0], "processor": target()}, {}, {}]
    assert named.params["code"] == found[1]
