"""Counts of the found texts, and their similarity to the seeds (Table IX, Figure 8)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biaslab.core.files import write_text
from biaslab.core.io import read_tsv, write_tsv
from biaslab.fairness_testing.names import TEXT_PREFIX
from biaslab.fairness_testing.text.corpus import Prepared, holding, load_prepared
from biaslab.fairness_testing.text.discrimination import check
from biaslab.fairness_testing.text.experiment import load_network
from biaslab.fairness_testing.text.finds import Finds, draw_rows, load_finds
from biaslab.fairness_testing.text.likeness import Yardsticks
from biaslab.fairness_testing.text.names import COLUMNS, PROPOSED
from biaslab.fairness_testing.text.retraining import found_texts
from biaslab.fairness_testing.text.search import MAX_ITER, draw_numbers, search_globally, search_locally
from biaslab.fairness_testing.text.search_experiment import RETRAINED
from biaslab.fairness_testing.text.strategies import STRATEGIES
from biaslab.fairness_testing.text.subject import TextSubject
from biaslab.text.corpora import TEST, TRAIN
from biaslab.text.models import TextModel
from biaslab.text.words import Lexicon, Texts

TABLES = ("models", "global", "local")
"""The tables of each network that are joined unchanged."""
_TEXT_COLUMNS = ("label_rule",)
HOPS = 20
"""Steps from each sentence that demonstrates the search."""


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

    At most `pairs` of the found texts of each search are measured. `is_certified` is whether to join tables
    of certified training; they are not detected, because tables of a run with other settings may still exist.
    Without an encoder's config and vocabulary, sentence similarity and perplexity are not measured.
    """
    prepared = load_prepared(folder)
    _join(folder, models, is_certified)
    found = {kind: load_finds(folder / kind / "found.npz") for kind in models}
    yardsticks = Yardsticks.load(prepared, encoder, seed, threads)
    write_tsv(folder / "pools.tsv", pools(found, list(prepared.values)))
    write_tsv(folder / "validity.tsv", validity(prepared, found, yardsticks, pairs, seed))
    corpus = folder.name.removeprefix(TEXT_PREFIX)
    examples_ = [
        example
        for kind in models
        for example in examples(corpus, kind, load_network(folder, kind, 0, prepared), prepared, seed)
    ]
    write_text(folder / "example.json", json.dumps(examples_, indent=1, ensure_ascii=False) + "\n")


def validity(
    prepared: Prepared,
    found: Mapping[str, Mapping[str, Finds]],
    yardsticks: Yardsticks,
    pairs: int,
    seed: int,
) -> pd.DataFrame:
    """Return validity.tsv: means over the finds on test texts, with an encoder for the first training."""
    groups = []
    for kind, finds_of in found.items():
        for name, finds in finds_of.items():
            part, feature, number, phase, tester = name.split("/")
            if part == TEST and len(finds):
                drawn = finds.take(draw_rows(len(finds), pairs, seed, "text pairs", f"{kind}/{name}"))
                original = prepared.parts[TEST].texts.take(drawn.origins)
                columns = {"model": kind, "feature": feature, "repetition": int(number), "phase": phase}
                groups.append((columns | {"tester": tester}, (original, drawn.texts)))
    is_first = [columns["repetition"] == 0 for columns, _ in groups]
    sentences = iter(
        yardsticks.measure_sentences([g[1] for g, is_read in zip(groups, is_first, strict=True) if is_read])
    )
    rows = []
    for (columns, texts), is_read in zip(groups, is_first, strict=True):
        means = yardsticks.measure_words(*texts) | (next(sentences) if is_read else {})
        rows += [columns | {"metric": m, "n_pairs": len(texts[0]), "mean": mean} for m, mean in means.items()]
    return pd.DataFrame(rows, columns=COLUMNS["validity"])


def pools(found: Mapping[str, Mapping[str, Finds]], features: Sequence[str]) -> pd.DataFrame:
    """Return pools.tsv: the numbers of texts found on training texts, from which retraining draws."""
    rows = [
        [kind, feature, tester, len(found_texts(finds_of, TRAIN, feature, 0, tester))]
        for kind, finds_of in found.items()
        for feature in features
        for tester in RETRAINED
    ]
    return pd.DataFrame(rows, columns=COLUMNS["pools"])


def _join(folder: Path, models: Sequence[str], is_certified: bool) -> None:
    for name in TABLES:
        tables = [read_tsv(folder / kind / f"{name}.tsv") for kind in models]
        write_tsv(folder / f"{name}.tsv", pd.concat(tables, ignore_index=True))
    parts = ("retraining", "certified") if is_certified else ("retraining",)
    files = [folder / kind / f"{part}.tsv" for part in parts for kind in models]
    tables = [read_tsv(file, text=_TEXT_COLUMNS) for file in files]
    write_tsv(folder / "retraining.tsv", pd.concat(tables, ignore_index=True))


def examples(
    corpus: str, kind: str, network: TextModel, prepared: Prepared, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the texts that ADF generates from neutral sentences (Figure 4), per feature in them."""
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
            found = search.texts.row(i) if search.found[i] >= 0 else None
            local = visited.row(begins[i] + hits[0]) if found is not None and len(hits) else None
            shown = _shown(subject, prepared.lexicon, texts.row(i), found, local)
            yield {"corpus": corpus, "model": kind, "feature": feature} | shown


def _shown(
    subject: TextSubject,
    lexicon: Lexicon,
    sentence: np.ndarray,
    found: np.ndarray | None,
    local: np.ndarray | None,
) -> dict[str, Any]:
    checked = check(subject, Texts.of([sentence if found is None else found]))
    partner = int(subject.model.probabilities(checked.partners).argmax(axis=1)[0])
    exchanged = lexicon.decode([int(checked.replaced[0]), int(checked.value[0])])
    return {
        "sentence": lexicon.decode(sentence),
        "global": None if found is None else lexicon.decode(found),
        "partner": None if found is None else dict(zip(("from", "to"), exchanged, strict=True)),
        "local": None if local is None else lexicon.decode(local),
        "labels": {"x": int(checked.labels[0]), "partner": partner},
    }
