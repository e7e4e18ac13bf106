"""A step by hand: what its rule tells it, and how its function gets it."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Literal

import pytest
from annotated_types import Ge, Gt, Le
from pydantic.dataclasses import dataclass

from biaslab.core.errors import InputError
from biaslab.core.settings import PYDANTIC, Integer, Number
from biaslab.run.plan import steps
from biaslab.run.plan.steps import function_of, given, run_step


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
