"""What the rules about texts ask for: files and options of a step, from its wildcards."""

from collections.abc import Callable
from typing import Any

from biaslab.fairness_testing.names import NEURAL, TEXT, TEXT_PREFIX
from biaslab.fairness_testing.text.area import ENCODER, PROBES, RANDOM, vectors_source
from biaslab.fairness_testing.text.names import ENCODER_KIND
from biaslab.run.command import options
from biaslab.run.datasets import dataset_name
from biaslab.run.plan import Plan
from biaslab.run.sources import file_of

_TEXTS = ("source", "validation", "test")
_SEARCHED = ("global", "local", "curves", "words", "flips", "invariants")
_RETRAINED, _CERTIFIED = ("retraining", "unseen"), ("certified", "unseen_certified")
_OF_ENCODER = ("models", "agreement")
_FOLDER = "results/fairness_testing/text-"


class TextInputs:
    """Functions of wildcards for the rules of a run: ``texts`` (a corpus) and ``network``."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.section = plan.config["fairness_testing"]["text"]
        units = [unit for unit in plan.units["fairness_testing"].chosen if TEXT in unit.marks]
        self.corpora = [unit.name.removeprefix(TEXT_PREFIX) for unit in units]
        self.models = self.section["models"]
        self.is_neural = any(NEURAL in unit.marks for unit in units)

    @property
    def is_certified(self) -> bool:
        """Whether networks are trained certifiably, too."""
        return self.is_neural and self.section["certified_epochs"] > 0

    @property
    def has_encoder(self) -> bool:
        """Whether the encoder is one of the networks, too."""
        return self.is_neural and self.section["encoder"]["epochs"] > 0

    # --- the files of steps

    searched = (*(f"{name}.tsv" for name in _SEARCHED), "seeds.parquet", "found.npz")
    """What a search of one network writes."""

    joined = (
        *(f"{name}.tsv" for name in ("models", *_SEARCHED, *_RETRAINED, "validity", "agreement", "pools")),
        "seeds.parquet",
        "example.json",
    )
    """The results of all networks of a corpus."""

    def weights(self) -> list[str]:
        """Return the weights of all trainings of a network."""
        return [f"network-{number}.npz" for number in range(self.section["repetitions"])]

    def measured(self, wildcards: Any) -> list[str]:
        """Return what the last step on a corpus reads."""
        tables = [*_RETRAINED, *(_CERTIFIED if self.is_certified else ())]
        of_each = [*self.weights(), *self.searched, "models.tsv", *(f"{name}.tsv" for name in tables)]
        folder = f"{_FOLDER}{wildcards.texts}"
        found = [f"{folder}/{model}/{file}" for model in self.models for file in of_each]
        encoder = _OF_ENCODER if self.has_encoder else ()
        read = ["lexicon.npz", "texts.npz", *(f"{ENCODER_KIND}/{name}.tsv" for name in encoder)]
        return [*(f"{folder}/{file}" for file in read), *found]

    def measure_options(self) -> list[str]:
        """Return what the last step measures."""
        asked = {"--certified": self.is_certified, "--fine-tuned": self.has_encoder}
        switches = [switch for switch, is_asked in asked.items() if is_asked]
        return [*self.options("models", "pairs"), *switches]

    # --- word vectors

    def vectors_source(self) -> str:
        """Return the corpus that word vectors are trained on, or their file. A verified copy has no age."""
        from snakemake.io import ancient

        source = vectors_source(self.plan.config)
        file = self.plan.source(source)
        return ancient(file) if self.plan.checksum(source) else file

    def vectors_checksum(self) -> str:
        """Return the checksum of a verified copy; "" for a file that is read in place."""
        return self.plan.checksum(vectors_source(self.plan.config))

    def vectors_options(self) -> list[str]:
        """Return how word vectors are trained: as those of a setup, but for what is set here."""
        vectors = self.section["vectors"]
        if vectors["file"]:
            return []
        setup = self.plan.config["setups"][vectors["setup"]]
        corpus = {key: setup["corpus"][key] for key in ("format", "min_length", "max_length", "max_tokens")}
        own = {key: vectors[key] for key in ("dimension", "min_count", "epochs")}
        taken = ("window", "x_max", "alpha", "learning_rate")
        return options(corpus | {key: setup["glove"][key] for key in taken} | own)

    # --- a corpus

    def file(self, part: str) -> Callable[[Any], str | list[str]]:
        """Return a function that gives a file of a corpus; none where the configuration names none."""

        def named(wildcards: Any) -> str | list[str]:
            source = self.section["corpora"][wildcards.texts][part]
            return self._file(source) if source else []

        return named

    def texts(self, wildcards: Any) -> list[str]:
        """Return the files that the texts of a corpus, and the further test sets, are read from."""
        return [*self._texts(wildcards.texts).values(), *self._probes().values()]

    def prepare_options(self, wildcards: Any) -> list[str]:
        """Return how a corpus is read."""
        corpus = self.section["corpora"][wildcards.texts]
        named = {key: corpus[key] for key in ("format", "positive", "features")}
        files = {key: self._file(corpus[key]) for key in ("terms", "sentences")}
        return options(named | files | self._texts(wildcards.texts) | self._probes())

    def training_options(self, wildcards: Any) -> list[str]:
        """Return how networks are trained."""
        weight = self.section["corpora"][wildcards.texts]["negative_weight"]
        return options({**self.section["training"], "negative_weight": weight})

    def options(self, *keys: str) -> list[str]:
        """Return keys of the section."""
        return options({key: self.section[key] for key in keys})

    # --- the sentence encoder

    def encoder_files(self) -> dict[str, str]:
        """Return the files of the encoder, by their part; none where its library is missing."""
        sources = self.section["encoder"] if self.is_neural else {}
        return {part: self._file(sources[part]) for part in ENCODER if sources.get(part, RANDOM) != RANDOM}

    def encoder_options(self) -> list[str]:
        """Return these files."""
        return options(self.encoder_files())

    def fine_tuning_options(self, wildcards: Any) -> list[str]:
        """Return how the encoder is trained as a network."""
        weight = self.section["corpora"][wildcards.texts]["negative_weight"]
        keys = {key: self.section["encoder"][key] for key in ("layers", "epochs")}
        return options({**keys, "negative_weight": weight})

    def found(self, wildcards: Any) -> list[str]:
        """Return what was found on all networks of a corpus."""
        return [f"{_FOLDER}{wildcards.texts}/{model}/found.npz" for model in self.models]

    def _texts(self, corpus: str) -> dict[str, str]:
        sources = self.section["corpora"][corpus]
        return {key: self._file(sources[key]) for key in _TEXTS if sources[key]}

    def _probes(self) -> dict[str, str]:
        sources = {name: self.section[name] for name in PROBES}
        return {
            name: self._file(source)
            for name, source in sources.items()
            if source and dataset_name(source) not in self.plan.absent
        }

    def _file(self, source: str) -> str:
        return file_of(source, self.plan.registry, self.plan.root)
