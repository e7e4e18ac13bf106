"""Result folders of texts with the shape of real ones and made numbers."""

import itertools
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from biaslab.core.files import write_json
from biaslab.core.io import read_tsv, write_tsv
from biaslab.core.rng import stream
from biaslab.fairness_testing.names import EXAMPLE, TEXT, TEXT_COLUMNS
from biaslab.run.area import Unit
from report_data import CLAIMS

MODELS = ("lstm", "gru")
FEATURES = ("country", "religion")
N_REPETITIONS = 3
N_SEEDS = 60
FOUND = {
    "rp": 0.1,
    "asc": 0.3,
    "adf_asc": 0.4,
    "hf": 0.5,
    "adf_hf": 0.6,
}
"""Share of the seeds that each strategy turns in the made results."""
NEAR = {"l0": 2.5, "l2": 5.0, "jaccard": 0.8, "bleu": 0.8, "similarity": 0.9, "perplexity": 90.0}
FARTHER = ("l0", "l2", "perplexity")
REMOVED = {
    ("adf_asc", "model"): 45.0,
    ("adf_asc", "majority"): 60.0,
    ("adf_asc", "data"): 50.0,
    ("asc", "majority"): 40.0,
    ("hf", "majority"): 42.0,
    ("adf_hf", "majority"): 55.0,
    ("certified", ""): 62.0,
    ("none", ""): 12.0,
}
"""What each training removes in the made results, in percent."""
MASKS = CLAIMS.parent / "masked_words.txt"


def units_of(corpora: Iterable[str], unmask: bool = True) -> list[Unit]:
    """Return the units of a run that tests networks on these corpora."""
    files = {"claims": str(CLAIMS / "fairness_testing.tsv"), "masked_words": str(MASKS)}
    options = {"unmask": unmask}
    return [
        Unit(f"text-{name}", options={**options, "corpus": name}, files=files, marks=(TEXT,))
        for name in corpora
    ]


def write_results(folder: Path, corpora: Iterable[str], effect: float = 1.0) -> None:
    """Write the files of every corpus; of effect 0, all that is compared is equal."""
    for corpus in corpora:
        rows = {name: [] for name in TEXT_COLUMNS}
        for model in MODELS:
            for repetition in range(N_REPETITIONS):
                quality = 0.88, 0.9, 0.4 + repetition / 50, 0.001
                rows["models"].append([model, repetition, 900, 200, *quality, 7])
            for feature in FEATURES:
                _benchmark(rows, corpus, model, feature, effect)
        for feature in ("all", *FEATURES):
            for part, n in (("train", 900), ("validation", 100), ("test", 200)):
                rows["texts"].append([part, feature, n, n // 10, 14.5, 0.93])
        rows["vectors"].append([450, 20])
        for model, feature, tester in itertools.product(MODELS, FEATURES, ("adf_asc", "asc", "hf", "adf_hf")):
            rows["pools"].append([model, feature, tester, 300])
        for name, found in rows.items():
            table = pd.DataFrame(found, columns=TEXT_COLUMNS[name])
            write_tsv(folder / f"text-{corpus}/{name}.tsv", table)
        write_json(folder / f"text-{corpus}" / EXAMPLE, _examples(corpus))


def change(path: Path, query: str, **columns: object) -> None:
    """Keep the rows of a result file that meet a condition alone, and give columns other values."""
    write_tsv(path, read_tsv(path).query(query).assign(**columns))


def _benchmark(rows: dict[str, list], corpus: str, model: str, feature: str, effect: float) -> None:
    """Add the rows of one network and feature."""
    rng = stream(7, "made results", corpus, model, feature)
    setting = [model, feature]
    level = FOUND["rp"]
    for repetition in range(N_REPETITIONS):
        n_raw = 5 + repetition
        chance = rng.random(N_SEEDS - n_raw)
        for strategy, share in FOUND.items():
            turned = chance < level + effect * (share - level)
            row = [*setting, strategy, repetition]
            rows["global"].append([*row, N_SEEDS, n_raw, turned.sum(), 9000, 700])
            rows["validity"] += _near(setting, repetition, "global", strategy, "adf" in strategy, effect)
        k = 1 + repetition / 50
        for tester, n in (("rp", 1000), ("adf", 1000 + effect * 1500)):
            n_found = int(n * k * (0.8 + 0.1 * effect * (tester == "adf")))
            for start in ("own", "same"):
                row = [*setting, tester, start, repetition, 30, int(n * k), n_found]
                calls = [(6 - 3 * effect) * n_found, 2 * n_found] if tester == "adf" else [6 * n_found, 0]
                rows["local"].append([*row, *calls])
            rows["validity"] += _near(setting, repetition, "local", tester, tester == "adf", effect)
        # Certified training is run once.
        for (tester, rule), removed in REMOVED.items():
            if tester == "certified" and repetition:
                continue
            removed = REMOVED["none", ""] + effect * (removed - REMOVED["none", ""]) + repetition
            n_removed = int(3 * removed)
            n_added = 0 if tester in ("none", "certified") else 40
            row = [*setting, tester, rule, repetition, n_added, 300, n_removed]
            rows["retraining"].append([*row, removed, 0.88, 0.87, 0.4, 0.39])


def _near(setting: list, repetition: int, phase: str, tester: str, nearer: bool, effect: float) -> list:
    """Return the rows of validity.tsv of one search."""
    rows = []
    for metric, value in NEAR.items():
        sign = -1 if metric in FARTHER else 1
        mean = value * (1 + sign * 0.1 * effect * nearer) + 0.01 * repetition
        rows.append([*setting, repetition, phase, tester, metric, 50, mean])
    rows.append([*setting, repetition, phase, tester, "seed_perplexity", 50, 80.0])
    return rows


def _examples(corpus: str) -> list[dict]:
    """Return a sentence that both phases change, and one that neither does."""
    words = ["the", "trains", "in", "norway", "are", "seldom", "late"]
    other = ["the", "trains", "in", "norway", "are", "rarely", "late"]
    last = ["the", "trams", "in", "norway", "are", "rarely", "late"]
    row = {"corpus": corpus, "model": "lstm", "feature": "country", "sentence": words}
    changed = {
        "global": other,
        "local": last,
        "partner": {"from": "norway", "to": "denmark"},
        "labels": {"x": 1, "partner": 0},
    }
    idle = {"global": None, "local": None, "partner": None, "labels": {"x": 0, "partner": None}}
    return [row | changed, row | {"model": "gru"} | idle]
