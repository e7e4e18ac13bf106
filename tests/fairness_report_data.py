"""Result folders of the fairness testing area with the shape of real ones and made numbers."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.io import write_tsv
from biaslab.core.rng import stream
from biaslab.fairness_testing.settings import COLUMNS, CONTROL, NO_RULE, TABULAR
from biaslab.run.area import Unit

CLAIMS = Path(__file__).parents[1] / "workflow/resources/claims"

AUTHORS = {"census": ["age", "race", "sex"], "bank": ["age"], "credit": ["age", "sex"]}
OWN = {"adult": ["age", "race", "sex"], "german": ["age", "sex"]}
SIZES = {"census": (32561, 13), "bank": (45211, 16), "credit": (600, 20)}
FOUND = {"random": 0.02, "aequitas": 0.1, "symbolic": 0.3, "adf": 0.6}
"""Share of the seeds that each tester's global phase finds in the made results."""
SWITCHES = ["published", "metropolis", "stuck_seeds", "paper"]
RETRAININGS = [
    *((tester, "majority") for tester in ("aequitas", "symbolic", "adf")),
    ("adf", "model"),
    ("adf", "ensemble"),
]
N_REPETITIONS = 3
EXAMPLE = {
    "age": (4, 0, 4, 0.030),
    "workclass": (0, 1, 1, 0.019),
    "fnlwgt": (6, 0, 6, 0.057),
    "education": (6, 0, 6, 0.075),
    "marital-status": (0, -1, 0, 0.002),
    "occupation": (1, 1, 2, 0.009),
    "relationship": (2, -1, 1, 0.020),
    "race": (1, 0, 1, 0.015),
    "sex": (1, 1, 1, 0),
    "capital-gain": (0, 0, 0, 0.002),
    "capital-loss": (0, 0, 0, 0.027),
    "hours-per-week": (40, 1, 41, 0.612),
    "native-country": (100, -1, 39, 0.131),
}
"""Examples 4.3 and 4.5: of each attribute its value, direction, value after the step, and probability."""


def units_of(classifiers: Iterable[str]) -> list[Unit]:
    files = {"claims": str(CLAIMS / "fairness_testing.tsv")}
    return [Unit(classifier, files=files, marks=(TABULAR,)) for classifier in classifiers]


def write_results(folder: Path, classifiers: Mapping[str, list[str]]) -> None:
    """Write the files of every classifier, with numbers drawn at random around plausible ones."""
    for classifier, names in classifiers.items():
        n_rows, n_attributes = SIZES.get(classifier, (100, 5))
        trained = "no" if classifier in AUTHORS else "yes"
        one = [classifier, n_rows, n_attributes, 3, 0.25, 6, 0.9, trained, *digests(classifier)]
        frames = {name: [] for name in COLUMNS}
        frames["classifiers"].append(pd.DataFrame([one], columns=COLUMNS["classifiers"]))
        for protected in names:
            for name, rows in _setting(classifier, protected).items():
                rows = [[classifier, protected, *row] for row in rows]
                frames[name].append(pd.DataFrame(rows, columns=COLUMNS[name]))
        for name, parts in frames.items():
            write_tsv(folder / classifier / f"{name}.tsv", pd.concat(parts))


def digests(classifier: str) -> tuple[str, str]:
    """Return the digests of the authors' data and weights, as the registry has them; others for others."""
    text = (CLAIMS / "fairness_testing.tsv").read_text(encoding="utf-8")
    found = [
        re.search(rf"^adf-{classifier}-{what}\t.*{what} == '([0-9a-f]{{64}})'", text, re.MULTILINE)
        for what in ("data", "weights")
    ]
    return tuple(match[1] if match else "0" * 64 for match in found)


def _setting(classifier: str, protected: str) -> dict[str, list[list]]:
    """Return the rows of one setting by file, without the setting itself."""
    rng = stream(7, "made results", classifier, protected)
    rows = {name: [] for name in ("counts", "local", "curves", "ablation", "fairness", "steps", "retraining")}
    rows["budgets"] = _budgets(rng)
    rows["fairness"].append([20000, 0.1, 0.096, 0.104, 0.3, 0.05])
    rows["steps"] = _steps()
    for tester, share in FOUND.items():
        for mode in ("published", "paper"):
            n_samples = int(800_000 * share * (1.0 if mode == "published" else 1.2))
            for repetition in range(N_REPETITIONS):
                k = rng.normal(1, 0.03)
                found = [int(1000 * share * k), int(n_samples * k), int(n_samples * k * (0.1 + 0.5 * share))]
                rows["counts"].append([tester, mode, repetition, 1000, *found, 2_500_000])
                if tester not in ("random", "symbolic"):
                    around = ["full", 40, 1000, 600 * k, 700 * share * k]
                    rows["local"].append([tester, mode, repetition, *around])
                if tester != "random":
                    around = ["shared", 3, 100, 90 * k, 70 * share * k]
                    rows["local"].append([tester, mode, repetition, *around])
            if tester in ("aequitas", "adf") and mode == "published":
                rows["curves"] += _curve(tester, n_samples)
    for repetition in range(N_REPETITIONS):
        for place, switch in enumerate(SWITCHES):
            k = rng.normal(1 + 0.2 * place, 0.03)
            rows["ablation"].append(
                ["adf", switch, repetition, *(int(n * k) for n in (600, 480_000, 200_000))]
            )
        rows["retraining"].append([CONTROL, NO_RULE, repetition, 0, 0.9, 0.89, 0.1, 0.06, 0.3, 0.25])
        for tester, rule in RETRAININGS:
            after = 0.1 * (1 - FOUND[tester]) * rng.normal(1, 0.1)
            rows["retraining"].append([tester, rule, repetition, 900, 0.9, 0.88, 0.1, after, 0.3, 0.2])
    return rows


def _steps() -> list[list]:
    """Return the first steps of four seeds, all as in the examples."""
    return [
        [seed, name, x, int(name != "sex" and x), direction, y, "no", "yes", probability, "yes", "no"]
        for seed in (1, 2, 3, 4)
        for name, (x, direction, y, probability) in EXAMPLE.items()
    ]


def _budgets(rng: np.random.Generator) -> list[list]:
    rows = []
    for repetition in range(N_REPETITIONS):
        for tester, share in (FOUND | {"eidig-5": 0.7, "eidig-inf": 0.8}).items():
            for mode in ("published", "paper") if tester not in ("random", "symbolic") else ():
                for budget in (1000, 5000):
                    found = int(budget * share * rng.normal(0.1, 0.01))
                    rows.append([8, tester, mode, repetition, budget, 5, budget, 2 * found, found])
    return rows


def _curve(tester: str, n_samples: int) -> list[list]:
    """Return a curve that is straight for ADF and flattens for the other."""
    at = np.linspace(0.02, 1, 50)
    shape = at if tester == "adf" else np.sqrt(at)
    return [
        [tester, int(1000 * x), int(n_samples * y), int(0.4 * n_samples * y)]
        for x, y in zip(at, shape, strict=True)
    ]
