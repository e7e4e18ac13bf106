"""The analyses of a setup, as the workflow sees them: results, steps, retrainings, tables and figures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from biaslab.origins import expansion
from biaslab.origins.attribution.registry import RANKINGS
from biaslab.origins.checks.brittleness import report as brittleness
from biaslab.origins.checks.cross_fitting import report as cross_fitting
from biaslab.origins.checks.lds import report as lds
from biaslab.origins.checks.planted import report as planted
from biaslab.origins.checks.retraining import report as retraining
from biaslab.origins.expansion import SETS, Batch
from biaslab.origins.report import corpus
from biaslab.origins.representations import report as representations
from biaslab.origins.sets import is_random
from biaslab.run.area import ALL, FIGURE, TABLE, TEST, UNIT, items_of


@dataclass(frozen=True)
class Analysis:
    """An analysis of a setup: one folder with science, report and columns, and one rule file."""

    name: str  # of the results, settings, rule file and documentation page
    results: tuple[str, ...]  # files that claims use, below the folder of a setup; {test} is each test
    steps: Mapping[str, str] = field(default_factory=dict)  # "MODULE:FUNCTION" in this package, by step name
    needs: str = ""  # the setting "SECTION.KEY" of a setup that disables the analysis if 0
    needing: tuple[str, ...] = ()  # the results that are disabled; by default all
    report: ModuleType | None = None  # its tables and figures
    n_sets: Callable[[Mapping], int] | None = None  # number of its own sets to retrain without
    phrase: str = ""  # a summary's phrase for the sets, with a place for their number
    trained: str = "retrainings"  # setting with the number of embeddings without each set

    def batches(self, setup: Mapping) -> list[Batch]:
        """Return the batches of sets; a job has as many sets as `trainings_per_job`."""
        return expansion.batches(self.n_sets(setup), setup["trainings_per_job"])

    def trainings(self, setup: Mapping) -> int:
        """Return the number of embeddings without each set."""
        return setup[self.name][self.trained]


_WORD2VEC = tuple(f"word2vec/{name}.tsv" for name in ("observed", "analogies", "word_sets", "correlation"))
ANALYSES = (
    Analysis(
        "report",
        (
            *("documents.parquet", "vocabulary.tsv", "analogies.tsv", "baseline.tsv"),
            *("differential_bias/{test}.parquet", "ppmi/{test}.parquet", SETS, "predictions.tsv"),
        ),
        report=corpus,
    ),
    Analysis("retraining", ("observed.tsv", "perturbations.tsv", "correlation.tsv"), report=retraining),
    Analysis("axis", ("projections.tsv", "axis_frequency.tsv"), report=representations),
    Analysis("ppmi_comparison", ("ppmi/baseline.tsv", "ppmi/word_sets.tsv", "ppmi/correlation.tsv")),
    Analysis(
        "transfer",
        (*_WORD2VEC, "transfer/changes.tsv", "transfer/responses.tsv"),
        {"measure-word2vec": "representations.transfer:measure_word2vec"},
        needs="word2vec.trainings",
        needing=_WORD2VEC,
    ),
    Analysis(
        "ppmi_sets",
        (f"ppmi/{SETS}", "ppmi/observed.tsv"),
        n_sets=lambda setup: len(expansion.ppmi_sets(setup)),
        phrase="{} sets by PPMI",
    ),
    Analysis(
        "cross_fitting",
        ("cross_fitting.tsv",),
        {"cross-fit": "checks.cross_fitting:write_cross_fitting"},
        report=cross_fitting,
    ),
    Analysis(
        "lds",
        ("lds/removals.tsv", "lds/scores.tsv"),
        {
            "draw-subsets": "subsets:write_subsets",
            "retrain-sets": "subsets:write_retrained",
            "score-attributions": "checks.lds:write_scores",
        },
        needs="lds.subsets",
        report=lds,
        n_sets=lambda setup: setup["lds"]["subsets"] * len(setup["lds"]["shares"]),
        phrase="{} random subsets",
    ),
    Analysis(
        "planted",
        ("planted/recall.tsv", "planted/pairs.tsv"),
        {
            "plant-documents": "checks.planted:write_planted",
            "measure-recall": "checks.planted.recall:write_recall",
        },
        needs="planted.documents",
        report=planted,
        n_sets=lambda setup: len(expansion.doses(setup)),
        phrase="{} corpora with planted documents",
        trained="baselines",
    ),
    Analysis(
        "brittleness",
        tuple(f"brittleness/{name}.tsv" for name in ("numbers", "paths", "outcomes", "brackets")),
        {
            "predict-flips": "checks.brittleness:write_predictions",
            "compare-flips": "checks.brittleness:write_flips",
        },
        needs="brittleness.retrainings",
        report=brittleness,
        n_sets=lambda setup: (
            len(setup["bias"]["weats"])
            * len(RANKINGS)
            * (len(setup["brittleness"]["multiples"]) if setup["brittleness"]["retrainings"] else 0)
        ),
        phrase="up to {} sets to flip a sign",
    ),
)
"""All analyses, in the order of their results."""


ITEMS = sorted(
    items_of(*(analysis.report for analysis in ANALYSES if analysis.report)),
    key=lambda item: ((TABLE, FIGURE).index(item.kind), (ALL, UNIT, TEST).index(item.per)),
)
"""The tables, then the figures; each first of all setups, then of a setup, then of a test."""

STEPS = {name: f"biaslab.origins.{step}" for analysis in ANALYSES for name, step in analysis.steps.items()}
"""The functions of the steps of all analyses."""

RULE_FILES = [f"origins_{analysis.name}.smk" for analysis in ANALYSES if analysis.steps]
"""The rule files of all analyses with steps."""


def named(name: str) -> Analysis:
    """Return the analysis with a name."""
    return next(analysis for analysis in ANALYSES if analysis.name == name)


def lacks(setup: Mapping[str, Any]) -> dict[str, str]:
    """Return the results that a setup omits, as patterns below its folder, each with the reason."""
    reasons = {}
    for analysis in ANALYSES:
        section, _, key = analysis.needs.partition(".")
        if analysis.needs and not setup[section][key]:
            reason = f"{analysis.needs} is {setup[section][key]}"
            reasons |= {file.format(test="*"): reason for file in analysis.needing or analysis.results}
    return reasons


def result_files(folder: str, setups: Mapping[str, Mapping]) -> list[str]:
    """Return the files of each setup that tables, figures and claims use."""
    left_out = {name: lacks(setup) for name, setup in setups.items()}
    return [
        f"{folder}/{name}/{file.format(test=test)}"
        for name, setup in setups.items()
        for analysis in ANALYSES
        for file in analysis.results
        if file.format(test="*") not in left_out[name]
        for test in (setup["bias"]["weats"] if "{test}" in file else [""])
    ]


def summary(name: str, setup: Mapping[str, Any]) -> str:
    """Summarise in one line the trainings of a setup."""
    names = expansion.perturbation_sets(setup)
    n_random = sum(map(is_random, names))
    parts = [
        f"{setup['baselines']} baselines",
        f"{len(names) - n_random} targeted and {n_random} random sets",
    ]
    n_trainings = sum(expansion.trainings_of(name, setup) for name in names)
    for analysis in (analysis for analysis in ANALYSES if analysis.n_sets):
        n_sets = analysis.n_sets(setup)
        parts += [analysis.phrase.format(n_sets)] if n_sets else []
        n_trainings += n_sets * analysis.trainings(setup)
    return f"{name}: {', '.join([*parts, f'{n_trainings} retrainings'])}"
