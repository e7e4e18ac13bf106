"""A hook of the site: for each library a page reference/api/ROOM.md of its public names and their docstrings.

The public modules of a room and the public names of a module are its ``__all__``. Only modules with
pydantic dataclasses are imported.
"""

import ast
import dataclasses
import importlib
import re
from collections.abc import Sequence
from pathlib import Path

from biaslab.core.settings import fields_of, setting_of

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src/biaslab"
ROOMS = ("embeddings", "bias", "classifiers", "ranking", "debiasing", "origins")

_SECTION = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)
_ITEMS = {"Parameters", "Attributes", "Returns", "Yields", "Raises"}
_ROLE = re.compile(r":\w+:`")


def on_files(files, config):
    """Add the pages of the libraries."""
    from mkdocs.structure.files import File

    for room in ROOMS:
        files.append(File.generated(config, f"reference/api/{room}.md", content=page(room)))
    return files


def public(module: ast.Module) -> list[str]:
    """Return what a module lists in ``__all__``."""
    for node in module.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return []


def modules(room: str) -> dict[str, ast.Module]:
    """Return the public modules of a room by their names."""
    names = public(_parse(PACKAGE / room / "__init__.py"))
    paths = {name: PACKAGE / room / name for name in names}
    folders = {name for name, path in paths.items() if (path / "__init__.py").is_file()}
    return {
        name: _parse(path / "__init__.py" if name in folders else path.with_suffix(".py"))
        for name, path in paths.items()
    }


def definitions(module: ast.Module) -> dict[str, ast.AST]:
    """Return what stands behind the public names of a module: what it takes from others, then its own."""
    found = {}
    for node in module.body:
        if isinstance(node, ast.ImportFrom):
            taken = {alias.name for alias in node.names} & set(public(module))
            found |= _taken(node.module, taken)
            continue
        targets = getattr(node, "targets", [getattr(node, "target", None)])  # of an assignment
        name = ast.unparse(targets[0]) if targets[0] else getattr(node, "name", "")
        if name in public(module):
            is_checked = any("PYDANTIC" in ast.unparse(d) for d in getattr(node, "decorator_list", []))
            found[name] = written_out(module.name, name, methods(node)) if is_checked else node
    return found


def _taken(module: str, names: set[str]) -> dict[str, ast.AST]:
    """Return what stands behind names that a module takes from another, where that one lists them, too."""
    if module.endswith(".settings"):
        return {name: written_out(module, name) for name in sorted(names)}
    file = PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
    defined = definitions(_parse(file)) if names else {}
    return {name: node for name, node in defined.items() if name in names}


def written_out(module: str, name: str, functions: Sequence[ast.FunctionDef] = ()) -> ast.ClassDef:
    """Return a pydantic dataclass with plain types, and the description of each field in the docstring."""
    kind, fields, attributes = getattr(importlib.import_module(module), name), [], []
    for field in dataclasses.fields(kind):
        setting = setting_of(fields_of(kind)[field.name])
        plain = "str" if setting.choices else setting.type.__name__
        fields.append(f"{field.name}: {plain}")
        if field.default is not dataclasses.MISSING:
            fields[-1] += f" = {field.default!r}"
        text = setting.about
        attributes += [f"{field.name} : {plain}", f"    {text[:1].upper()}{text[1:]}."]
    docstring = "\n".join([kind.__doc__, "", "Attributes", "----------", *attributes])
    node = ast.parse("\n    ".join([f"class {name}:", repr(docstring), *fields])).body[0]
    node.body += functions
    return node


def methods(node: ast.ClassDef) -> list[ast.FunctionDef]:
    """Return the public methods and properties of a class."""
    return [m for m in node.body if isinstance(m, ast.FunctionDef) and not m.name.startswith("_")]


def fields(node: ast.ClassDef) -> list[ast.AnnAssign]:
    """Return the public fields of a dataclass or named tuple."""
    return [f for f in node.body if isinstance(f, ast.AnnAssign) and not f.target.id.startswith("_")]


def sections(docstring: str) -> dict[str, str]:
    """Split a numpydoc docstring by its headings; what stands above the first is under ""."""
    first, *rest = _SECTION.split(docstring)
    return {
        "": first.strip(),
        **{name: text.rstrip() for name, text in zip(rest[::2], rest[1::2], strict=True)},
    }


def items(section: str) -> list[tuple[str, str]]:
    """Return the entries of a section: the line that names each, and what is said of it."""
    found: list[tuple[str, str]] = []
    for line in section.splitlines():
        if line and not line.startswith(" "):
            found.append((line, ""))
        elif line.strip():
            head, text = found[-1]
            found[-1] = (head, f"{text} {line.strip()}".strip())
    return found


def signature(node: ast.FunctionDef | ast.ClassDef) -> str:
    """Return how a function or class is called."""
    if isinstance(node, ast.FunctionDef):
        arguments = [a for a in node.args.posonlyargs + node.args.args if a.arg not in ("self", "cls")]
        node.args.posonlyargs, node.args.args = [], arguments
        returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        return f"{node.name}({ast.unparse(node.args)}){returned}"
    made = next((m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"), None)
    if made:
        return node.name + signature(made).removeprefix("__init__").removesuffix(" -> None")
    return f"{node.name}({', '.join(map(ast.unparse, fields(node)))})"


def page(room: str) -> str:
    """Return the page of a room."""
    parts = [f"# biaslab.{room}", _text(ast.get_docstring(_parse(PACKAGE / room / "__init__.py")))]
    for name, module in modules(room).items():
        parts += [f"## {name}", f"`from biaslab.{room} import {name}`", _text(ast.get_docstring(module))]
        for defined, node in definitions(module).items():
            parts += _entry(f"{name}.{defined}", node)
    return "\n\n".join(parts) + "\n"


def _parse(path: Path) -> ast.Module:
    module = ast.parse(path.read_text(encoding="utf-8"))
    module.name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    return module


def _entry(name: str, node: ast.AST) -> list[str]:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return [f"### {name}", f"```text\n{ast.unparse(node)}\n```"]
    parts = [f"### {name}", *_documented(node)]
    if isinstance(node, ast.ClassDef):
        for method in methods(node):
            parts += [f"#### {name}.{method.name}", *_documented(method)]
    return parts


def _documented(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    is_property = any(ast.unparse(d).endswith("property") for d in node.decorator_list)
    parts = [] if is_property else [f"```text\n{signature(node)}\n```"]
    for heading, text in sections(ast.get_docstring(node)).items():
        body = "\n".join(map(_item, items(text))) if heading in _ITEMS else _text(text)
        parts += [f"**{heading}**"] * bool(heading) + [body]
    return parts


def _item(item: tuple[str, str]) -> str:
    name, colon, kind = item[0].partition(" : ")
    return f"- `{name}`" + f" ({_text(kind)})" * bool(colon) + f": {_text(item[1])}" * bool(item[1])


def _text(text: str) -> str:
    return _ROLE.sub("`", text).replace("``", "`")


if __name__ == "__main__":
    print(*(PACKAGE / room / f"{name}.py" for room in ROOMS for name in modules(room)), sep="\n")
