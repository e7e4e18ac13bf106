"""The path of soft debiasing: bias and benchmarks by the weight λ, and benchmarks before and after.

The paper's soft debiasing weighs a sum over all pairs of words against a sum over only the neutral words. The
effect of λ therefore decreases with the number of words. Among the 26,423 words of the paper's embedding,
DirectBias decreases by a thousandth of its value with λ = 0.2, and by a tenth with λ = 20. If the first sum
were a mean over the second word of its pairs, it would decrease to an eighth with λ = 0.2. `trace_penalties`
measures the entire path.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import WordSets
from biaslab.core.errors import InputError
from biaslab.debiasing.benchmarks import Benchmarks, score_answerable, score_pairs, score_questions
from biaslab.debiasing.experiment import BEFORE, HARD, SOFT, STAGES, Experiment
from biaslab.debiasing.measurement import measure
from biaslab.debiasing.settings import BENCHMARKS

HARD_AUTHORS = "hard_authors"
"""Hard debiasing with the authors' word lists."""


def score_benchmarks(experiment: Experiment, vectors: np.ndarray, benchmarks: Benchmarks) -> pd.DataFrame:
    """Score vectors on every benchmark, under every convention (``-multiply``: by 3CosMul), x 100."""
    tables = [
        score_pairs(vectors, experiment.ids, of_name).assign(benchmark=name)
        for name, of_name in benchmarks.pairs.items()
    ]
    for name, of_name in benchmarks.questions.items():
        table = score_questions(vectors, experiment.ids, of_name).assign(benchmark=name)
        suffix = table["method"].map({"add": "", "multiply": "-multiply"})
        tables.append(table.assign(convention=table["convention"] + suffix))
    columns = {"score": "value", "answerable": "n_used", "total": "n_total"}
    table = pd.concat(tables, ignore_index=True).rename(columns=columns)
    return table[["benchmark", "convention", "value", "n_used", "n_total"]]


def trace_penalties(
    experiment: Experiment,
    penalties: Sequence[float],
    tests: Sequence[WordSets],
    benchmarks: Benchmarks,
    authors: Experiment | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score the benchmarks of every stage, and trace soft debiasing along increasing λ.

    The path has the benchmark scores on answerable items. `authors` is the same embedding with the authors'
    lists, for the stage ``hard_authors``.
    """
    if list(penalties) != sorted(set(penalties)) or experiment.penalty not in penalties:
        raise InputError(
            f"lambdas {', '.join(map(str, penalties))}: give rising values with lambda"
            f" {experiment.penalty} among them"
        )
    vectors_of = {BEFORE: experiment.embedding.vectors, HARD: experiment.hard()}
    vectors_of |= {HARD_AUTHORS: authors.hard()} if authors else {}
    scores = {stage: score_benchmarks(experiment, v, benchmarks) for stage, v in vectors_of.items()}
    path = []
    for solution, vectors in experiment.soft(penalties):
        if solution.penalty == experiment.penalty:
            scores[SOFT] = score_benchmarks(experiment, vectors, benchmarks)
        measured = measure(experiment, vectors, tests)
        scored = score_answerable(vectors, experiment.ids, benchmarks)
        moved = np.linalg.norm(vectors - experiment.embedding.vectors, axis=1).mean()
        path.append(
            {
                "lambda": solution.penalty,
                "direct_bias": measured.values["direct_bias_neutral"],
                "direct_bias_refit": measured.values["direct_bias_own_subspace"],
                **{f"{test.weat}_effect_size": test.effect_size for test in measured.weats.itertuples()},
                **{name: scored.get(name, (np.nan,))[0] for name in BENCHMARKS},
                "moved": float(moved),
                "constrained": solution.constrained,
            }
        )
    stages = [scores[stage].assign(stage=stage) for stage in (*STAGES, HARD_AUTHORS) if stage in scores]
    return pd.concat(stages, ignore_index=True)[["stage", *scores[HARD].columns]], pd.DataFrame(path)
