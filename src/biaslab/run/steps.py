"""The steps of the workflow: what they run, what they are given, and a digest of the code behind each.

A step is a function: ``biaslab step AREA.NAME --given JSON`` calls what `Area.steps` or `SHARED` names. Its
digest is that of the function's module and of all that it imports, as `biaslab.run.code` says; of
``AREA.report``, which every area has, also of the modules that make its tables and figures.
"""

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
from biaslab.core.files import parse_json, write_text
from biaslab.core.settings import build_all
from biaslab.run import code
from biaslab.run.area import load_area
from biaslab.run.areas import AREAS
from biaslab.run.root import located

REPORT = "report"
"""The step that writes an area's tables and figures."""

SHARED = {
    "embeddings": {
        "read-corpus": "biaslab.embeddings.corpus:read_corpus",
        "count-cooccurrences": "biaslab.embeddings.cooccurrence:count_corpus",
        "train-glove": "biaslab.embeddings.retraining:train_glove",
        "train-word2vec": "biaslab.embeddings.word2vec:train_word2vec",
    },
    "datasets": {"fetch-dataset": "biaslab.run.fetching:fetch_to"},
    "audit": {
        "measure-claims": "biaslab.audit.own:audit",
        "write-manifest": "biaslab.run.manifest:write_manifest",
    },
}
"""The steps of no area."""

STEP = re.compile(r"\bbiaslab step (\S+)")
"""Where a shell command names the step that it calls."""


def step(name: str) -> str:
    """Return the shell command of a rule that calls a step."""
    return f"biaslab step {name} --given {{params.given:q}} --threads {{threads}} > {{log:q}} 2>&1"


def function_of(name: str) -> str:
    """Return the function of a step, ``"MODULE:FUNCTION"``, by its name, ``"AREA.NAME"``."""
    group, _, short = name.partition(".")
    steps = _steps_of(group)
    if short not in steps:
        groups = [*(area.replace("_", "-") for area in AREAS), *SHARED]
        known = [f"{group}.{one}" for one in steps] or [f"{one}.NAME" for one in groups]
        raise InputError(f"there is no step '{name}'{suggest(name, known)}; known: {', '.join(known)}")
    return steps[short]


def _steps_of(group: str) -> Mapping[str, str]:
    area = group.replace("-", "_")
    if area in AREAS:
        return {**load_area(area).steps, REPORT: "biaslab.run.reports:write_items"}
    return SHARED.get(group, {})


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
        values = parse_json(text)
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


def step_digest(name: str, package: Path = code.PACKAGE) -> str:
    """Return the digest of the code that a step runs."""
    modules, texts = step_code(name)
    return code.code_digest(*modules, more=texts, package=package)


def step_code(name: str) -> tuple[list[str], list[str]]:
    """Return what a step runs: modules (without what they import in turn), and further texts that count."""
    function = function_of(name)
    modules, texts = {function.partition(":")[0]}, [function]
    group, _, short = name.partition(".")
    if short == REPORT:
        area = load_area(group.replace("-", "_"))
        modules |= {made.partition(":")[0] for made in (area.reader, *(item.make for item in area.items))}
        texts.append(json.dumps([astuple(item) for item in area.items]))
    return sorted(modules), texts


def digests(names: Iterable[str]) -> dict[str, str]:
    """Return the digests of steps, kept in the user's cache as long as no file of the package changes."""
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
            kept.touch(mode=0o600)  # a file that others can write to is not read
            write_text(kept, json.dumps(known | missing))
    return {name: (known | missing)[name] for name in names}


def mark_rules(rules: Iterable[Any]) -> dict[str, str]:
    """Give every rule that calls a step its digest as the parameter ``code``: an edit makes results anew.

    So do another kind of processor that they are made for, and other settings that `given` tells a step. A
    copy of data has the registered checksum, whatever code copied it and from wherever.
    """
    called = {rule: found[1] for rule in rules if (found := STEP.search(_command(rule)))}
    found = digests(dict.fromkeys(called.values()))
    for rule, name in called.items():
        if rule.params.get("sha256"):
            continue
        settings = getattr(rule.params.get("given"), "settings", None)
        more = {"settings": settings} if settings else {}
        rule.set_params(code=found[name], processor=processor.target(), **more)
    return {rule.name: found[name] for rule, name in called.items()}


def _command(rule: Any) -> str:
    """Return the shell command of a rule with those of its parameters filled in that are texts."""

    def text(found: re.Match) -> str:
        value = rule.params.get(found[1])
        return value if isinstance(value, str) else found[0]

    return re.sub(r"{params\.(\w+)}", text, rule.shellcmd or "")


def _read(kept: Path | None) -> dict[str, str]:
    """Return the digests that were kept; none where nothing was, or somebody else could have written it."""
    try:
        is_usable = kept is not None and is_only_ours(kept.stat())
        return json.loads(kept.read_text(encoding="utf-8")) if is_usable else {}
    except (OSError, ValueError):
        return {}
