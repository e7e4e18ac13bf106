"""The workflow's view of the area: origins of bias in word embeddings (Brunet et al. 2019)."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from biaslab.core.errors import suggest
from biaslab.core.files import locate, read_yaml
from biaslab.embeddings import BASELINE
from biaslab.origins import analyses, expansion
from biaslab.origins.attribution.registry import BY_SEED
from biaslab.origins.report.results import Setup
from biaslab.origins.settings import Section
from biaslab.run.area import Area, Given, Unit, Units
from biaslab.run.areas import AREAS
from biaslab.run.data.datasets import PREFIX, dataset_name, unregistered
from biaslab.run.data.fetching import source_file
from biaslab.run.plan.sources import unknown_test, word_sets_problem

_SHOWN = {
    "corpus": ("unit", "part_length", "min_length", "max_length"),
    "vocabulary": ("min_count",),
    "glove": ("window", "alpha", "x_max", "dimension", "epochs"),
}
"""The keys of a setup that the report tables show."""


def wanted(config: Mapping[str, Any]) -> set[str]:
    """Return the registered corpora of the setups to run."""
    section = config["origins"]
    names = (dataset_name(section["setups"][name]["corpus"]["source"]) for name in section["run"])
    return {name for name in names if name}


def choose(given: Given) -> Units:
    """Return the setups with an available corpus, or all if there is none, so that fetching reports it."""
    section, setups = given.config["origins"], given.config["origins"]["setups"]
    corpora = {name: setups[name]["corpus"]["source"] for name in section["run"]}
    missing = {
        name: given.absent[dataset_name(source)]
        for name, source in corpora.items()
        if dataset_name(source) in given.absent
    }
    names = [name for name in corpora if name not in missing] or list(corpora)
    weats = {weat for name in names for weat in setups[name]["bias"]["weats"]}
    return Units(
        tuple(_unit(name, given) for name in names),
        {name: reason for name, reason in missing.items() if name not in names},
        {name: source_file(corpora[name], given.registry, given.config["datasets"]) for name in names},
        {
            AREA.name: {
                "run": names,
                "weats": {name: file for name, file in section["weats"].items() if name in weats},
                "setups": {name: _recorded(setups[name]) for name in names},
            }
        },
    )


def _recorded(setup: Mapping[str, Any]) -> dict[str, Any]:
    """Return a setup as a valid configuration: without `part_length` if documents are articles."""
    corpus = dict(setup["corpus"])
    if corpus["unit"] == "article":
        del corpus["part_length"]
    return {**setup, "corpus": corpus}


def summaries(config: Mapping[str, Any]) -> list[str]:
    """Summarise the trainings of each setup to run in one line."""
    section = config["origins"]
    return [f"setup {analyses.summary(name, section['setups'][name])}" for name in section["run"]]


def check(given: Given) -> Iterator[str]:
    """Yield undefined references, missing files, and contradictory values."""
    section, written = given.config["origins"], given.written.get("origins", {}).get("setups", {})
    setups, weats = section["setups"], section["weats"]
    for name in section["run"]:
        if name not in setups:
            names = ", ".join(setups)
            yield f"origins.run: the setup '{name}' is not defined (defined: {names}){suggest(name, setups)}"
    for name, setup in setups.items():
        if name in AREAS:
            yield f"origins.setups.{name}: the name is that of an area; rename the setup"
        problems = _contradictions(setup, written.get(name, {}), weats)
        yield from (f"origins.setups.{name}.{problem}" for problem in problems)
    for name in section["run"]:
        setup = setups[name]
        for weat in setup["bias"]["weats"]:
            yield from _check_word_sets(weat, weats[weat], given.root)
        yield from _check_source(setup["corpus"]["source"], f"origins.setups.{name}.corpus.source", given)


def _unit(name: str, given: Given) -> Unit:
    section = given.config["origins"]
    setup = section["setups"][name]
    return Unit(
        name,
        tests=tuple(setup["bias"]["weats"]),
        options={section: {key: setup[section][key] for key in keys} for section, keys in _SHOWN.items()},
        files={weat: str(locate(section["weats"][weat], given.root)) for weat in setup["bias"]["weats"]},
        lacks=analyses.lacks(setup),
        embedding=expansion.embedding_files(f"results/{AREA.name}/{name}", [BASELINE], setup)[0],
    )


def _contradictions(setup: Mapping, written: Mapping, weats: Mapping) -> Iterator[str]:
    """Yield the contradictions of one setup, also if it is not run."""
    corpus, perturbations = setup["corpus"], setup["perturbations"]
    for weat in setup["bias"]["weats"]:
        if problem := unknown_test(weat, weats, "origins.weats"):
            yield f"bias.weats: {problem}"
    if corpus["unit"] == "article" and "part_length" in written.get("corpus", {}):
        yield "corpus.part_length: the key requires unit: part; remove the key or write unit: part"
    if corpus["unit"] == "part" and corpus["part_length"] is None:
        yield "corpus.part_length: the value is null; write the number of tokens of a part, or unit: article"
    if corpus["max_length"] is not None and corpus["min_length"] > corpus["max_length"]:
        limits = f"{corpus['min_length']} is larger than max_length ({corpus['max_length']})"
        yield f"corpus.min_length: {limits}; lower min_length"
    sizes, by_ppmi = perturbations["sizes"], setup["ppmi_sets"]["sizes"]
    for key, numbers in (
        ("perturbations.sizes", sizes),
        ("perturbations.random_sizes", perturbations["random_sizes"]),
        ("ppmi_sets.sizes", by_ppmi),
        ("planted.doses", setup["planted"]["doses"]),
    ):
        if numbers != sorted(set(numbers)):
            yield f"{key}: {numbers} is not in increasing order; write {sorted(set(numbers))}"
    if setup["word2vec"]["trainings"] == 1:
        yield "word2vec.trainings: one training has no standard deviation; write 0 for none, or 2 or more"
    if setup["lds"]["subsets"] == 1:
        yield "lds.subsets: one subset has no rank correlation; write 0 for none, or 20 or more"
    if setup["brittleness"]["retrainings"] == 1:
        yield "brittleness.retrainings: one embedding has no interval; write 0 for none, or 3 or more"
    for size in set(by_ppmi) - set(sizes):
        yield (
            f"ppmi_sets.sizes: perturbations.sizes ({sizes}) lacks the size {size}, so there is no set for"
            " the comparison; choose sizes from perturbations.sizes, or write [] for none"
        )


def _check_word_sets(weat: str, file: str, root: Path) -> Iterator[str]:
    """Yield the problem of a test: its file is missing or has another name, or the measure is not weat."""
    if problem := word_sets_problem(weat, file, root):
        yield f"origins.weats.{weat}: {problem}"
    elif (measure := read_yaml(locate(file, root)).get("measure", "weat")) != "weat":
        yield (
            f"origins.weats.{weat}: {file} names the measure '{measure}', but the workflow computes only"
            " weat;"
            " delete the key, or use the file with biaslab origins attribute"
        )


def _check_source(source: str, where: str, given: Given) -> Iterator[str]:
    """Yield the problem of a missing or unregistered corpus, before any step runs."""
    name = dataset_name(source)
    if name:
        if problem := unregistered(name, given.registry):
            yield f"{where}: {problem}"
    elif not Path(source).exists():
        yield (
            f"{where}: the file or folder {source} does not exist (searched from {Path.cwd()}); correct the"
            " path, "
            f"or write {PREFIX}NAME for a registered dataset"
        )


PAPER = "Origins of bias (Brunet et al. 2019)"
NAMES = ("setup", "weat")
STEPS = {
    "attribute-documents": "biaslab.origins.attribution.tables:attribute_documents",
    "predict-removals": "biaslab.origins.attribution.tables:predict_removals",
    "train-embeddings": "biaslab.origins.baseline:train_and_measure",
    "select-sets": "biaslab.origins.sets.selection:write_sets",
    "measure-baselines": "biaslab.origins.representations.ppmi_comparison:measure_baselines",
    "evaluate-retrainings": "biaslab.origins.checks.retraining:evaluate_retrainings",
    "estimate-gradient": "biaslab.origins.pages.highlight:estimate_gradient",
    "highlight-documents": "biaslab.origins.pages.highlight:write_extremes",
}
AREA = Area(
    "origins",
    PAPER,
    Section,
    check,
    wanted,
    choose,
    summaries,
    analyses.ITEMS,
    NAMES,
    Setup,
    texts=("*/documents.parquet",),
    by_training=(f"*/{BY_SEED}/*.parquet",),
    steps=STEPS | analyses.STEPS,
)
