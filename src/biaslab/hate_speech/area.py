"""Declare the area for the workflow: hate speech classifiers regularized by explanations (Kennedy 2020)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from biaslab.core.errors import InputError
from biaslab.core.files import locate, not_found
from biaslab.hate_speech import news, stormfront
from biaslab.hate_speech.methods import VANILLA, parse_method
from biaslab.hate_speech.report import figures, hatecheck, hierarchies, tables
from biaslab.hate_speech.report.results import ENCODERS
from biaslab.hate_speech.settings import Corpus, Section
from biaslab.run.area import Area, Given, Recipe, Unit, Units, claims_of, items_of
from biaslab.run.areas import AREAS
from biaslab.run.plan.corpora import TEXTS, check_corpora, corpora_of, named_in, part_of
from biaslab.run.plan.sources import (
    MISSING,
    choose_available,
    comes_along,
    datasets_of,
    file_of,
    source_problem,
)
from biaslab.text.settings import Corpora

RANDOM = "random"  # stands for random weights of the encoder, instead of a file
ENCODER_FILES = ("models/*", "attributions.tsv", "cost.tsv", "importance.tsv")
"""Files that claims need and that corpora without encoders lack."""
_LINEAR = "only linear methods run on this corpus (hate_speech.linear_only)"
_NAMED = ("run", "otherwise", "transfer")
_ENCODER = ("config", "vocabulary", "weights")


def wanted(config: Mapping[str, Any]) -> set[str]:
    """Return the registered datasets that a run would use."""
    section, corpora = config["hate_speech"], corpora_in(config)
    sources = [corpora[name][key] for name in named_in(section, _NAMED) for key in (*TEXTS, "news")]
    return set(datasets_of([*sources, section["hatecheck"], *encoder_files(section).values()]))


def choose(given: Given) -> Units:
    """Return the available corpora of ``run``, or of ``otherwise`` if there are none."""
    section, corpora = given.config["hate_speech"], corpora_in(given.config)
    if absent := sorted(given.absent.keys() & datasets_of(encoder_files(section).values())):
        left_out = dict.fromkeys(section["run"], f"its encoder: {given.absent[absent[0]]}")
        return Units((), left_out, record={AREA.name: {**section, "run": []}})
    names, left_out = choose_available(
        section, lambda name: sorted(datasets_of(corpora[name][key] for key in TEXTS)), given.absent
    )
    data = {
        f"{name}-{key}": file_of(corpora[name][key], given.registry, given.root)
        for name in names
        for key in TEXTS
        if corpora[name][key]
    }
    options = {"unmask": section["unmask"], "explained": section["explained"]}
    masked_words = str(locate(section["masked_words"], given.root))
    files = claims_of(AREA.name, given.root) | {"masked_words": masked_words}
    units = tuple(
        Unit(
            name,
            options=options,
            files=files,
            marks=() if (is_linear := name in section["linear_only"]) else (ENCODERS,),
            lacks=dict.fromkeys(ENCODER_FILES, _LINEAR) if is_linear else {},
            is_made_up=comes_along(corpora[name]["source"], given.root),
        )
        for name in names
    )
    record = {AREA.name: {**section, "run": names}, **part_of(given.config, named_in(section, _NAMED))}
    return Units(units, left_out, data, record)


def corpora_in(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the corpora of a configuration with their settings for this area."""
    return corpora_of(config, config["hate_speech"], Corpus)


def encoder_files(section: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the sources of the encoder's config, vocabulary and weights; None for random weights."""
    encoder = section["encoder"]
    return {part: None if encoder[part] == RANDOM else encoder[part] for part in _ENCODER}


def summaries(config: Mapping[str, Any]) -> list[str]:
    """Return a one-line summary of the trainings."""
    section = config["hate_speech"]
    otherwise = f" (or else {', '.join(section['otherwise'])})" if section["otherwise"] else ""
    n, layers = section["limits"]["train"], section["encoder"]["layers"]
    sentences = "all sentences" if n is None else f"{n:,} sentences"
    depth = "all layers" if layers is None else f"{layers} layer{'s' * (layers > 1)}"
    linear = [name for name in section["run"] if name in section["linear_only"]]
    without = f" (on {', '.join(linear)} linear models alone)" if linear else ""
    return [
        f"{', '.join(section['methods'])} on {', '.join(section['run'])}{without}{otherwise}:"
        f" {section['seeds']:,} seeds, encoders with {depth} on {sentences},"
        f" {section['training']['epochs']:,} epochs"
    ]


def check(given: Given) -> Iterator[str]:
    """Yield problems: undefined corpora, missing files, and incompatible methods."""
    section, corpora = given.config["hate_speech"], corpora_in(given.config)
    for key, name in [(k, n) for k in _NAMED for n in section[k] if n in AREAS]:
        yield f"hate_speech.{key}: '{name}' is the name of an area; rename the corpus"
    yield from check_corpora(section, (*_NAMED, "linear_only"), "hate_speech", given)
    for name in named_in(section, _NAMED):
        files, prefix = ("identifiers", "sentences"), f"hate_speech.corpora.{name}"
        yield from _check_files(prefix, corpora[name], ("news",), files, given)
    yield from _check_files("hate_speech", section, ("hatecheck",), ("masked_words",), given)
    for part, source in encoder_files(section).items():
        if problem := source_problem(source, given):
            yield f"hate_speech.encoder.{part}: {problem}"
    explained, methods = section["explained"], section["methods"]
    yield from _check_names("methods", methods)
    if VANILLA not in methods or explained not in methods:
        needed = f"{VANILLA} and {explained}"
        yield f"hate_speech.explained: {needed} must both be among methods; add them, or name another method"
    elif not explained.startswith(("soc-", "oc-")):
        yield f"hate_speech.explained: {explained} regularizes no explanation; name an oc or soc method"
    elif section["ablation_seeds"]:
        yield from _check_names("ablation", [f"{explained}@{quirk}" for quirk in section["ablation"]])


def _check_files(
    prefix: str, section: Mapping[str, Any], sources: Iterable[str], files: Iterable[str], given: Given
) -> Iterator[str]:
    """Yield the problem of each missing source or file; a file cannot be a registered dataset."""
    for key in sources:
        if problem := source_problem(section[key], given):
            yield f"{prefix}.{key}: {problem}"
    for key in files:
        if problem := not_found(section[key], given.root) if section[key] else MISSING:
            yield f"{prefix}.{key}: {problem}"


def _check_names(key: str, methods: Iterable[str]) -> Iterator[str]:
    for name in methods:
        try:
            parse_method(name)
        except InputError as error:
            yield f"hate_speech.{key}: {error}"


ITEMS = items_of(
    tables.corpora,
    tables.performance,
    tables.differences,
    tables.word_importance,
    tables.identifiers,
    tables.transfer,
    tables.cost,
    hatecheck.hatecheck,
    tables.attributions,
    tables.ablation,
    figures.draw_removal,
    hierarchies,
    figures.draw_performance,
    hatecheck.draw_hatecheck,
)
STEPS = {
    "prepare-encoder": "biaslab.text.encoder:prepare_encoder",
    "prepare-texts": "biaslab.hate_speech.corpus:prepare",
    "train-linear": "biaslab.hate_speech.linear:run_linear",
    "train-language-model": "biaslab.hate_speech.experiment:fit_language_model",
    "train-classifier": "biaslab.hate_speech.experiment:train_method",
    "evaluate-encoders": "biaslab.hate_speech.experiment:evaluate_encoders",
    "explain-classifiers": "biaslab.hate_speech.experiment:explain_methods",
    "measure-classifiers": "biaslab.hate_speech.measurement:measure_corpus",
}
PAPER = "Hate speech classifiers regularized by explanations (Kennedy et al. 2020)"
AREA = Area(
    "hate_speech",
    PAPER,
    Section,
    check,
    wanted,
    choose,
    summaries,
    ITEMS,
    labels=("corpus", "test"),
    captions="hate",
    extra="neural",
    shared=Corpora,
    texts=("*/hierarchies.json",),
    steps=STEPS,
    recipes={
        "news-identity": Recipe(news.draw_sentences, 2**29),
        "stormfront": Recipe(stormfront.keep_sentences, 2**26),
    },
)
