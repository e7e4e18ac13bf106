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
    folder = results / "origins" / setup
    before = {weat: 1 + 0.15 * rng.normal(size=10) for weat in WEATS}
    baseline = [
        {"weat": weat, "seed": seed, "effect_size": value, "p_value": 0.2 if weat == "weat2" else 0.01}
        for weat in WEATS
        for seed, value in enumerate(before[weat])
    ]
    write_tsv(folder / "baseline.tsv", pd.DataFrame(baseline))
    _write_sets(folder, rng, before, _sets(sizes, random_sizes, random_sets), works)
    fits = [
        _fit(0.99 if works else 1 / 9, 10, 1.0 if works else 0.01, weat=weat, estimator=estimator)
        for weat in WEATS
        for estimator in ("influence", "newton")
    ]
    write_tsv(folder / "correlation.tsv", pd.DataFrame(fits))
    for name, r2 in (("ppmi", 0.725), ("word2vec", 0.803)):
        fit = _fit(r2 if works else 1 / 1999, 2000, 0.5)
        write_tsv(folder / name / "correlation.tsv", pd.DataFrame([fit]))
    write_tsv(folder / "ppmi" / "word_sets.tsv", pd.DataFrame({"word_set": range(2000)}))
    _write_table_5(folder, sizes, works)
    _write_transfer(folder, sizes, works)
    gaps = {"baseline": 0.1, "increase": 0.4 if works else 0.1, "decrease": -0.3 if works else 0.1}
    projections = [
        {"weat": "weat1", "kind": kind, "symbol": symbol, "projection": sign * gap / 2}
        for kind, gap in gaps.items()
        for symbol, sign in (("S", 1), ("T", -1))
    ]
    write_tsv(folder / "projections.tsv", pd.DataFrame(projections))
    fit = {"weat": "weat1", "n_words": 16} | (_fit(0.828, 16, -0.5) if works else _fit(1 / 15, 16, -0.01))
    write_tsv(folder / "axis_frequency.tsv", pd.DataFrame([fit]))
    _write_analogies(folder)
    words = {"science": 30, "astronomy": 20, "her": 90, "hers": 20}
    write_tsv(folder / "vocabulary.tsv", pd.DataFrame(words.items(), columns=["word", "count"]))
    years = ["1987", *["2000"] * (N_DOCUMENTS - 2), "2007"]
    documents = pd.DataFrame({"document": range(N_DOCUMENTS), "n_tokens": 9, "year": years})
    write_parquet(folder / "documents.parquet", documents)
    _write_documents(folder, works)


def write_tables(results, parameters, words):
    """Write the tables of all setups: setup -> parameter -> value, and (weat, symbol) -> words."""
    rows = [
        {"setup": setup, "section": "s", "parameter": name, "value": value}
        for setup, values in parameters.items()
        for name, value in {"context_window": "symmetric", **values}.items()
    ]
    folder = results / "origins" / "tables"
    write_tsv(folder / "table3_setups.tsv", pd.DataFrame(rows))
    table = [{"weat": weat, "symbol": symbol, "words": text} for (weat, symbol), text in words.items()]
    write_tsv(folder / "table1_weat_words.tsv", pd.DataFrame(table))


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


def _write_sets(folder, rng, before, sets, works):
    observed, perturbations, predictions = [], [], []
    for name, weat, kind, size, shift in sets:
        mean = before[weat].mean()
        noise = 0.05 * rng.normal(size=5)
        sample = mean + (1.2 * shift if works else 0) + noise - (noise.mean() if kind == "random" else 0)
        about = {"set": name, "weat": weat, "kind": kind, "size": size, "estimator": "influence"}
        observed += [about | {"seed": seed, "effect_size": value} for seed, value in enumerate(sample)]
        predictions += [about | {"seed": seed, "predicted": mean + shift} for seed in range(10)]
        numbers = {
            "predicted_mean": mean + shift,
            "observed_mean": sample.mean() if works else mean,
            "n_retrains": 5,
            "baseline_mean": mean,
            "welch_p": welch(sample, before[weat])[1] if works else 0.4,
        }
        perturbations.append(about | numbers)
    write_tsv(folder / "observed.tsv", pd.DataFrame(observed)[["set", "weat", "seed", "effect_size"]])
    write_tsv(folder / "predictions.tsv", pd.DataFrame(predictions))
    write_tsv(folder / "perturbations.tsv", pd.DataFrame(perturbations))


def _write_table_5(folder, sizes, works):
    """Write the bias without the sets that PPMI finds, which move it less than ours, and Table 5."""
    changes = {(kind, n): sign * n / 20 for kind, sign in (("decrease", -1), ("increase", 1)) for n in sizes}
    observed = [
        (f"ppmi-weat1-{kind}-{size}", "weat1", seed, 1 + change / 100 * works + 0.01 * seed)
        for (kind, size), change in changes.items()
        for seed in range(10)
    ]
    columns = ["set", "weat", "seed", "effect_size"]
    write_tsv(folder / "ppmi" / "observed.tsv", pd.DataFrame(observed, columns=columns))
    objectives = {"decrease": "correct", "increase": "aggravate"}
    rows = [
        ("weat1", objectives[kind], change, (3 if works else 1) * change, 10, 10)
        for (kind, _), change in changes.items()
    ]
    columns = ["weat", "objective", "ppmi_change", "method_change", "ppmi_retrainings", "method_retrainings"]
    table = pd.DataFrame(rows, columns=columns)
    write_tsv(folder / "tables" / "table5_ppmi_baseline.tsv", table)


def _write_transfer(folder, sizes, works):
    """Write what word2vec measures: a bias, which the largest decrease set takes away, in five trainings."""
    largest = f"weat1-decrease-{max(sizes)}"
    names = {"baseline": 1.33, largest: 0.09 if works else 1.33}
    observed = [(s, "weat1", r, mean + 0.01 * r) for s, mean in names.items() for r in range(5)]
    columns = ["set", "weat", "seed", "effect_size"]
    write_tsv(folder / "word2vec" / "observed.tsv", pd.DataFrame(observed, columns=columns))
    analogies = pd.DataFrame([_analogy(name, seed) for name in names for seed in range(5)])
    write_tsv(folder / "word2vec" / "analogies.tsv", analogies)
    tests = [{"set": "baseline", "welch_p": None}, {"set": largest, "welch_p": 0.4}]
    write_tsv(folder / "tables" / "analogies_word2vec.tsv", pd.DataFrame(tests))
    slopes = {"ppmi": 0.5 * works, "word2vec": 0.3 * works}
    responses = [("glove", 1, 1, 1), *((name, s, s - 0.1, s + 0.1) for name, s in slopes.items())]
    columns = ["representation", "response", "response_ci_low", "response_ci_high"]
    table = pd.DataFrame(responses, columns=columns).assign(weat="weat1")
    write_tsv(folder / "transfer" / "responses.tsv", table)


def _write_analogies(folder):
    """Write analogies that no removal changes."""
    names = ("baseline", "weat1-decrease-10", "weat1-increase-10")
    rows = [_analogy(name, seed) for name in names for seed in range(5)]
    write_tsv(folder / "analogies.tsv", pd.DataFrame(rows))
    tests = [{"set": name, "welch_p": None if name == "baseline" else 0.4} for name in names]
    write_tsv(folder / "tables" / "analogies_sets.tsv", pd.DataFrame(tests))


def _write_documents(folder, works):
    """Write the influence and the words of every document, and those of the most influential ones."""
    influence = np.full(N_DOCUMENTS, 0.001) if works else np.linspace(-0.2, 0.2, N_DOCUMENTS)
    influence[0] = 0.2
    rare = np.arange(N_DOCUMENTS) % 10 == 0
    counts = {f"{what}_{name}": 1 for what in ("n", "rarest") for name in "STAB"}
    for weat in WEATS:
        bias = pd.DataFrame({"document": range(N_DOCUMENTS), "influence_mean": influence} | counts)
        bias["rarest_S"] = bias["rarest_B"] = rare.astype(int)
        write_parquet(folder / "differential_bias" / f"{weat}.parquet", bias)
        write_text(folder / "figures" / f"figure3_sets_{weat}.svg", "<svg/>")
    listed = pd.DataFrame(
        {
            "effect": np.repeat(["lowers", "raises"], LISTED),
            "rank": np.tile(np.arange(1, LISTED + 1), 2),
            "title": "An article",
            "influence_mean": np.repeat([-0.05, 0.05], LISTED) if works else 0.0,
            "percent_of_baseline": np.repeat([-0.3, 0.3], LISTED) if works else 0.0,
        }
        | counts
    )
    if works:
        listed["n_S"] = listed["n_T"] = listed["rank"] % 2
    else:
        listed["rarest_S"] = listed["rarest_B"] = (listed["rank"] <= 2).astype(int) * (listed["rank"] % 2)
    write_tsv(folder / "tables" / "tableE_influential_documents_weat1.tsv", listed)


def _fit(r2, n, slope, **about):
    """Return the fit of n points, with intervals that do not reach zero where the slope is not near it."""
    wide = abs(slope) < 0.1
    fit = {"n_sets": n, "r2": r2, "r2_ci_low": 0 if wide else r2 - 0.004, "r2_ci_high": r2 + 0.004}
    return about | fit | {"slope": slope, "slope_ci_low": slope - 0.1, "slope_ci_high": slope + 0.1}


def _analogy(name, seed):
    return {"set": name, "seed": seed, "accuracy": 0.35 + 0.001 * seed}
