"""A setting is said once: schema, texts, options and the object of a function follow from its field."""

import ast
import importlib.util
import re
from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer
import yaml
from annotated_types import Gt, Le
from pydantic import Field
from pydantic.dataclasses import dataclass
from typer.testing import CliRunner

from biaslab.core.errors import InputError
from biaslab.core.settings import (
    DISTINCT,
    FILLED,
    PYDANTIC,
    Count,
    NotNegative,
    Number,
    complete,
    fields_of,
    plain,
    validate,
)
from biaslab.run.area import load_area
from biaslab.run.areas import AREAS
from biaslab.run.commands.options import grouped, option

ROOT = Path(__file__).parents[3]
SRC = ROOT / "src/biaslab"


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Wheel:
    """A wheel."""

    spokes: Annotated[Count | None, "spokes of it; null for none"] = None
    lambda_: Annotated[NotNegative, "its friction"] = 0.0


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Toy(Wheel):
    """A toy, and what it rolls on."""

    colours: Annotated[tuple[Literal["red", "blue"], ...], "colours", FILLED, DISTINCT] = ("red",)
    wheel: Wheel = Wheel(spokes=8)
    others: Annotated[dict[Annotated[str, "small letters", Field(pattern="^[a-z]+$")], Wheel], "by name"] = (
        field(default_factory=dict)
    )


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Longer(Toy):
    """The same with a field more."""

    metres: Annotated[Number, "metres that it rolls", Gt(0), Le(9.5)] = 2.5


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Cake:
    """A cake."""

    sugar: Annotated[Count, "grams of sugar"]
    layers: Annotated[Count, "layers"] = 1


def refused(rate: object) -> str:
    with pytest.raises(InputError) as caught:
        validate(Annotated[Number, "learning rate"], rate)
    return str(caught.value)


def generated():
    spec = importlib.util.spec_from_file_location("generated", ROOT / "docs/generated.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_more_field_is_found_in_text_table_option_and_object():
    pages, kind = generated(), fields_of(Longer)["metres"]
    assert pages._key("metres", kind, 1, 2.5) == ["  metres: 2.5 # metres that it rolls"]
    row = ("`toy.metres`", "number", "`2.5`", "> 0; ≤ 9.5", "metres that it rolls")
    assert row in list(pages._rows("toy", Longer, plain(Longer())))

    app, got = typer.Typer(), []

    @app.command()
    @grouped
    def roll(distance: option(Longer, "metres", "--far") = Longer.metres):
        got.append(validate(Longer, {"metres": distance}))

    assert "Metres that it rolls." in CliRunner().invoke(app, ["--help"]).output
    CliRunner().invoke(app, [], catch_exceptions=False)
    CliRunner().invoke(app, ["--far", "3"], catch_exceptions=False)
    assert [one.metres for one in got] == [2.5, 3.0]
    assert CliRunner().invoke(app, ["--far", "10"]).exit_code == 2


def test_what_a_command_gives_as_default_goes_before_that_of_the_fields():
    app, got = typer.Typer(), []

    @app.command()
    @grouped
    def spin(wheel: Wheel = Wheel(spokes=6)):  # noqa: B008
        got.append(wheel)

    CliRunner().invoke(app, ["--lambda", "1"], catch_exceptions=False)
    assert got == [Wheel(spokes=6, lambda_=1.0)]


def test_the_table_of_each_kind():
    assert list(fields_of(Toy)) == ["colours", "wheel", "others", "spokes", "lambda"], "own keys first"
    rows = {row[0]: row[1:] for row in generated()._rows("toy", Toy, plain(Toy()))}
    assert rows["`toy.colours`"] == ("list", '`["red"]`', "`red`, `blue`", "colours")
    assert rows["`toy.wheel.spokes`"] == ("whole number or null", "`8`", "≥ 1", "spokes of it; null for none")
    assert rows["`toy.others`"] == ("mapping", "`{}`", "small letters; a wheel", "by name")
    assert rows["`toy.others.NAME.spokes`"][:2] == ("whole number or null", "`null`")


def test_missing_keys_get_the_defaults_of_their_group_and_of_each_entry():
    toy = complete(Toy, {"wheel": {"lambda": 2}, "others": {"big": {"spokes": 9}}}, "toy.yaml")
    assert toy["wheel"] == {"spokes": 8, "lambda": 2}
    assert toy["others"] == {"big": {"spokes": 9, "lambda": 0}}
    assert toy["spokes"] is None


def test_an_object_is_made_of_its_keys_and_checked():
    wheel = validate(Wheel, {"lambda": 2, "spokes": 3})
    assert wheel == Wheel(lambda_=2.0, spokes=3)
    assert plain(wheel) == {"spokes": 3, "lambda": 2}
    with pytest.raises(ValueError, match="lambda"):
        Wheel(lambda_=-1.0)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"lambda": -1}, "lambda: -1 is less than 0; write a number: its friction"),
        ({"lambda_": 1}, "lambda_: unknown key; did you mean 'lambda'?"),
        ({"lambda": True}, "lambda: true is not a number; write a number: its friction"),
        ({"lambda": float("inf")}, "lambda: Infinity is not a number; write a number: its friction"),
        ({"spokes": 2**63}, f"spokes: {2**63} is not a whole number or null"),
        ({"spokes": -(2**63)}, f"spokes: {-(2**63)} is not a whole number or null"),
        ({"spokes": 2.5}, "spokes: 2.5 is not a whole number or null"),
        ({"spokes": "3"}, 'spokes: "3" is not a whole number or null'),
        ({"wheel": {"spoke": 1}, "spokes": 0}, "spokes: 0 is less than 1"),
        ({"wheel": 3}, "wheel: 3 is not a mapping (key: value); write a mapping (key: value): a wheel"),
        ({"colours": ["red", "red"]}, "colours: the list names something twice; write a list: colours"),
        ({"colours": ["redd"]}, "colours[0]: \"redd\" is not known; did you mean 'red'?; write red or blue"),
        ({"others": {5: {}}}, "others[5]: not a usable name; write small letters"),
        ([], "a list is not a mapping"),
    ],
)
def test_the_topmost_problem_is_named_with_key_and_remedy(value, problem):
    with pytest.raises(InputError) as caught:
        complete(Toy, value, "toy.yaml")
    assert str(caught.value).startswith(f"toy.yaml: {problem}")


def test_a_missing_key_is_named_after_an_unknown_key():
    with pytest.raises(InputError, match=r"^the key 'sugar' is missing; the keys are sugar, layers$"):
        validate(Cake, {"layers": 1})
    with pytest.raises(InputError, match=r"^suger: unknown key; did you mean 'sugar'\?$"):
        validate(Cake, {"suger": 1})


@pytest.mark.parametrize("text", ["5e-05", "1e5", "5.e3", "-2E-3", "2.5e7"])
def test_numbers_that_yaml_reads_as_texts_are_named_with_their_remedy(text):
    problem = refused(yaml.safe_load(text))
    (remedy,) = re.findall(r"because YAML reads it as a text \(write (\S+)\); write a number", problem)
    assert yaml.safe_load(remedy) == float(text)
    assert "write 5" not in refused("fast")


# --- no default stands twice

OTHERS = {
    ("biaslab/fairness_testing/text/certified.py", "learning_rate"): "of certified training",
    ("biaslab/hate_speech/pages.py", "width"): "characters of a line",
    ("biaslab/origins/cli.py", "baselines"): "of any corpus; the setting is that of planted ones",
    ("biaslab/text/language_model.py", "batch_size"): "of the language model, which no key changes",
}
"""Defaults that are no setting of the configuration, though one has their name and value."""


def settings_in(values):
    """Yield the name and default of each setting that is a number or a text."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from settings_in(value)
        elif isinstance(value, int | float | str) and not isinstance(value, bool):
            yield name, value


def defaults_in(path: Path):
    """Yield the name and default of each parameter and each field in a file, where it is written out."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        pairs = []
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            pairs = zip(names[::-1], node.args.defaults[::-1], strict=False)
            pairs = [*pairs, *zip((a.arg for a in node.args.kwonlyargs), node.args.kw_defaults, strict=True)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            pairs = [(node.target.id, node.value)]
        for name, value in pairs:
            if isinstance(value, ast.Constant) and isinstance(value.value, int | float | str):
                yield name, value.value


def test_no_default_of_a_setting_stands_a_second_time():
    known = {(area, *one) for area in AREAS for one in settings_in(plain(load_area(area).settings()))}
    assert {("hate_speech", "validate_every", 25), ("origins", "epochs", 75)} <= known
    twice = set()
    for path in sorted(SRC.rglob("*.py")):
        place, part = path.relative_to(ROOT / "src").as_posix(), path.relative_to(SRC).parts[0]
        if path.name != "settings.py" and part != "run":
            areas = [part] if part in AREAS else AREAS
            twice |= {
                (place, name)
                for name, value in defaults_in(path)
                if not isinstance(value, bool) and any((area, name, value) in known for area in areas)
            }
    assert twice == set(OTHERS), "name the field of the dataclass instead: SETTINGS.field"


def test_a_second_default_would_be_found(tmp_path):
    (tmp_path / "a.py").write_text("def f(x, epochs=75, *, n=2): ...\nclass A:\n    width: int = 3\n")
    assert list(defaults_in(tmp_path / "a.py")) == [("epochs", 75), ("n", 2), ("width", 3)]
