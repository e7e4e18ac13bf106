"""What the rules of the area ask for: files and options of a step, from its wildcards."""

import json
import re
from collections.abc import Callable
from typing import Any

from biaslab.hate_speech.area import PROBES, encoder_files
from biaslab.hate_speech.methods import VANILLA
from biaslab.hate_speech.schedules import PAPER
from biaslab.hate_speech.settings import PUBLISHED
from biaslab.run.command import options
from biaslab.run.datasets import dataset_name
from biaslab.run.plan import Plan
from biaslab.run.sources import file_of

_LINEAR = ("bow", "bow-wr")
_TRAINING = ("batch_size", "learning_rate", "epochs", "validate_every", "halvings")
_CONTEXTS = {"regularization": ("radius", "samples"), "analysis": ("radius", "samples", "sentences")}


class Inputs:
    """Functions of wildcards for the rules of a run: ``corpus``, ``method``, ``number`` (of a training)."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.section = plan.config["hate_speech"]
        self.corpora = plan.units["hate_speech"].names

    @property
    def methods(self) -> list[str]:
        """All methods that are trained: those that are compared, ablations, and those with held-out parts."""
        return [*self.section["methods"], *self._ablations, *self._folds]

    @property
    def encoders(self) -> list[str]:
        """Those of the methods that fine-tune the encoder."""
        return [name for name in self.methods if name not in _LINEAR]

    @property
    def encoder_pattern(self) -> str:
        """A regular expression of these."""
        return "|".join(map(re.escape, self.encoders))

    @property
    def explained(self) -> list[str]:
        """The two methods whose explanations are shown side by side."""
        return [VANILLA, self.section["explained"]]

    @property
    def _ablations(self) -> list[str]:
        n, quirks = self.section["ablation_seeds"], self.section["ablation"]
        return [f"{self.section['explained']}@{quirk}" for quirk in quirks] if n else []

    @property
    def _folds(self) -> list[str]:
        n = self.section["held_out_folds"] if self.section["held_out_seeds"] else 0
        return [f"{self.section['explained']}@fold{part}.{n}" for part in range(n)]

    def numbers(self, method: str) -> range:
        """Return the numbers of the trainings of a method."""
        if method in self._ablations:
            return range(self.section["ablation_seeds"])
        return range(self.section["held_out_seeds"] if method in self._folds else self.section["seeds"])

    def models(self, wildcards: Any) -> list[str]:
        """Return the weights of all trainings of a method."""
        folder = f"results/hate_speech/{wildcards.corpus}/models/{wildcards.method}"
        return [f"{folder}/{number}/model.safetensors" for number in self.numbers(wildcards.method)]

    def numbers_options(self, wildcards: Any) -> list[str]:
        """Return the numbers of the trainings of a method."""
        return options({"numbers": list(self.numbers(wildcards.method))})

    def first_models(self, wildcards: Any) -> list[str]:
        """Return the weights of the first training of each method that is explained."""
        folder = f"results/hate_speech/{wildcards.corpus}/models"
        return [f"{folder}/{method}/0/model.safetensors" for method in self.explained]

    def encoder_files(self) -> dict[str, str]:
        """Return the files that the encoder is made of, by their part."""
        return {part: self._file(source) for part, source in encoder_files(self.section).items() if source}

    def encoder_options(self) -> list[str]:
        """Return these files, and how many layers are kept."""
        return options({**self.encoder_files(), "layers": self.section["encoder"]["layers"]})

    def file(self, part: str) -> Callable[[Any], str | list[str]]:
        """Return a function that gives a file of a corpus; none where the configuration names none."""

        def named(wildcards: Any) -> str | list[str]:
            source = self.section["corpora"][wildcards.corpus][part]
            return [] if source is None or self._is_lost(source) else self._file(source)

        return named

    def source_files(self, wildcards: Any) -> list[str]:
        """Return the files that the texts of a corpus are read from."""
        return list(self._files_of(wildcards.corpus).values())

    def source_options(self, wildcards: Any) -> list[str]:
        """Return how a corpus is read and split."""
        return options(self._source(wildcards.corpus))

    def probe_files(self, wildcards: Any) -> list[str]:
        """Return the files of the further test sets of a corpus."""
        others = [file for name in self._others(wildcards.corpus) for file in self._files_of(name).values()]
        return [*self._probes(wildcards.corpus).values(), *others]

    def probe_options(self, wildcards: Any) -> list[str]:
        """Return the further test sets of a corpus, and how many texts of each set are used."""
        others = {name: self._source(name) for name in self._others(wildcards.corpus)}
        limits = {f"{name}_limit": limit for name, limit in self.section["limits"].items()}
        described = {"others": json.dumps(others, sort_keys=True)} if others else {}
        return options({**self._probes(wildcards.corpus), **described, **limits})

    def keys(self, part: str | None, *keys: str) -> list[str]:
        """Return keys of a part of the section, or of the section itself, as options.

        A key that is true becomes a switch without a value; one that is false, nothing.
        """
        section = self.section[part] if part else self.section
        switches = [f"--{key.replace('_', '-')}" for key in keys if section[key] is True]
        values = {key: section[key] for key in keys if not isinstance(section[key], bool)}
        return [*options(values), *switches]

    def weight(self, wildcards: Any) -> list[str]:
        """Return the weight of a negative sentence in a corpus."""
        return options({"negative_weight": self.section["corpora"][wildcards.corpus]["negative_weight"]})

    def settings(self, wildcards: Any) -> list[str]:
        """Return what trainings and explanations of a corpus are made with, as numbers in JSON."""
        training, section = self.section["training"], self.section
        numbers = {
            "encoder_pretrained": int(encoder_files(section)["weights"] is not None),
            "seeds": section["seeds"],
            "positive_weight": 1 / section["corpora"][wildcards.corpus]["negative_weight"],
            "published_schedule": int(training["schedule"] == PUBLISHED),
            "published_stop": int(training["stop"] == PAPER),
        }
        numbers |= {key: training[key] for key in _TRAINING}
        for part, keys in _CONTEXTS.items():
            numbers |= {f"{part}_{key}": section[part][key] for key in keys}
        return options({"settings": json.dumps(numbers, sort_keys=True)})

    def _others(self, corpus: str) -> list[str]:
        """Return the corpora whose test sets a corpus is tested on, too."""
        return [
            name
            for name in self.section["transfer"]
            if name != corpus and not any(self._is_lost(f) for f in self._sources_of(name).values())
        ]

    def _sources_of(self, corpus: str) -> dict[str, str]:
        settings = self.section["corpora"][corpus]
        return {key: settings[key] for key in ("source", "validation", "test") if settings[key]}

    def _files_of(self, corpus: str) -> dict[str, str]:
        return {key: self._file(source) for key, source in self._sources_of(corpus).items()}

    def _source(self, corpus: str) -> dict[str, str]:
        """Return how a corpus is read and split, by the names of the options."""
        settings = self.section["corpora"][corpus]
        how = {key: settings[key] for key in ("format", "positive", "split") if settings[key]}
        return how | self._files_of(corpus)

    def _probes(self, corpus: str) -> dict[str, str]:
        sources = {name: self.section[name] for name in PROBES}
        sources["news"] = self.section["corpora"][corpus]["news"]
        return {name: self._file(s) for name, s in sources.items() if s and not self._is_lost(s)}

    def _is_lost(self, source: str) -> bool:
        return dataset_name(source) in self.plan.absent

    def _file(self, source: str) -> str:
        return file_of(source, self.plan.registry, self.plan.root)
