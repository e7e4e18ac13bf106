"""Result folders of the hate speech area with the shape of real ones, made numbers and made words."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.files import write_json
from biaslab.core.io import write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import mean_interval, share_interval
from biaslab.hate_speech.columns import COLUMNS
from biaslab.hate_speech.items import ENCODERS
from biaslab.hate_speech.report.names import FUNCTIONALITIES, is_plain
from biaslab.run.area import Unit
from report_data import CLAIMS

METHODS = ("bow", "bow-wr", "vanilla", "wr", "oc-0.1", "soc-0.1", "soc-1", "ear-0.01")
QUIRKED = ("soc-0.1@dropout", "soc-0.1@published")
FOLDS = ("soc-0.1@fold0.2", "soc-0.1@fold1.2")
IDENTIFIERS = ("cyclist", "baker", "gardener", "sailor", "tailor", "fiddler", "weaver", "potter")
WORDS = tuple(f"{a}{b}" for a, b in product(("lo", "mi", "ta", "ve", "zu", "ne"), ("ka", "pel", "rin", "so")))
CASES = tuple(name for name in FUNCTIONALITIES if not name.startswith("("))
MASKED_WORDS = CLAIMS.parent / "masked_words.txt"
N_SEEDS = 3

_interval = cache(share_interval)
_F1 = {"bow": 0.45, "bow-wr": 0.42, "vanilla": 0.54, "wr": 0.52}
_COSTS = {"vanilla": 1.0, "oc-0.1": 1.3, "soc-0.1": 2.2, FOLDS[0]: 1.6, "ear-0.01": 1.0}
_NEWS = {"bow": 0.67, "bow-wr": 0.81, "vanilla": 0.88, "wr": 0.92, "oc-0.1": 0.95}


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
    """Write the files that tables and figures read of every corpus, numbers drawn around plausible ones."""
    corpora = list(corpora)
    for corpus in corpora:
        sets = ["test", "news", "hatecheck", "fuzzed", *(name for name in corpora if name != corpus)]
        made = _Made(corpus, methods, n_seeds)
        for name, rows in made.tables(sets).items():
            write_tsv(folder / corpus / f"{name}.tsv", pd.DataFrame(rows, columns=COLUMNS[name]))
        write_json(folder / corpus / "hierarchies.json", list(made.hierarchies()))


def trained(methods: Sequence[str], n_seeds: int) -> Iterator[tuple[str, int]]:
    """Yield every training; linear models, methods with quirks and those with folds have one seed alone."""
    extra = (*QUIRKED, *FOLDS) if "soc-0.1" in methods else ()
    for method in (*methods, *extra):
        for seed in range(1 if method.startswith("bow") or not is_plain(method) else n_seeds):
            yield method, seed


class _Made:
    """The made results of one corpus."""

    def __init__(self, corpus: str, methods: Sequence[str], n_seeds: int) -> None:
        self.rng = stream(11, "made results", corpus)
        self.methods, self.n_seeds = list(methods), n_seeds
        self.trained = list(trained(methods, n_seeds))
        self.encoders = [(m, s) for m, s in self.trained if not m.startswith("bow")]

    def near(self, value: float, sd: float = 0.02) -> float:
        """Return a share near another."""
        return float(np.clip(self.rng.normal(value, sd), 0.001, 0.999))

    def tables(self, sets: Sequence[str]) -> dict[str, list[list]]:
        """Return the rows of every table."""
        metrics = list(self.metrics(sets))
        return {
            "corpus": [
                ["train", 1200, 160, 200, 260, 7896],
                ["validation", 200, 26, 30, 35, 979],
                ["test", 1998, 246, 310, 400, 1998],
            ],
            "linear": list(self.linear()),
            "linear_weights": list(self.weights()),
            "removal": list(self.removal()),
            "metrics": metrics,
            "identity": list(self.identity()),
            "functionalities": list(self.functionalities()),
            "differences": list(self.differences(metrics)),
            "attributions": list(self.attributions()),
            "faithfulness": [
                [method, seed, explanation, 60, *map(self.near, (0.9, 0.2, 0.1, 0.6))]
                for method, seed in self.encoders
                for explanation in ("oc", "soc")
                if method in ("vanilla", "soc-0.1")
            ],
            "importance": list(self.importance()),
            "held_out": list(self.held_out()),
            "cost": [
                [method, 38, 900 * ratio, ratio]
                for method, ratio in _COSTS.items()
                if method in dict(self.trained)
            ],
        }

    def metrics(self, sets: Sequence[str]) -> Iterator[list]:
        """Yield metrics.tsv."""
        for method, seed in self.trained:
            plain = method.partition("@")[0]
            for name in sets:
                f1 = self.near(_F1.get(plain, 0.55) - (0.15 if name not in ("test", "news") else 0))
                accuracy = self.near(_NEWS.get(plain, 0.94)) if name == "news" else self.near(0.85)
                macro = self.near(accuracy) if name == "news" else np.nan
                own = [np.nan] * 3 if name == "news" else [self.near(f1), self.near(f1), f1]
                yield [method, seed, name, 1200, 500, 65, *own, accuracy, macro, 0.001]

    def linear(self) -> Iterator[list]:
        """Yield linear.tsv."""
        for model, rule, kind, features in product(
            ("bow", "bow-wr"), ("not-nohate", "hate"), ("random", "grouped"), ("binary", "tfidf")
        ):
            for split, name in product(range(5), ("test", "news")):
                numbers = [self.near(0.4), self.near(0.55), self.near(0.45), self.near(0.8)]
                macro = self.near(0.78) if name == "news" else np.nan
                yield [model, features, rule, kind, split, name, 7896, *numbers, macro]

    def weights(self) -> Iterator[list]:
        """Yield linear_weights.tsv."""
        weights = sorted(self.rng.normal(0, 1, len(WORDS) + len(IDENTIFIERS)), reverse=True)
        for rank, term in enumerate(self.rng.permutation([*WORDS, *IDENTIFIERS]), start=1):
            yield [term, term in IDENTIFIERS, weights[rank - 1], 20 * rank, 6000]

    def removal(self) -> Iterator[list]:
        """Yield removal.tsv."""
        for n in range(len(IDENTIFIERS) + 1):
            for subset in range(1 if n in (0, len(IDENTIFIERS)) else 5):
                f1, news = self.near(0.46 - 0.005 * n, 0.005), self.near(0.66 + 0.02 * n)
                yield [n, subset, f1, f1, f1, news, news]

    def identity(self) -> Iterator[list]:
        """Yield identity.tsv."""
        for (method, seed), name in product(self.trained, ("news", "test", "fuzzed")):
            plain = method.partition("@")[0]
            for place, identifier in enumerate(IDENTIFIERS):
                n = 80 if name == "news" else 30
                n_negative = 80 if name == "news" else 20
                k = int(
                    self.rng.binomial(n_negative, (1 - _NEWS.get(plain, 0.95)) * (0.3 + 0.2 * (place % 8)))
                )
                aucs = [np.nan] * 3 if name == "news" else [self.near(0.75) for _ in range(3)]
                ends = _interval(k, n_negative)
                yield [method, seed, name, identifier, n, n_negative, k / n_negative, *ends, *aucs]

    def functionalities(self) -> Iterator[list]:
        """Yield functionalities.tsv."""
        for (method, seed), name in product(self.trained, CASES):
            is_hateful = name.endswith("_h")
            k = int(self.rng.binomial(140, 0.45 if is_hateful else _NEWS.get(method, 0.8) - 0.2))
            yield [method, seed, name, is_hateful, 140, k, k / 140, *_interval(k, 140)]

    def differences(self, metrics: Sequence[list]) -> Iterator[list]:
        """Yield differences.tsv."""
        table = pd.DataFrame(metrics, columns=COLUMNS["metrics"])
        table = table.set_index(["method", "set", "seed"]).sort_index()
        methods = list(dict.fromkeys(method for method, _ in self.trained))
        for other, method, name in product(("vanilla", "bow"), methods, ("test", "news")):
            if method == other or other not in methods:
                continue
            for measure in ("f1", "accuracy") if name == "test" else ("accuracy", "macro_accuracy"):
                x = (table.loc[(method, name), measure] - table.loc[(other, name), measure]).dropna()
                p = 0.03 if len(x) > 1 else np.nan
                yield [method, other, name, measure, len(x), x.mean(), *mean_interval(x), p, sum(x > 0)]

    def attributions(self) -> Iterator[list]:
        """Yield attributions.tsv."""
        for (method, seed), explanation in product(self.encoders, ("oc", "soc")):
            size = 0.8 if method == "vanilla" else 0.2
            for place, identifier in enumerate(IDENTIFIERS):
                phi = self.near(size, 0.05)
                yield [method, seed, explanation, identifier, 5 + place, phi / 2, phi]

    def importance(self) -> Iterator[list]:
        """Yield importance.tsv."""
        for method in (m for m in self.methods if m in ("vanilla", "soc-0.1", "oc-0.1")):
            words = self.rng.permutation([*WORDS, *IDENTIFIERS[:4]])
            phi = sorted(self.rng.normal(0, 1, len(words)), reverse=True)
            for rank, (word, value) in enumerate(zip(words, phi, strict=True), start=1):
                yield [method, word, word in IDENTIFIERS, 3, value, rank]

    def held_out(self) -> Iterator[list]:
        """Yield held_out.tsv."""
        for method, seed in self.encoders:
            if method not in ("vanilla", "soc-0.1", *FOLDS):
                continue
            fold = int(method[-3]) if method in FOLDS else -1
            for place, identifier in enumerate(IDENTIFIERS):
                seen = method != "vanilla" and place % 2 != fold
                yield [identifier, seed, method, seen, 80, self.near(0.94 if seen else 0.9), self.near(0.3)]

    def hierarchies(self) -> Iterator[dict]:
        """Yield the explanations of a sentence by two methods."""
        sentence = ["the", "baker", "sings", "well"]
        for method in (m for m in self.methods if m in ("vanilla", "soc-0.1")):
            words = [[k, k + 1, self.rng.normal()] for k in range(len(sentence))]
            levels = [words, [[1, 3, self.rng.normal()]], [[0, 4, self.rng.normal()]]]
            yield {"sentence": sentence, "method": method, "score": self.rng.normal(), "levels": levels}
