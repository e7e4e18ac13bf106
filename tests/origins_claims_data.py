"""Made results of the origins of bias, on which its claims are measured: the paper's, or a null result."""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from biaslab.audit.claims import EXEMPT_KINDS, Claim
from biaslab.core.files import write_text
from biaslab.core.io import write_parquet, write_tsv
from biaslab.core.stats import welch

ROOT = Path(__file__).parents[1]
WEATS = ("weat1", "weat2")
SETUPS = ("simplewiki", "nyt")
UNMET: dict[str, str] = {}
N_DOCUMENTS = 120
LISTED = 25
OBSERVED, TABLE_5 = "set weat seed effect_size", "tables/table5_ppmi_baseline.tsv"


def is_as_printed(claim: Claim) -> bool:
    """Return whether the made results have what the paper prints; one r² cannot be all four of Table 4."""
    counted = claim.counts_as != "none" and re.search("[a-z]", claim.null)
    return (bool(counted) and not claim.claim_id.startswith("t4-nyt")) or claim.kind in EXEMPT_KINDS


def write_published(results: Path, claims: Mapping[str, Claim], works: bool = True) -> None:
    """Write results of both paper presets, whose corpora have the published number of documents and words."""
    for setup in SETUPS:
        preset = yaml.safe_load((ROOT / f"workflow/presets/{setup}.yaml").read_text())
        perturbations = preset["origins"]["setups"][setup]["perturbations"]
        sizes = (perturbations[key] for key in ("sizes", "random_sizes", "random_sets"))
        write_setup(results, setup, *sizes, works)
    parameters = {setup: {} for setup in SETUPS}
    for claim in claims.values():
        if "table3_setups" in claim.file and claim.measure == "mean(value)" and claim.counts_as == "none":
            parameters[claim.setup][claim.select.rsplit("'", 2)[1]] = f"{claim.value:.10g}"
    words = {}
    for weat in WEATS:
        sets = yaml.safe_load((ROOT / f"workflow/resources/word_sets/{weat}.yaml").read_text())
        lists = [*sets["targets"].values(), *sets["attributes"].values()]
        words |= {(weat, s): ", ".join(w) for s, w in zip("STAB", lists, strict=True)}
    write_tables(results, parameters, words)


def _do_nothing(results: Path, claims: Mapping[str, Claim]) -> None:
    write_published(results, claims, works=False)


_OF_THE_CORPUS = (
    r"t[23]-.*|s51-.*|s52-trainings-vary-weat[12]|s55-(astronomy|hers)-rarest|s52-simplewiki-weat2-insignificant"
    r"|s54-word2vec-baseline|s54-removed-share|s55-reversing-share|own-simplewiki-weat1-significant"
)
"""What the corpus, the seeds and GloVe itself give, whatever influence functions can do."""
NULLS = {"removals do nothing": (_do_nothing, "", _OF_THE_CORPUS)}


def write_setup(results, setup, sizes, random_sizes, random_sets, works=True):
    """Write every result file of a setup that the claims of the origins paper are measured on.

    Where it `works`, removals move the bias as predicted, and influential documents hold rare words. Where
    it does not, every removal leaves the bias as it was, whatever was predicted, influence is spread evenly,
    PPMI finds as much as influence, and nothing is correlated.
    """
    rng = np.random.default_rng(1)
    before = {weat: 1 + 0.15 * rng.normal(size=10) for weat in WEATS}
    baseline = [
        (weat, seed, value, 0.2 if weat == "weat2" else 0.01)
        for weat in WEATS
        for seed, value in enumerate(before[weat])
    ]
    fits = [
        _fit(0.99 if works else 1 / 9, 10, 1.0 if works else 0.01, weat=weat, estimator=estimator)
        for weat in WEATS
        for estimator in ("influence", "newton")
    ]
    gaps = {"baseline": 0.1, "increase": 0.4 if works else 0.1, "decrease": -0.3 if works else 0.1}
    projections = [
        ("weat1", kind, symbol, sign * gap / 2)
        for kind, gap in gaps.items()
        for symbol, sign in (("S", 1), ("T", -1))
    ]
    axis = {"weat": "weat1", "n_words": 16} | (_fit(0.828, 16, -0.5) if works else _fit(1 / 15, 16, -0.01))
    names = ("baseline", "weat1-decrease-10", "weat1-increase-10")
    words = {"science": 30, "astronomy": 20, "her": 90, "hers": 20}
    years = ["1987", *["2000"] * (N_DOCUMENTS - 2), "2007"]
    tables = {
        "baseline.tsv": _table(baseline, "weat seed effect_size p_value"),
        "correlation.tsv": pd.DataFrame(fits),
        "ppmi/correlation.tsv": pd.DataFrame([_fit(0.725 if works else 1 / 1999, 2000, 0.5)]),
        "word2vec/correlation.tsv": pd.DataFrame([_fit(0.803 if works else 1 / 1999, 2000, 0.5)]),
        "ppmi/word_sets.tsv": pd.DataFrame({"word_set": range(2000)}),
        "projections.tsv": _table(projections, "weat kind symbol projection"),
        "axis_frequency.tsv": pd.DataFrame([axis]),
        "analogies.tsv": _analogies(names),  # which no removal changes
        "tables/analogies_sets.tsv": _tests_of_analogies(names),
        "vocabulary.tsv": _table(words.items(), "word count"),
        "documents.parquet": pd.DataFrame({"document": range(N_DOCUMENTS), "n_tokens": 9, "year": years}),
        **_retrained(rng, before, _sets(sizes, random_sizes, random_sets), works),
        **_table_5(sizes, works),
        **_transfer(sizes, works),
        **_influence(works),
    }
    folder = results / "origins" / setup
    for name, table in tables.items():
        (write_parquet if name.endswith("parquet") else write_tsv)(folder / name, table)
    for weat in WEATS:
        write_text(folder / f"figures/figure3_sets_{weat}.svg", "<svg/>")


def write_tables(results, parameters, words):
    """Write the tables of all setups: setup -> parameter -> value, and (weat, symbol) -> words."""
    rows = [
        (setup, "s", name, value)
        for setup, values in parameters.items()
        for name, value in {"context_window": "symmetric", **values}.items()
    ]
    folder = results / "origins/tables"
    write_tsv(folder / "table3_setups.tsv", _table(rows, "setup section parameter value"))
    table = [(weat, symbol, text) for (weat, symbol), text in words.items()]
    write_tsv(folder / "table1_weat_words.tsv", _table(table, "weat symbol words"))


def _table(rows, columns):
    return pd.DataFrame(rows, columns=columns.split())


def _sets(sizes, random_sizes, random_sets):
    """Return name, test, kind, size and predicted change of every set."""
    sets = [
        (f"{weat}-{kind}-{size}", weat, kind, size, sign * 0.5 * rank)
        for weat in WEATS
        for kind, sign in (("increase", 1), ("decrease", -1))
        for rank, size in enumerate(sizes, start=1)
    ]
    return sets + [
        (f"random-{size}-{replicate}", weat, "random", size, 0.0)
        for weat in WEATS
        for size in random_sizes
        for replicate in range(random_sets)
    ]


def _retrained(rng, before, sets, works):
    """Return the bias without every set, as it was predicted and after retraining."""
    observed, perturbations, predictions = [], [], []
    for name, weat, kind, size, shift in sets:
        mean = before[weat].mean()
        noise = 0.05 * rng.normal(size=5)
        sample = mean + (1.2 * shift if works else 0) + noise - (noise.mean() if kind == "random" else 0)
        about = (name, weat, kind, size, "influence")
        observed += [(name, weat, seed, value) for seed, value in enumerate(sample)]
        predictions += [(*about, seed, mean + shift) for seed in range(10)]
        p_value = welch(sample, before[weat])[1] if works else 0.4
        perturbations.append((*about, mean + shift, sample.mean() if works else mean, 5, mean, p_value))
    means = "predicted_mean observed_mean n_retrains baseline_mean welch_p"
    return {
        "observed.tsv": _table(observed, OBSERVED),
        "predictions.tsv": _table(predictions, "set weat kind size estimator seed predicted"),
        "perturbations.tsv": _table(perturbations, f"set weat kind size estimator {means}"),
    }


def _table_5(sizes, works):
    """Return the bias without the sets that PPMI finds, which move it less than ours, and Table 5."""
    changes = {(kind, n): sign * n / 20 for kind, sign in (("decrease", -1), ("increase", 1)) for n in sizes}
    observed = [
        (f"ppmi-weat1-{kind}-{size}", "weat1", seed, 1 + change / 100 * works + 0.01 * seed)
        for (kind, size), change in changes.items()
        for seed in range(10)
    ]
    objectives = {"decrease": "correct", "increase": "aggravate"}
    rows = [
        ("weat1", objectives[kind], change, (3 if works else 1) * change, 10, 10)
        for (kind, _), change in changes.items()
    ]
    columns = "weat objective ppmi_change method_change ppmi_retrainings method_retrainings"
    return {"ppmi/observed.tsv": _table(observed, OBSERVED), TABLE_5: _table(rows, columns)}


def _transfer(sizes, works):
    """Return what word2vec measures: a bias, which the largest decrease set takes away, in five trainings."""
    largest = f"weat1-decrease-{max(sizes)}"
    names = {"baseline": 1.33, largest: 0.09 if works else 1.33}
    observed = [(s, "weat1", r, mean + 0.01 * r) for s, mean in names.items() for r in range(5)]
    slopes = {"ppmi": 0.5 * works, "word2vec": 0.3 * works}
    responses = [("glove", 1, 1, 1), *((name, s, s - 0.1, s + 0.1) for name, s in slopes.items())]
    columns = "representation response response_ci_low response_ci_high"
    return {
        "word2vec/observed.tsv": _table(observed, OBSERVED),
        "word2vec/analogies.tsv": _analogies(names),
        "tables/analogies_word2vec.tsv": _tests_of_analogies(names),
        "transfer/responses.tsv": _table(responses, columns).assign(weat="weat1"),
    }


def _influence(works):
    """Return the influence and the words of every document, and those of the most influential ones."""
    influence = np.full(N_DOCUMENTS, 0.001) if works else np.linspace(-0.2, 0.2, N_DOCUMENTS)
    influence[0] = 0.2
    counts = {f"{what}_{name}": 1 for what in ("n", "rarest") for name in "STAB"}
    bias = pd.DataFrame({"document": range(N_DOCUMENTS), "influence_mean": influence} | counts)
    bias["rarest_S"] = bias["rarest_B"] = (np.arange(N_DOCUMENTS) % 10 == 0).astype(int)
    effects = {"effect": np.repeat(["lowers", "raises"], LISTED), "title": "An article"}
    listed = pd.DataFrame(effects | {"rank": np.tile(np.arange(1, LISTED + 1), 2)} | counts)
    sign = np.repeat([-1, 1], LISTED) * works
    listed = listed.assign(influence_mean=0.05 * sign, percent_of_baseline=0.3 * sign)
    if works:
        listed["n_S"] = listed["n_T"] = listed["rank"] % 2
    else:
        listed["rarest_S"] = listed["rarest_B"] = (listed["rank"] <= 2).astype(int) * (listed["rank"] % 2)
    tables = {f"differential_bias/{weat}.parquet": bias for weat in WEATS}
    return tables | {"tables/tableE_influential_documents_weat1.tsv": listed}


def _fit(r2, n, slope, **about):
    """Return the fit of n points, with intervals that do not reach zero where the slope is not near it."""
    wide = abs(slope) < 0.1
    fit = {"n_sets": n, "r2": r2, "r2_ci_low": 0 if wide else r2 - 0.004, "r2_ci_high": r2 + 0.004}
    return about | fit | {"slope": slope, "slope_ci_low": slope - 0.1, "slope_ci_high": slope + 0.1}


def _analogies(names):
    rows = [(name, seed, 0.35 + 0.001 * seed) for name in names for seed in range(5)]
    return _table(rows, "set seed accuracy")


def _tests_of_analogies(names):
    return _table([(name, None if name == "baseline" else 0.4) for name in names], "set welch_p")
