"""Made-up results of debiasing that meet the paper's claims, and twins of them in which nothing happens."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.audit.claims import Claim
from biaslab.core.io import read_tsv, write_tsv
from biaslab.debiasing.analogies import ONCE
from debiasing_data import STAGES, puzzles, similarities, write_results

SETUPS = ("w2vnews",)
PRESERVED = {
    *("abstract-queen", "analogy-male-female-hard", "grandmother-hard", "babysit-nearer-hard"),
    *("ovarian-cancer-hard", "ovarian-cancer-puzzle-hard"),
}
"""What debiasing keeps: doing nothing keeps it, too."""
UNMET = dict.fromkeys([*PRESERVED, "fig2-msr-hard-authors"], "inconclusive")
SHE = [
    "homemaker",
    "nurse",
    "receptionist",
    "librarian",
    "socialite",
    "hairdresser",
    "nanny",
    "bookkeeper",
    "stylist",
    "housekeeper",
]
HE = [
    "maestro",
    "skipper",
    "protege",
    "philosopher",
    "captain",
    "architect",
    "financier",
    "warrior",
    "broadcaster",
    "magician",
]
STEREOTYPES = [
    "sewing-carpentry",
    "registered_nurse-physician",
    "housewife-shopkeeper",
    "nurse-surgeon",
    "interior_designer-architect",
    "softball-baseball",
    "blond-burly",
    "feminism-conservatism",
    "cosmetics-pharmaceuticals",
    "giggle-chuckle",
    "vocalist-guitarist",
    "petite-lanky",
    "sassy-snappy",
    "diva-superstar",
    "charming-affable",
    "volleyball-football",
    "cupcakes-pizzas",
    "lovely-brilliant",
]
APPROPRIATE = [
    "queen-king",
    "sister-brother",
    "mother-father",
    "waitress-waiter",
    "ovarian_cancer-prostate_cancer",
    "convent-monastery",
]
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


def is_as_printed(claim: Claim) -> bool:
    """Return whether the made results have what the paper prints."""
    return claim.counts_as != "none"


def write_published(results: Path, _: Mapping[str, Claim] = {}) -> None:
    """Write results of an embedding in which every claim that can be measured holds, if a null does not."""
    folder = results / "debiasing/w2vnews"
    write_results(folder, authors=True)
    made = {
        "vocabulary": pd.DataFrame({"word": [f"word{i}" for i in range(N_WORDS)] + ["Ann"], "filtered": 1}),
        "bias": _bias(read_tsv(folder / "bias.tsv")),
        "puzzles": puzzles(PUZZLES),
        "similarities": similarities(SIMILARITIES),
        "analogies": _analogies(),
        "benchmarks": _benchmarks(),
        "occupations": _occupations(),
        "occupations_authors": _occupations_authors(),
        "axes": _axes(),
        "classifier": (folds := _folds()),
        "classifier_authors": folds,
    }
    made["vocabulary"].loc[N_WORDS, "filtered"] = 0
    for name, table in made.items():
        write_tsv(folder / f"{name}.tsv", table)


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


def _bias(bias: pd.DataFrame) -> pd.DataFrame:
    is_theirs = bias["measure"] == "direct_bias_authors"
    return bias.assign(n_words=bias["n_words"].mask(is_theirs, N_OCCUPATIONS))


def _analogies() -> pd.DataFrame:
    kept = {stage: APPROPRIATE + (STEREOTYPES if stage != "hard" else []) for stage in STAGES}
    rows = []
    for stage, pairs in kept.items():
        others = [f"{stage}{i}-other{i}" for i in range(N_ANALOGIES - len(pairs) - 1)]
        for rank, pair in enumerate([*pairs, "someone-coward", *others], 1):
            rows += [(stage, once, rank, *pair.split("-"), 1 - rank / 200) for once in ONCE]
    return pd.DataFrame(rows, columns=["stage", "once", "rank", "she", "he", "score"])


def _benchmarks() -> pd.DataFrame:
    pairs = ("answerable", "scaled", "zero", "mean-cosine", "mean-product")
    questions = [
        name + how for how in ("", "-multiply") for name in ("answerable", "wrong", "mean", "mean-letters")
    ]
    rows = []
    for benchmark, (before, soft, hard) in PRINTED.items():
        values = {"before": before, "soft": soft, "hard": hard, "hard_authors": hard}
        for stage, value in values.items():
            for convention in questions if benchmark == "msr" else pairs:
                is_theirs = convention == ("mean-letters" if benchmark == "msr" else "mean-product")
                rows.append((stage, benchmark, convention, value + (0 if is_theirs else 9), 50, 60))
    columns = ["stage", "benchmark", "convention", "value", "n_used", "n_total"]
    return pd.DataFrame(rows, columns=columns)


def _occupations() -> pd.DataFrame:
    words = [*SHE, *(f"job{i}" for i in range(40)), *HE[::-1]]
    projection = np.linspace(0.3, -0.3, len(words))
    parts = [
        pd.DataFrame(
            {"word": words, "stage": stage, "projection": projection, "rank": range(1, len(words) + 1)}
        )
        for stage in STAGES
    ]
    return pd.concat(parts)


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
    specific = np.resize([True, False, False], 60)
    words = pd.DataFrame(
        {
            "word": [f"word{i}" for i in range(60)],
            "she_he": np.linspace(-0.3, 0.3, 60),
            "neutrality": np.where(specific, -0.5, 0.5),
            "gender_specific": specific,
        }
    )
    hard = words.assign(she_he=words["she_he"].where(words["gender_specific"], 0))
    return pd.concat([words.assign(stage="before"), hard.assign(stage="hard")])


def _folds() -> pd.DataFrame:
    scores = 0.627 + 0.0968 * np.resize([1, -1], 10)
    return pd.DataFrame({"fold": range(1, 11), "F": scores, "n_specific_found": 400, "n_seeds": 218})


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
