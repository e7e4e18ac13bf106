"""Record a finished run of the default, so that the documentation can say what the audit finds in it.

    python docs/record.py NAME RESULTS TIME     # e.g. public results '22 min 10 s'

writes docs/records/NAME.zip (of each result file that a row of the registries reads, the columns that rows
name, and in these a dash for every text that no row names; and the tables of which a page shows a part) and
NAME.json: where the run was made, in what time, of which setups. Whatever the registries say later is
measured on that. Then `python docs/generated.py` writes the pages.

    python docs/record.py crate NAME RESULTS TIME     # e.g. simplewiki results '19 h'

writes docs/records/NAME.zip, a crate with all that tables and figures of a run of one area are made of, and
NAME.json, and copies its figures to docs/images.

    python docs/record.py frozen SETUP     # e.g. simplewiki

writes docs/records/SETUP.frozen.json before a run that is to be recorded: what decides the verdicts of the
rows of a setup. A test fails where one of them has changed since.

    python docs/record.py figures RESULTS     # of the default, or of the preset attribution

copies to docs/images the figures that the pages show, those that the run has.

    python docs/record.py attribution RESULTS     # of the preset attribution

copies to docs/records/attribution what attributions are scored on, numbers alone, once a run of it is made.
"""

import biaslab  # noqa: F401, I001  (pins the processor before numpy is loaded)

import itertools
import json
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_predict
from generated import RECORDED, ROOT, claims_of, named_tables, registered

from biaslab.audit.claims import Claim
from biaslab.audit.expressions import columns_of
from biaslab.audit.measure import read_parquet_columns
from biaslab.audit.own import freeze_claims
from biaslab.core.files import read_text_table
from biaslab.core.io import read_parquet, read_tsv, write_parquet, write_tsv
from biaslab.origins.attribution.estimates import SET
from biaslab.origins.attribution.registry import ATTRIBUTIONS, UNROLLED
from biaslab.origins.checks import foreign
from biaslab.origins.pages.explanation import glove_of, open_setup, seed_of
from biaslab.origins.sets.selection import members
from biaslab.run.areas import AREAS
from biaslab.run.travel.crate import RESULTS as CRATED
from biaslab.run.travel.crate.contents import CONFIG
from biaslab.run.travel.crate.writing import write_crate
from biaslab.run.record.manifest import MANIFEST
from biaslab.run.record.resources import job_costs

DAMPED = "newton, damped"
"""The title of newton with the damping that follows from the training."""

BENCHMARK = {
    "documents.parquet": ["document", "id", "n_tokens"],
    "differential_bias/*.parquet": ["document", f"{ATTRIBUTIONS[0].name}_mean"],
    "lds/subsets.parquet": None,
    "lds/removals.tsv": None,
    "lds/paired.tsv": None,
    "lds/scores.tsv": ["weat", "size", "n_subsets", "n_retrainings", "reliability", "ceiling"],
    "planted/*/documents.parquet": ["document", "id", "kind", "weat", "source", "dose"],
    "others/*.parquet": None,
    "planted/recall.tsv": None,
    "planted/pairs.tsv": None,
}
"""The files of a setup that attributions are scored on, with the columns that are kept of them, or all."""

FIGURES = {
    "debiasing_lambda_path": "debiasing/w2vnews/figures/lambda_path",
    "debiasing_methods": "debiasing/w2vnews/figures/methods",
    "fairness_ablation": "fairness_testing/figures/ablation",
    "fairness_budgets": "fairness_testing/figures/budgets",
    "hate_performance": "hate_speech/figures/performance",
    "ranking_simulation": "ranking/figures/simulation",
    "sample_predicted_observed": "origins/sample/figures/figure2_predicted_observed_weat1",
    "sample_transfer": "origins/sample/figures/figure4_transfer_weat1",
    "sample_cross_fitting": "origins/sample/figures/cross_fitting_weat1",
    "sample_brittleness": "origins/attribution/figures/brittleness_weat2",
    "sample_lds": "origins/attribution/figures/lds_weat1",
    "sample_planted": "origins/attribution/figures/planted_weat1",
}
"""By picture of the pages: the figure, without suffix, in the default or a run of the preset attribution."""

FIGURES_OF_CRATES = {
    "simplewiki": {
        "simplewiki_glove_ppmi": "origins/simplewiki/figures/figure9_glove_ppmi",
        "simplewiki_glove_word2vec": "origins/simplewiki/figures/figure9_glove_word2vec",
        "simplewiki_transfer": "origins/simplewiki/figures/figure4_transfer_weat1",
        "simplewiki_histograms": "origins/figures/figure6_histograms",
        "simplewiki_grid_predicted": "origins/figures/figure7_predicted_observed",
        "simplewiki_grid_sets": "origins/figures/figure8_sets",
        "simplewiki_sets": "origins/simplewiki/figures/figure3_sets_weat1",
    },
    "stormfront": {"stormfront_performance": "hate_speech/figures/performance"},
}
"""The same of each record that is a crate."""

TOO_LARGE = [
    "origins/*/bias_gradient/*.parquet",
    "origins/*/figures/[!m]*.pdf",
    "origins/*/figures/[!m]*.svg",
]
"""Results that a crate among the records has not: what is made of them is in it, or what they are made of.

Figures are in it as PNG alone; those of metadata in every format, since they are drawn from estimates of
single embeddings, which no record has.
"""

_ZIP_DATE = (1980, 1, 1, 0, 0, 0)


def record(name: str, results: Path, time: str) -> None:
    """Pack what the audit reads of a run, and note its setups, the processor, the commit and the time."""
    setups, claims = measured_setups(results), registered()
    note_run(name, results, time, setups, claims)
    formulas = [part for one in claims for part in one.formulas]
    counted = set(re.findall(r"distinct\((\w+)", " ".join(formulas)))
    texts = {"setup", *re.findall("'([^']*)'", " ".join(formulas)), *itertools.chain(*setups.values())}
    with zipfile.ZipFile(RECORDED / f"{name}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, columns in sorted(columns_by_file(claims, results, setups).items()):
            entry = zipfile.ZipInfo(path.relative_to(results).as_posix(), _ZIP_DATE)
            archive.writestr(entry, _part(path, columns, counted, texts), zipfile.ZIP_DEFLATED)
        for table in named_tables():
            if ":" not in table and (results / table).exists():
                entry = zipfile.ZipInfo(table, _ZIP_DATE)
                archive.writestr(entry, (results / table).read_bytes(), zipfile.ZIP_DEFLATED)


def record_crate(name: str, results: Path, time: str) -> None:
    """Pack a run of one area as a crate, and note what `record` does."""
    areas = json.loads((results / CONFIG).read_text(encoding="utf-8"))["areas"]
    claims = [claim for claim in registered() if claim.area in areas]
    too_large = [pattern for pattern in TOO_LARGE if any(results.glob(pattern))]
    for notice in write_crate(results, RECORDED / f"{name}.zip", ROOT, [CRATED], too_large):
        print(notice)
    note_run(name, results, time, measured_setups(results), claims, areas=areas)
    copy_figures(results, FIGURES_OF_CRATES.get(name, {}))


def copy_figures(results: Path, figures: dict[str, str]) -> None:
    """Copy to docs/images those of some figures that a run has."""
    for name, figure in figures.items():
        if (path := results / f"{figure}.png").exists():
            shutil.copy(path, ROOT / f"docs/images/{name}.png")


def note_run(
    name: str, results: Path, time: str, setups: dict[str, list[str]], claims: list[Claim], **more: Any
) -> None:
    """Note where a run was made, in what time, of which setups, and what these do without."""
    RECORDED.mkdir(exist_ok=True)
    environment = json.loads((results / MANIFEST).read_text(encoding="utf-8"))["environment"]
    made = {"commit": environment["git"]["commit"], **where_trained(environment), "time": time}
    made |= {**more, "setups": setups}
    made["lacking"] = lacking_files(claims, results, setups)
    made["minutes"] = {} if "taken" in environment else job_minutes(results)
    said = {key: value for key, value in made.items() if value}
    (RECORDED / f"{name}.json").write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")


def job_minutes(results: Path) -> dict[str, float]:
    """Return the minutes of the jobs of each area, one after the other.

    A job counts with its processor time, or where that is longer, with its time on the clock.
    """
    seconds: dict[str, float] = defaultdict(float)
    for (area, _), costs in job_costs(results).items():
        seconds[area] += sum(max(cost.seconds, cost.core_seconds) for cost in costs if cost is not None)
    return {area: round(total / 60, 1) for area, total in seconds.items() if area in AREAS}


def where_trained(environment: dict[str, Any]) -> dict[str, Any]:
    """Return the machine that made what others took: the first one, where a run went on from another."""
    while before := environment.get("taken", {}).get("environment"):
        environment = before
    return {key: environment.get(key) for key in ("cpu", "cpus", "gpus")}


def record_benchmark(setup: Path, to: Path) -> None:
    """Copy what attributions are scored on from the folder of a setup."""
    for pattern, columns in BENCHMARK.items():
        for path in sorted(setup.glob(pattern)):
            copy = to / path.relative_to(setup)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".parquet":
                write_parquet(copy, read_parquet(path, columns))
            else:
                table = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
                write_tsv(copy, table[columns or table.columns].drop_duplicates())


def record_others(results: Path, setup: str, to: Path) -> None:
    """Write what attributions say that the workflow leaves out, of each test: ``others/TEST.parquet``.

    Of newton what it says with damping.
    """
    config = results / "config.json"
    opened, glove, seed = open_setup(setup, results, config), glove_of(setup, config), seed_of(config)
    for weat in opened.weats:
        made = {
            title: foreign.estimate(name, opened.folder, opened.file(weat), glove, seed, os.cpu_count() or 1)
            for title, name in ((UNROLLED, UNROLLED), (DAMPED, "newton"))
        }
        copy = to / "others" / f"{weat}.parquet"
        copy.parent.mkdir(parents=True, exist_ok=True)
        write_parquet(copy, pd.DataFrame(made).rename_axis("document").reset_index())


def record_sets(results: Path, setup: str, to: Path) -> None:
    """Add what damped newton says of whole subsets, and its weighted sum with unrolled, to the removals.

    The weights are fitted to nine tenths of the subsets of a size, and used for the last tenth.
    """
    config = results / "config.json"
    opened, glove, seed = open_setup(setup, results, config), glove_of(setup, config), seed_of(config)
    subsets = members(read_parquet(to / "lds/subsets.parquet"))
    removals = read_tsv(to / "lds/removals.tsv")
    tables, folds = [removals], KFold(10, shuffle=True, random_state=seed)
    for weat in opened.weats:
        given = opened.folder, opened.file(weat), glove, seed, os.cpu_count() or 1
        unrolled = read_parquet(to / "others" / f"{weat}.parquet")[UNROLLED]
        said = pd.DataFrame({
            "set": list(subsets),
            "damped": -foreign.estimate("newton", *given, list(subsets.values())),
            "unrolled": [-unrolled[documents].sum() for documents in subsets.values()],
        })  # fmt: skip
        of_test = removals[removals["weat"] == weat].drop_duplicates("set")
        for _, rows in of_test.groupby("size"):
            both = rows[["set"]].merge(said, on="set")[["damped", "unrolled"]].to_numpy()
            weighted = cross_val_predict(LinearRegression(), both, rows["observed_mean"], cv=folds)
            tables.append(rows.assign(estimator=DAMPED, form=SET, change=both[:, 0]))
            tables.append(rows.assign(estimator=f"{UNROLLED} and {DAMPED}", form="weighted", change=weighted))
    write_tsv(to / "lds/removals.tsv", pd.concat(tables, ignore_index=True))


def measured_setups(results: Path) -> dict[str, list[str]]:
    """Return the setups on which something was measured, by area; those of made-up data had no verdict."""
    rows = read_text_table(results / "audit/claims.tsv", ("area", "setup", "data", "reason"))
    table = pd.DataFrame([row for _, row in rows])
    is_made_up = table["reason"].str.contains("made-up data")
    of_setups = table.assign(setup=table["setup"].str.split("+"), made_up=is_made_up).explode("setup")
    of_setups = of_setups[of_setups["data"] != ""]
    real = of_setups.groupby(["area", "setup"]).filter(lambda rows: not rows["made_up"].any())
    return real.groupby("area")["setup"].agg(lambda names: sorted(set(names))).to_dict()


def lacking_files(
    claims: list[Claim], results: Path, setups: dict[str, list[str]]
) -> dict[str, dict[str, list[str]]]:
    """Return the files that claims read and a measured setup does without, as `measure_claims` takes them."""
    found = defaultdict(set)
    for claim in claims:
        for setup in setups.get(claim.area, ()):
            for pattern in claim.file.split():
                folder = f"{claim.area}/{setup}"
                name = pattern.replace("{setup}", setup)
                if name.startswith(f"{folder}/") and not any(results.glob(name)):
                    found[folder].add(name)
    return {folder: {"": sorted(names)} for folder, names in found.items()}


def columns_by_file(claims: list[Claim], results: Path, setups: dict[str, list[str]]) -> dict[Path, set[str]]:
    """Return the columns that claims read of each file."""
    found = defaultdict(set)
    for claim in claims:
        names = columns_of(*claim.formulas)
        for setup in setups.get(claim.area, ()):
            for pattern in claim.file.split():
                for path in results.glob(pattern.replace("{setup}", setup)):
                    found[path] |= {*names, "setup"}
    return found


def _part(path: Path, columns: set[str], counted: set[str], texts: set[str]) -> bytes:
    """Return a table with some of its columns alone, or its first where it has none of them."""
    if path.suffix == ".parquet":
        known = read_parquet_columns(path)
        with tempfile.TemporaryDirectory() as folder:
            part = Path(folder) / path.name
            write_parquet(part, read_parquet(path, [one for one in known if one in columns] or known[:1]))
            return part.read_bytes()
    header, *lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    kept = [place for place, name in enumerate(header) if name in columns] or [0]
    whole = {place for place in kept if header[place] in counted}
    rows = [[line[at] if at in whole else _named(line[at], texts) for at in kept] for line in lines]
    return "".join("\t".join(row) + "\n" for row in [[header[at] for at in kept], *rows]).encode()


def _named(text: str, texts: set[str]) -> str:
    """Return a number, a truth value or a text that a row names; a dash for another text."""
    try:
        float(text or 0)
    except ValueError:
        return text if text in texts or text in ("True", "False") else "-"
    return text


if __name__ == "__main__":
    if sys.argv[1] == "frozen":
        freeze_claims(RECORDED / f"{sys.argv[2]}.frozen.json", claims_of(sys.argv[2]))
    elif sys.argv[1] == "figures":
        copy_figures(Path(sys.argv[2]), FIGURES)
    elif sys.argv[1] == "crate":
        record_crate(sys.argv[2], Path(sys.argv[3]), sys.argv[4])
    elif sys.argv[1] == "attribution":
        results, setup = Path(sys.argv[2]), "origins/attribution"
        record_benchmark(results / setup, RECORDED / "attribution" / setup)
        record_others(results, "attribution", RECORDED / "attribution" / setup)
        record_sets(results, "attribution", RECORDED / "attribution" / setup)
    else:
        record(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
