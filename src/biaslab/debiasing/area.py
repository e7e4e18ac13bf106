"""Debiasing of word embeddings (Bolukbasi et al. 2016) as an area of the workflow."""

from collections.abc import Iterator, Mapping
from typing import Any

from biaslab.core.errors import suggest
from biaslab.core.files import not_found
from biaslab.core.settings import fields_of
from biaslab.debiasing.report import figures, tables
from biaslab.debiasing.settings import BENCHMARKS, Section, WordLists
from biaslab.run.area import Area, Given, Unit, Units, items_of
from biaslab.run.data.datasets import verified_copy
from biaslab.run.plan.sources import setups_of, unknown_test, word_sets_problem

AUTHORS = {
    "occupations": "debiaswe-occupations",
    "equalize": "debiaswe-equalize",
    "specific": "debiaswe-specific",
    "seeds": "debiaswe-specific-seed",
}
"""The registered datasets of the authors' word lists, each of which may be missing."""
LISTS = tuple(fields_of(WordLists))


def wanted(config: Mapping[str, Any]) -> set[str]:
    """Return the registered embeddings, benchmarks and lists that a run uses."""
    section = config["debiasing"]
    embeddings = {name for name in section["embeddings"] if name not in setups_of(config)}
    benchmarks = {BENCHMARKS[name].dataset for name in section["benchmarks"]} - {""}
    return embeddings | benchmarks | (set(AUTHORS.values()) if embeddings else set())


def choose(given: Given) -> Units:
    """Return the available embeddings: registered ones, and first baselines of setups in the run."""
    section, setups = given.config["debiasing"], setups_of(given.config)
    units, files, left_out = [], {}, {}
    for name in section["embeddings"]:
        if name in setups and name in given.others and given.others[name].embedding:
            units.append(Unit(name, embedding=given.others[name].embedding))
        elif name in setups:
            left_out[name] = f"the setup {name} is not run"
        elif name in given.absent:
            left_out[name] = given.absent[name]
        else:
            files[name] = verified_copy(given.registry[name])
            units.append(Unit(name, embedding=files[name]))
    benchmarks = {name: BENCHMARKS[name].dataset for name in section["benchmarks"]}
    absent = {name: given.absent[d] for name, d in benchmarks.items() if d in given.absent}
    word_sets = {weat: section["word_sets"][weat] for weat in section["weats"]}
    chosen = {"embeddings": [unit.name for unit in units], "word_sets": word_sets}
    record = {AREA.name: {**section, **chosen}}
    return Units(tuple(units), left_out | absent, files, record)


def summaries(config: Mapping[str, Any]) -> list[str]:
    """Describe the debiasing in one line."""
    names = ", ".join(config["debiasing"]["embeddings"])
    return [f"bias and benchmarks of {names} before and after hard and soft debiasing"]


def check(given: Given) -> Iterator[str]:
    """Yield messages on undefined embeddings, missing files, and an invalid path of weights."""
    section, setups = given.config["debiasing"], setups_of(given.config)
    for embedding in section["embeddings"]:
        if embedding not in given.registry and embedding not in setups:
            near = suggest(embedding, [*given.registry, *setups])
            yield (
                f"debiasing.embeddings: '{embedding}' is neither a registered dataset nor a setup"
                f" (setups: {', '.join(setups)}){near}"
            )
    for key in LISTS:
        if problem := not_found(section[key], given.root):
            yield f"debiasing.{key}: {problem}"
    for weat in section["weats"]:
        if problem := unknown_test(weat, section["word_sets"], "debiasing.word_sets"):
            yield f"debiasing.weats: {problem}"
        elif problem := word_sets_problem(weat, section["word_sets"][weat], given.root):
            yield f"debiasing.word_sets.{weat}: {problem}"
    weight, path = section["lambda"], section["lambdas"]
    if path != sorted(set(path)) or weight not in path:
        rising = sorted({*path, weight})
        yield f"debiasing.lambdas: {path} does not rise or lacks lambda, {weight}; write {rising}"


PAPER = "Debiasing word embeddings (Bolukbasi et al. 2016)"
ITEMS = items_of(
    tables.extreme_occupations,
    tables.analogies,
    tables.benchmarks,
    tables.direct_bias,
    tables.indirect_bias,
    tables.association_tests,
    tables.classifier,
    figures.draw_occupations,
    figures.draw_components,
    figures.draw_words,
    figures.draw_path,
    tables.methods,
    figures.draw_methods,
)
STEPS = {"measure-embedding": "biaslab.debiasing.stages:measure_embedding"}
AREA = Area(
    "debiasing",
    PAPER,
    Section,
    check,
    wanted,
    choose,
    summaries,
    ITEMS,
    ("embedding", "test"),
    captions="debiasing",
    steps=STEPS,
)
