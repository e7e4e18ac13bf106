"""Result folders of the origins area with the shape of real ones and made-up numbers."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from biaslab.bias.word_sets import WordSets
from biaslab.core.io import read_parquet, read_tsv, write_parquet, write_tsv
from biaslab.core.stats import linear_fit
from biaslab.origins import baseline as measured
from biaslab.origins.attribution.estimates import SET, SUM, read_with_seeds, seed_values, write_by_seed
from biaslab.origins.attribution.registry import ATTRIBUTIONS, BY_SEED, ESTIMATORS
from biaslab.origins.checks.bias_gradient.ends import N_ENDS, ends
from biaslab.origins.checks.brittleness.analysis import Ranking, predict_flips
from biaslab.origins.checks.brittleness.flips import brackets, outcomes
from biaslab.origins.checks.cross_fitting.analysis import cross_fit_sets, with_outcomes
from biaslab.origins.checks.lds.analysis import score_subsets
from biaslab.origins.checks.lds.subsets import draw_subsets
from biaslab.origins.checks.planted.planting import KINDS
from biaslab.origins.checks.planted.recall import TEST_WORDS, pair_table, recall_table
from biaslab.origins.checks.ppmi_sets.analysis import select_ppmi_sets
from biaslab.origins.checks.retraining import analysis as retraining
from biaslab.origins.grid.expansion import SETS
from biaslab.origins.report.results import Setup
from biaslab.origins.representations.axis import analysis as axis
from biaslab.origins.representations.ppmi_comparison.analysis import correlate_word_sets
from biaslab.origins.representations.transfer.analysis import REPRESENTATIONS, compare_responses, set_changes
from biaslab.origins.sets.selection import select_targeted
from biaslab.run.area import Unit

WORD_SETS = {
    "weat1": WordSets(
        "weat1",
        "Science and arts",
        "made up",
        {"science": ["nasa", "physics", "chemistry"], "arts": ["poetry", "dance", "novel"]},
        {"male": ["he", "him", "man"], "female": ["she", "hers", "woman"]},
    ),
    "weat2": WordSets(
        "weat2",
        "Instruments and weapons",
        "made up",
        {"instruments": ["lute", "harp", "piano"], "weapons": ["gun", "mace", "rifle"]},
        {"pleasant": ["love", "peace", "honor"], "unpleasant": ["filth", "jail", "grief"]},
    ),
}

OPTIONS = {
    "corpus": {"unit": "part", "part_length": 200, "min_length": 50, "max_length": 50000},
    "vocabulary": {"min_count": 15},
    "glove": {"window": 8, "dimension": 24, "epochs": 6, "x_max": 100, "alpha": 0.75},
}
BASELINES = {"weat1": (0.957, 0.15), "weat2": (0.108, 0.21)}
# Predictions fall short of what happens when the bias inverts, more or less so by estimator.
SHRINK = {"influence": 0.75, "newton": 0.96, "gradient": 0.68}


def write_results(
    folder: Path,
    *,
    n_documents: int = 300,
    n_seeds: int = 4,
    sizes: tuple[int, ...] = (10, 30, 100),
    n_random: int = 2,
    epochs: int = 6,
    weats: tuple[str, ...] = ("weat1", "weat2"),
    metadata: bool = True,
    seed: int = 1,
) -> None:
    """Write every file of a setup that tables and figures read."""
    rng = np.random.default_rng(seed)
    documents = _documents(n_documents, metadata)
    write_parquet(folder / "documents.parquet", documents)
    write_tsv(folder / "vocabulary.tsv", pd.DataFrame({"word": ["the", "of", "NA"], "count": [9, 5, 5]}))
    write_tsv(folder / "training.tsv", _training(rng, n_seeds, epochs))
    analogies = [_analogies(rng, "baseline", n_seeds)]
    baselines, sets, fits = [], [], []
    for weat in weats:
        mean, sd = BASELINES[weat]
        effect = rng.normal(mean, sd, n_seeds)
        lost = "hers,nasa" if weat == "weat1" else ""
        baselines += [
            (weat, s, b, 0.01 + 0.001 * s, len(lost.split(",")) if lost else 0, lost)
            for s, b in enumerate(effect)
        ]
        write_by_seed(_bias(rng, documents, n_seeds, mean), *_bias_files(folder, weat))
        rows = _perturbations(rng, weat, effect, sizes, n_random)
        sets.append(rows)
        for estimator in ESTIMATORS:
            part = rows[(rows["estimator"] == estimator) & (rows["kind"] != "random")]
            fit = linear_fit(part["predicted_mean"], part["observed_mean"])
            r2, slope = (fit.r2, fit.r2 - 0.02, 1.0), (fit.slope, fit.slope - 0.1, fit.slope + 0.1)
            fits.append((weat, estimator, len(part), *r2, *slope, fit.intercept))
    write_tsv(folder / "baseline.tsv", pd.DataFrame(baselines, columns=measured.COLUMNS["baseline"]))
    _write_ppmi(folder, rng, weats)
    _write_ppmi_sets(folder, np.random.default_rng(5), weats[0], sizes[0])
    _write_gradients(folder, weats)
    _write_attribution_scores(folder, pd.concat(sets), weats)
    _write_planted(folder, weats)
    _write_brittleness(folder, weats)
    write_tsv(folder / "perturbations.tsv", pd.concat(sets, ignore_index=True))
    _write_transfer(folder, pd.concat(sets, ignore_index=True))
    _write_sets(folder, rng, pd.concat(sets))
    analogies += [_analogies(rng, name, 3) for name in pd.concat(sets)["set"].unique()]
    write_tsv(folder / "analogies.tsv", pd.concat(analogies, ignore_index=True))
    write_tsv(folder / "correlation.tsv", pd.DataFrame(fits, columns=retraining.COLUMNS["correlation"]))
    projections = pd.concat([_projections(rng, weat, sizes[-1], n_seeds) for weat in weats])
    write_tsv(folder / "projections.tsv", projections)
    write_tsv(folder / "axis_frequency.tsv", axis.fit_frequency(projections, seed))


def make_setups(folder: Path, setups: dict[str, dict]) -> list[Setup]:
    """Write the results of several setups, each with its own arguments for `write_results`."""
    made = []
    for number, (name, arguments) in enumerate(setups.items()):
        write_results(folder / name, seed=number, **arguments)
        weats = arguments.get("weats", tuple(WORD_SETS))
        files = {weat: str(write_word_sets(folder, WORD_SETS[weat])) for weat in weats}
        made.append(Setup(Unit(name, weats, OPTIONS, files), folder / name))
    return made


def write_word_sets(folder: Path, word_sets: WordSets) -> Path:
    """Write the words of a test; return their file."""
    path = folder / f"{word_sets.name}.yaml"
    path.write_text(yaml.safe_dump(vars(word_sets), sort_keys=False))
    return path


def copy_setup(setup: Setup, folder: Path) -> Setup:
    """Copy the results of a setup, to change them."""
    return replace(setup, folder=Path(shutil.copytree(setup.folder, folder / setup.name)))


def save_svg(figure, stem) -> None:
    """Save a figure in one format alone: instead of `biaslab.core.plotting.save`, where time counts."""
    figure.savefig(f"{stem}.svg")


def _documents(n: int, metadata: bool) -> pd.DataFrame:
    table = pd.DataFrame(
        {
            "document": np.arange(n),
            "id": [f"{i // 3}#{i % 3}" for i in range(n)],
            "title": [f"Article {i // 3} | 5% & $_more" for i in range(n)],
            "n_tokens": 200,
            "excerpt": [
                f"The beginning of part {i % 3} of article {i // 3}, which goes on " * 3 for i in range(n)
            ],
        }
    )
    if metadata:
        table["year"] = [str(1987 + i * 21 // n) for i in range(n)]
        table["section"] = [("Science", "Arts", "Sports; $ and %", "")[i % 4] for i in range(n)]
    return table


def _training(rng: np.random.Generator, n_seeds: int, epochs: int) -> pd.DataFrame:
    rows = [
        ("baseline", s, e, 0.06 / e**0.45 * rng.normal(1, 0.004))
        for s in range(n_seeds)
        for e in range(1, epochs + 1)
    ]
    return pd.DataFrame(rows, columns=["set", "seed", "epoch", "loss"])


def _analogies(rng: np.random.Generator, name: str, n_seeds: int) -> pd.DataFrame:
    correct = rng.integers(300, 400, n_seeds)
    return pd.DataFrame(
        {"set": name, "seed": range(n_seeds), "correct": correct, "total": 1000}
        | {"accuracy": correct / 1000, "coverage": 0.051}
    )


def _bias_files(folder: Path, weat: str) -> tuple[Path, Path]:
    """Return the tables of what every document does, and of what each baseline says of it."""
    return tuple(folder / "differential_bias" / part / f"{weat}.parquet" for part in ("", BY_SEED))


def _bias(rng: np.random.Generator, documents: pd.DataFrame, n_seeds: int, mean: float) -> pd.DataFrame:
    n = len(documents)
    true = rng.standard_t(2.2, n) * 0.001 * (rng.random(n) < 0.7) * mean
    table = documents[["document", "id", "title"]].copy()
    for estimator in ESTIMATORS:
        seeds = true[:, None] * rng.normal(1, 0.15, (n, n_seeds))
        table[f"{estimator}_mean"], table[f"{estimator}_sd"] = seeds.mean(1), seeds.std(1, ddof=1)
        for s in range(n_seeds):
            table[f"{estimator}_seed{s}"] = seeds[:, s]
    for number, name in enumerate(f"{what}_{symbol}" for what in ("n", "rarest") for symbol in "STAB"):
        table[name] = (table["document"] + number) % 4
    return table


def _write_ppmi(folder: Path, rng: np.random.Generator, weats: tuple[str, ...]) -> None:
    for weat in weats:
        table = read_with_seeds(*_bias_files(folder, weat))
        ppmi = table["influence_mean"] * 0.4 + rng.normal(0, 0.0005, len(table))
        write_parquet(
            folder / "ppmi" / f"{weat}.parquet", table[["document", "id", "title"]].assign(ppmi=ppmi)
        )
    sizes = {"weat": weats, "effect_size": [BASELINES[weat][0] * 0.4 for weat in weats]}
    write_tsv(folder / "ppmi" / "baseline.tsv", pd.DataFrame(sizes))
    ppmi = rng.normal(0, 0.6, 200)
    glove = 0.7 * ppmi + rng.normal(0, 0.3, 200)
    table = pd.DataFrame({"word_set": range(200), "ppmi": ppmi, "glove_mean": glove, "glove_sd": 0.2})
    write_tsv(folder / "ppmi" / "word_sets.tsv", table)
    write_tsv(folder / "ppmi" / "correlation.tsv", correlate_word_sets(table, "ppmi", 1))


def _write_ppmi_sets(folder: Path, rng: np.random.Generator, weat: str, size: int) -> None:
    """Write the sets of one size that PPMI and influence find, and the bias without them."""
    bias = read_with_seeds(*_bias_files(folder, weat))["influence_mean"].to_numpy()
    noisy = bias + rng.normal(0, bias.std(), len(bias))
    write_parquet(folder / SETS, select_targeted(weat, weat, bias, [size]))
    write_parquet(folder / "ppmi" / SETS, select_ppmi_sets(noisy, weat, [size]))
    for path, prefix, change in (("observed.tsv", "", 0.5), ("ppmi/observed.tsv", "ppmi-", 0.2)):
        rows = [
            (f"{prefix}{weat}-{kind}-{size}", weat, seed, BASELINES[weat][0] + sign * change + noise)
            for kind, sign in (("increase", 1), ("decrease", -1))
            for seed, noise in enumerate(rng.normal(0, 0.1, 10))
        ]
        write_tsv(folder / path, pd.DataFrame(rows, columns=measured.COLUMNS["observed"]))


def _write_attribution_scores(folder: Path, perturbations: pd.DataFrame, weats: tuple[str, ...]) -> None:
    """Write cross-fitted sets, and twelve subsets on which the bias moves as influence says, with noise."""
    rng = np.random.default_rng(11)
    baseline, fitted, scores, removals = read_tsv(folder / "baseline.tsv"), [], [], []
    for weat in weats:
        bias = read_with_seeds(*_bias_files(folder, weat))
        values = seed_values(bias, "influence")
        rows = perturbations[(perturbations["weat"] == weat) & (perturbations["estimator"] == "influence")]
        observed = pd.concat([rows.assign(effect_size=rows["observed_mean"] + e) for e in (-0.1, 0.1)])
        before = baseline[baseline["weat"] == weat]
        predict = {
            form: lambda sets, v=factor * values: -np.stack([v[:, s].sum(axis=1) for s in sets], axis=1)
            for form, factor in ((SUM, 1.0), (SET, 0.8))
        }
        fitted.append(with_outcomes(cross_fit_sets(values, predict, rows, 1), before, observed))
        subsets = draw_subsets(len(bias), [0.5, 0.1], 12, 1)
        scored = _score_subsets(rng, subsets, bias, read_parquet(folder / "ppmi" / f"{weat}.parquet"), weat)
        for parts, table in zip((removals, scores), scored, strict=True):
            parts.append(table)
    write_tsv(folder / "cross_fitting.tsv", pd.concat(fitted, ignore_index=True))
    write_tsv(folder / "lds" / "removals.tsv", pd.concat(removals, ignore_index=True))
    write_tsv(folder / "lds" / "scores.tsv", pd.concat(scores, ignore_index=True))


def _score_subsets(rng, subsets, bias, ppmi, weat):
    """Score subsets whose retrained bias is what influence adds up to, and noise."""
    sums = (
        subsets.assign(bias=bias["influence_mean"].to_numpy()[subsets["document"]])
        .groupby("set")["bias"]
        .sum()
    )
    seeds = range(sum(c.startswith("influence_seed") for c in bias.columns))
    retrained = [(name, s, -b + rng.normal(0, 0.01), "00") for name, b in sums.items() for s in range(2)]
    of_sets = [(name, e, s, -b * (1 + s)) for name, b in sums.items() for e in ESTIMATORS for s in seeds]
    by_ppmi = [("baseline", 0.0), *((name, -0.4 * b) for name, b in sums.items())]
    return score_subsets(
        subsets,
        pd.DataFrame(retrained, columns=["set", "seed", "effect_size", "documents_sha256"]),
        bias,
        ppmi,
        pd.DataFrame(of_sets, columns=["set", "estimator", "seed", "predicted"]),
        pd.DataFrame(by_ppmi, columns=["set", "effect_size"]),
        weat,
        1,
    )


def _write_planted(folder: Path, weats: tuple[str, ...]) -> None:
    """Write what attributions find of ten planted documents of each kind, with more and more noise."""
    rng, recalls, pairs = np.random.default_rng(13), [], []
    kinds = np.repeat(["", *KINDS], [200, 10, 10, 10])
    aim = np.select([kinds == "raise", kinds == "lower"], [1, -1], 0)
    source = np.r_[np.full(200, -1), np.tile(np.arange(10), 3)]
    for weat in weats:
        for dose in (0, 0.03, 0.3):
            documents = pd.DataFrame(
                {"document": range(230), "kind": kinds, "weat": weat, "source": source, "dose": dose}
            )
            values = {
                name: 10 * dose * aim + rng.normal(0, 1 + k, 230)
                for k, name in enumerate((*(a.name for a in ATTRIBUTIONS), TEST_WORDS))
            }
            recalls.append(recall_table(documents, weat, values, 1))
            pairs.append(pair_table(documents, weat, values))
    write_tsv(folder / "planted" / "recall.tsv", pd.concat(recalls, ignore_index=True))
    write_tsv(folder / "planted" / "pairs.tsv", pd.concat(pairs, ignore_index=True))


def _write_brittleness(folder: Path, weats: tuple[str, ...]) -> None:
    """Write rankings that see more (the estimators) or less (PPMI) of what documents add to a bias."""
    rng = np.random.default_rng(12)
    tables = {"numbers": [], "paths": [], "outcomes": [], "brackets": []}
    for weat in weats:
        baseline = read_tsv(folder / "baseline.tsv")
        before = baseline.loc[baseline["weat"] == weat, "effect_size"]
        bias, n = before.mean(), len(read_parquet(folder / "documents.parquet"))
        truth = rng.standard_t(2.5, n) * abs(bias) * 3 / n**0.5
        made = [_adding_up(name, bias, truth + rng.normal(0, 0.02, n)) for name in ESTIMATORS]
        made.append(_adding_up("ppmi", 0.4 * bias, truth * rng.normal(0, 0.1, n)))
        numbers, paths, sets = predict_flips(made, bias, [0.5, 1, 2], weat, 1)
        retrained = [
            (name, effect, "00")
            for name, documents in sets.groupby("set", sort=False)["document"]
            for effect in bias - truth[documents].sum() + rng.normal(0, 0.05, 3)
        ]
        columns = ["set", "effect_size", "documents_sha256"]
        found = outcomes(sets, paths, pd.DataFrame(retrained, columns=columns), bias)
        parts = (numbers, paths, found, brackets(numbers, found, before))
        for name, part in zip(tables, parts, strict=True):
            tables[name].append(part)
    for name, parts in tables.items():
        write_tsv(folder / "brittleness" / f"{name}.tsv", pd.concat(parts, ignore_index=True))


def _adding_up(name: str, bias: float, values: np.ndarray) -> Ranking:
    return Ranking(name, bias, values, lambda sets: np.array([bias - values[s].sum() for s in sets]))


def _write_transfer(folder: Path, perturbations: pd.DataFrame) -> None:
    """Write results in which PPMI moves by half as much as GloVe, and word2vec by a quarter."""
    rng = np.random.default_rng(8)
    rows = perturbations[perturbations["estimator"] == ESTIMATORS[0]]
    means = rows[["set", "weat", "observed_mean"]].rename(columns={"observed_mean": "effect_size"})
    whole = rows.drop_duplicates("weat")[["weat", "baseline_mean"]].assign(set="baseline")
    means = pd.concat([whole.rename(columns={"baseline_mean": "effect_size"}), means], ignore_index=True)
    samples = {}
    for name, factor, n, sd in zip(REPRESENTATIONS, (1, 0.5, 0.25), (4, 1, 3), (0.1, 0, 0.1), strict=True):
        noise = sd * np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
        copies = [means.assign(effect_size=0.3 + factor * means["effect_size"] + e) for e in noise]
        samples[name] = pd.concat(copies, ignore_index=True)
    own = rows["weat"].where(rows["kind"] != "random", "")
    table = set_changes(samples, rows[["set", "kind", "size", "replicate"]].assign(weat=own))
    write_tsv(folder / "transfer" / "changes.tsv", table)
    write_tsv(folder / "transfer" / "responses.tsv", compare_responses(table, 1))
    word2vec = rng.normal(0, 0.6, 200)
    columns = {"word_set": range(200), "word2vec_mean": word2vec, "word2vec_sd": 0.2, "glove_sd": 0.2}
    word_sets = pd.DataFrame(columns | {"glove_mean": word2vec + rng.normal(0, 0.3, 200)})
    write_tsv(folder / "word2vec" / "word_sets.tsv", word_sets)
    write_tsv(folder / "word2vec" / "correlation.tsv", correlate_word_sets(word_sets, "word2vec", 1))
    largest = rows.loc[rows["kind"] != "random", "set"].unique()[-1:]
    analogies = [_analogies(rng, name, 3) for name in ("baseline", *largest)]
    write_tsv(folder / "word2vec" / "analogies.tsv", pd.concat(analogies, ignore_index=True))


def _projections(rng: np.random.Generator, weat: str, size: int, n_seeds: int) -> pd.DataFrame:
    s, t = WORD_SETS[weat].targets.values()
    counts = [1500, 70, 12, 340, 45, 20]
    rows = [
        (weat, kind, name, seed, symbol, word, count, value)
        for kind, sign in (("baseline", 0), ("decrease", -1), ("increase", 1))
        for name in ["baseline" if kind == "baseline" else f"{weat}-{kind}-{size}"]
        for seed in range(n_seeds)
        for word, symbol, count in zip([*s, *t], "SSSTTT", counts, strict=True)
        for value in [rng.normal((0.1 + 0.5 * sign / count**0.2) * (1 if symbol == "S" else -1), 0.03)]
    ]
    return pd.DataFrame(rows, columns=axis.COLUMNS["projections"])


def _write_gradients(folder: Path, weats: tuple[str, ...]) -> None:
    rng = np.random.default_rng(7)
    for weat in weats:
        words = [word for part in WORD_SETS[weat].sets.values() for word in part]
        table = pd.DataFrame(
            [(word, f"context{k}") for word in words for k in range(12)], columns=["word", "context"]
        )
        x, mean = rng.exponential(2, len(table)), rng.normal(0, 0.01, len(table))
        table = table.assign(x=x, gradient_mean=mean, gradient_sd=0.003)
        table = table.assign(elasticity_mean=x * mean, elasticity_sd=x * 0.003)
        write_parquet(folder / "bias_gradient" / f"{weat}.parquet", table)
        write_tsv(folder / "bias_gradient/ends" / f"{weat}.tsv", ends(table, N_ENDS))


def _write_sets(folder: Path, rng: np.random.Generator, perturbations: pd.DataFrame) -> None:
    """Write the documents of every set: those at an end of the differential bias, or random ones."""
    parts = []
    for row in perturbations.drop_duplicates("set").itertuples():
        bias = read_parquet(folder / "differential_bias" / f"{row.weat}.parquet")["influence_mean"]
        keys = rng.random(len(bias)) if row.kind == "random" else -bias if row.kind == "decrease" else bias
        documents = np.argsort(np.asarray(keys), kind="stable")[: row.size]
        parts.append(
            pd.DataFrame({"set": row.set, "weat": row.weat, "kind": row.kind, "document": documents})
        )
    write_parquet(folder / "perturbation_sets.parquet", pd.concat(parts, ignore_index=True))


def _perturbations(
    rng: np.random.Generator, weat: str, effect: np.ndarray, sizes: tuple[int, ...], n_random: int
) -> pd.DataFrame:
    mean, sd = effect.mean(), effect.std(ddof=1)
    planned = [(kind, size, 0) for kind in ("increase", "decrease") for size in sizes]
    planned += [("random", size, replicate) for size in sizes for replicate in range(n_random)]
    rows = []
    for kind, size, replicate in planned:
        change = {"increase": 1, "decrease": -1.6, "random": 0}[kind] * 0.9 * size**0.35 / sizes[-1] ** 0.35
        observed = mean + change * 0.7 + rng.normal(0, 0.03)
        name = f"random-{size}-{replicate}" if kind == "random" else f"{weat}-{kind}-{size}"
        for estimator in ESTIMATORS:
            predicted = mean + (observed - mean) * SHRINK.get(estimator, 0.7) + rng.normal(0, 0.02)
            p = 0.4 if kind == "random" else 0.001 if size > sizes[0] else 0.2
            means = (predicted, sd * 0.9, observed, sd * 0.8, 5, mean, sd)
            rows.append((weat, name, kind, size, replicate, estimator, *means, (observed - mean) / sd, p))
    return pd.DataFrame(rows, columns=retraining.COLUMNS["perturbations"])
