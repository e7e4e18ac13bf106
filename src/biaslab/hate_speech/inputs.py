"""Compute the input files and the arguments of the steps of the area from the wildcards of its rules."""

from collections.abc import Callable
from typing import Any

from biaslab.hate_speech.area import RANDOM, corpora_in, encoder_files
from biaslab.hate_speech.methods import LINEAR, VANILLA
from biaslab.hate_speech.settings import PUBLISHED
from biaslab.run.data.datasets import dataset_name
from biaslab.run.plan.corpora import TEXTS
from biaslab.run.plan.plan import Plan
from biaslab.run.plan.sources import file_of


class Inputs:
    """Inputs of the rules of a run; methods take the wildcards: corpus, method and number (a training)."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.section = section = plan.config["hate_speech"]
        self.known = corpora_in(plan.config)
        self.corpora = plan.units["hate_speech"].names
        self.encoder_corpora = [name for name in self.corpora if name not in section["linear_only"]]
        self.explained = [VANILLA, section["explained"]]  # shown side by side
        quirks = section["ablation"] if section["ablation_seeds"] else ()
        ablations = [f"{section['explained']}@{quirk}" for quirk in quirks]
        self.methods = [*section["methods"], *ablations]  # all that are trained
        self.encoders = [name for name in self.methods if name not in LINEAR]
        n_seeds = {
            name: section["ablation_seeds" if name in ablations else "seeds"] for name in self.encoders
        }
        self.numbers = {name: list(range(n)) for name, n in n_seeds.items()}  # of the trainings
        self.histories = self._model_files(self.encoder_corpora, "history.tsv")  # which claims read
        self._regularization = section["regularization"] | {"add_itself": True}
        contexts = {key: section["analysis"][key] for key in ("radius", "samples")}
        sources = encoder_files(section)
        self.encoder_files = [self._file(source) for source in sources.values() if source]
        self.encoder = {
            "files": {part: source and self._file(source) for part, source in sources.items()},
            "weights": "pretrained" if sources["weights"] else RANDOM,
            "layers": section["encoder"]["layers"],
        }
        self.evaluation = {
            "methods": self.encoders,
            "numbers": self.numbers,
            "contexts": contexts,
            "regularization": self._regularization,
            "batch_size": section["training"]["batch_size"],
        }
        n = section["analysis"]["sentences"]
        self.explanation = {"methods": self.explained, "contexts": contexts, "n": n}

    def predictions(self, wildcards: Any) -> list[str]:
        """Return the predictions of all methods that are trained on a corpus."""
        folder = f"results/hate_speech/{wildcards.corpus}/predictions"
        return [f"{folder}/{method}.parquet" for method in self._methods_on(wildcards.corpus)]

    def models(self, wildcards: Any) -> list[str]:
        """Return the weights of all trainings of encoders on a corpus."""
        return self._model_files([wildcards.corpus], "model.safetensors")

    def folder(self, wildcards: Any) -> dict[str, Any]:
        """Return the arguments with which the steps open the folder of a corpus."""
        return {
            "folder": {
                "path": f"results/hate_speech/{wildcards.corpus}",
                "encoder": "results/hate_speech/encoder",
                "identifiers_file": self.file("identifiers")(wildcards),
            }
        }

    def file(self, part: str) -> Callable[[Any], str | list[str]]:
        """Return a function that returns a file of a corpus, or [] if the configuration names none."""

        def get_file(wildcards: Any) -> str | list[str]:
            source = self.known[wildcards.corpus][part]
            return [] if source is None or self._is_lost(source) else self._file(source)

        return get_file

    def source_files(self, wildcards: Any) -> list[str]:
        """Return the source files of the texts of a corpus."""
        return [self._file(source) for source in self._sources_of(wildcards.corpus).values()]

    def source(self, wildcards: Any) -> dict[str, Any]:
        """Return the settings for reading and splitting a corpus."""
        return {"source": self._source(wildcards.corpus)}

    def probe_files(self, wildcards: Any) -> list[str]:
        """Return the files of the further test sets of a corpus."""
        others = [
            source for name in self._others(wildcards.corpus) for source in self._sources_of(name).values()
        ]
        return [*self._probes(wildcards.corpus).values(), *map(self._file, others)]

    def probes(self, wildcards: Any) -> dict[str, Any]:
        """Return the further test sets of a corpus, and the number of texts to use of each set."""
        others = {name: self._source(name) for name in self._others(wildcards.corpus)}
        return {"probes": self._probes(wildcards.corpus), "others": others, "limits": self.section["limits"]}

    def linear(self, wildcards: Any) -> dict[str, Any]:
        """Return the settings of the linear models."""
        effort = {
            "n_splits": self.section["linear_splits"],
            "n_subsets": self.section["removal_subsets"],
            "negative_weight": self.known[wildcards.corpus]["negative_weight"],
            "seed": self.plan.config["seed"],
        }
        return {"effort": effort}

    def training(self, wildcards: Any) -> dict[str, Any]:
        """Return the settings for fine-tuning classifiers."""
        weight = {"negative_weight": self.known[wildcards.corpus]["negative_weight"]}
        return {"settings": self.section["training"] | weight, "contexts": self._regularization}

    def measurement(self, wildcards: Any) -> dict[str, Any]:
        """Return the methods to measure, and the numeric settings of their training and explanation."""
        training, section = self.section["training"], self.section
        numbers = {
            "encoder_pretrained": int(encoder_files(section)["weights"] is not None),
            "seeds": section["seeds"],
            "positive_weight": 1 / self.known[wildcards.corpus]["negative_weight"],
            "published_schedule": int(training["schedule"] == PUBLISHED),
            "published_stop": 1,
        }
        numbers |= {key: value for key, value in training.items() if key != "schedule"}
        for part in ("regularization", "analysis"):
            numbers |= {f"{part}_{key}": value for key, value in section[part].items()}
        return {"methods": self._methods_on(wildcards.corpus), "settings": numbers}

    def _methods_on(self, corpus: str) -> list[str]:
        return list(LINEAR) if corpus in self.section["linear_only"] else self.methods

    def _model_files(self, corpora: list[str], name: str) -> list[str]:
        return [
            f"results/hate_speech/{corpus}/models/{method}/{number}/{name}"
            for corpus in corpora
            for method, numbers in self.numbers.items()
            for number in numbers
        ]

    def _others(self, corpus: str) -> list[str]:
        return [
            name
            for name in self.section["transfer"]
            if name != corpus and not any(map(self._is_lost, self._sources_of(name).values()))
        ]

    def _sources_of(self, corpus: str) -> dict[str, str]:
        settings = self.known[corpus]
        return {key: settings[key] for key in TEXTS if settings[key]}

    def _source(self, corpus: str) -> dict[str, str]:
        settings = {key: self.known[corpus][key] for key in ("format", "positive")}
        names = {"source": "train"}
        return settings | {names.get(k, k): self._file(s) for k, s in self._sources_of(corpus).items()}

    def _probes(self, corpus: str) -> dict[str, str]:
        sources = {"hatecheck": self.section["hatecheck"], "news": self.known[corpus]["news"]}
        return {name: self._file(s) for name, s in sources.items() if s and not self._is_lost(s)}

    def _is_lost(self, source: str) -> bool:
        return dataset_name(source) in self.plan.absent

    def _file(self, source: str) -> str:
        return file_of(source, self.plan.registry, self.plan.root)
