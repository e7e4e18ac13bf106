"""Tiny results folders for the tests of the audit."""

import numpy as np
import pandas as pd

from biaslab.audit.claims import Claim
from biaslab.core.files import write_text
from biaslab.core.io import write_parquet, write_tsv

WEATS = ("weat1", "weat2")
N_DOCUMENTS = 40


def claim(**fields):
    """A claim on the mean of the column x of origins/{setup}/a.tsv, with some fields changed."""
    defaults = {
        "claim_id": "t1-mean",
        "paper": "Doe 2020",
        "item": "Table 1",
        "statement": "Mean",
        "published": "2.0",
        "origin": "text",
        "counts_as": "cell",
        "part_of": "",
        "kind": "value",
        "value": 2.0,
        "tolerance": 0.5,
        "rationale": "judgement: made up",
        "null": "-9",
        "direction": False,
        "setup": "small",
        "other_data": False,
        "gates": "",
        "min_rows": 1,
        "file": "origins/{setup}/a.tsv",
        "select": "",
        "measure": "mean(x)",
        "interval": "",
        "shown": "",
        "caveat": "",
        "reason": "",
        "where": "claims.tsv, line 2",
        "area": "origins",
    }
    return Claim(**defaults | fields)


def write_setup(results, setup, sizes, random_sizes, random_sets):
    """Write every result file of a setup that the claims of the origins paper are measured on."""
    rng = np.random.default_rng(1)
    folder = results / "origins" / setup
    baseline = [
        {"weat": weat, "seed": seed, "effect_size": 1 + 0.1 * rng.normal(), "p_value": 0.2}
        for weat in WEATS
        for seed in range(10)
    ]
    sets = [
        (f"{weat}-{kind}-{size}", weat, kind, size, sign * 0.5 * rank)
        for weat in WEATS
        for kind, sign in (("increase", 1), ("decrease", -1))
        for rank, size in enumerate(sizes, start=1)
    ]
    sets += [
        (f"random-{size}-{replicate}", weat, "random", size, 0.0)
        for weat in WEATS
        for size in random_sizes
        for replicate in range(random_sets)
    ]
    observed, perturbations, predictions = [], [], []
    for name, weat, kind, size, shift in sets:
        sample = 1 + 1.2 * shift + 0.05 * rng.normal(size=5)
        about = {"set": name, "weat": weat, "kind": kind, "size": size, "estimator": "influence"}
        observed += [about | {"seed": seed, "effect_size": value} for seed, value in enumerate(sample)]
        predictions += [about | {"seed": seed, "predicted": 1 + shift} for seed in range(10)]
        numbers = {
            "predicted_mean": 1 + shift,
            "observed_mean": sample.mean(),
            "n_retrains": 5,
            "baseline_mean": 1.0,
            "welch_p": 0.4 if kind == "random" else 0.001,
        }
        perturbations.append(about | numbers)
    write_tsv(folder / "baseline.tsv", pd.DataFrame(baseline))
    write_tsv(folder / "observed.tsv", pd.DataFrame(observed)[["set", "weat", "seed", "effect_size"]])
    write_tsv(folder / "predictions.tsv", pd.DataFrame(predictions))
    write_tsv(folder / "perturbations.tsv", pd.DataFrame(perturbations))
    write_tsv(
        folder / "correlation.tsv", pd.DataFrame([_fit(w, e) for w in WEATS for e in ("influence", "newton")])
    )
    write_tsv(folder / "ppmi" / "correlation.tsv", pd.DataFrame([_fit("", "ppmi")]))
    write_tsv(folder / "ppmi" / "word_sets.tsv", pd.DataFrame({"word_set": range(2000)}))
    _write_table_5(folder, sizes)
    _write_transfer(folder, sizes)
    gaps = {"baseline": 0.1, "increase": 0.4, "decrease": -0.3}
    projections = [
        {"weat": "weat1", "kind": kind, "symbol": symbol, "projection": sign * gap / 2}
        for kind, gap in gaps.items()
        for symbol, sign in (("S", 1), ("T", -1))
    ]
    write_tsv(folder / "projections.tsv", pd.DataFrame(projections))
    fit = {"r2": 0.7, "r2_ci_low": 0.4, "r2_ci_high": 0.9}
    fit |= {"slope": -0.5, "slope_ci_low": -0.8, "slope_ci_high": -0.2}
    write_tsv(folder / "axis_frequency.tsv", pd.DataFrame([{"weat": "weat1"} | fit]))
    write_tsv(
        folder / "analogies.tsv",
        pd.DataFrame([_analogy(s, r) for s in ("baseline", "weat1-decrease-10") for r in range(5)]),
    )
    tests = [{"set": "baseline", "welch_p": None}, {"set": "weat1-decrease-10", "welch_p": 0.4}]
    write_tsv(folder / "tables" / "analogies_sets.tsv", pd.DataFrame(tests))
    words = {"science": 30, "astronomy": 20, "her": 90, "hers": 20}
    write_tsv(folder / "vocabulary.tsv", pd.DataFrame(words.items(), columns=["word", "count"]))
    years = ["1987", *["2000"] * (N_DOCUMENTS - 2), "2007"]
    documents = pd.DataFrame({"document": range(N_DOCUMENTS), "n_tokens": 9, "year": years})
    write_parquet(folder / "documents.parquet", documents)
    for weat in WEATS:
        bias = pd.DataFrame({"document": range(N_DOCUMENTS), "influence_mean": 0.001})
        bias.loc[0, "influence_mean"] = 0.2
        write_parquet(folder / "differential_bias" / f"{weat}.parquet", bias)
        write_text(folder / "figures" / f"figure3_sets_{weat}.svg", "<svg/>")
    ends = pd.DataFrame(
        {"effect": ["decreasing", "increasing"] * 25, "percent_of_baseline": [-0.3, 0.3] * 25}
    )
    write_tsv(folder / "tables" / "tableE_influential_documents_weat1.tsv", ends)


def write_table3(results, parameters):
    """Write the table of setups from setup -> parameter -> value; a text among the values, as there is."""
    rows = [
        {"setup": setup, "section": "s", "parameter": name, "value": value}
        for setup, values in parameters.items()
        for name, value in {"context_window": "symmetric", **values}.items()
    ]
    write_tsv(results / "origins" / "tables" / "table3_setups.tsv", pd.DataFrame(rows))


def _write_table_5(folder, sizes):
    """Write the bias without the sets that PPMI finds, which move it less than ours, and Table 5."""
    changes = {(kind, n): sign * n / 20 for kind, sign in (("decrease", -1), ("increase", 1)) for n in sizes}
    observed = [
        (f"ppmi-weat1-{kind}-{size}", "weat1", seed, 1 + change / 100 + 0.01 * seed)
        for (kind, size), change in changes.items()
        for seed in range(10)
    ]
    columns = ["set", "weat", "seed", "effect_size"]
    write_tsv(folder / "ppmi" / "observed.tsv", pd.DataFrame(observed, columns=columns))
    objectives = {"decrease": "correct", "increase": "aggravate"}
    rows = [
        {"weat": "weat1", "objective": objectives[kind], "ppmi_change": change, "method_change": 2 * change}
        for (kind, _), change in changes.items()
    ]
    write_tsv(folder / "tables" / "table5_ppmi_baseline.tsv", pd.DataFrame(rows).assign(ppmi_retrainings=10))


def _write_transfer(folder, sizes):
    """Write what word2vec measures: a bias, which the largest decrease set takes away, in five trainings."""
    names = {"baseline": 1.3, f"weat1-decrease-{max(sizes)}": 0.1}
    observed = [(s, "weat1", r, mean + 0.01 * r) for s, mean in names.items() for r in range(5)]
    columns = ["set", "weat", "seed", "effect_size"]
    write_tsv(folder / "word2vec" / "observed.tsv", pd.DataFrame(observed, columns=columns))
    analogies = pd.DataFrame([_analogy(name, seed) for name in names for seed in range(5)])
    write_tsv(folder / "word2vec" / "analogies.tsv", analogies)
    write_tsv(folder / "word2vec" / "correlation.tsv", pd.DataFrame([_fit("", "word2vec")]))
    responses = [("weat1", name, value) for name, value in (("glove", 1), ("ppmi", 0.5), ("word2vec", 0.3))]
    table = pd.DataFrame(responses, columns=["weat", "representation", "response"])
    write_tsv(folder / "transfer" / "responses.tsv", table)


def _fit(weat, estimator):
    return {"weat": weat, "estimator": estimator, "r2": 0.99, "r2_ci_low": 0.97, "r2_ci_high": 0.995}


def _analogy(name, seed):
    return {"set": name, "seed": seed, "accuracy": 0.35 + 0.001 * seed}
