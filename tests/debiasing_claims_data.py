"""Made-up results of debiasing that meet the paper's claims, and twins of them in which nothing happens."""

from collections.abc import Mapping
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.audit.claims import Claim
from biaslab.core.io import read_tsv, write_tsv
from biaslab.debiasing.analogies import ONCE
from biaslab.debiasing.settings import COLUMNS

SETUPS = ("w2vnews",)
STAGES = ("before", "soft", "hard")
PRESERVED = {
    *("abstract-queen", "analogy-male-female-hard", "grandmother-hard", "babysit-nearer-hard"),
    *("ovarian-cancer-hard", "ovarian-cancer-puzzle-hard"),
}
"""What debiasing keeps: doing nothing keeps it, too."""
UNMET = dict.fromkeys([*PRESERVED, "fig2-msr-hard-authors"], "inconclusive")
_EXTREMES = """\
homemaker nurse receptionist librarian socialite hairdresser nanny bookkeeper stylist housekeeper
maestro skipper protege philosopher captain architect financier warrior broadcaster magician
"""
_STEREOTYPES = """
sewing-carpentry registered_nurse-physician housewife-shopkeeper nurse-surgeon interior_designer-architect
softball-baseball blond-burly feminism-conservatism cosmetics-pharmaceuticals giggle-chuckle
vocalist-guitarist petite-lanky sassy-snappy diva-superstar charming-affable volleyball-football
cupcakes-pizzas lovely-brilliant
"""
_APPROPRIATE = """
queen-king sister-brother mother-father waitress-waiter ovarian_cancer-prostate_cancer convent-monastery
"""
SHE, HE = map(str.split, _EXTREMES.splitlines())
STEREOTYPES, APPROPRIATE = _STEREOTYPES.split(), _APPROPRIATE.split()
PRINTED = {"rg65": (62.3, 62.4, 62.4), "wordsim353": (54.5, 54.2, 54.1), "msr": (57.0, 56.8, 57.0)}
"""Figure 2, right: before, soft, hard."""
N_WORDS, N_OCCUPATIONS, N_ANALOGIES = 26377, 327, 150
DIRECTION = "bias direction"

PUZZLES = {
    "he doctor she": ("nurse", "nurse", "physician"),
    "man computer_programmer woman": ("homemaker", "homemaker", "programmer"),
    "man programmer woman": ("homemaker", "homemaker", "programmers"),
    "father doctor mother": ("nurse", "nurse", "physician"),
    "man king woman": ("queen", "queen", "queen"),
    "Paris France Tokyo": ("Japan", "Japan", "Japan"),
    "she ovarian_cancer he": ("prostate_cancer",) * 3,
    "she grandmother he": ("grandfather",) * 3,
    "father male mother": ("female",) * 3,
}
SIMILARITIES = {
    "doctor man": (0.4, 0.4, 0.35),
    "doctor woman": (0.3, 0.3, 0.35),
    "nurse man": (0.25, 0.25, 0.3),
    "nurse woman": (0.4, 0.4, 0.3),
    f"nurse {DIRECTION}": (0.3, 0.2, 0.0),
    "receptionist male": (0.2, 0.2, 0.2),
    "receptionist female": (0.3, 0.3, 0.2),
    f"receptionist {DIRECTION}": (0.3, 0.2, 0.0),
    "queen male": (0.2, 0.2, 0.1),
    "queen female": (0.3, 0.3, 0.3),
    f"queen {DIRECTION}": (0.3, 0.3, 0.4),
    f"male {DIRECTION}": (0.1, 0.1, -0.3),
    f"female {DIRECTION}": (0.3, 0.3, 0.3),
    "wisdom grandmother": (0.3, 0.3, 0.3),
    "wisdom grandfather": (0.35, 0.35, 0.3),
    "wisdom gal": (0.1, 0.1, 0.1),
    "wisdom guy": (0.15, 0.15, 0.1),
    "babysit grandmother": (0.5, 0.5, 0.4),
    "babysit grandfather": (0.3, 0.3, 0.4),
    "babysit gal": (0.25, 0.25, 0.2),
    "babysit guy": (0.2, 0.2, 0.2),
}
INDIRECT = {
    "bookkeeper softball 0.3": (0.2, 0.2, 0),
    "receptionist softball 0.25": (0.67, 0.67, 0),
    "pitcher football -0.3": (-0.01, -0.01, 0),
}
BIAS = {
    "direct_bias": (0.08, 0.07, 0.01),
    "direct_bias_neutral": (0.08, 0.07, 0),
    "pair_bias": (0.05, 0.04, 0),
    "pair_bias_max": (0.3, 0.2, 0),
    "equidistance_max": (0.4, 0.3, 0),
    "direct_bias_authors": (0.081, 0.075, 0.02),
}
SIZES = {"vocabulary": 26423, "dimension": 300, "mean_similarity": 0.06}
SETTINGS = {"components": 1, "strictness": 1, "lambda": 0.2, "random_draws": 1000}


def is_as_printed(claim: Claim) -> bool:
    return claim.counts_as != "none"


def write_published(results: Path, _: Mapping[str, Claim] = {}) -> None:
    """Write results of an embedding in which every claim that can be measured holds, if a null does not."""
    words = [*(f"word{i}" for i in range(N_WORDS)), "Ann"]
    made = {
        "subspace": _subspace(),
        "bias": _bias(),
        "weat": pd.DataFrame(
            [(s, w, 1.2 - i / 2, 0.01, 1, "Ann", "") for w in ("c6", "c7") for i, s in enumerate(STAGES)],
            columns=COLUMNS["weat"],
        ),
        "vocabulary": pd.DataFrame({"word": words, "filtered": [1] * N_WORDS + [0]}),
        "settings": pd.DataFrame(SETTINGS.items(), columns=["setting", "value"]),
        "puzzles": _of_stages("puzzles", PUZZLES),
        "similarities": _of_stages("similarities", SIMILARITIES),
        "indirect": _of_stages("indirect", INDIRECT),
        "analogies": _analogies(),
        "benchmarks": _benchmarks(),
        "occupations": _occupations(),
        "occupations_authors": _occupations_authors(),
        "axes": _axes(),
        "classifier": (folds := _folds()),
        "classifier_authors": folds,
        "lambda_path": _lambda_path(),
        "methods": _methods(),
    }
    for name, table in made.items():
        write_tsv(results / f"debiasing/w2vnews/{name}.tsv", table)


def do_nothing(results: Path, _: Mapping[str, Claim] = {}) -> None:
    """Make every stage what it was before, as a method of debiasing does that does nothing."""
    folder = results / "debiasing/w2vnews"
    tables = {path: read_tsv(path) for path in folder.glob("*.tsv")}
    for path, table in tables.items():
        if "stage" not in table or path.stem == "weat":
            continue
        before = table[table["stage"] == "before"]
        later = [stage for stage in table["stage"].unique() if stage != "before"]
        write_tsv(path, pd.concat([before, *(before.assign(stage=s) for s in later)]))
    path = read_tsv(folder / "lambda_path.tsv")
    write_tsv(folder / "lambda_path.tsv", path.assign(direct_bias=path["direct_bias"].iloc[0]))


def leave_to_chance(results: Path, _: Mapping[str, Claim] = {}) -> None:
    """Make the numbers before debiasing those of an embedding without bias, structure or separation."""
    folder = results / "debiasing/w2vnews"
    subspace = read_tsv(folder / "subspace.tsv")
    write_tsv(folder / "subspace.tsv", subspace.assign(share=subspace["unit_mean"]))
    axes = read_tsv(folder / "axes.tsv")
    write_tsv(folder / "axes.tsv", axes.assign(neutrality=np.resize([-1.0, 1.0, 1.0, -1.0], len(axes))))
    similar = read_tsv(folder / "similarities.tsv")
    write_tsv(folder / "similarities.tsv", similar.assign(similarity=0.0))
    answers = read_tsv(folder / "puzzles.tsv")
    write_tsv(folder / "puzzles.tsv", answers.assign(answer="the"))
    pairs = read_tsv(folder / "analogies.tsv")
    write_tsv(folder / "analogies.tsv", pairs.assign(she="one", he="other"))
    scores = read_tsv(folder / "benchmarks.tsv")
    write_tsv(folder / "benchmarks.tsv", scores.assign(value=0.0))
    for name in ("classifier", "classifier_authors"):
        folds = read_tsv(folder / f"{name}.tsv")
        write_tsv(folder / f"{name}.tsv", folds.assign(F=0.0164))
    for name in ("occupations", "occupations_authors"):
        table = read_tsv(folder / f"{name}.tsv")
        words = list(table["word"])
        write_tsv(folder / f"{name}.tsv", table.assign(word=words[20:] + words[:20]))
    table = read_tsv(folder / "occupations_authors.tsv")
    scores = np.random.default_rng(2).permutation(table["stereotypical"])
    write_tsv(folder / "occupations_authors.tsv", table.assign(stereotypical=scores))
    bias = read_tsv(folder / "bias.tsv")
    bias.loc[bias["measure"].str.startswith("direct"), "value"] = 0.0461
    bias.loc[bias["measure"] == "mean_similarity", "value"] = 0.5
    write_tsv(folder / "bias.tsv", bias)


def _of_stages(name: str, numbers: Mapping[str, tuple]) -> pd.DataFrame:
    """Return a table with a row for each stage, from its words to what stands there at each of `STAGES`."""
    columns = COLUMNS[name]
    rows = [
        (stage, *words.split(maxsplit=len(columns) - 3), number)
        for words, of_stages in numbers.items()
        for stage, number in zip(STAGES, of_stages, strict=True)
    ]
    return pd.DataFrame(rows, columns=columns)


def _subspace() -> pd.DataFrame:
    share = [0.6, 0.13, 0.08, 0.06, 0.05, 0.03, 0.02, 0.015, 0.01, 0.005]
    table = pd.DataFrame({"component": range(1, 11), "share": share})
    for name, half in (("random", 0.02), ("unit", 0.01)):
        table[f"{name}_mean"] = mean = np.linspace(0.15, 0.06, 10)
        table[f"{name}_ci_low"], table[f"{name}_ci_high"] = mean - half, mean + half
    return table


def _bias() -> pd.DataFrame:
    rows = [("before", name, value, 26423) for name, value in SIZES.items()]
    for measure, numbers in BIAS.items():
        n = N_OCCUPATIONS if measure == "direct_bias_authors" else 60
        rows += [(stage, measure, value, n) for stage, value in zip(STAGES, numbers, strict=True)]
    return pd.DataFrame(rows, columns=COLUMNS["bias"])


def _analogies() -> pd.DataFrame:
    rows = []
    for stage in STAGES:
        pairs = APPROPRIATE + (STEREOTYPES if stage != "hard" else [])
        others = [f"{stage}{i}-other{i}" for i in range(N_ANALOGIES - len(pairs) - 1)]
        for rank, pair in enumerate([*pairs, "someone-coward", *others], 1):
            rows += [(stage, once, rank, *pair.split("-"), 1 - rank / 200) for once in ONCE]
    return pd.DataFrame(rows, columns=COLUMNS["analogies"])


def _benchmarks() -> pd.DataFrame:
    pairs = ("answerable", "scaled", "zero", "mean-cosine", "mean-product")
    questions = [
        name + how for how in ("", "-multiply") for name in ("answerable", "wrong", "mean", "mean-letters")
    ]
    rows = []
    for benchmark, values in PRINTED.items():
        for stage, value in zip((*STAGES, "hard_authors"), (*values, values[-1]), strict=True):
            for convention in questions if benchmark == "msr" else pairs:
                is_theirs = convention == ("mean-letters" if benchmark == "msr" else "mean-product")
                rows.append((stage, benchmark, convention, value + (0 if is_theirs else 9), 50, 60))
    return pd.DataFrame(rows, columns=COLUMNS["benchmarks"])


def _occupations() -> pd.DataFrame:
    words = [*SHE, *(f"job{i}" for i in range(40)), *HE[::-1]]
    table = {"word": words, "projection": np.linspace(0.3, -0.3, len(words)), "rank": range(1, 61)}
    return pd.concat([pd.DataFrame(table).assign(stage=stage) for stage in STAGES])


@cache
def _occupations_authors() -> pd.DataFrame:
    """Return occupations whose scores have the published correlation with their projections."""
    words = [*SHE, *(f"job{i}" for i in range(N_OCCUPATIONS - 20)), *HE[::-1]]
    projection = np.linspace(0.3, -0.3, len(words))
    noise = np.random.default_rng(1).permutation(projection)
    mixtures = (-(share * projection + (1 - share) * noise) for share in np.linspace(0, 1, 500))
    ranks = pd.Series(projection)
    scores = min(mixtures, key=lambda score: abs(-ranks.corr(pd.Series(score), "spearman") - 0.51))
    columns = {"definitional": 0.0, "stereotypical": scores, "projection": projection, "specific": 0}
    return pd.DataFrame({"word": words, **columns})


def _axes() -> pd.DataFrame:
    words = pd.DataFrame({"word": [f"word{i}" for i in range(60)], "she_he": np.linspace(-0.3, 0.3, 60)})
    words["gender_specific"] = np.resize([True, False, False], 60)
    words["neutrality"] = words["gender_specific"].map({True: -0.5, False: 0.5})
    hard = words.assign(she_he=words["she_he"].where(words["gender_specific"], 0))
    return pd.concat([words.assign(stage="before"), hard.assign(stage="hard")])


def _folds() -> pd.DataFrame:
    scores = 0.627 + 0.0968 * np.resize([1, -1], 10)
    return pd.DataFrame({"fold": range(1, 11), "F": scores, "n_specific_found": 400, "n_seeds": 218})


def _lambda_path() -> pd.DataFrame:
    weight = np.array([0, 0.2, 1, 10, 100, 1000.0])
    path = {"lambda": weight, "direct_bias": 0.08 / (1 + weight), "direct_bias_refit": 0.096 / (1 + weight)}
    path |= {"c6_effect_size": 1.2 - weight / 2000, "c7_effect_size": 0.5 - weight / 4000}
    path |= {"rg65": 76 - weight / 1000, "wordsim353": 68 - weight / 2000, "msr": 75 + weight / 5000}
    return pd.DataFrame(path | {"moved": weight / 4000, "constrained": False})


def _methods() -> pd.DataFrame:
    """Return what remains after each method; some measures have an interval."""
    halves = {"direct_bias": np.nan, "caliskan6_effect_size": np.nan, "cluster_accuracy": np.nan}
    halves |= {"classifier_accuracy": 0.05, "neighbour_correlation": 0.08, "rg65": np.nan}
    means = {name: 0.9 - 0.1 * n for n, name in enumerate(("none", "hard", "soft", "double_hard", "inlp"))}
    rows = [(*key, means[key[0]], halves[key[1]], 40) for key in product(means, halves)]
    chance = product(("random_pairs", "random_units"), ("cluster_accuracy", "classifier_accuracy"))
    rows += [(*key, 0.6, 0.05, 10) for key in chance]
    table = pd.DataFrame(rows, columns=["method", "measure", "value", "half", "n"])
    low, high = table["value"] - table["half"], table["value"] + table["half"]
    return table.drop(columns="half").assign(ci_low=low, ci_high=high)


_LATER = "-(hard|soft)(-|$)|^lambda-large$|^observation1"
_OF_LISTS = (
    r"observation1-.*|fig3-collapse|lambda-large|occupations|svm-seeds|vocabulary-filter"
    r"|not-parallel|fig1-order-.*|.*-before-others"
)
"""What holds by construction, what the lists and the file are, and what chance has, too."""
NULLS = {
    "debiasing does nothing": (do_nothing, _LATER, "analogies-judged-hard"),
    "no bias before": (leave_to_chance, "^(?!.*(hard|soft))", _OF_LISTS),
}
