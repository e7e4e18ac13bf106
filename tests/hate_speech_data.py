"""Result folders of the hate speech area with the shape of real ones, made numbers and made words."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.files import write_json
from biaslab.core.io import write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import mean_interval
from biaslab.hate_speech.columns import COLUMNS
from biaslab.hate_speech.items import ENCODERS
from biaslab.run.area import Unit
from report_data import CLAIMS

METHODS = ("bow", "bow-wr", "vanilla", "wr", "oc-0.1", "soc-0.1", "soc-1")
QUIRKED = ("soc-0.1@dropout", "soc-0.1@published")
IDENTIFIERS = ("cyclist", "baker", "gardener", "sailor")
WORDS = tuple(f"{a}{b}" for a, b in product(("lo", "mi", "ta", "ve", "zu", "ne"), ("ka", "pel", "rin", "so")))
MASKED_WORDS = CLAIMS.parent / "masked_words.txt"
N_SEEDS = 3
SIZES = (("train", 1200, 160), ("validation", 200, 26), ("test", 1998, 246))


def units_of(
    corpora: Iterable[str], claims: Path | None = None, masked: Path | None = None, unmask: bool = False
) -> list[Unit]:
    """Return the units of a run on these corpora."""
    files = {"claims": claims or CLAIMS / "hate_speech.tsv", "masked_words": masked or MASKED_WORDS}
    named = {key: str(file) for key, file in files.items()}
    return [Unit(corpus, options={"unmask": unmask}, files=named, marks=(ENCODERS,)) for corpus in corpora]


def write_results(
    folder: Path, corpora: Iterable[str], methods: Sequence[str] = METHODS, n_seeds: int = N_SEEDS
) -> None:
    """Write what tables and figures read of every corpus; linear models and quirks have one seed."""
    corpora = list(corpora)
    quirked = QUIRKED if "soc-0.1" in methods else ()
    trained = [
        (method, seed)
        for method in (*methods, *quirked)
        for seed in range(1 if method.startswith("bow") or method in quirked else n_seeds)
    ]
    for corpus in corpora:
        rng = stream(11, "made results", corpus)
        sets = ["test", "news", *(name for name in corpora if name != corpus)]
        metrics = pd.DataFrame(_metrics(rng, trained, sets), columns=COLUMNS["metrics"])
        encoders = [(method, seed) for method, seed in trained if not method.startswith("bow")]
        explained = [method for method in methods if method in ("vanilla", "soc-0.1", "oc-0.1")]
        tables = {
            "corpus": [[*sizes, 200, 260, 7896] for sizes in SIZES],
            "linear_weights": _weights(rng),
            "removal": _removal(rng),
            "metrics": metrics,
            "differences": _differences(metrics),
            "attributions": [
                [*training, kind, identifier, 5 + place, *rng.uniform(0.1, 0.9, 2)]
                for training, kind in product(encoders, ("oc", "soc"))
                for place, identifier in enumerate(IDENTIFIERS)
            ],
            "importance": _importance(rng, explained),
            "cost": [[method, 38, 900, 1.0] for method in dict(encoders)],
        }
        for name, rows in tables.items():
            write_tsv(folder / corpus / f"{name}.tsv", pd.DataFrame(rows, columns=COLUMNS[name]))
        write_json(folder / corpus / "hierarchies.json", list(_hierarchies(rng, explained)))


def _metrics(
    rng: np.random.Generator, trained: Sequence[tuple[str, int]], sets: Sequence[str]
) -> Iterator[list]:
    for training, name in product(trained, sets):
        precision, recall, f1, accuracy, macro = rng.uniform(0.3, 0.9, 5)
        shown = (
            [np.nan] * 3 + [accuracy, macro] if name == "news" else [precision, recall, f1, accuracy, np.nan]
        )
        yield [*training, name, 1200, 500, 65, *shown, 0.001]


def _weights(rng: np.random.Generator) -> Iterator[list]:
    weights = sorted(rng.normal(0, 1, len(WORDS) + len(IDENTIFIERS)), reverse=True)
    for rank, term in enumerate(rng.permutation([*WORDS, *IDENTIFIERS]), start=1):
        yield [term, term in IDENTIFIERS, weights[rank - 1], 20 * rank, 6000]


def _removal(rng: np.random.Generator) -> Iterator[list]:
    for n in range(len(IDENTIFIERS) + 1):
        for subset in range(1 if n in (0, len(IDENTIFIERS)) else 5):
            yield [n, subset, *rng.uniform(0.4, 0.9, 5)]


def _differences(metrics: pd.DataFrame) -> Iterator[list]:
    table = metrics.set_index(["method", "set", "seed"]).sort_index()
    methods = list(metrics["method"].unique())
    for other, method, name in product(("vanilla", "bow"), methods, ("test", "news")):
        if method == other or other not in methods:
            continue
        for measure in ("f1", "accuracy") if name == "test" else ("accuracy", "macro_accuracy"):
            x = (table.loc[(method, name), measure] - table.loc[(other, name), measure]).dropna()
            p = 0.03 if len(x) > 1 else np.nan
            yield [method, other, name, measure, len(x), x.mean(), *mean_interval(x), p, sum(x > 0)]


def _importance(rng: np.random.Generator, methods: Sequence[str]) -> Iterator[list]:
    for method in methods:
        words = rng.permutation([*WORDS, *IDENTIFIERS])
        phi = sorted(rng.normal(0, 1, len(words)), reverse=True)
        for rank, (word, value) in enumerate(zip(words, phi, strict=True), start=1):
            yield [method, word, word in IDENTIFIERS, 3, value, rank]


def _hierarchies(rng: np.random.Generator, methods: Sequence[str]) -> Iterator[dict]:
    sentence = ["the", "baker", "sings", "well"]
    for method in methods:
        words = [[k, k + 1, rng.normal()] for k in range(len(sentence))]
        levels = [words, [[1, 3, rng.normal()]], [[0, 4, rng.normal()]]]
        yield {"sentence": sentence, "method": method, "score": rng.normal(), "levels": levels}
