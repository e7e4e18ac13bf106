"""Small result files of hate speech for its claims: of the paper's numbers, and of no effect."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from biaslab.audit.claims import Claim
from biaslab.core.io import write_tsv

METHODS = ("bow", "bow-wr", "vanilla", "wr", "oc-0.1", "soc-0.1", "soc-1")
NETWORKS = METHODS[2:]
UNITS = SETUPS = ("ghc", "stormfront")
UNMET = dict.fromkeys(("hate-stormfront-share", "hate-cost-oc-tokens"), "not_reproduced") | dict.fromkeys(
    (
        "t1-stormfront-vanilla-recall",
        "t1-stormfront-oc-0-1-recall",
        "t1-stormfront-oc-0-1-news-over-bert",
        "t1-stormfront-soc-1-news-over-bert",
        "hate-false-positives-over-removal-ghc",
        "hate-f1-over-removal-stormfront",
    ),
    "inconclusive",
)
"""What the paper's own counts and Table 6 contradict, and where its deviations over 10 runs cover a null."""
METRICS = ("precision", "recall", "f1", "accuracy")
ON_TEST = {"accuracy": (0.9, 0.0), "p_chance": (0.0, 0.0)}
N_SEEDS = 10
N_WORDS = 8000

# Precision, recall, F1 and news accuracy, in percent: of GHC, then of Stormfront.
_TABLE_1 = {
    "bow": "62.80 56.72 59.60 75.61 36.95 58.13 45.18 66.78",
    "bow-wr": "54.65 52.15 53.37 89.72 36.24 55.69 43.91 81.34",
    "vanilla": "69.87±1.7 66.83±7.0 67.91±3.1 77.79±4.8 57.76±3.9 54.43±8.1 55.44±2.9 92.29±4.1",
    "wr": "67.61±2.8 60.08±6.6 63.44±3.1 89.78±3.8 53.16±4.3 57.03±5.7 54.60±1.7 92.47±3.4",
    "oc-0.1": "60.56±1.8 69.72±3.6 64.14±3.2 89.43±4.3 57.47±3.7 51.10±4.4 53.82±1.3 95.39±2.3",
    "soc-0.1": "70.17±2.5 69.03±3.0 69.52±1.3 83.16±5.0 57.29±3.4 54.27±3.3 55.55±1.1 93.93±3.6",
    "soc-1": "64.29±3.1 69.41±3.8 66.67±2.5 90.06±2.6 56.05±3.9 54.35±3.4 54.97±1.1 95.40±2.0",
}
# F1 in percent: trained on GHC and tested on Stormfront, then the other way.
_TABLE_5 = {
    "bow": "32.39 46.71",
    "bow-wr": "27.45 44.81",
    "vanilla": "42.84±1.2 53.80±5.5",
    "wr": "39.10±1.3 55.31±4.0",
    "oc-0.1": "40.60±1.6 56.90±1.8",
    "soc-0.1": "41.88±1.0 55.75±2.1",
    "soc-1": "39.20±2.7 56.82±3.9",
}
_SPLITS = {
    "ghc": {"train": (24353, 2027), "validation": (27655 - 24353 - 1586, 0), "test": (1586, 372)},
    "stormfront": {"train": (7896, 1059), "validation": (979, 122), "test": (1998, 246)},
}
_NEWS = {"ghc": 12500, "stormfront": 5000}
_IDENTIFIERS = {"ghc": 25, "stormfront": 10}
_SECONDS = {"vanilla": 301, "oc-0.1": 756, "soc-0.1": 1178}
_WEIGHTS = {"ghc": 10, "stormfront": 8}
_SETTINGS = dict.fromkeys(("encoder_pretrained", "published_schedule", "published_stop"), 1)
_SETTINGS |= {"encoder_layers": 12, "encoder_width": 768, "batch_size": 32, "learning_rate": 2e-5}
_SETTINGS |= dict.fromkeys(("halvings", "regularization_radius", "regularization_samples"), 5)
_SETTINGS |= {"analysis_radius": 20, "analysis_samples": 20, "analysis_sentences": 1586}

Score = tuple[float, float]
"""Mean and standard deviation over seeds, as fractions."""
Scores = dict[tuple[str, str], dict[str, Score]]
"""The metrics of every method on every set."""


class Findings(NamedTuple):
    """What the results of a corpus say; where regularization does not work, identifiers are as other words.

    `words` has how many ranks words rise by regularization.
    """

    unit: str
    scores: Scores
    words: dict[str, int]
    identifiers: tuple[str, ...]
    works: bool = True


def is_as_printed(claim: Claim) -> bool:
    return True


def paper(unit: str, claims: Mapping[str, Claim]) -> Findings:
    """Return what the paper prints about a corpus, with the words of Table 2 that the registry names."""
    words, identifiers, scores = {}, [], {}
    for claim in claims.values():
        found = re.match(r"word == '(\w+)'", claim.select)
        if found and claim.claim_id.startswith("t2-"):
            words[found[1]] = int(claim.value)
            identifiers += [found[1]] if "is_identifier" in claim.select else []
    position = UNITS.index(unit)
    for method in METHODS:
        cells = [_score(cell) for cell in _TABLE_1[method].split()][4 * position : 4 * position + 4]
        scores[method, "test"] = dict(zip(METRICS[:3], cells, strict=False)) | ON_TEST
        scores[method, "news"] = {"accuracy": cells[3]}
        scores[method, UNITS[1 - position]] = {"f1": _score(_TABLE_5[method].split()[position])}
    return Findings(unit, scores, words, tuple(dict.fromkeys(identifiers)))


def write_published(results: Path, claims: Mapping[str, Claim], change=lambda findings: findings) -> None:
    """Write what the paper prints about both corpora, perhaps changed."""
    for unit in UNITS:
        write_results(results, change(paper(unit, claims)))


def without_effect(findings: Findings, like: str) -> Findings:
    """Return findings where every method is as good as one of them, and identifiers are like other words."""
    scores = {
        (method, dataset): {name: _exact(score) for name, score in findings.scores[like, dataset].items()}
        for method, dataset in findings.scores
    }
    return findings._replace(scores=scores, words=dict.fromkeys(findings.words, 0), works=False)


def toss_a_coin(findings: Findings) -> Findings:
    """Return findings where every method calls half of the sentences hate, whatever they say."""
    scores = {}
    for method, dataset in findings.scores:
        n, n_positive = _size(findings.unit, dataset)
        f1 = 2 * n_positive * 0.5 / (n_positive + n * 0.5)
        values = {"precision": n_positive / n, "recall": 0.5, "f1": f1, "accuracy": 0.5, "p_chance": 0.5}
        scores[method, dataset] = {name: (value, 0.0) for name, value in values.items()}
    return findings._replace(scores=scores, words=dict.fromkeys(findings.words, 0), works=False)


def write_results(results: Path, findings: Findings) -> None:
    folder, metrics = results / "hate_speech" / findings.unit, _metrics(findings)
    corpus = [(split, n, p, n) for split, (n, p) in _SPLITS[findings.unit].items()]
    cost = _SECONDS if findings.works else dict.fromkeys(_SECONDS, 1.0)
    settings = _SETTINGS | {"positive_weight": _WEIGHTS[findings.unit]}
    tables = {
        "metrics": metrics,
        "linear": _linear(metrics),
        "differences": _differences(metrics),
        "corpus": pd.DataFrame(corpus, columns=["split", "n", "n_positive", "n_before_cut"]),
        "linear_weights": _weights(findings),
        "removal": _removal(findings),
        "importance": _importance(findings),
        "attributions": _attributions(findings),
        "cost": pd.DataFrame(cost.items(), columns=["method", "tokens_per_step"]),
        "identity": _identity(findings, metrics),
        "settings": pd.DataFrame(settings.items(), columns=["setting", "value"]),
    }
    last_epoch = 3 if findings.works else 20
    history = pd.DataFrame({"step": [200, 400], "epoch": [1, last_epoch], "halvings": [0, 5]})
    tables |= {f"models/{method}/0/history": pd.concat([history] * N_SEEDS) for method in NETWORKS}
    for name, table in tables.items():
        write_tsv(folder / f"{name}.tsv", table)


def _score(cell: str) -> Score:
    mean, _, sd = cell.partition("±")
    return float(mean) / 100, float(sd or 0) / 100


def _exact(score: Score) -> Score:
    """Round to a binary fraction, so that equal methods differ by zero and not by rounding."""
    mean, sd = (round(x * 1024) / 1024 for x in score)
    return mean, sd


def _size(unit: str, dataset: str) -> tuple[int, int]:
    """Return the sentences of a test set, and how many of them are hate."""
    if dataset == "news":
        return _NEWS[unit], 0
    return _SPLITS[unit if dataset == "test" else dataset]["test"]


def _metrics(findings: Findings) -> pd.DataFrame:
    """Return the metrics: half of the seeds above the mean and half below, by what gives the deviation."""
    step = ((N_SEEDS - 1) / N_SEEDS) ** 0.5
    rows = []
    for (method, dataset), scores in findings.scores.items():
        n, n_positive = _size(findings.unit, dataset)
        for seed in range(N_SEEDS):
            sign = 1 if seed % 2 else -1
            values = {name: mean + sign * step * sd for name, (mean, sd) in scores.items()}
            about = {"method": method, "seed": seed, "set": dataset, "n": n, "n_positive": n_positive}
            rows.append(about | dict.fromkeys((*METRICS, "p_chance")) | values)
    return pd.DataFrame(rows)


def _linear(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return the linear models, with rows of other readings that no claim may count."""
    ours = metrics[metrics["method"].str.startswith("bow") & metrics["set"].isin(["test", "news"])]
    ours = ours.rename(columns={"method": "model", "seed": "split"}).drop(columns=["n", "n_positive"])
    about = {"features": "binary", "label_rule": "not-nohate", "split_kind": "random"}
    others = [
        ours.assign(**about | {name: value}, **dict.fromkeys(METRICS, 0.01))
        for name, value in (("features", "tfidf"), ("label_rule", "hate"), ("split_kind", "grouped"))
    ]
    if "ghc" not in metrics["set"].unique():  # the corpus is GHC, which has a published split and one label
        release = {"label_rule": "release", "split_kind": "release"}
        return pd.concat([ours.assign(**about | release), others[0].assign(**release)])
    return pd.concat([ours.assign(**about), *others])


def _differences(metrics: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for method in NETWORKS[1:]:
        for dataset, measure in (("test", "f1"), ("test", "recall"), ("news", "accuracy")):
            part = metrics[metrics["set"] == dataset].pivot(index="seed", columns="method", values=measure)
            mean = (part[method] - part["vanilla"]).mean()
            rows.append((method, "vanilla", dataset, measure, mean, mean - 0.0005, mean + 0.0005))
    columns = ["method", "baseline", "set", "measure", "mean_difference", "ci_low", "ci_high"]
    return pd.DataFrame(rows, columns=columns)


def _identity(findings: Findings, metrics: pd.DataFrame) -> pd.DataFrame:
    """Return false positives with each identifier: as many as on all texts, or more where there is a bias."""
    tested = metrics[(metrics["set"] == "test") & (metrics["method"] == "vanilla")]
    rows = []
    for row in tested.itertuples():
        false = row.recall * row.n_positive * (1 / row.precision - 1) if row.precision else 0.0
        rate = min(1.0, false / (row.n - row.n_positive) + 0.25 * findings.works)
        rows += [
            (row.method, row.seed, row.set, identifier, n_negative, rate if n_negative else None)
            for n_negative, identifier in enumerate(findings.identifiers)
        ]
    columns = ["method", "seed", "set", "identifier", "n_negative", "false_positive_rate"]
    return pd.DataFrame(rows, columns=columns)


def _weights(findings: Findings) -> pd.DataFrame:
    """Return ranks of weights: identifiers first, or spread evenly when they are like other words."""
    ranks, n_identifiers = np.arange(N_WORDS), _IDENTIFIERS[findings.unit]
    step = 1 if findings.works else N_WORDS // n_identifiers
    is_identifier = (ranks % step == 0) & (ranks < step * n_identifiers)
    table = pd.DataFrame({"rank": ranks + 1, "is_identifier": is_identifier, "n_features": N_WORDS})
    return table.assign(term=[f"word{i}" for i in ranks])


def _removal(findings: Findings) -> pd.DataFrame:
    """Return how much F1 falls while news accuracy rises when identifiers are removed."""
    last, trade = _IDENTIFIERS[findings.unit], 0.01 * findings.works
    rows = [
        (k, subset, 0.5 - trade * k, 0.5 + trade * k)
        for k in range(last + 1)
        for subset in range(1 if k in (0, last) else 5)
    ]
    return pd.DataFrame(rows, columns=["n_removed", "subset", "f1", "news_accuracy"])


def _importance(findings: Findings) -> pd.DataFrame:
    """Return importances of the words that claims name, and of others, before and after regularization.

    Five identifiers are among the first 20 words before, unless they are like other words.
    """
    rows = []
    for method in ("vanilla", "soc-0.1", "soc-1"):
        after = method != "vanilla"
        for i, (word, change) in enumerate(findings.words.items()):
            is_identifier = word in findings.identifiers
            relief = 0.5 * after * findings.works
            phi = findings.works - relief if is_identifier else relief
            first = 1 if is_identifier and findings.works else 7000
            rows.append((method, word, is_identifier, 0.25 + phi, first + i - after * change))
        known = {rank for m, *_, rank in rows if m == method}
        rows += [(method, f"word{r}", False, 0.25, r) for r in range(1, 30) if r not in known]
    return pd.DataFrame(rows, columns=["method", "word", "is_identifier", "mean_phi", "rank"])


def _attributions(findings: Findings) -> pd.DataFrame:
    reliefs = {method: 0.5 * findings.works * (method != "vanilla") for method in NETWORKS}
    rows = [
        (method, seed, explanation, identifier, findings.works - relief, 1 - relief)
        for method, relief in reliefs.items()
        for seed in range(N_SEEDS)
        for explanation in ("oc", "soc")
        for identifier in findings.identifiers
    ]
    columns = ["method", "seed", "explanation", "identifier", "mean_phi", "mean_abs_phi"]
    return pd.DataFrame(rows, columns=columns)


_BASELINES = r"t[15]-[a-z-]+-(bow|vanilla)-\w+(-sd)?|hate-maintained-.*"
"""Their cells, and performance that what does nothing maintains."""


def _null(change: Callable[[Findings], Findings]) -> tuple[Callable, str, str]:
    return lambda results, claims: write_published(results, claims, change), "", _BASELINES


NULLS = {
    "like the encoder": _null(lambda findings: without_effect(findings, "vanilla")),
    "like bags of words": _null(lambda findings: without_effect(findings, "bow")),
    "a coin": _null(toss_a_coin),
}
