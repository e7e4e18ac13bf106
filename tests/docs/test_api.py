"""The public names of the libraries: which they are, that they are documented, and that they stand alone."""

import ast
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import api
from lanes import first_quick

ROOT = Path(__file__).parents[2]

MODULES = {f"{room}.{name}": module for room in api.ROOMS for name, module in api.modules(room).items()}
ENTRIES = {
    f"{module}.{name}": node
    for module, tree in MODULES.items()
    for name, node in api.definitions(tree).items()
}
CLASSES = {name: node for name, node in ENTRIES.items() if isinstance(node, ast.ClassDef)}
FUNCTIONS = {name: node for name, node in ENTRIES.items() if isinstance(node, ast.FunctionDef)} | {
    f"{name}.{method.name}": method
    for name, node in CLASSES.items()
    for method in api.methods(node)
    if not any(ast.unparse(decorator).endswith("property") for decorator in method.decorator_list)
}
"""The functions of modules and the methods of classes; a property is documented by its first line."""
ARRAY = re.compile(r"\(.*\).*(int|float|bool)\d*|\(.*\) array|As for|as for|of any shape|:func:")

ALONE = """
import importlib, json, sys
room, *modules = sys.argv[1:]
for module in modules:
    importlib.import_module(f"biaslab.{module}")
print(json.dumps(sorted(sys.modules)))
"""


def listed(section):
    """Return the names that a section is about, and what it says of each."""
    return {
        name.strip(): (head, text)
        for head, text in api.items(section)
        for name in head.split(" : ")[0].split(",")
    }


def parameters(node):
    """Return the annotations of the parameters of a function by their names."""
    given = node.args
    arguments = [
        *given.posonlyargs,
        *given.args,
        *given.kwonlyargs,
        *filter(None, (given.vararg, given.kwarg)),
    ]
    return {
        argument.arg: ast.unparse(argument.annotation) if argument.annotation else ""
        for argument in arguments
        if argument.arg not in ("self", "cls")
    }


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_there(module):
    imported = importlib.import_module(f"biaslab.{module}")
    assert [name for name in imported.__all__ if not hasattr(imported, name)] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_documents_each_parameter_what_it_returns_and_what_it_raises(name):
    node = FUNCTIONS[name]
    sections = api.sections(ast.get_docstring(node))
    arguments = parameters(node)
    documented = listed(sections.get("Parameters", ""))
    assert set(documented) == set(arguments)
    assert (
        {"Returns", "Yields"} & set(sections) or node.returns is None or ast.unparse(node.returns) == "None"
    )
    raises = any(isinstance(part, ast.Raise) for part in ast.walk(node))
    assert "Raises" in sections or not raises
    for argument, annotation in arguments.items():
        if "ndarray" in annotation:
            assert ARRAY.search(" ".join(documented[argument])), argument
    if "ndarray" in ast.unparse(node.returns or ast.Constant("")):
        returned = sections.get("Returns", sections.get("Yields"))
        assert ARRAY.search(returned)


@pytest.mark.parametrize("name", CLASSES)
def test_a_public_class_documents_its_fields_and_parameters(name):
    node = CLASSES[name]
    sections = api.sections(ast.get_docstring(node))
    documented = listed(sections.get("Attributes", "") + "\n" + sections.get("Parameters", ""))
    made = next((m for m in node.body if getattr(m, "name", "") == "__init__"), None)
    names = {field.target.id for field in api.fields(node)} | set(parameters(made) if made else {})
    assert names <= set(documented)
    assert documented
    assert all(ast.get_docstring(method) for method in api.methods(node))


@pytest.mark.parametrize("room", api.ROOMS)
def test_the_page_of_a_room_has_every_public_name(room):
    headings = [line.removeprefix("### ") for line in api.page(room).splitlines() if line.startswith("### ")]
    assert headings == [name.removeprefix(f"{room}.") for name in ENTRIES if name.startswith(f"{room}.")]


@pytest.mark.slow
@pytest.mark.parametrize("room", first_quick(api.ROOMS))
def test_a_room_needs_nothing_of_the_house_above_it(room):
    names = [name for name in MODULES if name.startswith(f"{room}.")]
    done = subprocess.run(
        [sys.executable, "-c", ALONE, room, *names], capture_output=True, text=True, check=True
    )
    loaded = json.loads(done.stdout)
    rooms = {name.split(".")[1] for name in loaded if name.startswith("biaslab.")}
    assert rooms <= {room, "core", "embeddings", "bias"}
    assert not {"snakemake", "typer", "torch", "transformers"} & set(loaded)
