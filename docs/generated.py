"""Write what of the documentation follows from settings and areas: ``python docs/generated.py``."""

import biaslab  # noqa: F401, I001  (pins the processor before numpy is loaded)

import csv
import functools
import json
import re
import sys
import tempfile
import textwrap
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, get_args

import pandas as pd
import yaml
from annotated_types import Ge, Gt, Le, Lt
from scipy import stats

from biaslab.audit.claims import CELL, COUNTED, EVIDENCE, STATEMENT, Claim, read_claims
from biaslab.audit.html import FAILURES_FIRST
from biaslab.audit.measure import measure_claims
from biaslab.audit.summary import NO_ROW, headline, multiplicity, read_printed
from biaslab.audit.verdicts import (
    DIRECTION_ONLY,
    FAILED_ELSEWHERE,
    HELD_ELSEWHERE,
    INCONCLUSIVE,
    NOT_ATTEMPTED,
    NOT_REPRODUCED,
    REPRODUCED,
    VERDICTS,
    format_number,
    label,
)
from biaslab.core.columns import said
from biaslab.core.settings import DISTINCT, FILLED, Comments, Setting, fields_of, plain, setting_of
from biaslab.embeddings import BASELINE
from biaslab.origins import expansion
from biaslab.origins.checks import foreign
from biaslab.origins.sets import is_random
from biaslab.run.area import ALL, SUFFIXES, TEST, Area, Item, load_area
from biaslab.run.areas import AREAS
from biaslab.run.plan.config import load_files, settings
from biaslab.run.travel.crate import METADATA
from biaslab.run.travel.crate import RESULTS as CRATED

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))  # where others load this file by its path

import drawings  # noqa: E402

RESULTS = "results/README.md"
BEGIN, END = "<!-- generated: python docs/generated.py -->", "<!-- end -->"
TUTORIAL = "documents-python"  # which is a notebook as well
UNROLLED = "unrolled"  # whose lead over others the benchmark shows
RECORDED = ROOT / "docs/records"
WORD2VEC = "word2vec"
RECORDS = {
    name: title
    for name, title in {
        "public": "With the public data that the run fetches or makes",
        "packages": "With the package index alone, where no host with data can be reached",
        "simplewiki": "Brunet et al.'s grid on Simple Wikipedia of 2021",
        "stormfront": "Kennedy et al.'s networks with the whole encoder on Stormfront",
    }.items()
    if (RECORDED / f"{name}.zip").exists()
}
"""Recorded runs (`docs/record.py`), with what they are called: of the default, and crates of single areas."""

WIDTH = 125
CONFIG_HEAD = """# Configuration of biaslab: the embedded default, with every key there is.
# Made of the fields in src/biaslab/*/settings.py by `python docs/generated.py`; edit those.
# To change something, write only the keys that differ into a file of your own and lay it over this one:
#   make reproduce CONFIG=mine.yaml        or        snakemake --cores all --configfile mine.yaml
"""

_SHOWN = {
    "independent result · convention · quirk · given": tuple(EVIDENCE),
    "in direction · inconclusive": (DIRECTION_ONLY, INCONCLUSIVE),
    "**not reproduced**": (NOT_REPRODUCED,),
    "other data: consistent · inconsistent": (HELD_ELSEWHERE, FAILED_ELSEWHERE),
}
"""Columns of a headline after the number of those reproduced: the counts that stand in each."""
_LIMITS = {Ge: "≥", Gt: ">", Le: "≤", Lt: "<"}


def configuration() -> str:
    """Return the tables of all keys, those that no area owns first."""
    sections = {"All areas": [key for key in fields_of(settings()) if key not in AREAS]}
    sections |= {load_area(area).paper: [area] for area in AREAS}
    return "\n".join(_keys_table(title, keys) for title, keys in sections.items())


def _keys_table(title: str, keys: Iterable[str]) -> str:
    kinds, defaults = fields_of(settings()), plain(settings()())
    rows = [row for key in keys for row in _rows(key, kinds[key], defaults[key])]
    return f"## {title}\n\n{_table(('key', 'type', 'default', 'allowed', 'meaning'), rows)}"


def _rows(path: str, kind: Any, default: Any) -> Iterator[tuple[str, ...]]:
    """Yield the row of a key, or the rows of the keys below it."""
    setting = setting_of(kind)
    if is_dataclass(setting.type):
        for key, child in fields_of(setting.type).items():
            yield from _rows(f"{path}.{key}", child, default[key])
        return
    yield (f"`{path}`", _type(setting), _default(default), _allowed(setting), setting.about)
    if setting.kind is dict and is_dataclass(entry := get_args(setting.type)[1]):
        yield from _rows(f"{path}.NAME", entry, plain(entry()))


def _type(setting: Setting) -> str:
    name = "text" if setting.choices else setting._replace(has_null=False).expected
    return name.removeprefix("a ").partition(" (")[0] + " or null" * setting.has_null


def _default(default: Any) -> str:
    if isinstance(default, Mapping) and default:
        return "those of `config.yaml`: " + ", ".join(f"`{name}`" for name in default)
    return f"`{json.dumps(default, ensure_ascii=False)}`"


def _allowed(setting: Setting) -> str:
    """Return the values that a key may have, or a list's entries, or a mapping's names."""
    inner = [setting_of(kind) for kind in get_args(setting.type)[:2] if setting.kind in (tuple, dict)]
    if values := setting.choices or (inner[0].choices if inner else ()):
        return ", ".join(f"`{value}`" for value in values)
    limits = [(sign, setting.limit(rule)) for rule, sign in _LIMITS.items()]
    texts = [f"{sign} {limit}" for sign, limit in limits if limit is not None]
    texts += ["1 or more entries"] * (FILLED in setting.rules and setting.kind is tuple)
    texts += ["no entry twice"] * (DISTINCT in setting.rules)
    return "; ".join([*texts, *(one.about for one in inner if one.about)])


def shipped_configuration() -> str:
    """Return config.yaml: every key at its default, with its meaning."""
    defaults = plain(settings()())
    kinds = fields_of(settings()).items()
    lines = [line for key, kind in kinds for line in ["", *_key(key, kind, 0, defaults[key])]]
    return CONFIG_HEAD + "\n".join(lines) + "\n"


def _key(
    name: str, kind: Any, depth: int, value: Any, said: bool = True, text: str | None = None
) -> list[str]:
    """Return the lines of a key with its default; `text` replaces the description.

    Of the entries of a mapping of names the first alone has comments inside.
    """
    setting = setting_of(kind)
    if text is None:
        text = setting.about if said else ""
    if is_dataclass(setting.type):
        below = [(key, child, value[key], said, None) for key, child in fields_of(setting.type).items()]
    elif isinstance(value, Mapping) and value:
        comments = next((rule for rule in setting.rules if isinstance(rule, Comments)), {})
        entry = get_args(setting.type)[1]
        below = [(key, entry, value[key], i == 0, comments.get(key, "")) for i, key in enumerate(value)]
    else:
        line = f"{name}: {_yaml(value)}"
        if isinstance(value, list) and len(line) > WIDTH - 2 * depth:
            return _commented(f"{name}:", text, depth) + [f"{'  ' * depth}  - {_yaml(one)}" for one in value]
        return _commented(line, text, depth)
    lines = _commented(f"{name}:", text, depth)
    for key, child, *more in below:
        lines += _key(key, child, depth + 1, *more)
    return lines


def _commented(line: str, text: str, depth: int) -> list[str]:
    """Return a line with its comment: behind it where there is room, or else above."""
    indent = "  " * depth
    beside = f"{indent}{line} # {text}" if text else f"{indent}{line}"
    if len(beside) <= WIDTH:
        return [beside]
    above = textwrap.wrap(text, WIDTH - len(indent) - 2)
    return [*(f"{indent}# {part}" for part in above), f"{indent}{line}"]


def _yaml(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=10**6, allow_unicode=True, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...")


def artefact() -> str:
    """Return the tables of all tables and figures, area by area."""
    minutes = json.loads((RECORDED / "public.json").read_text(encoding="utf-8"))["minutes"]
    return "\n".join(_items_table(load_area(area), f"{minutes[area]:.1f}") for area in AREAS)


def _items_table(area: Area, minutes: str) -> str:
    rows = [(item.label, item.kind, _file(area, item), _sources(area, item)) for item in area.items]
    return (
        f"## {area.paper}\n\n`areas: [{area.name}]`; minutes of jobs: {minutes}.\n\n"
        f"{_table(('item', 'kind', 'file in `results/`', 'made from'), rows)}"
    )


def _file(area: Area, item: Item) -> str:
    unit = "" if item.per == ALL else f"{area.labels[0].upper()}/"
    test = f"_{area.labels[1].upper()}" if item.per == TEST else ""
    suffixes = ",".join(suffix.removeprefix(".") for suffix in SUFFIXES[item.kind])
    return f"`{area.name}/{unit}{item.kind}s/{item.stem}{test}.{{{suffixes}}}`"


def _sources(area: Area, item: Item) -> str:
    test = area.labels[1].upper()
    return ", ".join(f"`{file.format(test=test)}`" for file in item.files) or "its definitions alone"


def limits() -> str:
    """Return what was at hand of each paper, and the caveats of its rows in the audit."""
    return "\n".join(_limits_of(area) for area in AREAS)


def _limits_of(area: str) -> str:
    (paper,) = _rows_of("papers", area)
    caveats = Counter(row["caveat"] for row in _rows_of("claims", area) if row["caveat"])
    return (
        f"### {paper['paper']}\n\nAvailable: {paper['at_hand']}.\n\nMissing: {paper['not_at_hand']}.\n\n"
        f"{_table(('caveat', 'rows'), [(caveat, str(n)) for caveat, n in caveats.most_common()])}"
    )


def registered() -> list[Claim]:
    """Return the rows of all registries."""
    paths = [ROOT / f"workflow/resources/claims/{area}.tsv" for area in AREAS]
    return read_claims(paths, ROOT / "workflow/schemas/claims.schema.yaml")


def claims_of(setup: str) -> list[Claim]:
    """Return the rows that are measured on a setup."""
    return [claim for claim in registered() if setup in claim.setup.split("+")]


@cache
def measured(name: str) -> pd.DataFrame:
    """Return what the registries measure on a recorded run."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(RECORDED / f"{name}.zip") as archive:
        archive.extractall(folder)
        made = _made(name)
        claims = [claim for claim in registered() if claim.area in _areas(name)]
        return measure_claims(
            claims, Path(folder, _inside(archive)), made["setups"], lacking=made.get("lacking")
        )


def headlines() -> str:
    """Return the headline of every recorded run."""
    return "\n".join(f"**{title}** ({_when(name)}):\n\n{_headline(name)}" for name, title in RECORDS.items())


def in_short() -> str:
    """Return how many statements and numbers are reproduced on public data, in two sentences."""
    counts = _counts("public").drop(columns="paper").groupby("counts_as").sum()
    statements, numbers = (counts.loc[kind] for kind in (STATEMENT, CELL))
    return (
        f"On public data, **{statements[REPRODUCED]} of {statements['printed']} statements** and"
        f" **{numbers[REPRODUCED]} of {numbers['printed']} printed numbers** are reproduced,"
        f" {statements[NOT_REPRODUCED]} and {numbers[NOT_REPRODUCED]} are not. On other data than the"
        f" paper's, {statements[HELD_ELSEWHERE] + numbers[HELD_ELSEWHERE]} are consistent and"
        f" {statements[FAILED_ELSEWHERE] + numbers[FAILED_ELSEWHERE]} inconsistent.\n"
    )


def counted() -> str:
    """Return the headlines, and the counts over all papers in words."""
    totals = [
        f"{title}: {_totals(_counts(name))}. {multiplicity(measured(name)).sentence}\n"
        for name, title in RECORDS.items()
    ]
    return "\n".join([headlines(), *totals])


def audited(area: str) -> str:
    """Return the counted rows of a paper that the recorded run measured, and their verdicts in words."""
    table = measured("public")
    table = table[
        (table["area"] == area) & table["counts_as"].isin(COUNTED) & table["verdict"].isin(FAILURES_FIRST)
    ]
    rows = [
        _row(one) for verdict in FAILURES_FIRST for one in table[table["verdict"] == verdict].itertuples()
    ]
    counts, (paper,) = _counts("public"), _rows_of("papers", area)
    said = _totals(counts[counts["paper"] == paper["paper"]])
    table = _table(("item", "claim", "published", "measured", "verdict"), rows)
    return f"## {paper['paper']}\n\n{said[0].upper()}{said[1:]}.\n\n{table}"


def beside_printed(name: str) -> str:
    """Return what a recorded run of one area measured beside what its paper prints, tables first."""
    (area,) = _areas(name)
    table = measured(name)
    own = table[table["setup"].isin(_made(name)["setups"][area]) & table["counts_as"].isin(COUNTED)]
    found = sorted(own[own["verdict"] != NOT_ATTEMPTED].itertuples(), key=lambda one: _place(one.item))
    rows = [(*_row(one), "; ".join(filter(_is_own, one.reason.split("; ")))) for one in found]
    return _table(("item", "claim", "published", "measured", "verdict", "how it was judged"), rows)


def _is_own(clause: str) -> bool:
    """Tell whether a part of a row's reason is its own: the page says of all that their data are others."""
    return not clause.startswith("measured on other data")


def grid(name: str) -> str:
    """Return how far the run of a preset's grid is, and what was measured in it beside what is printed."""
    return (
        f"{trainings_made(name)}\n## Predicted and observed so far\n\n{observed_so_far(name)}\n"
        f"## Beside what the paper prints\n\n{beside_printed(name)}"
    )


def observed_so_far(name: str) -> str:
    """Return the bias that was predicted without each set, and that of the embeddings trained without it."""
    with zipfile.ZipFile(RECORDED / f"{name}.zip") as archive:
        folder = f"{_inside(archive)}/origins/{name}"
        files = [file for file in archive.namelist() if file.startswith(f"{folder}/measured/")]
        measured = pd.concat(pd.read_csv(archive.open(file), sep="\t") for file in sorted(files))
        predictions, baselines = (
            pd.read_csv(archive.open(f"{folder}/{table}.tsv"), sep="\t")
            for table in ("predictions", "baseline")
        )
    keys = ["weat", "set"]
    observed = measured.groupby(keys)["effect_size"].agg(observed="mean", n="size")
    by = predictions.groupby(["estimator", *keys])["predicted"].agg(predicted="mean", sd="std")
    found = observed.join(by.loc["influence"], how="inner").sort_values(["weat", "predicted"]).reset_index()
    random = found[found["set"].map(is_random)]
    found = found.drop(random.index)
    rows = [
        (one.weat, one.set, f"{one.predicted:.2f} ± {one.sd:.2f}", f"{one.observed:.2f}", str(one.n))
        for one in found.itertuples()
    ]
    r2 = {weat: (of["predicted"].corr(of["observed"]) ** 2, len(of)) for weat, of in found.groupby("weat")}
    said = ", ".join(f"{value:.2f} for {weat} ({n} sets)" for weat, (value, n) in r2.items())
    table = _table(("test", "set", "predicted by influence", "observed", "retrainings"), rows)
    text = f"{table}\nr² of the observed bias on the predicted one: {said}.\n"
    return text + (_random_sets(random, baselines) if len(random) else "")


def _random_sets(random: pd.DataFrame, baselines: pd.DataFrame) -> str:
    """Return the bias without random sets beside that of the baselines, which differ by the seed alone."""
    rows = []
    for weat, of in random.groupby("weat"):
        observed, of_baselines = of["observed"], baselines[baselines["weat"] == weat]["effect_size"]
        values = observed, of["predicted"], of_baselines
        rows.append(
            (
                weat,
                *(f"{value.mean():.2f} ± {value.std():.2f}" for value in values),
                f"{stats.ttest_ind(observed, of_baselines, equal_var=False).pvalue:.2f}",
                f"{stats.levene(observed, of_baselines).pvalue:.2f}",
            )
        )
    header = (
        "test",
        "observed",
        "predicted by influence",
        "baselines",
        "means differ: p",
        "variances differ: p",
    )
    n_sets, (n,) = random["set"].nunique(), random["n"].unique()
    return (
        f"\nMean and standard deviation of the bias without {n_sets} random sets (trainings of each: {n}),"
        " and of the baselines (p by Welch's and Levene's tests):\n\n"
        f"{_table(header, rows)}"
    )


def _place(item: str) -> tuple[int, int]:
    """Return where an item of a paper stands: its tables, then its figures, then its sections."""
    kinds = ("Table", "Figure", "Section", "")
    kind = next(k for k, name in enumerate(kinds) if item.startswith(name))
    return kind, int((re.search(r"\d+", item) or ["0"])[0])


def trainings_made(name: str) -> str:
    """Return how many trainings of a preset's grid a recorded run of it has made, and what these took."""
    config = load_files([ROOT / "config.yaml", ROOT / f"workflow/presets/{name}.yaml"], ROOT)
    setup = config["origins"]["setups"][name]
    removed = expansion.perturbation_sets(setup)
    kinds = {
        "nothing (baselines)": expansion.baseline_sets(setup),
        "targeted sets": [one for one in removed if not is_random(one)],
        "random sets": [one for one in removed if is_random(one)],
        "sets that PPMI finds": expansion.ppmi_sets(setup),
    }
    hours = _core_hours(name)
    rows = [
        (
            kind,
            str(sum(len(hours[one]) for one in sets)),
            str(sum(expansion.trainings_of(one, setup) for one in sets)),
            f"{sum(sum(hours[one]) for one in sets):.1f}",
        )
        for kind, sets in kinds.items()
    ]
    with_all, recorded = [BASELINE, *removed], _recorded_setup(name)
    of_word2vec = {one: hours[f"{WORD2VEC}/{one}"] for one in with_all if hours[f"{WORD2VEC}/{one}"]}
    rows.append(
        (
            "nothing, targeted or random sets, by word2vec",
            str(sum(expansion.word2vec_trainings_of(one, recorded) for one in of_word2vec)),
            str(sum(expansion.word2vec_trainings_of(one, setup) for one in with_all)),
            f"{sum(map(sum, of_word2vec.values())):.1f}",
        )
    )
    return _table(("trained without", "trainings made", "of the whole grid", "core-hours"), rows)


def _recorded_setup(name: str) -> dict[str, Any]:
    """Return the recorded configuration of a setup."""
    with zipfile.ZipFile(RECORDED / f"{name}.zip") as archive:
        return json.loads(archive.read(f"{_inside(archive)}/config.json"))["origins"]["setups"][name]


def _core_hours(name: str) -> dict[str, list[float]]:
    """Return the core-hours of each job of trainings of a recorded setup, by set, or word2vec/SET."""
    glove = r"(?:baseline|without_set/(.+))/batch-\d+"
    place = re.compile(rf".*/benchmarks/origins/{name}/train_(?:{glove}|({WORD2VEC}/.+))\.tsv")
    hours = defaultdict(list)
    with zipfile.ZipFile(RECORDED / f"{name}.zip") as archive:
        for found in filter(None, map(place.fullmatch, archive.namelist())):
            (row,) = csv.DictReader(archive.read(found[0]).decode().splitlines(), delimiter="\t")
            hours[found[1] or found[2] or BASELINE].append(float(row["cpu_time"]) / 3600)
    return hours


def _row(one: Any) -> tuple[str, ...]:
    statement = one.statement.partition(" (measured")[0]
    interval = "" if pd.isna(one.ci_low) else f" [{format_number(one.ci_low)}, {format_number(one.ci_high)}]"
    return (
        one.item,
        statement,
        one.published,
        f"{format_number(one.measured)}{interval}",
        label(one.verdict),
    )


def _made(name: str) -> dict[str, Any]:
    return json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))


def _areas(name: str) -> list[str]:
    """Return the areas of a recorded run: all of them where it does not say which."""
    return _made(name).get("areas", list(AREAS))


def _inside(archive: zipfile.ZipFile) -> str:
    """Return the folder of an archive that has the results: that of a crate, or none."""
    return CRATED if METADATA in archive.namelist() else ""


def _when(name: str) -> str:
    made = _made(name)
    with_gpus = "".join(f" and an {model}" for model in made.get("gpus", []))
    return f"{made['time']} on {made['cpus']} cores of an {made['cpu']}{with_gpus}"


def _counts(name: str) -> pd.DataFrame:
    """Return the headline of a recorded run as counts: two rows a paper."""
    return headline(
        measured(name), read_printed(ROOT / f"workflow/resources/printed/{area}.tsv" for area in _areas(name))
    )


def _headline(name: str) -> str:
    """Return two rows a paper: what was measured of what it prints, and with which verdicts."""
    rows = []
    for row in _counts(name).to_dict("records"):
        n = row["printed"] - row[NOT_ATTEMPTED] - row[NO_ROW]
        shown = [" · ".join(str(row[column]) for column in columns) for columns in _SHOWN.values()]
        rows.append(
            (row["paper"], f"{n} of {row['printed']} {row['counts_as']}s", f"**{row[REPRODUCED]}**", *shown)
        )
    return _table(("paper", "measured", "**reproduced**", *_SHOWN), rows)


def _totals(counts: pd.DataFrame) -> str:
    """Return how many statements and cells have each verdict, in words."""
    said = []
    for kind, total in counts.drop(columns="paper").groupby("counts_as", sort=False).sum().iterrows():
        verdicts = ", ".join(f"{total[one]} {label(one)}" for one in (*VERDICTS, NO_ROW))
        reproduced = f"{REPRODUCED}{_kinds(total)}"
        said.append(f"of {total['printed']:,} {kind}s {verdicts.replace(REPRODUCED, reproduced, 1)}")
    return "; ".join(said)


def _kinds(total: pd.Series) -> str:
    """Return in brackets how many rows are reproduced by which kind of evidence; nothing of none."""
    kinds = "; ".join(f"{text}: {total[one]}" for one, text in EVIDENCE.items() if total[one])
    return f" ({kinds})" if kinds else ""


def _rows_of(kind: str, area: str) -> list[dict[str, str]]:
    with (ROOT / f"workflow/resources/{kind}/{area}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def _table(header: tuple[str, ...], rows: Any) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def equal_measures() -> str:
    """Return which measures are equal to those of other packages, as tests compare them."""
    table = pd.read_csv(ROOT / "tests/equal_measures.tsv", sep="\t", comment="#")
    rows = [
        (row["measure"], f"{row['value']:.12g}", f"{row['package']} {row['version']}, `{row['function']}`")
        for row in table.to_dict("records")
    ]
    return _table(("measure", "value", "equal to that of"), rows)


ATTRIBUTION_RECORD = ROOT / "docs/records/attribution/origins/attribution"


@functools.cache
def scored_attributions() -> pd.DataFrame:
    """Return the linear datamodeling scores of the benchmark's record, with those of nulls."""
    record, tables = ATTRIBUTION_RECORD, []
    with tempfile.TemporaryDirectory() as folder:
        files = sorted((record / "others").glob("*.parquet"))
        scores = {path.stem: pd.read_parquet(path).set_index("document") for path in files}
        for weat, own in scores.items():
            columns = {name: own[name].to_numpy() for name in (UNROLLED, *own.columns)}
            for other in scores.keys() - {weat}:
                columns |= {f"{name} of {other}": of.to_numpy() for name, of in scores[other].items()}
            tables.append(foreign.write_scored(columns, record, weat, 1, Path(folder) / "scored.tsv"))
    table = pd.concat(tables).query("check == 'lds' and among != @foreign.PAIRED")
    return table.sort_values(["weat", "n_removed", "value"], ascending=False)


def attributions_scored() -> str:
    """Return the scores of attributions on the benchmark's record, compared with those of nulls."""
    rows = [
        (
            r.weat,
            str(r.n_removed),
            r.attribution,
            r.form,
            f"{r.value:.2f} [{r.ci_low:.2f}, {r.ci_high:.2f}]",
            "" if r.attribution == UNROLLED else f"{r.lead:.2f} [{r.lead_ci_low:.2f}, {r.lead_ci_high:.2f}]",
            f"{r.ceiling:.2f}",
            f"{r.worth:.2f} [{r.worth_ci_low:.2f}, {r.worth_ci_high:.2f}]",
        )
        for r in scored_attributions().itertuples()
    ]
    header = ("test", "lacking", "attribution", "form", "LDS", f"lead of {UNROLLED}", "ceiling", "worth")
    return _table(header, rows)


def attribution_worth() -> str:
    """Return the drawing of the same scores on the curve of retrainings."""
    removals = pd.read_csv(ATTRIBUTION_RECORD / "lds/removals.tsv", sep="\t")
    (n_retrainings,) = removals["n_retrainings"].unique()
    return drawings.worth(scored_attributions(), int(n_retrainings))


def attribution_learning() -> str:
    """Return the drawing of the scores of datamodels by the number of retrained halves."""
    scores = scored_attributions()
    halves = scores[scores["n_removed"] == scores["n_removed"].max()]
    return drawings.learning(pd.read_csv(ROOT / "docs/records/other/learning_curve.tsv", sep="\t"), halves)


def columns_said() -> str:
    """Return the page of the results with the tables of columns as the areas say them."""
    page = (ROOT / RESULTS).read_text(encoding="utf-8")
    marks = re.compile(rf"<!-- columns: ([\w.]+)(?: (\S+))? -->\n.*?{END}", re.DOTALL)
    apart = set(marks.findall(page))

    def block(found: re.Match) -> str:
        package, file = found.groups()
        meanings = said(package)
        if file:
            table = _table(("column", "meaning"), [(_ticked(c), text) for c, text in meanings[file].items()])
        else:
            rows = [_file_row(*one) for one in meanings.items() if (package, one[0]) not in apart]
            table = _table(("file", "columns", "meaning"), rows)
        return f"{found[0].partition(chr(10))[0]}\n\n{table}\n{END}"

    return marks.sub(block, page)


def _file_row(files: str, groups: Mapping[str, str]) -> tuple[str, str, str]:
    return _ticked(files), "; ".join(map(_ticked, groups)), "; ".join(groups.values())


def _ticked(names: str) -> str:
    """Return names as code; what is no list of names stays as it is."""
    if "`" in names or names.startswith("as "):
        return names
    return ", ".join(f"`{name}`" for name in names.split(", "))


PAGES = {
    "docs/reference/configuration.md": configuration,
    "docs/explanation/guarantees.md": equal_measures,
    "docs/explanation/attribution.md": attributions_scored,
    "docs/reference/artefact.md": artefact,
    "docs/explanation/limits.md": limits,
    "README.md": in_short,
    "docs/explanation/audit.md": counted,
    "docs/papers/origins-wiki.md": lambda: grid("simplewiki"),
    "docs/papers/hate-speech-encoder.md": lambda: beside_printed("stormfront"),
    "docs/reference/verdicts.md": lambda: "\n".join(audited(area) for area in AREAS),
}


def notebook() -> str:
    """Return the tutorial in Python as a Jupyter notebook without outputs; its cells share their names."""
    page = (ROOT / f"docs/tutorials/{TUTORIAL}.md").read_text(encoding="utf-8")
    cells = []
    for part in re.split(r"^(```.*?^```)$", page, flags=re.DOTALL | re.MULTILINE):
        kind, _, text = part.partition("\n")
        if kind.startswith("```python"):
            own = re.sub(r"^from documents import .*\n", "", text.removesuffix("\n```"), flags=re.MULTILINE)
            cells.append({"cell_type": "code", "execution_count": None, "outputs": [], "source": own})
        elif not kind.startswith("```") and part.strip():
            cells.append({"cell_type": "markdown", "source": part.strip()})
    for number, cell in enumerate(cells):
        cell |= {"id": f"cell-{number}", "metadata": {}}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


WHOLE = {
    f"docs/tutorials/{TUTORIAL}.ipynb": notebook,
    "config.yaml": shipped_configuration,
    RESULTS: columns_said,
    "docs/images/verdicts.svg": lambda: drawings.verdicts(_counts("public")),
    "docs/images/attribution_worth.svg": attribution_worth,
    "docs/images/attribution_learning.svg": attribution_learning,
    "docs/images/architecture.svg": lambda: drawings.architecture(ROOT / "src/biaslab"),
}
"""Files that are made as a whole."""


INSERTED = re.compile(r"<!--([=|]) (.+?) -->(\n?).*?<!--/-->", re.DOTALL)
"""A mark in a page: ``=`` for a row of the audit, ``|`` for a part of a table of a recorded run."""


def inserted(mark: re.Match) -> str:
    """Return a mark with what a recorded run gave.

    ``<!--= CLAIM .0f% -->8% [6, 11]<!--/-->`` has the number of a row of the audit, with its interval,
    ``<!--= SETUP VERDICT -->`` how many statements' rows of a setup have a verdict, ``<!--= RUN time -->``
    the time that a recorded run took, and
    ``<!--| FILE | COLUMN; COLUMN | COLUMN=VALUE or VALUE; COLUMN=VALUE -->`` these columns (none: all)
    and rows of a table: before the end of a line the table, else the one cell.
    """
    sign, said, line_end = mark.groups()
    text = _of_audit(*said.split()) if sign == "=" else _of_table(said, bool(line_end))
    return f"<!--{sign} {said} -->{text}<!--/-->"


def _of_audit(name: str, form: str) -> str:
    if form == "time":
        return _made(name)["time"]
    table = measured("public")
    if form in VERDICTS:
        rows = table[(table["setup"] == name) & (table["counts_as"] == STATEMENT)]
        return str((rows["verdict"] == form).sum())
    row = table[(table["claim_id"] == name) & (table["verdict"] != NOT_ATTEMPTED)].iloc[0]
    spec, unit = form.removesuffix("%"), "%" if form.endswith("%") else ""
    interval = "" if pd.isna(row["ci_low"]) else f" [{row['ci_low']:{spec}}, {row['ci_high']:{spec}}]"
    return f"{row['measured']:{spec}}{unit}{interval}"


def _of_table(said: str, is_whole: bool) -> str:
    """Return what a mark asks of a table of the run `public`, or of docs/records/other."""
    name, columns, conditions = [part.strip() for part in f"{said} |  | ".split(" | ")[:3]]
    table = recorded_table(name)
    for column, _, value in (one.strip().partition("=") for one in conditions.split(";") if one.strip()):
        table = table[table[column].isin(value.split(" or "))]
    table = table[[one.strip() for one in columns.split(";")]] if columns else table
    if is_whole and len(table):
        return f"\n\n{_table(tuple(table), table.itertuples(index=False))}\n"
    if table.shape != (1, 1):
        raise ValueError(f"{said}: {table.shape[0]} rows and {table.shape[1]} columns; name one of each")
    return table.iloc[0, 0]


@cache
def recorded_table(name: str) -> pd.DataFrame:
    """Return a table as text: one that a recorded run made (.md), or of another run (other/NAME.tsv).

    The run is `public`, or what stands before a colon.
    """
    if name.startswith("other/"):
        rows = list(csv.reader((RECORDED / name).open(encoding="utf-8"), delimiter="\t"))
    else:
        run, _, table = name.rpartition(":")
        with zipfile.ZipFile(RECORDED / f"{run or 'public'}.zip") as archive:
            lines = archive.read(str(PurePosixPath(_inside(archive), table))).decode().splitlines()
        rows = [
            [cell.strip().replace("\\", "") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in lines
            if line.startswith("|") and not set(line) <= set("|:-")
        ]
    return pd.DataFrame(rows[1:], columns=rows[0])


def named_tables() -> list[str]:
    """Return the tables of a run of which a page shows a part."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    marks = [mark for page in pages for mark in INSERTED.findall(page.read_text(encoding="utf-8"))]
    return sorted({said.partition(" |")[0] for sign, said, _ in marks if sign == "|"})


def renewed(page: str) -> str:
    """Return a page with what is generated of it as it should be."""
    if page in WHOLE:
        return WHOLE[page]()
    text = INSERTED.sub(inserted, (ROOT / page).read_text(encoding="utf-8"))
    if page not in PAGES:
        return text
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n\n{PAGES[page]()}\n{END}{after}"


def generated_pages() -> list[str]:
    """Return the pages of which something is generated."""
    pages = {path.relative_to(ROOT).as_posix(): path for path in sorted((ROOT / "docs").rglob("*.md"))}
    marked = [name for name, path in pages.items() if INSERTED.search(path.read_text(encoding="utf-8"))]
    return list(dict.fromkeys([*PAGES, *WHOLE, *marked]))


if __name__ == "__main__":
    for name in generated_pages():
        (ROOT / name).write_text(renewed(name), encoding="utf-8")
