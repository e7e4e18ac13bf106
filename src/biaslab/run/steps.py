"""The code behind each step of the workflow, derived from the command that the step's rule calls.

A step is one verb of ``biaslab``. Its digest covers the function of the verb, what this function refers to in
its own module and among the shared options, and every module that these import, as `biaslab.run.code` says.
Of ``biaslab AREA report`` it covers the modules that the area's items name.
"""

import ast
import contextlib
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path
from typing import Any

from biaslab.core import processor
from biaslab.core.cache import cache_folder, is_only_ours, make_private
from biaslab.core.errors import InputError
from biaslab.core.files import write_text
from biaslab.run import code
from biaslab.run.area import load_area
from biaslab.run.areas import AREAS

OPTIONS = "biaslab.run.options"
REPORT = "biaslab.cli.report"
"""The module of the verb ``report``, which every area has."""

_COMMAND = re.compile(r"\bbiaslab((?: [a-z][a-z0-9-]*)+)")


def verb_of(command: str) -> str:
    """Return the verb that a shell command calls, e.g. ``"origins measure-baseline"``; "" for none."""
    found = _COMMAND.search(command)
    if found is None:
        return ""
    words = found[1].split()
    for length in range(len(words), 0, -1):
        if _locate(tuple(words[:length])) is not None:
            return " ".join(words[:length])
    raise InputError(f"'biaslab {' '.join(words)}': there is no such command; correct the rule that calls it")


def step_digest(verb: str, package: Path = code.PACKAGE) -> str:
    """Return the digest of the code that a verb runs.

    Parameters
    ----------
    verb : str
        For example ``"origins measure-baseline"``.
    """
    modules, texts = verb_code(verb, package)
    return code.code_digest(*modules, more=texts, package=package)


def verb_code(verb: str, package: Path = code.PACKAGE) -> tuple[list[str], list[str]]:
    """Return what a verb runs: modules (without what they import in turn), and code of its own."""
    area, _, rest = verb.partition(" ")
    place = _locate(tuple(verb.split()), package)
    if place is None:
        raise InputError(f"there is no command 'biaslab {verb}'")
    modules, texts = _gather(*place, package)
    if rest == "report":
        items = load_area(area.replace("-", "_")).items
        modules |= {item.make.partition(":")[0] for item in items}
        modules.add(load_area(area.replace("-", "_")).reader.partition(":")[0])
        texts.append(json.dumps([astuple(item) for item in items]))
    return sorted(modules), texts


def digests(verbs: Iterable[str]) -> dict[str, str]:
    """Return the digests of verbs, kept in the user's cache as long as no file of the package changes."""
    state = hashlib.sha256()
    for file in sorted(code.PACKAGE.rglob("*")):
        if file.is_file() and file.parent.name != "__pycache__":
            state.update(f"{file.relative_to(code.PACKAGE)}\0".encode() + file.read_bytes() + b"\0")
    folder = cache_folder("steps")
    kept = folder / f"{state.hexdigest()}.json" if folder else None
    known = _read(kept)
    missing = {verb: step_digest(verb) for verb in verbs if verb not in known}
    if missing and kept is not None:
        with contextlib.suppress(InputError, OSError):  # the cache only saves time
            make_private(kept.parent)
            write_text(kept, json.dumps(known | missing))
    return {verb: (known | missing)[verb] for verb in verbs}


def mark_rules(rules: Iterable[Any]) -> dict[str, str]:
    """Give every rule that calls a verb its digest as the parameter ``code``: an edit makes results anew.

    So does another kind of processor that they are made for.
    """
    called = {rule: verb for rule in rules if rule.shellcmd and (verb := verb_of(_command(rule)))}
    found = digests(dict.fromkeys(called.values()))
    for rule, verb in called.items():
        rule.set_params(code=found[verb], processor=processor.target())
    return {rule.name: found[verb] for rule, verb in called.items()}


def _locate(words: tuple[str, ...], package: Path = code.PACKAGE) -> tuple[str, str] | None:
    """Return module and function of a verb; None when there is no such verb."""
    area = words[0].replace("-", "_")
    if area in AREAS and words[1:] == ("report",):
        return REPORT, "write"
    module = f"biaslab.{area}.cli" if area in AREAS else f"biaslab.cli.{area}"
    for word in words[1:-1]:
        module = _group(module, word, package)
    if len(words) < 2 or not module or code.source_of(module, package) is None:
        return None
    for node in code.parse(module, package).body:
        if isinstance(node, ast.FunctionDef) and words[-1] in map(_command_name, node.decorator_list):
            return module, node.name
    return None


def _command_name(decorator: ast.expr) -> str:
    """Return VERB of the decorator ``@app.command("VERB")``."""
    is_call = isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute)
    if is_call and decorator.func.attr == "command" and decorator.args:
        return ast.literal_eval(decorator.args[0])
    return ""


def _group(module: str, word: str, package: Path) -> str:
    """Return the module of a group of verbs, ``app.add_typer(MODULE.app, name="WORD")``; "" for none."""
    if not module or code.source_of(module, package) is None:
        return ""
    tree = code.parse(module, package)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "app.add_typer":
            names = [ast.literal_eval(k.value) for k in node.keywords if k.arg == "name"]
            if names == [word]:
                return _imports(module, package).get(ast.unparse(node.args[0]).partition(".")[0], "")
    return ""


def _gather(module: str, name: str, package: Path) -> tuple[set[str], list[str]]:
    """Return the modules and the code that a name of a module of commands refers to."""
    modules: set[str] = set()
    texts: list[str] = []
    waiting, seen = [(module, name)], set()
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        node = _definitions(place[0], package).get(place[1])
        if node is None:
            continue
        texts.append(f"{place}: {code.plain(node)}")
        taken = _imports(place[0], package)
        for used in sorted(_used(node)):
            if used in taken:
                waiting += _follow(taken[used], modules, package)
            else:
                waiting.append((place[0], used))
        for statement in ast.walk(node):
            source = code.source_of(place[0], package)
            reached = set(code.imports_of(statement, place[0], source, package))
            modules |= {m for m in reached if code.source_of(m, package) is not None}
    return modules, sorted(texts)


def _follow(target: str, modules: set[str], package: Path) -> list[tuple[str, str]]:
    """Note the module that an imported name belongs to; of modules of commands, go on with the name alone."""
    if code.source_of(target, package) is not None:
        modules.add(target)
        return []
    module, _, name = target.rpartition(".")
    if module == OPTIONS or module.startswith("biaslab.cli") or module.partition(".cli")[1]:
        return [(module, name)]
    if code.source_of(module, package) is not None:
        modules.add(module)
    return []


def _definitions(module: str, package: Path) -> dict[str, ast.stmt]:
    """Return the functions, classes and constants of a module by name."""
    found: dict[str, ast.stmt] = {}
    for node in code.parse(module, package).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id: node for target in targets if isinstance(target, ast.Name)}
    return found


def _imports(module: str, package: Path) -> dict[str, str]:
    """Return what a module imports from the package at its top: the full name by the local one."""
    found = {}
    source = code.source_of(module, package)
    for node in code.parse(module, package).body:
        if isinstance(node, ast.ImportFrom):
            base = next(code.imports_of(node, module, source, package), None)
            found |= {a.asname or a.name: f"{base}.{a.name}" for a in node.names if base}
    return found


def _used(node: ast.stmt) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _command(rule: Any) -> str:
    """Return the shell command of a rule with those of its parameters filled in that are texts."""

    def text(found: re.Match) -> str:
        value = rule.params.get(found[1])
        return value if isinstance(value, str) else found[0]

    return re.sub(r"{params\.(\w+)}", text, rule.shellcmd)


def _read(kept: Path | None) -> dict[str, str]:
    """Return the digests that were kept; none where nothing was, or somebody else could have written it."""
    try:
        is_usable = kept is not None and is_only_ours(kept.stat())
        return json.loads(kept.read_text(encoding="utf-8")) if is_usable else {}
    except (OSError, ValueError):
        return {}
