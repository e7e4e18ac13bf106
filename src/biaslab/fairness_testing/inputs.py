"""Inputs of the area's rules: files of a step, from its wildcards."""

from collections.abc import Callable
from typing import Any

from biaslab.fairness_testing.area import ENCODER, RANDOM, corpora_in, vectors_source
from biaslab.fairness_testing.settings import NEURAL, TABULAR, TEXT, TEXT_PREFIX, TRAIN
from biaslab.run.plan.corpora import TEXTS
from biaslab.run.plan.plan import Plan
from biaslab.run.plan.sources import file_of, setups_of
from biaslab.run.plan.steps import part

_FOLDER = "results/fairness_testing/text-"


class Inputs:
    """Functions of wildcards for the rules of a run; the wildcard ``classifier`` is a tested classifier."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.section = plan.config["fairness_testing"]
        self.classifiers = [u.name for u in plan.units["fairness_testing"].chosen if TABULAR in u.marks]

    def file(self, part: str) -> Callable[[Any], str | list[str]]:
        """Return a function that returns a file of a classifier; no file if the configuration names none."""

        def find(wildcards: Any) -> str | list[str]:
            source = self.section["classifiers"][wildcards.classifier][part]
            return [] if (part, source) == ("network", TRAIN) else self._file(source)

        return find

    def _file(self, source: str | None) -> str | list[str]:
        return file_of(source, self.plan.registry, self.plan.root) if source else []


class TextInputs(Inputs):
    """Functions of wildcards for the rules of a run: ``texts`` (a corpus) and ``network``."""

    searched = ("global.tsv", "local.tsv", "found.npz")  # the files that the search of a network writes

    joined = (
        *(f"{name}.tsv" for name in ("models", "global", "local", "retraining", "validity", "pools")),
        "example.json",
    )
    """The results of all networks of a corpus."""

    claimed = ("texts.tsv", "vectors.tsv", *(file for file in joined if file.endswith(".tsv")))
    """The results of a corpus that claims use."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.section = self.section["text"]
        self.known = corpora_in(plan.config)
        units = [unit for unit in plan.units["fairness_testing"].chosen if TEXT in unit.marks]
        self.corpora = [unit.name.removeprefix(TEXT_PREFIX) for unit in units]
        self.models = self.section["models"]
        self.is_neural = any(NEURAL in unit.marks for unit in units)
        self.is_certified = self.is_neural and self.section["certified_epochs"] > 0
        self.weights = [f"network-{number}.npz" for number in range(self.section["repetitions"])]
        sources = self.section["encoder"] if self.is_neural else {}
        self.encoder = {
            name: self._file(sources[name]) for name in ENCODER if sources.get(name, RANDOM) != RANDOM
        }

    def measured(self, wildcards: Any) -> list[str]:
        """Return the input files of the last step on a corpus."""
        retrained = ["retraining.tsv", *(["certified.tsv"] if self.is_certified else ())]
        names = [*self.weights, *self.searched, "models.tsv", *retrained]
        folder = f"{_FOLDER}{wildcards.texts}"
        files = [f"{folder}/{model}/{file}" for model in self.models for file in names]
        return [f"{folder}/lexicon.npz", f"{folder}/texts.npz", *files]

    def vectors_source(self) -> str:
        """Return the corpus of the word vectors, or their file; ignore the age of a verified copy."""
        from snakemake.io import ancient

        file = self.plan.source(vectors_source(self.plan.config))
        return ancient(file) if self.vectors_checksum() else file

    def vectors_checksum(self) -> str:
        """Return the checksum of a verified copy; "" for a file that is read in place."""
        return self.plan.checksum(vectors_source(self.plan.config))

    def vectors(self, _: Any) -> dict[str, Any]:
        """Return the settings of word vectors: those of a setup, except settings of this section."""
        settings = self.section["vectors"]
        if settings["file"]:
            return {"training": None}
        setup = setups_of(self.plan.config)[settings["setup"]]
        corpus, glove = setup["corpus"], setup["glove"]
        parameters = part(glove, "x_max", "alpha", "learning_rate") | part(settings, "dimension", "epochs")
        choice = part(corpus, "min_length", "max_length", "max_tokens") | part(settings, "min_count")
        training = {"format": corpus["format"], "choice": choice, "window": glove["window"]}
        return {"training": training | {"glove": parameters}}

    def file(self, part: str) -> Callable[[Any], str | list[str]]:
        """Return a function that returns a file of a corpus; no file if the configuration names none."""
        return lambda wildcards: self._file(self.known[wildcards.texts][part])

    def texts(self, wildcards: Any) -> dict[str, str]:
        """Return the files with the texts of a corpus, by key."""
        corpus = self.known[wildcards.texts]
        return {key: self._file(corpus[key]) for key in TEXTS if corpus[key]}

    def preparation(self, wildcards: Any) -> dict[str, Any]:
        """Return the settings for reading a corpus."""
        corpus = self.known[wildcards.texts]
        train, *others = self.texts(wildcards).items()
        source = part(corpus, "format", "positive") | {"train": train[1]} | dict(others)
        return {"source": source, "features": corpus["features"]}

    def training(self, wildcards: Any) -> dict[str, Any]:
        """Return the settings of training."""
        return {"training": self.section["training"] | self.weight(wildcards)}

    def weight(self, wildcards: Any) -> dict[str, float]:
        """Return the weight of a negative text of a corpus."""
        return part(self.known[wildcards.texts], "negative_weight")
