"""Adversarial fairness testing of classifiers (Zhang et al. 2021) as an area of the workflow."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from biaslab.core.errors import suggest
from biaslab.fairness_testing.items import ITEMS
from biaslab.fairness_testing.names import TABULAR, TRAIN
from biaslab.fairness_testing.settings import Section
from biaslab.fairness_testing.text import area as texts
from biaslab.run.area import Area, Given, Unit, Units, claims_of
from biaslab.run.areas import AREAS
from biaslab.run.corpora import moved_corpora
from biaslab.run.sources import available, comes_along, datasets_of, file_of, source_problem
from biaslab.text.settings import Corpora

_FILES = ("data", "network", "clusters")


def wanted(config: Mapping[str, Any]) -> set[str]:
    """Return the registered datasets that a run uses."""
    section = config["fairness_testing"]
    names = [*section["run"], *section["otherwise"]]
    tables = {dataset for name in names for dataset in _datasets(section["classifiers"][name])}
    return tables | texts.wanted(config)


def choose(given: Given) -> Units:
    """Return the available classifiers and corpora in ``run``, or else those in ``otherwise``."""
    section = given.config["fairness_testing"]
    chosen, left_out = _available(section, section["run"], given.absent)
    if not chosen:
        chosen, omitted = _available(section, section["otherwise"], given.absent)
        left_out |= omitted
    data = {
        name: file_of(section["classifiers"][name]["data"], given.registry, given.root) for name in chosen
    }
    files = claims_of(AREA.name, given.root)
    units = [
        Unit(
            name,
            files=files,
            marks=(TABULAR,),
            is_made_up=comes_along(section["classifiers"][name]["data"], given.root),
        )
        for name in chosen
    ]
    corpora, omitted, of_texts, record = texts.choose(given)
    record = {AREA.name: {**section, "run": chosen, "text": record}, **texts.recorded(given.config)}
    return Units((*units, *corpora), left_out | omitted, data | of_texts, record)


def summaries(config: Mapping[str, Any]) -> list[str]:
    """Describe the tests in one line."""
    testing = config["fairness_testing"]
    otherwise = f" (or else {', '.join(testing['otherwise'])})" if testing["otherwise"] else ""
    return [
        f"four testers search {', '.join(testing['run'])}{otherwise} for discriminatory samples:"
        f" {testing['seeds']:,} seeds, {testing['hops']:,} hops from each find,"
        f" {testing['repetitions']:,} repetitions",
        *texts.summaries(config),
    ]


def check(given: Given) -> Iterator[str]:
    """Yield messages on undefined classifiers and missing files."""
    section = given.config["fairness_testing"]
    classifiers = section["classifiers"]
    for key, name in [(group, name_) for group in ("run", "otherwise") for name_ in section[group]]:
        if name not in classifiers:
            hint = f"(defined: {', '.join(classifiers)}){suggest(name, classifiers)}"
            yield f"fairness_testing.{key}: the classifier '{name}' is not defined {hint}"
            continue
        if name in AREAS:
            yield f"fairness_testing.{key}: '{name}' is also the name of an area; rename the classifier"
        for part, file in classifiers[name].items():
            is_trained = (part, file) == ("network", TRAIN)
            if not is_trained and (problem := source_problem(file, given)):
                yield f"fairness_testing.classifiers.{name}.{part}: {problem}"
    yield from texts.check(given)


def _available(
    section: Mapping[str, Any], names: Iterable[str], absent: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """Return the available classifiers, and why all others are unavailable."""
    return available({name: _datasets(section["classifiers"][name]) for name in names}, absent)


def _datasets(classifier: Mapping[str, str | None]) -> list[str]:
    """Return the registered datasets among the files of a classifier."""
    return datasets_of(classifier[key] for key in _FILES)


STEPS = {
    "prepare-classifier": "biaslab.fairness_testing.cases:prepare",
    "search-discrimination": "biaslab.fairness_testing.experiment:search_classifier",
    "compare-at-budgets": "biaslab.fairness_testing.budgets:write_budgets",
    "retrain-classifier": "biaslab.fairness_testing.retraining:retrain_classifier",
}
PAPER = "Adversarial fairness testing (Zhang et al. 2021)"
AREA = Area(
    "fairness_testing",
    PAPER,
    Section,
    check,
    wanted,
    choose,
    summaries,
    ITEMS,
    shared=Corpora,
    moved=moved_corpora("fairness_testing.text"),
    texts=("*/example.json",),
    steps=STEPS | texts.STEPS,
    removed=tuple(
        f"fairness_testing.text.{key}" for key in ("encoder.layers", "encoder.epochs", "nonfuzzed", "fuzzed")
    ),
)
