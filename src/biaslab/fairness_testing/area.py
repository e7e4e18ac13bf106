"""Adversarial fairness testing of classifiers (Zhang et al. 2021) as an area of the workflow."""

from collections.abc import Iterator, Mapping
from typing import Any

from biaslab.classifiers.tensorflow_bundle import write_weights
from biaslab.core.errors import suggest
from biaslab.core.files import locate, not_found
from biaslab.fairness_testing import recipes
from biaslab.fairness_testing.report import figures, tables, text_tables
from biaslab.fairness_testing.settings import NEURAL, TABULAR, TEXT, TEXT_PREFIX, TRAIN, Corpus, Section
from biaslab.run.area import Area, Given, Recipe, Unit, Units, claims_of, items_of
from biaslab.run.areas import AREAS
from biaslab.run.data.datasets import dataset_name
from biaslab.run.extras import missing_extra
from biaslab.run.plan.corpora import TEXTS, check_corpora, corpora_of, named_in, part_of
from biaslab.run.plan.sources import (
    CHOICES,
    MISSING,
    choose_available,
    comes_along,
    datasets_of,
    file_of,
    setups_of,
    source_problem,
)
from biaslab.text.settings import Corpora

ENCODER = ("config", "vocabulary", "weights")
RANDOM = "random"  # value in place of a file with the encoder's weights: draw random weights
_FILES = ("data", "network", "clusters")
_NEURAL_PARTS = "likeness of sentences, perplexity and certified training"

ITEMS = items_of(
    tables.classifiers,
    tables.aequitas,
    tables.symbolic,
    tables.global_phase,
    tables.local_phase,
    tables.cost,
    tables.retraining,
    tables.average_table,
    tables.ablation,
    figures.draw_local,
    figures.draw_ablation,
    figures.draw_retraining,
    tables.budgets,
    figures.draw_budgets,
    text_tables,
    figures.draw_nearness,
    figures.draw_text_retraining,
)


def wanted(config: Mapping[str, Any]) -> set[str]:
    """Return the registered datasets that a run uses."""
    section = config["fairness_testing"]
    classifiers = [section["classifiers"][name] for key in CHOICES for name in section[key]]
    return {d for c in classifiers for d in datasets_of(c[key] for key in _FILES)} | wanted_texts(config)


def wanted_texts(config: Mapping[str, Any]) -> set[str]:
    """Return the registered datasets that the tests on texts use."""
    section = config["fairness_testing"]["text"]
    names, corpora = named_in(section, CHOICES), corpora_in(config)
    if not names:
        return set()
    sources = [corpora[name][key] for name in names for key in (*TEXTS, "terms")]
    encoder = [section["encoder"][part] for part in ENCODER]
    return set(datasets_of([*sources, *encoder, vectors_source(config)]))


def choose(given: Given) -> Units:
    """Return the available classifiers and corpora in ``run``, or else those in ``otherwise``."""
    section, registry, root = given.config["fairness_testing"], given.registry, given.root
    tables = {name: classifier["data"] for name, classifier in section["classifiers"].items()}
    absent = given.absent
    chosen, left_out = choose_available(
        section, lambda name: datasets_of(section["classifiers"][name][key] for key in _FILES), absent
    )
    data = {name: file_of(tables[name], registry, root) for name in chosen}
    files = claims_of(AREA.name, root)
    units = [
        Unit(name, files=files, marks=(TABULAR,), is_made_up=comes_along(tables[name], root))
        for name in chosen
    ]
    text, corpora = section["text"], corpora_in(given.config)
    vectors = datasets_of([vectors_source(given.config)])
    keys = (*TEXTS, "terms")
    tested, omitted = choose_available(
        text, lambda name: [*datasets_of(corpora[name][key] for key in keys), *vectors], absent, TEXT_PREFIX
    )
    left_out |= omitted
    encoder = [dataset_name(text["encoder"][part]) for part in ENCODER]
    missing = [f"its encoder: {absent[name]}" for name in encoder if name in absent]
    lacking = missing_extra(NEURAL, given.extras) or "".join(missing[:1])
    if tested and lacking:
        left_out[_NEURAL_PARTS] = lacking
    masked = {"masked_words": str(locate(text["masked_words"], root))}
    units += [
        Unit(
            TEXT_PREFIX + name,
            options={"unmask": text["unmask"], "corpus": name},
            files=files | masked,
            marks=(TEXT,) if lacking else (TEXT, NEURAL),
            is_made_up=comes_along(corpora[name]["source"], root),
        )
        for name in tested
    ]
    data |= {
        f"{TEXT_PREFIX}{name}-{key}": file_of(corpora[name][key], registry, root)
        for name in tested
        for key in keys
        if corpora[name][key]
    }
    record = {AREA.name: {**section, "run": chosen, "text": {**text, "run": tested}}}
    return Units(tuple(units), left_out, data, record | part_of(given.config, named_in(text, CHOICES)))


def summaries(config: Mapping[str, Any]) -> list[str]:
    """Describe the tests on tables and on texts in one line each."""
    section, text = config["fairness_testing"], config["fairness_testing"]["text"]
    others, other_texts = (
        f" (or else {', '.join(part['otherwise'])})" if part["otherwise"] else "" for part in (section, text)
    )
    lines = [
        f"four testers search {', '.join(section['run'])}{others} for discriminatory samples:"
        f" {section['seeds']:,} seeds, {section['hops']:,} hops from each find,"
        f" {section['repetitions']:,} repetitions"
    ]
    if text["run"]:
        networks = " and ".join(name.upper() for name in text["models"])
        lines.append(
            f"{networks} that read {', '.join(text['run'])}{other_texts}, searched by gradients and at"
            f" random: {text['repetitions']:,} trainings each, at most {text['seeds']:,} seeds,"
            f" {text['hops']:,} hops from each find"
        )
    return lines


def check(given: Given) -> Iterator[str]:
    """Yield messages on undefined classifiers and corpora, and on missing files."""
    section = given.config["fairness_testing"]
    classifiers = section["classifiers"]
    for key, name in [(key_, name_) for key_ in CHOICES for name_ in section[key_]]:
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
    yield from _check_texts(given, section["text"], "fairness_testing.text")


def _check_texts(given: Given, section: Mapping[str, Any], prefix: str) -> Iterator[str]:
    yield from check_corpora(section, CHOICES, prefix, given)
    corpora, encoder = corpora_in(given.config), section["encoder"]
    for name in named_in(section, CHOICES):
        terms, sentences = corpora[name]["terms"], corpora[name]["sentences"]
        if problem := source_problem(terms, given):
            yield f"{prefix}.corpora.{name}.terms: {problem}"
        if problem := not_found(sentences, given.root) if sentences else MISSING:
            yield f"{prefix}.corpora.{name}.sentences: {problem}"
    for part in ENCODER:
        if encoder[part] != RANDOM and (problem := source_problem(encoder[part], given)):
            yield f"{prefix}.encoder.{part}: {problem}"
    if problem := not_found(section["masked_words"], given.root):
        yield f"{prefix}.masked_words: {problem}"
    file, setup, setups = section["vectors"]["file"], section["vectors"]["setup"], setups_of(given.config)
    if file:
        if problem := not_found(file, given.root):
            yield f"{prefix}.vectors.file: {problem}"
    elif setup not in setups:
        hint = f"(defined: {', '.join(setups)}){suggest(setup, setups)}"
        yield f"{prefix}.vectors.setup: the setup '{setup}' is not defined {hint}"
    elif problem := source_problem(setups[setup]["corpus"]["source"], given):
        yield f"{prefix}.vectors.setup: the corpus of the setup {setup}: {problem}"


def corpora_in(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the corpora of a configuration with their settings for the area."""
    return corpora_of(config, config["fairness_testing"]["text"], Corpus)


def vectors_source(config: Mapping[str, Any]) -> str:
    """Return the corpus for training word vectors, or the file of the vectors."""
    vectors = config["fairness_testing"]["text"]["vectors"]
    return vectors["file"] or setups_of(config)[vectors["setup"]]["corpus"]["source"]


STEPS = {
    "prepare-classifier": "biaslab.fairness_testing.cases:prepare",
    "search-discrimination": "biaslab.fairness_testing.experiment:search_classifier",
    "compare-at-budgets": "biaslab.fairness_testing.experiment:write_budgets",
    "retrain-classifier": "biaslab.fairness_testing.retraining:retrain_classifier",
    "train-text-vectors": "biaslab.fairness_testing.text.corpus:make_vectors",
    "prepare-tested-texts": "biaslab.fairness_testing.text.corpus:prepare",
    "train-text-networks": "biaslab.fairness_testing.text.experiment:train_networks",
    "search-text-networks": "biaslab.fairness_testing.text.experiment:search_networks",
    "retrain-text-networks": "biaslab.fairness_testing.text.retraining:retrain_network",
    "certify-text-networks": "biaslab.fairness_testing.text.retraining:certify_network",
    "measure-found-texts": "biaslab.fairness_testing.text.measurement:measure",
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
    captions="fairness",
    shared=Corpora,
    texts=("*/example.json",),
    steps=STEPS,
    recipes={
        "compas": Recipe(recipes.write_compas, 2**24),
        "kmeans-labels": Recipe(recipes.write_labels, 2**20),
        "tensorflow-layers": Recipe(write_weights, 2**20),
    },
)
