"""The analyses of a setup, as the workflow sees them: results, steps, retrainings, tables and figures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from biaslab.origins import expansion
from biaslab.origins.attribution.registry import RANKINGS
from biaslab.origins.expansion import SETS, Batch
from biaslab.origins.sets import is_random
from biaslab.run.area import ALL, FIGURE, TABLE, TEST, UNIT, Item


@dataclass(frozen=True)
class Retrainings:
    """Retrainings of an analysis, each without one of the analysis's own sets; a job has several sets."""

    phrase: str  # a summary's phrase for the sets, with a place for their number
    n_sets: Callable[[Mapping], int]  # number of sets of a setup
    each: Callable[[Mapping], int]  # number of embeddings without each set

    def batches(self, setup: Mapping) -> list[Batch]:
        """Return the batches of sets; a job has as many sets as `trainings_per_job`."""
        return expansion.batches(self.n_sets(setup), setup["trainings_per_job"])


@dataclass(frozen=True)
class Analysis:
    """An analysis of a setup: one folder with science, report and columns, and one rule file.

    Attributes
    ----------
    name : str
        Name of the results, settings, rule file and documentation page.
    results : tuple of str
        Files that claims use, relative to the folder of a setup; ``{test}`` is replaced by each test.
    steps : mapping of str to str
        Functions of the steps, ``"MODULE:FUNCTION"`` in this package, by the step names of rules.
    needs : str
        Setting of a setup, ``"SECTION.KEY"``, that disables the analysis if 0; by default none.
    needing : tuple of str
        Results that are disabled with it; by default all.
    retrained : Retrainings, optional
        The retrainings without the analysis's own sets.
    """

    name: str
    results: tuple[str, ...]
    steps: Mapping[str, str] = field(default_factory=dict)
    needs: str = ""
    needing: tuple[str, ...] = ()
    retrained: Retrainings | None = None


_BASELINE, _DOCUMENTS, _PREDICTED = "baseline.tsv", "documents.parquet", "differential_bias/{test}.parquet"
_CORPUS = (_DOCUMENTS, "vocabulary.tsv", "analogies.tsv")
_CORRELATION, _COMPARED = "correlation.tsv", ("perturbations.tsv", "correlation.tsv")
_AXIS = ("projections.tsv", "axis_frequency.tsv")
_PPMI = tuple(f"ppmi/{name}.tsv" for name in ("baseline", "word_sets", "correlation"))
_WORD2VEC = tuple(f"word2vec/{name}.tsv" for name in ("analogies", "word_sets", "correlation"))
_TRANSFER = ("transfer/changes.tsv", "transfer/responses.tsv")
_PPMI_SETS = (f"ppmi/{SETS}", "ppmi/observed.tsv")
_CROSS_FITTING = ("cross_fitting.tsv",)
_LDS = ("lds/removals.tsv", "lds/scores.tsv")
_PLANTED = ("planted/recall.tsv", "planted/pairs.tsv")
_FLIPS = tuple(f"brittleness/{name}.tsv" for name in ("numbers", "paths", "outcomes", "brackets"))

ANALYSES = (
    Analysis("report", (*_CORPUS, _BASELINE, _PREDICTED, "ppmi/{test}.parquet", SETS, "predictions.tsv")),
    Analysis("retraining", ("observed.tsv", *_COMPARED)),
    Analysis("axis", _AXIS),
    Analysis("ppmi_comparison", _PPMI),
    Analysis(
        "transfer",
        (*_WORD2VEC, *_TRANSFER),
        {"measure-word2vec": "representations.transfer:measure_word2vec"},
        needs="word2vec.trainings",
        needing=_WORD2VEC,
    ),
    Analysis(
        "ppmi_sets",
        _PPMI_SETS,
        retrained=Retrainings(
            "{} sets by PPMI",
            n_sets=lambda setup: len(expansion.ppmi_sets(setup)),
            each=lambda setup: setup["ppmi_sets"]["retrainings"],
        ),
    ),
    Analysis("cross_fitting", _CROSS_FITTING, {"cross-fit": "checks.cross_fitting:write_cross_fitting"}),
    Analysis(
        "lds",
        _LDS,
        {
            "draw-subsets": "subsets:write_subsets",
            "retrain-sets": "subsets:write_retrained",
            "score-attributions": "checks.lds:write_scores",
        },
        needs="lds.subsets",
        retrained=Retrainings(
            "{} random subsets",
            n_sets=lambda setup: setup["lds"]["subsets"] * len(setup["lds"]["shares"]),
            each=lambda setup: setup["lds"]["retrainings"],
        ),
    ),
    Analysis(
        "planted",
        _PLANTED,
        {
            "plant-documents": "checks.planted:write_planted",
            "measure-recall": "checks.planted.recall:write_recall",
        },
        needs="planted.documents",
        retrained=Retrainings(
            "{} corpora with planted documents",
            n_sets=lambda setup: len(expansion.doses(setup)),
            each=lambda setup: setup["planted"]["baselines"],
        ),
    ),
    Analysis(
        "brittleness",
        _FLIPS,
        {
            "predict-flips": "checks.brittleness:write_predictions",
            "compare-flips": "checks.brittleness:write_flips",
        },
        needs="brittleness.retrainings",
        retrained=Retrainings(
            "up to {} sets to flip a sign",
            n_sets=lambda setup: (
                len(setup["bias"]["weats"])
                * len(RANKINGS)
                * (len(setup["brittleness"]["multiples"]) if setup["brittleness"]["retrainings"] else 0)
            ),
            each=lambda setup: setup["brittleness"]["retrainings"],
        ),
    ),
)
"""All analyses, in the order of their results."""


class _Report(NamedTuple):
    """A module of tables and figures."""

    module: str

    def table(self, stem: str, label: str, function: str, *files: str, per: Any = ALL) -> Item:
        """Return a table that `function` of the module makes from files."""
        return Item(stem, TABLE, label, f"biaslab.origins.{self.module}:{function}", files, per)

    def figure(self, stem: str, label: str, function: str, *files: str, per: Any = TEST) -> Item:
        """Return a figure that `function` of the module draws from files."""
        return Item(stem, FIGURE, label, f"biaslab.origins.{self.module}:{function}", files, per)


_BASICS = _Report("report.corpus")
_RETRAINING = _Report("checks.retraining.report")
_SPACES = _Report("representations.report")
_CROSS_FITS = _Report("checks.cross_fitting.report")
_SUBSETS = _Report("checks.lds.report")
_RECALL = _Report("checks.planted.report")
_SIGNS = _Report("checks.brittleness.report")

ITEMS = (
    _BASICS.table("table1_weat_sets", "Table 1", "weat_sets"),
    _BASICS.table("table1_weat_words", "Appendix B", "weat_words", _BASELINE),
    _BASICS.table("table2_baseline_bias", "Table 2", "baseline_bias", _BASELINE),
    _BASICS.table("table3_setups", "Table 3", "experimental_setups", *_CORPUS),
    _RETRAINING.table("table4_correlation", "Table 4", "correlation", _CORRELATION),
    _RETRAINING.table("tests_summary", "Welch's tests", "significance_counts", _COMPARED[0]),
    _SPACES.table("axis_frequency", "Section 5.5", "frequency_table", _AXIS[1]),
    _SPACES.table("transfer", "Section 5.4", "transfer_table", _TRANSFER[1]),
    _CROSS_FITS.table("cross_fitting", "Cross-fitting", "overestimates", *_CROSS_FITTING),
    _RETRAINING.table("analogies_sets", "Analogies", "glove_analogies", "analogies.tsv", per=UNIT),
    _RETRAINING.table("analogies_word2vec", "Section 5.4", "word2vec_analogies", _WORD2VEC[0], per=UNIT),
    _RETRAINING.table(
        "table5_ppmi_baseline",
        "Table 5",
        "compare_identification",
        *(_BASELINE, SETS, "observed.tsv", *_PPMI_SETS),
        per=UNIT,
    ),
    _BASICS.table(
        "tableE_influential_documents",
        "Appendix E",
        "influential_documents",
        *(_PREDICTED, _DOCUMENTS, _BASELINE),
        per=TEST,
    ),
    _BASICS.table("bias_gradient", "Appendix A", "gradient_table", "bias_gradient/ends/{test}.tsv", per=TEST),
    _CROSS_FITS.table("cross_fitting_sets", "Cross-fitting", "set_table", *_CROSS_FITTING, per=TEST),
    _SUBSETS.table("lds", "Random subsets", "score_table", _LDS[1], per=TEST),
    _RECALL.table("planted", "Planted documents", "recall_table", _PLANTED[0], per=TEST),
    _SIGNS.table("brittleness", "Brittleness", "number_table", _FLIPS[3], per=TEST),
    _BASICS.figure("figure6_histograms", "Figure 6", "draw_histograms", _PREDICTED, _BASELINE, per=ALL),
    _RETRAINING.figure("figure7_predicted_observed", "Figure 7", "draw_predictions", *_COMPARED, per=ALL),
    _RETRAINING.figure("figure8_sets", "Figure 8", "draw_targeted_sets", *_COMPARED, per=ALL),
    _SPACES.figure("figure9_glove_ppmi", "Figure 9", "draw_ppmi", *_PPMI[1:], per=UNIT),
    _SPACES.figure("figure9_glove_word2vec", "Figure 9", "draw_word2vec", *_WORD2VEC[1:], per=UNIT),
    _BASICS.figure("figure1_histogram", "Figure 1", "draw_histogram", _PREDICTED, _BASELINE),
    _RETRAINING.figure("figure2_predicted_observed", "Figure 2", "draw_estimators", *_COMPARED),
    _RETRAINING.figure("figure3_sets", "Figure 3", "draw_sets", *_COMPARED),
    _SPACES.figure("figure5_bias_axis", "Figure 5", "draw_axis", _AXIS[0]),
    _SPACES.figure("figure4_transfer", "Figure 4", "draw_transfer", _TRANSFER[0]),
    _CROSS_FITS.figure("cross_fitting", "Cross-fitting", "draw_sets", *_CROSS_FITTING),
    _SUBSETS.figure("lds", "Random subsets", "draw_scores", _LDS[1]),
    _RECALL.figure("planted", "Planted documents", "draw_recall", *_PLANTED),
    _SIGNS.figure("brittleness", "Brittleness", "draw_flips", *_FLIPS[1:3], _BASELINE),
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
    for retrained in (analysis.retrained for analysis in ANALYSES if analysis.retrained):
        n_sets = retrained.n_sets(setup)
        parts += [retrained.phrase.format(n_sets)] if n_sets else []
        n_trainings += n_sets * retrained.each(setup)
    return f"{name}: {', '.join([*parts, f'{n_trainings} retrainings'])}"
