"""Result folders of the debiasing area with the shape of real ones and made-up numbers."""

from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from biaslab.core.io import write_tsv
from biaslab.debiasing.analogies import ONCE
from biaslab.debiasing.names import COLUMNS

JOBS = {
    "name": "jobs",
    "title": "Care and law",
    "source": "a test",
    "targets": {"care": ["nurse", "doctor"], "law": ["judge", "pilot", "lawyer"]},
    "attributes": {"female": ["she", "her"], "male": ["he", "his"]},
}
"""Word sets of a test as a file holds them."""


def write_lists(folder: Path, lists: dict[str, dict]) -> list[Path]:
    """Write word lists with the sets or words of each; return their files."""
    files = [folder / f"{name}.yaml" for name in lists]
    for file, content in zip(files, lists.values(), strict=True):
        head = {"name": "mine", "title": "A list", "source": "a test"}
        file.write_text(yaml.safe_dump(head | content, sort_keys=False))
    return files


STAGES = ("before", "soft", "hard")
N_OCCUPATIONS = 60
N_ANALOGIES = 8
PAIRS = ("answerable", "scaled", "zero", "mean-cosine", "mean-product")
QUESTIONS = ("answerable", "wrong", "mean", "mean-letters", "answerable-multiply")
CONVENTIONS = {"rg65": PAIRS, "wordsim353": PAIRS, "msr": QUESTIONS}
SIZES = {"rg65": (53, 65), "wordsim353": (318, 353), "msr": (5276, 8000)}


def write_results(folder: Path, seed: int = 1, *, authors: bool = False) -> None:
    """Write every file of an embedding that tables, figures and claims read, perhaps with authors' lists."""
    random = np.random.default_rng(seed)
    for name, table in {
        "subspace": _subspace(),
        "bias": _bias(authors),
        "weat": _weat(),
        "occupations": _occupations(random),
        "analogies": _analogies(),
        "occupations_authors": _occupations_authors(random) if authors else _occupations_authors(random)[:0],
        "puzzles": puzzles({"he doctor she": ("nurse", "nurse", "vet")}),
        "similarities": similarities({"nurse man": (0.2, 0.2, 0.3), "nurse woman": (0.4, 0.4, 0.3)}),
        "vocabulary": pd.DataFrame({"word": ["she", "he", "Ann"], "filtered": [1, 1, 0]}),
        "settings": pd.DataFrame(
            {"setting": ["components", "strictness", "lambda", "random_draws"], "value": [1, 1, 0.2, 1000]}
        ),
        "indirect": _indirect(),
        "axes": _axes(random),
        "classifier": (folds := _folds(random)),
        "classifier_authors": folds if authors else folds.iloc[:0],
        "benchmarks": _benchmarks((*STAGES, "hard_authors") if authors else STAGES),
        "lambda_path": _lambda_path(),
        "methods": _methods(),
    }.items():
        write_tsv(folder / f"{name}.tsv", table)


def _folds(random: np.random.Generator) -> pd.DataFrame:
    scores = random.uniform(0.5, 0.8, 10)
    return pd.DataFrame({"fold": range(1, 11), "F": scores, "n_specific_found": 412, "n_seeds": 218})


def _subspace() -> pd.DataFrame:
    share = np.array([0.6, 0.13, 0.08, 0.06, 0.05, 0.03, 0.02, 0.015, 0.01, 0.005])
    mean = np.linspace(0.15, 0.06, 10)
    return pd.DataFrame(
        {
            "component": range(1, 11),
            "share": share,
            "random_mean": mean,
            "random_ci_low": mean - 0.02,
            "random_ci_high": mean + 0.02,
            "unit_mean": mean,
            "unit_ci_low": mean - 0.01,
            "unit_ci_high": mean + 0.01,
        }
    )


def _bias(authors: bool) -> pd.DataFrame:
    values = {
        "direct_bias": (0.08, 0.07, 0.01),
        "direct_bias_neutral": (0.08, 0.07, 0),
        "pair_bias": (0.05, 0.04, 0),
        "pair_bias_max": (0.3, 0.2, 0),
        "equidistance_max": (0.4, 0.3, 0),
    }
    values |= {"direct_bias_authors": (0.081, 0.075, 0.02)} if authors else {}
    rows = [
        (stage, measure, value, N_OCCUPATIONS)
        for measure, numbers in values.items()
        for stage, value in zip(STAGES, numbers, strict=True)
    ]
    sizes = [
        ("before", name, value, 26423)
        for name, value in (("vocabulary", 26423), ("dimension", 300), ("mean_similarity", 0.06))
    ]
    return pd.DataFrame(sizes + rows, columns=COLUMNS["bias"])


def _weat() -> pd.DataFrame:
    return pd.DataFrame(
        [(s, w, 1.2 - i / 2, 0.01, 1, "Ann", "") for w in ("c6", "c7") for i, s in enumerate(STAGES)],
        columns=COLUMNS["weat"],
    )


def _occupations(random: np.random.Generator) -> pd.DataFrame:
    projection = np.sort(random.normal(0, 0.15, N_OCCUPATIONS))[::-1]
    parts = [
        pd.DataFrame(
            {
                "word": [f"job{i}" for i in range(N_OCCUPATIONS)],
                "stage": stage,
                "projection": projection * factor,
                "rank": range(1, N_OCCUPATIONS + 1),
            }
        )
        for stage, factor in zip(STAGES, (1, 0.7, 0.01), strict=True)
    ]
    return pd.concat(parts)


def _occupations_authors(random: np.random.Generator) -> pd.DataFrame:
    projection = np.sort(random.normal(0, 0.15, N_OCCUPATIONS))[::-1]
    scores = {"definitional": 0.0, "stereotypical": random.permutation(projection), "projection": projection}
    return pd.DataFrame({"word": [f"job{i}" for i in range(N_OCCUPATIONS)], **scores, "specific": 0})


def puzzles(answers: dict[str, tuple[str, str, str]]) -> pd.DataFrame:
    """Return what puzzles.tsv holds, from the three words of a puzzle to its answer at each of `STAGES`."""
    rows = [
        (stage, *puzzle.split(), answer)
        for puzzle, of_stages in answers.items()
        for stage, answer in zip(STAGES, of_stages, strict=True)
    ]
    return pd.DataFrame(rows, columns=COLUMNS["puzzles"])


def similarities(numbers: dict[str, tuple[float, float, float]]) -> pd.DataFrame:
    """Return what similarities.tsv holds, from a word and another to their similarity at each of `STAGES`."""
    rows = [
        (stage, *words.split(maxsplit=1), number)
        for words, of_stages in numbers.items()
        for stage, number in zip(STAGES, of_stages, strict=True)
    ]
    return pd.DataFrame(rows, columns=COLUMNS["similarities"])


def _analogies() -> pd.DataFrame:
    return pd.DataFrame(
        [
            (s, once, r, f"{s}_she{r}", f"{s}_he{r}", 1 - r / 20)
            for s in STAGES
            for once in ONCE
            for r in range(1, N_ANALOGIES + 1)
        ],
        columns=COLUMNS["analogies"],
    )


def _indirect() -> pd.DataFrame:
    rows = [
        (stage, word, axis, projection, beta * (stage != "hard"))
        for stage in STAGES
        for word, axis, projection, beta in (
            ("bookkeeper", "softball", 0.3, 0.2),
            ("receptionist", "softball", 0.25, 0.67),
            ("pitcher", "football", -0.3, -0.01),
        )
    ]
    return pd.DataFrame(rows, columns=COLUMNS["indirect"])


def _axes(random: np.random.Generator) -> pd.DataFrame:
    n = 60
    words = pd.DataFrame(
        {
            "word": [f"word{i}" for i in range(n)],
            "she_he": random.normal(0, 0.2, n),
            "neutrality": random.normal(0, 0.5, n),
            "gender_specific": ([True] + [False] * 2) * (n // 3),
        }
    )
    hard = words.assign(she_he=words["she_he"].where(words["gender_specific"], 0))
    return pd.concat([words.assign(stage="before"), hard.assign(stage="hard")])


def _benchmarks(stages: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (stage, benchmark, convention, 60 + i + j / 10, *SIZES[benchmark])
            for benchmark, conventions in CONVENTIONS.items()
            for i, convention in enumerate(conventions)
            for j, stage in enumerate(stages)
        ],
        columns=COLUMNS["benchmarks"],
    )


def _lambda_path() -> pd.DataFrame:
    weight = np.array([0, 0.2, 1, 10, 100, 1000.0])
    bias = 0.08 / (1 + weight)
    return pd.DataFrame(
        {
            "lambda": weight,
            "direct_bias": bias,
            "direct_bias_refit": bias * 1.2,
            "c6_effect_size": 1.2 - weight / 2000,
            "c7_effect_size": 0.5 - weight / 4000,
            "rg65": 76 - weight / 1000,
            "wordsim353": 68 - weight / 2000,
            "msr": 75 + weight / 5000,
            "moved": weight / 4000,
            "constrained": False,
        }
    )


def _methods() -> pd.DataFrame:
    rows = [
        (method, measure, 0.9 - 0.1 * n, low, high, 40)
        for n, method in enumerate(("none", "hard", "soft", "double_hard", "inlp"))
        for measure, low, high in (
            ("direct_bias", np.nan, np.nan),
            ("caliskan6_effect_size", np.nan, np.nan),
            ("cluster_accuracy", np.nan, np.nan),
            ("classifier_accuracy", 0.85 - 0.1 * n, 0.95 - 0.1 * n),
            ("neighbour_correlation", 0.8 - 0.1 * n, 0.95 - 0.1 * n),
            ("rg65", np.nan, np.nan),
        )
    ]
    rows += [
        (method, measure, 0.6, 0.55, 0.65, 10)
        for method in ("random_pairs", "random_units")
        for measure in ("cluster_accuracy", "classifier_accuracy")
    ]
    return pd.DataFrame(rows, columns=["method", "measure", "value", "ci_low", "ci_high", "n"])
