"""Counts of the found texts, and their similarity to the seeds (Table IX, Figure 8)."""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biaslab.core.files import write_text
from biaslab.core.io import read_tsv, write_tsv
from biaslab.fairness_testing.settings import PROPOSED, TEXT_COLUMNS, TEXT_PREFIX
from biaslab.fairness_testing.text.corpus import Prepared, holding, load_prepared
from biaslab.fairness_testing.text.discrimination import TextSubject, check
from biaslab.fairness_testing.text.experiment import RETRAINED, found_texts, load_network
from biaslab.fairness_testing.text.search import (
    MAX_ITER,
    STRATEGIES,
    Finds,
    draw_numbers,
    draw_rows,
    load_finds,
    number_texts,
    search_globally,
    search_locally,
)
from biaslab.text import similarity
from biaslab.text.corpora import TEST, TRAIN, VALIDATION
from biaslab.text.models import TextModel
from biaslab.text.words import Lexicon, Texts, concatenate

LANGUAGE_MODEL_EPOCHS = 1
LANGUAGE_MODEL_WIDTH = 64
LANGUAGE_MODEL_TEXTS = 1500
"""The largest number of training texts of the language model, which only has to rank texts."""
MAX_PIECES = 128
TABLES = ("models", "global", "local")  # the tables of each network that are joined unchanged
HOPS = 20  # steps from each sentence that demonstrates the search


@dataclass(frozen=True)
class Yardsticks:
    """The lexicon and models for measuring similarity."""

    lexicon: Lexicon
    sentences: Any = None  # a `sentence_vectors.SentenceEncoder` or None
    language_model: Any = None  # a `language_model.BiGRU`, trained on the corpus, or None

    @classmethod
    def load(
        cls, prepared: Prepared, encoder: Mapping[str, Path | None], seed: int, threads: int
    ) -> "Yardsticks":
        """Return the available measures: without config and vocabulary, only measures without an encoder."""
        if not encoder.get("config") or not encoder.get("vocabulary"):
            return cls(prepared.lexicon)
        from biaslab.text.devices import make_deterministic
        from biaslab.text.encoder import EncoderFiles, load_classifier, prepare_encoder
        from biaslab.text.language_model import LanguageModelSettings, train_language_model
        from biaslab.text.sentence_vectors import SentenceEncoder
        from biaslab.text.tokens import Tokenizer

        make_deterministic(threads)
        files = EncoderFiles(encoder["config"], encoder["vocabulary"], encoder.get("weights"))
        with tempfile.TemporaryDirectory() as folder:
            prepare_encoder(files, folder, None, "pretrained" if files.weights else "random", seed)
            tokenizer = Tokenizer.load(Path(folder) / "vocab.txt")
            sentences = SentenceEncoder(load_classifier(folder, seed), tokenizer)
        tokens = []  # the language model reads words joined by blanks, like the measured texts
        for texts in (prepared.parts[part].texts for part in (TRAIN, VALIDATION)):
            kept = np.flatnonzero(texts.lengths > 0)[:LANGUAGE_MODEL_TEXTS]
            joined = [" ".join(prepared.lexicon.decode(texts.row(i))) for i in kept]
            tokens.append(tokenizer.encode(joined, MAX_PIECES))
        settings = LanguageModelSettings(
            epochs=LANGUAGE_MODEL_EPOCHS, learning_rate=2e-3, width=LANGUAGE_MODEL_WIDTH
        )
        model = train_language_model(*tokens, tokenizer, settings, seed)[0]
        return cls(prepared.lexicon, sentences, model)

    def measure_sentences(self, pairs: Sequence[tuple[Texts, Texts]]) -> list[dict[str, float]]:
        """Return the means of the measures with an encoder, for each set of original and changed texts.

        A perplexity is the exponential of the mean over texts of the mean negative log-likelihood of a word
        piece. Every text is read once.
        """
        if self.sentences is None or not pairs:
            return [{} for _ in pairs]
        from biaslab.text.language_model import negative_log_likelihood
        from biaslab.text.sentence_vectors import similarity as cosines

        all_texts = concatenate([texts for pair in pairs for texts in pair])
        first = number_texts(all_texts)
        unique, place = np.unique(first, return_inverse=True)
        sentences = [" ".join(self.lexicon.decode(row)) for row in all_texts.take(unique)]
        vectors = self.sentences.vectors(sentences)[place]
        tokens = self.sentences.tokenizer.encode(sentences, MAX_PIECES)
        nll = negative_log_likelihood(self.language_model, tokens)[place]
        means, begin = [], 0
        for original, _ in pairs:
            n = len(original)
            seeds, changed = slice(begin, begin + n), slice(begin + n, begin + 2 * n)
            similar = cosines(vectors[seeds], vectors[changed]).mean()
            perplexities = (np.exp(nll[rows].mean()) for rows in (changed, seeds))
            names = ("similarity", "perplexity", "seed_perplexity")
            means.append(dict(zip(names, map(float, (similar, *perplexities)), strict=True)))
            begin += 2 * n
        return means


def measure(
    folder: Path,
    models: Sequence[str],
    pairs: int,
    encoder: Mapping[str, Path | None],
    is_certified: bool,
    seed: int,
    threads: int = 1,
) -> None:
    """Join the tables of all networks; add validity.tsv, pools.tsv and example.json.

    At most `pairs` of the found texts of each search are measured. Tables of certified training are not
    detected, because those of a run with other settings may still exist.
    """
    prepared = load_prepared(folder)
    for name in TABLES:
        tables = [read_tsv(folder / kind / f"{name}.tsv") for kind in models]
        write_tsv(folder / f"{name}.tsv", pd.concat(tables, ignore_index=True))
    trainings = ("retraining", "certified") if is_certified else ("retraining",)
    files = [folder / kind / f"{training}.tsv" for training in trainings for kind in models]
    tables = [read_tsv(file, text=("label_rule",)) for file in files]
    write_tsv(folder / "retraining.tsv", pd.concat(tables, ignore_index=True))
    by_network = {kind: load_finds(folder / kind / "found.npz") for kind in models}
    yardsticks = Yardsticks.load(prepared, encoder, seed, threads)
    write_tsv(folder / "pools.tsv", pools(by_network, list(prepared.values)))
    write_tsv(folder / "validity.tsv", validity(prepared, by_network, yardsticks, pairs, seed))
    corpus = folder.name.removeprefix(TEXT_PREFIX)
    examples_ = [
        example
        for kind in models
        for example in examples(corpus, kind, load_network(folder, kind, 0, prepared), prepared, seed)
    ]
    write_text(folder / "example.json", json.dumps(examples_, indent=1, ensure_ascii=False) + "\n")


def validity(
    prepared: Prepared,
    by_network: Mapping[str, Mapping[str, Finds]],
    yardsticks: Yardsticks,
    pairs: int,
    seed: int,
) -> pd.DataFrame:
    """Return validity.tsv: means over the finds on test texts, with an encoder for the first training."""
    groups = []
    for kind, finds_of in by_network.items():
        for name, finds in finds_of.items():
            part, feature, number, phase, tester = name.split("/")
            if part == TEST and len(finds):
                drawn = finds.take(draw_rows(len(finds), pairs, seed, "text pairs", f"{kind}/{name}"))
                original = prepared.parts[TEST].texts.take(drawn.origins)
                columns = {"model": kind, "feature": feature, "repetition": int(number), "phase": phase}
                groups.append((columns | {"tester": tester}, (original, drawn.texts)))
    first = [texts for columns, texts in groups if columns["repetition"] == 0]
    sentences = iter(yardsticks.measure_sentences(first))
    rows = []
    for columns, texts in groups:
        values = {
            "l0": similarity.changed_words(*texts),
            "l2": similarity.vector_distance(*texts, prepared.lexicon.vectors),
            "jaccard": similarity.jaccard(*texts),
            "bleu": similarity.bleu(*texts),
        }
        means = {metric: float(x.mean()) for metric, x in values.items()}
        means |= next(sentences) if columns["repetition"] == 0 else {}
        rows += [columns | {"metric": m, "n_pairs": len(texts[0]), "mean": mean} for m, mean in means.items()]
    return pd.DataFrame(rows, columns=TEXT_COLUMNS["validity"])


def pools(by_network: Mapping[str, Mapping[str, Finds]], features: Sequence[str]) -> pd.DataFrame:
    """Return pools.tsv: the numbers of texts found on training texts, from which retraining draws."""
    rows = [
        [kind, feature, tester, len(found_texts(finds_of, TRAIN, feature, 0, tester))]
        for kind, finds_of in by_network.items()
        for feature in features
        for tester in RETRAINED
    ]
    return pd.DataFrame(rows, columns=TEXT_COLUMNS["pools"])


def examples(
    corpus: str, kind: str, network: TextModel, prepared: Prepared, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the texts that ADF generates from neutral sentences (Figure 4), per feature in them."""
    decode = prepared.lexicon.decode
    for feature, values in prepared.values.items():
        subject = TextSubject(network, values, prepared.neighbours)
        rows = np.flatnonzero(holding(prepared.sentences, values))
        texts = prepared.sentences.take(rows)
        draws = draw_numbers(seed, f"example {kind} {feature}", rows, max(HOPS, MAX_ITER))
        search = search_globally(subject, texts, STRATEGIES[PROPOSED], draws)
        walks = search_locally(subject, search.texts, HOPS, True, draws)
        visited = walks.texts()
        begins = np.concatenate([[0], np.cumsum(walks.is_visit.sum(axis=1))])
        for i in range(len(rows)):
            hits = np.flatnonzero(walks.discriminatory[i])
            text = search.texts.row(i) if search.found[i] >= 0 else None
            local = visited.row(begins[i] + hits[0]) if text is not None and len(hits) else None
            checked = check(subject, Texts.of([texts.row(i) if text is None else text]))
            partner = int(subject.model.probabilities(checked.partners).argmax(axis=1)[0])
            exchanged = decode([int(checked.replaced[0]), int(checked.value[0])])
            yield {
                "corpus": corpus,
                "model": kind,
                "feature": feature,
                "sentence": decode(texts.row(i)),
                "global": None if text is None else decode(text),
                "partner": None if text is None else dict(zip(("from", "to"), exchanged, strict=True)),
                "local": None if local is None else decode(local),
                "labels": {"x": int(checked.labels[0]), "partner": partner},
            }
