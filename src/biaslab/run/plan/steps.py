"""Steps of the workflow: their functions, their arguments, and digests of their code.

A step is a function: ``biaslab step AREA.NAME --given JSON`` calls the function in `Area.steps` or `SHARED`.
Its digest covers the function's module and all imported modules (see `biaslab.run.record.code`). Every area
has a step ``AREA.report``; its digest also covers the modules of tables and figures.
"""

import contextlib
import hashlib
import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, get_type_hints

from biaslab.core import processor
from biaslab.core.cache import cache_folder, is_only_ours, make_private
from biaslab.core.errors import InputError, suggest
from biaslab.core.files import parse_json, write_text
from biaslab.core.settings import build_all
from biaslab.run.area import load_area
from biaslab.run.areas import AREAS
from biaslab.run.record import code
from biaslab.run.root import located

REPORT = "report"  # the step that writes an area's tables and figures

SHARED = {
    "embeddings": {
        "read-corpus": "biaslab.embeddings.corpus:read_corpus",
        "count-cooccurrences": "biaslab.embeddings.cooccurrence:count_corpus",
        "train-glove": "biaslab.embeddings.retraining:train_glove",
        "train-word2vec": "biaslab.embeddings.word2vec:train_word2vec",
    },
    "datasets": {"fetch-dataset": "biaslab.run.data.fetching:fetch_to"},
    "audit": {"audit-run": "biaslab.audit.own:audit_run"},
}
"""Steps that belong to no area."""

STEP = re.compile(r"\bbiaslab step (\S+)")  # pattern of the called step in a shell command


def step(name: str) -> str:
    """Return the shell command of a rule that calls a step."""
    return f"biaslab step {name} --given {{params.given:q}} --threads {{threads}} > {{log:q}} 2>&1"


def function_of(name: str) -> str:
    """Return the function of a step, ``"MODULE:FUNCTION"``, by its name, ``"AREA.NAME"``."""
    group, _, short = name.partition(".")
    area = group.replace("-", "_")
    report = {REPORT: "biaslab.run.plan.reports:write_items"}
    steps = load_area(area).steps | report if area in AREAS else SHARED.get(group, {})
    if short not in steps:
        groups = [*(area.replace("_", "-") for area in AREAS), *SHARED]
        known = [f"{group}.{key}" for key in steps] or [f"{key}.NAME" for key in groups]
        raise InputError(f"unknown step '{name}'{suggest(name, known)}; known: {', '.join(known)}")
    return steps[short]


def run_step(name: str, given: str, threads: int | None, say: Callable[[str], None]) -> None:
    """Call the function of a step with the arguments `given`, a mapping in JSON.

    The arguments are converted to the types of the function's annotations, and names of files that exist only
    in the repository to their paths there. A function may also have the parameters `threads` and `say`.
    """
    module, _, function_name = function_of(name).partition(":")
    function = getattr(importlib.import_module(module), function_name)
    kinds = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters
    try:
        values = parse_json(given)
    except ValueError as error:
        raise InputError(f"--given: not valid JSON ({error}); use the line of the rule") from error
    if not isinstance(values, dict):
        raise InputError("--given: not a mapping in JSON; use the line of the rule")
    values = build_all({key: kinds[key] for key in parameters if key in kinds}, _locate(values))
    optional = {"threads": threads, "say": say}
    values |= {key: value for key, value in optional.items() if key in parameters and value}
    missing = [k for k, p in parameters.items() if p.default is inspect.Parameter.empty and k not in values]
    if missing:
        raise InputError(f"--given: the step {name} also needs {', '.join(missing)}")
    function(**values)


def part(section: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return a part of a configuration section; other keys of the section do not rerun the step."""
    return {key: section[key] for key in keys}


def given(*makers: Callable[[Any], Mapping[str, Any]] | str, **values: Any) -> Callable[..., str]:
    """Return the rule parameter with the arguments of a step: a function that returns JSON.

    The arguments include the rule's named inputs and outputs, except empty lists of files. `makers` are names
    of wildcards, or functions of wildcards that return further values. Wildcards in `values` are filled in.
    """

    def settings(wildcards: Any) -> dict[str, Any]:
        chosen: dict[str, Any] = {}
        for maker in makers:
            chosen |= {maker: wildcards[maker]} if isinstance(maker, str) else maker(wildcards)
        fill = {name: str(value) for name, value in wildcards.items()}
        return chosen | {name: v.format(**fill) if isinstance(v, str) else v for name, v in values.items()}

    def as_json(wildcards: Any, input: Any, output: Any) -> str:
        pairs = [*input.items(), *output.items()]
        files = {name: file if isinstance(file, str) else list(file) for name, file in pairs}
        files = {name: file for name, file in files.items() if file != []}
        return json.dumps(files | settings(wildcards), sort_keys=True)

    # Snakemake does not rerun a step for a parameter that depends on inputs or outputs.
    as_json.settings = lambda wildcards: json.dumps(settings(wildcards), sort_keys=True)
    return as_json


def _locate(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _locate(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_locate(inner) for inner in value]
    return located(value) if isinstance(value, str) else value


def step_digest(name: str, package: Path = code.PACKAGE) -> str:
    """Return the digest of the code of a step."""
    return code.code_digest(*step_modules(name), more=[function_of(name)], package=package)


def step_modules(name: str) -> list[str]:
    """Return the modules of a step, without their imports."""
    modules = {function_of(name).partition(":")[0]}
    group, _, short = name.partition(".")
    if short == REPORT:
        area = load_area(group.replace("-", "_"))
        modules |= {item.make.__module__ for item in area.items}
        modules |= {area.reader.__module__} if area.reader else set()
    return sorted(modules)


def digests(names: Iterable[str]) -> dict[str, str]:
    """Return the digests of steps, cached for the user until a file of the package changes."""
    state = hashlib.sha256()
    for file in sorted(code.PACKAGE.rglob("*")):
        if file.is_file() and file.parent.name != "__pycache__":
            state.update(f"{file.relative_to(code.PACKAGE)}\0".encode() + file.read_bytes() + b"\0")
    folder = cache_folder("steps")
    kept = folder / f"{state.hexdigest()}.json" if folder else None
    known = _read(kept)
    missing = {name: step_digest(name) for name in names if name not in known}
    if missing and kept is not None:
        with contextlib.suppress(InputError, OSError):  # the cache only saves time
            make_private(kept.parent)
            kept.touch(mode=0o600)  # a file that others can write is not read
            write_text(kept, json.dumps(known | missing))
    return {name: (known | missing)[name] for name in names}


def mark_rules(rules: Iterable[Any]) -> dict[str, str]:
    """Add the digest of the step as parameter ``code`` to every rule, so that code edits rerun the step.

    Another target processor and other settings in `given` also rerun the step. Copies of data are excluded:
    they have the registered checksum, independent of code and source.
    """
    called = {rule: match[1] for rule in rules if (match := STEP.search(_command(rule)))}
    codes = digests(dict.fromkeys(called.values()))
    for rule, name in called.items():
        if rule.params.get("sha256"):
            continue
        settings = getattr(rule.params.get("given"), "settings", None)
        more = {"settings": settings} if settings else {}
        rule.set_params(code=codes[name], processor=processor.target(), **more)
    return {rule.name: codes[name] for rule, name in called.items()}


def _command(rule: Any) -> str:
    """Return the shell command of a rule, with its text parameters filled in."""

    def text(match: re.Match) -> str:
        value = rule.params.get(match[1])
        return value if isinstance(value, str) else match[0]

    return re.sub(r"{params\.(\w+)}", text, rule.shellcmd or "")


def _read(kept: Path | None) -> dict[str, str]:
    """Return the cached digests; {} if the cache is empty or another user could have written it."""
    try:
        is_usable = kept is not None and is_only_ours(kept.stat())
        return json.loads(kept.read_text(encoding="utf-8")) if is_usable else {}
    except (OSError, ValueError):
        return {}
