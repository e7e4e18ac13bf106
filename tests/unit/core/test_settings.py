"""A setting is said once: schema, texts, options and the object of a function follow from its field."""

import ast
import importlib.util
import re
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer
import yaml
from typer.testing import CliRunner

from biaslab.core.errors import InputError
from biaslab.core.schema import fill_defaults, find_problem
from biaslab.core.settings import Count, Field, NotNegative, build, check, default_of, plain, schema_of
from biaslab.run.area import load_area
from biaslab.run.areas import AREAS
from biaslab.run.options import grouped, option

ROOT = Path(__file__).parents[3]
SRC = ROOT / "src/biaslab"


@dataclass(frozen=True, kw_only=True)
class Wheel:
    """A wheel."""

    spokes: Annotated[Count | None, "spokes of it; null for none"] = None
    lambda_: Annotated[NotNegative, "its friction"] = 0.0


@dataclass(frozen=True, kw_only=True)
class Toy(Wheel):
    """A toy, and what it rolls on."""

    colours: Annotated[
        tuple[Literal["red", "blue"], ...], "colours", Field(is_filled=True, is_unique=True)
    ] = ("red",)
    wheel: Wheel = Wheel(spokes=8)
    others: Annotated[dict[Annotated[str, "small letters", Field(pattern="^[a-z]+$")], Wheel], "by name"] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class Longer(Toy):
    """The same with a field more."""

    metres: Annotated[float, "metres that it rolls", Field(gt=0, le=9.5)] = 2.5


def generated():
    spec = importlib.util.spec_from_file_location("generated", ROOT / "docs/generated.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_more_field_is_found_in_schema_text_table_option_and_object():
    schema = schema_of(Longer)
    assert schema["properties"]["metres"] == {
        "description": "metres that it rolls",
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": 9.5,
        "default": 2.5,
    }
    assert schema | {"properties": None} == schema_of(Toy) | {
        "properties": None,
        "description": "the same with a field more",
    }
    pages = generated()
    shown = schema["properties"]["metres"]
    assert pages._key("metres", shown, 1) == ["  metres: 2.5 # metres that it rolls"]
    row = ("`toy.metres`", "number", "`2.5`", "> 0; ≤ 9.5", "metres that it rolls")
    assert row in list(pages._rows("toy", schema))

    app, got = typer.Typer(), []

    @app.command()
    @grouped
    def roll(distance: option(Longer, "metres", "--far") = Longer.metres):
        got.append(build(Longer, {"metres": distance}))

    assert "Metres that it rolls." in CliRunner().invoke(app, ["--help"]).output
    CliRunner().invoke(app, [], catch_exceptions=False)
    CliRunner().invoke(app, ["--far", "3"], catch_exceptions=False)
    assert [one.metres for one in got] == [2.5, 3.0]
    assert CliRunner().invoke(app, ["--far", "10"]).exit_code == 2


def test_what_a_command_gives_as_default_goes_before_that_of_the_fields():
    app, got = typer.Typer(), []

    @app.command()
    @grouped
    def spin(wheel: Wheel = Wheel(spokes=6)):
        got.append(wheel)

    CliRunner().invoke(app, ["--lambda", "1"], catch_exceptions=False)
    assert got == [Wheel(spokes=6, lambda_=1.0)]


def test_the_schema_of_each_kind():
    schema = schema_of(Toy)
    assert list(schema["properties"]) == ["colours", "wheel", "others", "spokes", "lambda"], "own keys first"
    assert schema["properties"]["colours"] == {
        "description": "colours",
        "type": "array",
        "items": {"type": "string", "enum": ["red", "blue"]},
        "minItems": 1,
        "uniqueItems": True,
        "default": ["red"],
    }
    wheel = schema["properties"]["wheel"]
    assert (wheel["description"], wheel["default"]) == ("a wheel", {})
    assert wheel["properties"]["spokes"] == {
        "description": "spokes of it; null for none",
        "type": ["integer", "null"],
        "minimum": 1,
        "default": 8,
    }
    assert schema["properties"]["others"]["propertyNames"]["pattern"] == "^[a-z]+$"
    assert schema["properties"]["others"]["additionalProperties"]["properties"]["spokes"]["default"] is None
    assert fill_defaults({"wheel": {"lambda": 2}}, schema)["wheel"] == {"spokes": 8, "lambda": 2}


def test_an_object_is_made_of_its_keys_and_checked():
    wheel = build(Wheel, {"lambda": 2, "spokes": 3})
    assert wheel == Wheel(lambda_=2.0, spokes=3)
    assert plain(wheel) == {"spokes": 3, "lambda": 2}
    check(wheel)
    with pytest.raises(InputError, match=r"^lambda: -1 is less than 0; write a number: its friction$"):
        check(Wheel(lambda_=-1.0))
    assert "colours: the list names something twice" in find_problem(
        plain(Toy(colours=("red", "red"), others={})), schema_of(Toy)
    )


RATE = {"properties": {"rate": {"type": "number", "description": "learning rate"}}}


@pytest.mark.parametrize("text", ["5e-05", "1e5", "5.e3", "-2E-3", "2.5e7"])
def test_numbers_that_yaml_reads_as_texts_are_named_with_their_remedy(text):
    problem = find_problem(yaml.safe_load(f"rate: {text}"), RATE)
    (remedy,) = re.findall(r"because YAML reads it as a text \(write (\S+)\); write a number", problem)
    assert yaml.safe_load(remedy) == float(text)
    assert "write 5" not in find_problem({"rate": "fast"}, RATE)


# --- no default stands twice

OTHERS = {
    ("biaslab/fairness_testing/text/certified.py", "learning_rate"): "of certified training",
    ("biaslab/hate_speech/pages.py", "width"): "characters of a line",
    ("biaslab/origins/cli.py", "baselines"): "of any corpus; the setting is that of planted ones",
    ("biaslab/text/language_model.py", "batch_size"): "of the language model, which no key changes",
}
"""Defaults that are no setting of the configuration, though one has their name and value."""


def settings_in(kind, default=None):
    """Yield the name and default of every setting of a section, those in groups and entries too."""
    for field in fields(kind):
        value = default_of(field) if default is None else getattr(default, field.name)
        for one in value.values() if isinstance(value, dict) else [value]:
            if is_dataclass(one):
                yield from settings_in(type(one), one)
            elif isinstance(one, int | float | str | tuple) and not isinstance(one, bool):
                yield field.name, one


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
    known = {(area, *one) for area in AREAS for one in settings_in(load_area(area).settings)}
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
