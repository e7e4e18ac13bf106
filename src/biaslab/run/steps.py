"""The steps of the workflow: what they run, what they are given, and a digest of the code behind each.

A step is a function: ``biaslab step AREA.NAME --given JSON`` calls what `Area.steps` names. Its digest is
that of the function's module and of all that it imports, as `biaslab.run.code` says. Of a verb of ``biaslab``
a digest covers the function of the verb, what this function refers to in its own module and among the shared
options, and what these import. Of ``biaslab AREA report`` it covers the modules that the area's items name.
"""

import ast
import contextlib
import hashlib
import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any, get_type_hints

from biaslab.core import processor
from biaslab.core.cache import cache_folder, is_only_ours, make_private
from biaslab.core.errors import InputError, suggest
from biaslab.core.files import write_text
from biaslab.core.settings import build_all
from biaslab.run import code
from biaslab.run.area import load_area
from biaslab.run.areas import AREAS
from biaslab.run.root import located

OPTIONS = "biaslab.run.options"
REPORT = "biaslab.cli.report"
"""The module of the verb ``report``, which every area has."""

STEP = "step"
"""The verb that calls a step."""

_COMMAND = re.compile(r"\bbiaslab((?: [a-z][a-z0-9-]*)+)")
_STEP = re.compile(rf"\bbiaslab {STEP} (\S+)")


def function_of(name: str) -> str:
    """Return the function of a step, ``"MODULE:FUNCTION"``, by its name, ``"AREA.NAME"``."""
    area, _, short = name.partition(".")
    steps = load_area(area.replace("-", "_")).steps if area.replace("-", "_") in AREAS else {}
    if short not in steps:
        known = [f"{area}.{one}" for one in steps] or [f"{one.replace('_', '-')}.NAME" for one in AREAS]
        raise InputError(f"there is no step '{name}'{suggest(name, known)}; known: {', '.join(known)}")
    return steps[short]


def run_step(name: str, given: str, threads: int | None, say: Callable[[str], None]) -> None:
    """Call the function of a step.

    It gets what is given as the types that its annotations ask for; besides, where it asks for them,
    `threads`, and `say`, which takes a line of progress.

    Parameters
    ----------
    given : str
        A mapping in JSON: values by the names of the function's parameters. A text that names a file which
        only the repository has stands for its path there.
    """
    module, _, function_name = function_of(name).partition(":")
    function = getattr(importlib.import_module(module), function_name)
    kinds = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters
    made = build_all({key: kinds[key] for key in parameters if key in kinds}, _located(_read_given(given)))
    made |= {key: value for key, value in (("threads", threads), ("say", say)) if key in parameters and value}
    missing = [k for k, p in parameters.items() if p.default is inspect.Parameter.empty and k not in made]
    if missing:
        raise InputError(f"--given: the step {name} needs {', '.join(missing)} as well")
    function(**made)


def part(section: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return some keys of a section of the configuration; no other key reruns the step that gets them."""
    return {key: section[key] for key in keys}


def _read_given(text: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except ValueError as error:
        raise InputError(f"--given: not valid JSON ({error}); take the rule's own line") from error
    if not isinstance(values, dict):
        raise InputError("--given: not a mapping in JSON; take the rule's own line")
    return values


def given(*makers: Callable[[Any], Mapping[str, Any]] | str, **values: Any) -> Callable[..., str]:
    """Return the parameter of a rule that tells its step what it is given: a function that writes JSON.

    The step is told the rule's named inputs and outputs, too; an empty list of files is left out.

    Parameters
    ----------
    *makers : callable or str
        Functions of the wildcards that return further values by name; or names of wildcards to tell.
    **values
        Further values; in a text wildcards are filled in.
    """

    def settings(wildcards: Any) -> dict[str, Any]:
        chosen: dict[str, Any] = {}
        for maker in makers:
            chosen |= {maker: wildcards[maker]} if isinstance(maker, str) else maker(wildcards)
        fill = {name: str(value) for name, value in wildcards.items()}
        return chosen | {name: v.format(**fill) if isinstance(v, str) else v for name, v in values.items()}

    def told(wildcards: Any, input: Any, output: Any) -> str:
        files = {name: file if isinstance(file, str) else list(file) for name, file in _named(input, output)}
        files = {name: file for name, file in files.items() if file != []}
        return json.dumps(files | settings(wildcards), sort_keys=True)

    # Snakemake does not run a step again for a parameter that it makes of inputs or outputs.
    told.settings = lambda wildcards: json.dumps(settings(wildcards), sort_keys=True)
    return told


def _named(*files: Any) -> list[tuple[str, Any]]:
    return [pair for some in files for pair in some.items()]


def _located(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _located(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_located(inner) for inner in value]
    return located(value) if isinstance(value, str) else value


def verb_of(command: str) -> str:
    """Return the verb that a shell command calls, e.g. ``"origins measure-baseline"``; "" for none.

    That of a step is ``"step AREA.NAME"``.
    """
    if step := _STEP.search(command):
        return step[0].removeprefix("biaslab ")
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
    if area == STEP:
        return [function_of(rest).partition(":")[0]], [function_of(rest)]
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

    So do another kind of processor that they are made for, and other settings that `given` tells a step.
    """
    called = {rule: verb for rule in rules if rule.shellcmd and (verb := verb_of(_command(rule)))}
    found = digests(dict.fromkeys(called.values()))
    for rule, verb in called.items():
        settings = getattr(rule.params.get("given"), "settings", None)
        more = {"settings": settings} if settings else {}
        rule.set_params(code=found[verb], processor=processor.target(), **more)
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
