"""The corpora of a run's tests on networks, as part of the area; import only light modules."""

from collections.abc import Iterator, Mapping
from typing import Any

from biaslab.core.errors import suggest
from biaslab.core.files import locate, not_found
from biaslab.fairness_testing.names import NEURAL, TEXT, TEXT_PREFIX
from biaslab.fairness_testing.text.settings import Corpus
from biaslab.run.area import Given, Unit, claims_of
from biaslab.run.corpora import TEXTS, check_corpora, corpora_of, named_in, part_of
from biaslab.run.datasets import dataset_name
from biaslab.run.extras import missing_extra
from biaslab.run.sources import (
    MISSING,
    available,
    comes_along,
    datasets_of,
    file_of,
    setups_of,
    source_problem,
)

ENCODER = ("config", "vocabulary", "weights")
RANDOM = "random"
"""Value in place of a file with the encoder's weights: draw random weights."""
_NAMED = ("run", "otherwise")
_NEURAL_PARTS = "likeness of sentences, perplexity and certified training"


def wanted(config: Mapping[str, Any]) -> set[str]:
    """Return the registered datasets that a run uses."""
    section = config["fairness_testing"]["text"]
    names, corpora = named_in(section, _NAMED), corpora_in(config)
    if not names:
        return set()
    sources = [corpora[name][key] for name in names for key in (*TEXTS, "terms")]
    encoder = [section["encoder"][part] for part in ENCODER]
    return set(datasets_of([*sources, *encoder, vectors_source(config)]))


def choose(given: Given) -> tuple[list[Unit], dict[str, str], dict[str, str], dict[str, Any]]:
    """Return the available corpora in ``run``, or else in ``otherwise``."""
    section, corpora = given.config["fairness_testing"]["text"], corpora_in(given.config)
    chosen, left_out = _available(given, section["run"])
    if not chosen:
        chosen, omitted = _available(given, section["otherwise"])
        left_out |= omitted
    encoder = [dataset_name(section["encoder"][part]) for part in ENCODER]
    missing_files = [given.absent[name] for name in encoder if name in given.absent]
    lacking = missing_extra(NEURAL, given.extras) or (
        f"its encoder: {missing_files[0]}" if missing_files else ""
    )
    if chosen and lacking:
        left_out[_NEURAL_PARTS] = lacking
    marks = (TEXT,) if lacking else (TEXT, NEURAL)
    masked = {"masked_words": str(locate(section["masked_words"], given.root))}
    files = claims_of("fairness_testing", given.root) | masked
    options = {"unmask": section["unmask"]}
    units = [
        Unit(
            TEXT_PREFIX + name,
            options={**options, "corpus": name},
            files=files,
            marks=marks,
            is_made_up=comes_along(corpora[name]["source"], given.root),
        )
        for name in chosen
    ]
    data = {
        f"{TEXT_PREFIX}{name}-{key}": file_of(corpora[name][key], given.registry, given.root)
        for name in chosen
        for key in (*TEXTS, "terms")
        if corpora[name][key]
    }
    return units, left_out, data, {**section, "run": chosen}


def summaries(config: Mapping[str, Any]) -> list[str]:
    """Describe the tests in one line."""
    section = config["fairness_testing"]["text"]
    if not section["run"]:
        return []
    otherwise = f" (or else {', '.join(section['otherwise'])})" if section["otherwise"] else ""
    networks = " and ".join(name.upper() for name in section["models"])
    return [
        f"{networks} that read {', '.join(section['run'])}{otherwise}, searched by gradients and at random:"
        f" {section['repetitions']:,} trainings each, at most {section['seeds']:,} seeds,"
        f" {section['hops']:,} hops from each find"
    ]


def check(given: Given) -> Iterator[str]:
    """Yield messages on undefined corpora and missing files."""
    section, prefix = given.config["fairness_testing"]["text"], "fairness_testing.text"
    yield from check_corpora(section, _NAMED, prefix, given)
    corpora = corpora_in(given.config)
    for name in named_in(section, _NAMED):
        terms, sentences = corpora[name]["terms"], corpora[name]["sentences"]
        if problem := source_problem(terms, given):
            yield f"{prefix}.corpora.{name}.terms: {problem}"
        if problem := not_found(sentences, given.root) if sentences else MISSING:
            yield f"{prefix}.corpora.{name}.sentences: {problem}"
    for part in ENCODER:
        if section["encoder"][part] != RANDOM and (
            problem := source_problem(section["encoder"][part], given)
        ):
            yield f"{prefix}.encoder.{part}: {problem}"
    if problem := not_found(section["masked_words"], given.root):
        yield f"{prefix}.masked_words: {problem}"
    yield from _check_vectors(given, section["vectors"], f"{prefix}.vectors")


def recorded(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the corpora that affect results."""
    return part_of(config, named_in(config["fairness_testing"]["text"], _NAMED))


def corpora_in(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the corpora of a configuration with their settings for the area."""
    return corpora_of(config, config["fairness_testing"]["text"], Corpus)


def vectors_source(config: Mapping[str, Any]) -> str:
    """Return the corpus for training word vectors, or the file of the vectors."""
    vectors = config["fairness_testing"]["text"]["vectors"]
    return vectors["file"] or setups_of(config)[vectors["setup"]]["corpus"]["source"]


def _check_vectors(given: Given, vectors: Mapping[str, Any], prefix: str) -> Iterator[str]:
    setups = setups_of(given.config)
    if vectors["file"]:
        if problem := not_found(vectors["file"], given.root):
            yield f"{prefix}.file: {problem}"
    elif vectors["setup"] not in setups:
        listed = f"(defined: {', '.join(setups)}){suggest(vectors['setup'], setups)}"
        yield f"{prefix}.setup: the setup '{vectors['setup']}' is not defined {listed}"
    elif problem := source_problem(setups[vectors["setup"]]["corpus"]["source"], given):
        yield f"{prefix}.setup: the corpus of the setup {vectors['setup']}: {problem}"


def _available(given: Given, names: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the available corpora, and why all others are unavailable, by unit name."""
    corpora = corpora_in(given.config)
    vectors = datasets_of([vectors_source(given.config)])
    needed = {
        TEXT_PREFIX + name: [*datasets_of(corpora[name][key] for key in (*TEXTS, "terms")), *vectors]
        for name in names
    }
    chosen, left_out = available(needed, given.absent)
    return [name.removeprefix(TEXT_PREFIX) for name in chosen], left_out


STEPS = {
    "train-text-vectors": "biaslab.fairness_testing.text.vectors:make_vectors",
    "prepare-tested-texts": "biaslab.fairness_testing.text.corpus:prepare",
    "train-text-networks": "biaslab.fairness_testing.text.experiment:train_networks",
    "search-text-networks": "biaslab.fairness_testing.text.search_experiment:search_networks",
    "retrain-text-networks": "biaslab.fairness_testing.text.retraining:retrain_network",
    "certify-text-networks": "biaslab.fairness_testing.text.retraining:certify_network",
    "measure-found-texts": "biaslab.fairness_testing.text.measurement:measure",
}
"""The functions of the steps."""
