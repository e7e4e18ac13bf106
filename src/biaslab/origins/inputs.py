"""Functions of wildcards for the rules of the area: files and options of each step."""

from collections.abc import Callable, Mapping
from typing import Any

from biaslab.core.files import locate
from biaslab.core.settings import fields_of
from biaslab.embeddings import BASELINE
from biaslab.embeddings.settings import GloveParameters, Word2VecParameters
from biaslab.origins import analyses, expansion
from biaslab.origins.attribution.settings import InfluenceParameters
from biaslab.origins.sets import EFFECTS, PPMI, is_by_ppmi
from biaslab.run.data.datasets import dataset_name
from biaslab.run.plan.plan import Plan
from biaslab.run.plan.steps import part

FOLDER = "results/origins"


class Inputs:
    """Functions of wildcards for the rules of a run; the wildcard ``setup`` is the name of a setup to run."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.section = plan.config["origins"]
        names = plan.units["origins"].names
        self.setups: dict[str, Mapping[str, Any]] = {name: self.section["setups"][name] for name in names}

    def keys(self, section: str, *names: str, **others: str) -> Callable[[Any], dict[str, Any]]:
        """Return a function for settings of a section of a setup; `others` maps other names to keys."""

        def select(wildcards: Any) -> dict[str, Any]:
            settings = self.setups[wildcards.setup][section]
            return part(settings, *names) | {name: settings[key] for name, key in others.items()}

        return select

    # --- the corpus

    def corpus_checksum(self, wildcards: Any) -> str:
        """Return the checksum of a verified copy of the corpus; "" for a corpus that is read in place."""
        return self.plan.checksum(self.setups[wildcards.setup]["corpus"]["source"])

    def corpus_source(self, wildcards: Any) -> str:
        """Return the corpus. The age of a verified copy is ignored, because its checksum is a parameter."""
        from snakemake.io import ancient

        file = self.plan.source(self.setups[wildcards.setup]["corpus"]["source"])
        return ancient(file) if self.corpus_checksum(wildcards) else file

    def corpus(self, wildcards: Any) -> dict[str, Any]:
        """Return the options for reading the corpus."""
        corpus, vocabulary = (self.setups[wildcards.setup][section] for section in ("corpus", "vocabulary"))
        unit_keys = ("part_length",) if corpus["unit"] == "part" else ()
        choice = part(corpus, "unit", *unit_keys, "min_length", "max_length", "max_tokens")
        return part(corpus, "format") | {"choice": choice | vocabulary}

    # --- embeddings

    def glove(self, wildcards: Any) -> dict[str, Any]:
        """Return the options for training GloVe."""
        glove = self.setups[wildcards.setup]["glove"]
        model = part(glove, *fields_of(GloveParameters))
        return {"model": model} | part(glove, "checkpoint_minutes")

    def word2vec(self, wildcards: Any) -> dict[str, Any]:
        """Return the options for training word2vec."""
        setup = self.setups[wildcards.setup]
        model = part(setup["glove"] | setup["word2vec"], *fields_of(Word2VecParameters))
        trainings = expansion.word2vec_trainings_of(wildcards.trained, setup)
        return {"model": model, "set": wildcards.trained, "trainings": trainings}

    def batch(self, wildcards: Any) -> dict[str, Any]:
        """Return the set and the replicates of a batch of trainings, each with its own seed."""
        name, (_, setup) = wildcards.get("set", BASELINE), self._corpus(wildcards)
        return {"set": name} | expansion.batches_of(name, setup)[int(wildcards.batch)]._asdict()

    def _corpus(self, wildcards: Any) -> tuple[str, Mapping[str, Any]]:
        """Return the folder and the setup of a corpus, or of its copy with a dose of planted documents."""
        folder, setup = f"{FOLDER}/{wildcards.setup}", self.setups[wildcards.setup]
        if dose := wildcards.get("dose"):
            return f"{folder}/planted/{dose}", setup | {"baselines": setup["planted"]["baselines"]}
        return folder, setup

    def embeddings(self, *kinds: Callable[[Mapping], list[str]]) -> Callable[[Any], list[str]]:
        """Return a function for the embedding files of sets; each of `kinds` maps a setup to set names."""

        def files(wildcards: Any) -> list[str]:
            folder, setup = self._corpus(wildcards)
            names = [name for kind in kinds for name in kind(setup)]
            return expansion.embedding_files(folder, names, setup)

        return files

    def measured(self, folder: str, *kinds: Callable[[Mapping], list[str]]) -> Callable[[Any], list[str]]:
        """Return a function for the tables of measurements, one for each file of `embeddings`."""
        embeddings = self.embeddings(*kinds)
        return lambda wildcards: [
            file.replace("/embeddings/", f"/{folder}/").removesuffix(".npz") + ".tsv"
            for file in embeddings(wildcards)
        ]

    def word2vec_embeddings(self, *kinds: Callable[[Mapping], list[str]]) -> Callable[[Any], list[str]]:
        """Return a function for the word2vec embedding files; arguments as for `embeddings`."""
        return lambda wildcards: [
            f"{FOLDER}/{wildcards.setup}/word2vec/embeddings/{name}/batch-0.npz"
            for kind in kinds
            for name in kind(self.setups[wildcards.setup])
        ]

    def word2vec_bias(self, wildcards: Any) -> str | list[str]:
        """Return the table of the bias in word2vec, or [] if word2vec is not trained."""
        is_trained = self.setups[wildcards.setup]["word2vec"]["trainings"] > 0
        return f"{FOLDER}/{wildcards.setup}/word2vec/observed.tsv" if is_trained else []

    # --- sets of documents

    def sets_of(self, wildcards: Any) -> str:
        """Return the table with the documents of a set."""
        folder = f"{PPMI}/" if is_by_ppmi(wildcards.set) else ""
        return f"{FOLDER}/{wildcards.setup}/{folder}{expansion.SETS}"

    def left_out(self, wildcards: Any) -> str | list[str]:
        """Return the table of sets, for any set except the baseline."""
        is_whole = wildcards.trained == BASELINE
        return [] if is_whole else f"{FOLDER}/{wildcards.setup}/{expansion.SETS}"

    def retrained_batch(self, name: str) -> Callable[[Any], dict[str, Any]]:
        """Return a function for the sets that a job of an analysis removes, and the trainings of each."""
        analysis = analyses.named(name)

        def select(wildcards: Any) -> dict[str, Any]:
            setup = self.setups[wildcards.setup]
            batch = analysis.batches(setup)[int(wildcards.batch)]
            return batch._asdict() | {"trainings": analysis.trainings(setup)}

        return select

    def retrained(self, name: str) -> Callable[[Any], list[str]]:
        """Return a function for the tables of all retraining jobs of an analysis."""
        analysis = analyses.named(name)
        return lambda wildcards: [
            f"{FOLDER}/{wildcards.setup}/{name}/retrained/batch-{number}.tsv"
            for number in range(len(analysis.batches(self.setups[wildcards.setup])))
        ]

    # --- copies of the corpus with planted documents; ``dose`` is the share of planted words

    def planted(self, wildcards: Any) -> dict[str, Any]:
        """Return the number and the dose of the documents planted in one copy."""
        count = self.setups[wildcards.setup]["planted"]["documents"]
        return {"count": count, "dose": float(wildcards.dose)}

    def planted_tables(self, *names: str) -> Callable[[Any], list[str]]:
        """Return a function for tables of all copies; ``{weat}`` in a name is replaced by each test."""
        return lambda wildcards: [
            f"{FOLDER}/{wildcards.setup}/planted/{dose}/{name.format(weat=weat)}.parquet"
            for dose in expansion.doses(self.setups[wildcards.setup])
            for name in names
            for weat in (self.tests(wildcards) if "{weat}" in name else [""])
        ]

    # --- measures

    def influence(self, wildcards: Any) -> dict[str, Any]:
        """Return the options for estimating the influence of documents."""
        setup = self.setups[wildcards.setup]
        return {"influence": part(setup["glove"] | setup["bias"], *fields_of(InfluenceParameters))}

    def of_tests(self, folder: str) -> Callable[[Any], list[str]]:
        """Return a function for the tables of all tests."""
        return lambda wildcards: [
            f"{FOLDER}/{wildcards.setup}/{folder}/{weat}.parquet" for weat in self.tests(wildcards)
        ]

    def word_sets(self, wildcards: Any) -> list[str]:
        """Return the file with the words of the test ``{weat}``; without it, of every test of a setup."""
        weat, files = wildcards.get("weat"), self.section["weats"]
        tests = [weat] if weat else self.tests(wildcards)
        return [str(locate(files[test], self.plan.root)) for test in tests]

    def results(self) -> list[str]:
        """Return the files of every setup that claims use, without texts of unreadable corpora."""
        texts = self.plan.area("origins").texts
        unreadable = [name for name in self.setups if not self._is_readable(name)]
        left_out = [f"{FOLDER}/{text.replace('*', name, 1)}" for text in texts for name in unreadable]
        return [file for file in analyses.result_files(FOLDER, self.setups) if file not in left_out]

    def _is_readable(self, name: str) -> bool:
        """Return whether the corpus of a setup is available, not only an archived run of it."""
        return dataset_name(self.setups[name]["corpus"]["source"]) not in self.plan.unreadable

    def pages(self) -> list[str]:
        """Return the document pages for every test of every setup with a readable corpus."""
        return [
            f"{FOLDER}/{name}/context_{weat}_{effect}.html"
            for name, setup in self.setups.items()
            if self._is_readable(name)
            for weat in setup["bias"]["weats"]
            for effect in EFFECTS
        ]

    def tests(self, wildcards: Any) -> list[str]:
        """Return the names of the tests of a setup."""
        return self.setups[wildcards.setup]["bias"]["weats"]
